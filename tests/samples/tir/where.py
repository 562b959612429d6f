# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def where(x0: T.Buffer((T.int64(4),), "bool"), x1: T.Buffer((T.int64(3), T.int64(4)), "float32"), x2: T.Buffer((T.int64(3), T.int64(1)), "float32"), T_where: T.Buffer((T.int64(3), T.int64(4)), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0, ax1 in T.grid(T.int64(3), T.int64(4)):
        with T.sblock("T_where"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x0[v_ax1], x1[v_ax0, v_ax1], x2[v_ax0, T.int64(0)])
            T.writes(T_where[v_ax0, v_ax1])
            T_where[v_ax0, v_ax1] = T.Select(T.int64(0) < T.Cast("int64", x0[v_ax1]), x1[v_ax0, v_ax1], x2[v_ax0, T.int64(0)])
