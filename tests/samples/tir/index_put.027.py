# from typing import TypeVar
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

elem_offset = TypeVar("elem_offset")
elem_offset_1 = TypeVar("elem_offset_1")
elem_offset_2 = TypeVar("elem_offset_2")
@T.prim_func(s_tir=True)
def index_put(x0: T.Buffer((T.int64(8),), "float32", elem_offset=elem_offset_2), x1: T.Buffer((T.int64(3),), "int64", elem_offset=elem_offset_1), x2: T.Buffer((T.int64(3),), "float32", elem_offset=elem_offset), out_buf: T.Buffer((T.int64(8),), "float32")):
    T.func_attr({"tirx.noalias": True})
    with T.sblock("index_put_generic"):
        T.reads()
        T.writes()
        T.attr({"pragma_scope": "seq"})
        for v in T.parallel(T.int64(8)):
            out_buf[v] = x0[v]
        for v in T.parallel(T.int64(3)):
            out_buf[x1[v % T.int64(3)] + T.Cast("int64", x1[v % T.int64(3)] < T.int64(0)) * T.int64(8)] = x2[v]
