# from typing import TypeVar
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

elem_offset = TypeVar("elem_offset")
elem_offset_1 = TypeVar("elem_offset_1")
@T.prim_func(s_tir=True)
def scatter_nd(x0: T.Buffer((T.int64(8),), "float32", elem_offset=elem_offset_1), x1: T.Buffer((T.int64(4), T.int64(1)), "int64"), x2: T.Buffer((T.int64(4),), "float32", elem_offset=elem_offset), out_buf: T.Buffer((T.int64(8),), "float32")):
    T.func_attr({"tirx.noalias": True})
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
