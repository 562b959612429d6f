# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def tile(x0: T.Buffer((T.int64(3), T.int64(4)), "float32"), T_tile: T.Buffer((T.int64(6), T.int64(8)), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0, ax1 in T.grid(T.int64(6), T.int64(8)):
        with T.sblock("T_tile"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x0[v_ax0 % T.int64(3), v_ax1 % T.int64(4)])
            T.writes(T_tile[v_ax0, v_ax1])
            T_tile[v_ax0, v_ax1] = x0[v_ax0 % T.int64(3), v_ax1 % T.int64(4)]
