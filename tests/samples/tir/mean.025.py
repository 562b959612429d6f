# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def mean(var_x0: T.handle, var_T_divide: T.handle):
    T.func_attr({"tirx.noalias": True})
    n = T.int64()
    x0 = T.match_buffer(var_x0, (n, T.int64(4)))
    T_divide = T.match_buffer(var_T_divide, (n,))
    # with T.sblock("root"):
    x0_red = T.sblock_alloc_buffer((n,))
    for ax0, k1 in T.grid(n, T.int64(4)):
        with T.sblock("x0_red"):
            v_ax0, v_k1 = T.axis.remap("SR", [ax0, k1])
            T.reads(x0[v_ax0, v_k1])
            T.writes(x0_red[v_ax0])
            with T.init():
                x0_red[v_ax0] = T.float32(0.0)
            x0_red[v_ax0] = x0_red[v_ax0] + x0[v_ax0, v_k1]
    for ax0 in range(n):
        with T.sblock("T_divide"):
            v_ax0 = T.axis.spatial(n, ax0)
            T.reads(x0_red[v_ax0])
            T.writes(T_divide[v_ax0])
            T_divide[v_ax0] = x0_red[v_ax0] / T.float32(4.0)
