# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def transpose(var_x0: T.handle, var_T_transpose: T.handle):
    T.func_attr({"tirx.noalias": True})
    n = T.int64()
    x0 = T.match_buffer(var_x0, (T.int64(2), n, T.int64(4)))
    T_transpose = T.match_buffer(var_T_transpose, (T.int64(4), T.int64(2), n))
    # with T.sblock("root"):
    for ax0, ax1, ax2 in T.grid(T.int64(4), T.int64(2), n):
        with T.sblock("T_transpose"):
            v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
            T.reads(x0[v_ax1, v_ax2, v_ax0])
            T.writes(T_transpose[v_ax0, v_ax1, v_ax2])
            T_transpose[v_ax0, v_ax1, v_ax2] = x0[v_ax1, v_ax2, v_ax0]
