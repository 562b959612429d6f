# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def concat(var_x0: T.handle, var_x1: T.handle, var_T_concat: T.handle):
    T.func_attr({"tirx.noalias": True})
    n = T.int64()
    x0 = T.match_buffer(var_x0, (n, T.int64(3)))
    x1 = T.match_buffer(var_x1, (n, T.int64(2)))
    T_concat = T.match_buffer(var_T_concat, (n, T.int64(5)))
    # with T.sblock("root"):
    for ax0, ax1 in T.grid(n, T.int64(5)):
        with T.sblock("T_concat"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x1[v_ax0, v_ax1 - T.int64(3)], x0[v_ax0, v_ax1])
            T.writes(T_concat[v_ax0, v_ax1])
            T_concat[v_ax0, v_ax1] = T.if_then_else(T.int64(3) <= v_ax1, x1[v_ax0, v_ax1 - T.int64(3)], x0[v_ax0, v_ax1])
