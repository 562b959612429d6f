# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def index_put(var_x0: T.handle, var_x1: T.handle, var_x2: T.handle, out_buf: T.Buffer((T.int64(8),), "float32")):
    T.func_attr({"tirx.noalias": True})
    x0 = T.match_buffer(var_x0, (T.int64(8),), offset_factor=1)
    x1 = T.match_buffer(var_x1, (T.int64(3),), "int64", offset_factor=1)
    x2 = T.match_buffer(var_x2, (T.int64(3),), offset_factor=1)
    with T.sblock("index_put_generic"):
        T.reads()
        T.writes()
        T.attr({"pragma_scope": "seq"})
        for v in T.parallel(T.int64(8)):
            out_buf[v] = x0[v]
        for v in T.parallel(T.int64(3)):
            out_buf[x1[v % T.int64(3)] + T.Cast("int64", x1[v % T.int64(3)] < T.int64(0)) * T.int64(8)] = x2[v]
