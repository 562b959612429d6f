# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def sum_i8(x0: T.Buffer((T.int64(5), T.int64(4)), "int8"), x0_red: T.Buffer((T.int64(4),), "int8")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0, k0 in T.grid(T.int64(4), T.int64(5)):
        with T.sblock("x0_red"):
            v_ax0, v_k0 = T.axis.remap("SR", [ax0, k0])
            T.reads(x0[v_k0, v_ax0])
            T.writes(x0_red[v_ax0])
            with T.init():
                x0_red[v_ax0] = T.int8(0)
            x0_red[v_ax0] = x0_red[v_ax0] + x0[v_k0, v_ax0]
