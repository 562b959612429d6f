# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def take(x0: T.Buffer((T.int64(4), T.int64(3)), "float32"), x1: T.Buffer((T.int64(2),), "int64"), T_take: T.Buffer((T.int64(2), T.int64(3)), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0, ax1 in T.grid(T.int64(2), T.int64(3)):
        with T.sblock("T_take"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x0[x1[v_ax0], v_ax1], x1[v_ax0])
            T.writes(T_take[v_ax0, v_ax1])
            T_take[v_ax0, v_ax1] = x0[x1[v_ax0], v_ax1]
