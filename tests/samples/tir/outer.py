# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def outer(x0: T.Buffer((T.int64(3),), "float32"), x1: T.Buffer((T.int64(4),), "float32"), outer: T.Buffer((T.int64(3), T.int64(4)), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for i, j in T.grid(T.int64(3), T.int64(4)):
        with T.sblock("outer"):
            v_i, v_j = T.axis.remap("SS", [i, j])
            T.reads(x0[v_i], x1[v_j])
            T.writes(outer[v_i, v_j])
            outer[v_i, v_j] = x0[v_i] * x1[v_j]
