# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def take_symbolic(x0: T.Buffer((T.int64(4), T.int64(3)), "float32"), var_x1: T.handle, var_T_take: T.handle):
    T.func_attr({"tirx.noalias": True})
    n = T.int64()
    x1 = T.match_buffer(var_x1, (n,), "int32")
    T_take = T.match_buffer(var_T_take, (n, T.int64(3)))
    # with T.sblock("root"):
    for ax0, ax1 in T.grid(n, T.int64(3)):
        with T.sblock("T_take"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x0[x1[v_ax0], v_ax1], x1[v_ax0])
            T.writes(T_take[v_ax0, v_ax1])
            T_take[v_ax0, v_ax1] = x0[x1[v_ax0], v_ax1]
