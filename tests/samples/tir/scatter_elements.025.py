# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def scatter_elements(var_x0: T.handle, var_x1: T.handle, var_x2: T.handle, out_buf: T.Buffer((T.int64(4), T.int64(3)), "float32")):
    T.func_attr({"tirx.noalias": True})
    x0 = T.match_buffer(var_x0, (T.int64(4), T.int64(3)), offset_factor=1)
    x1 = T.match_buffer(var_x1, (T.int64(2), T.int64(3)), "int64", offset_factor=1)
    x2 = T.match_buffer(var_x2, (T.int64(2), T.int64(3)), offset_factor=1)
    with T.sblock("scatter_elements_generic"):
        T.reads()
        T.writes()
        T.attr({"pragma_scope": "seq"})
        for v in T.parallel(T.int64(12)):
            out_buf[v // T.int64(3), v % T.int64(3)] = x0[v // T.int64(3), v % T.int64(3)]
        for v in T.parallel(T.int64(3)):
            for v_1 in range(T.int64(2)):
                out_buf[(v // T.int64(3) * T.int64(12) + v % T.int64(3) + (x1[(v // T.int64(3) * T.int64(6) + v % T.int64(3) + v_1 * T.int64(3)) // T.int64(3), (v // T.int64(3) * T.int64(6) + v % T.int64(3) + v_1 * T.int64(3)) % T.int64(3)] + T.Cast("int64", x1[(v // T.int64(3) * T.int64(6) + v % T.int64(3) + v_1 * T.int64(3)) // T.int64(3), (v // T.int64(3) * T.int64(6) + v % T.int64(3) + v_1 * T.int64(3)) % T.int64(3)] < T.int64(0)) * T.int64(4)) * T.int64(3)) // T.int64(3), (v // T.int64(3) * T.int64(12) + v % T.int64(3) + (x1[(v // T.int64(3) * T.int64(6) + v % T.int64(3) + v_1 * T.int64(3)) // T.int64(3), (v // T.int64(3) * T.int64(6) + v % T.int64(3) + v_1 * T.int64(3)) % T.int64(3)] + T.Cast("int64", x1[(v // T.int64(3) * T.int64(6) + v % T.int64(3) + v_1 * T.int64(3)) // T.int64(3), (v // T.int64(3) * T.int64(6) + v % T.int64(3) + v_1 * T.int64(3)) % T.int64(3)] < T.int64(0)) * T.int64(4)) * T.int64(3)) % T.int64(3)] = x2[(v // T.int64(3) * T.int64(6) + v % T.int64(3) + v_1 * T.int64(3)) // T.int64(3), (v // T.int64(3) * T.int64(6) + v % T.int64(3) + v_1 * T.int64(3)) % T.int64(3)]
