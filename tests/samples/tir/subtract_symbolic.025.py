# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def subtract_symbolic(var_x0: T.handle, var_x1: T.handle, var_T_subtract: T.handle):
    T.func_attr({"tirx.noalias": True})
    n = T.int64()
    x0 = T.match_buffer(var_x0, (n, T.int64(3)))
    x1 = T.match_buffer(var_x1, (n, T.int64(3)))
    T_subtract = T.match_buffer(var_T_subtract, (n, T.int64(3)))
    # with T.sblock("root"):
    for ax0, ax1 in T.grid(n, T.int64(3)):
        with T.sblock("T_subtract"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x0[v_ax0, v_ax1], x1[v_ax0, v_ax1])
            T.writes(T_subtract[v_ax0, v_ax1])
            T_subtract[v_ax0, v_ax1] = x0[v_ax0, v_ax1] - x1[v_ax0, v_ax1]
