# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def prod(x0: T.Buffer((T.int64(3), T.int64(4)), "float64"), x0_red: T.Buffer((T.int64(3),), "float64")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0, k1 in T.grid(T.int64(3), T.int64(4)):
        with T.sblock("x0_red"):
            v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
            T.reads(x0[v_ax0, v_k1])
            T.writes(x0_red[v_ax0])
            with T.init():
                x0_red[v_ax0] = T.float64(1.0)
            x0_red[v_ax0] = x0_red[v_ax0] * x0[v_ax0, v_k1]
