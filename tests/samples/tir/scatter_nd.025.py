# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def scatter_nd(var_x0: T.handle, x1: T.Buffer((T.int64(4), T.int64(1)), "int64"), var_x2: T.handle, out_buf: T.Buffer((T.int64(8),), "float32")):
    T.func_attr({"tirx.noalias": True})
    x0 = T.match_buffer(var_x0, (T.int64(8),), offset_factor=1)
    x2 = T.match_buffer(var_x2, (T.int64(4),), offset_factor=1)
    # with T.sblock("root"):
    T_transpose = T.sblock_alloc_buffer((T.int64(1), T.int64(4)), "int64")
    for ax0, ax1 in T.grid(T.int64(1), T.int64(4)):
        with T.sblock("T_transpose"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads(x1[v_ax1, v_ax0])
            T.writes(T_transpose[v_ax0, v_ax1])
            T_transpose[v_ax0, v_ax1] = x1[v_ax1, v_ax0]
    with T.sblock("scatter_nd_generic"):
        T.reads()
        T.writes()
        T.attr({"pragma_scope": "seq"})
        for v in range(T.int64(8)):
            out_buf[v] = x0[v]
        for v in range(T.int64(4)):
            for v_1 in T.parallel(T.int64(1)):
                out_buf[v_1 + T_transpose[v // T.int64(4), v % T.int64(4)]] = x2[v + v_1]
