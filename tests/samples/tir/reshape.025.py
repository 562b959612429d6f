# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def reshape(var_x0: T.handle, var_T_reshape: T.handle):
    T.func_attr({"tirx.noalias": True})
    n = T.int64()
    x0 = T.match_buffer(var_x0, (n, T.int64(4)))
    T_reshape = T.match_buffer(var_T_reshape, (n * T.int64(2), T.int64(2)))
    # with T.sblock("root"):
    for ax0, ax1 in T.grid(n * T.int64(2), T.int64(2)):
        with T.sblock("T_reshape"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x0[(v_ax0 * T.int64(2) + v_ax1) // T.int64(4) % n, (v_ax0 * T.int64(2) + v_ax1) % T.int64(4)])
            T.writes(T_reshape[v_ax0, v_ax1])
            T_reshape[v_ax0, v_ax1] = x0[(v_ax0 * T.int64(2) + v_ax1) // T.int64(4) % n, (v_ax0 * T.int64(2) + v_ax1) % T.int64(4)]
