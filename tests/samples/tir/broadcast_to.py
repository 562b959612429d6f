# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def broadcast_to(x0: T.Buffer((T.int64(3), T.int64(1)), "float32"), T_broadcast_to: T.Buffer((T.int64(2), T.int64(3), T.int64(4)), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0, ax1, ax2 in T.grid(T.int64(2), T.int64(3), T.int64(4)):
        with T.sblock("T_broadcast_to"):
            v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
            T.reads(x0[v_ax1, T.int64(0)])
            T.writes(T_broadcast_to[v_ax0, v_ax1, v_ax2])
            T_broadcast_to[v_ax0, v_ax1, v_ax2] = x0[v_ax1, T.int64(0)]
