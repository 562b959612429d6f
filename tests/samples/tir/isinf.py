# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def isinf(x0: T.Buffer((T.int64(6),), "float32"), compute: T.Buffer((T.int64(6),), "bool")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for i0 in range(T.int64(6)):
        with T.sblock("compute"):
            v_i0 = T.axis.spatial(T.int64(6), i0)
            T.reads(x0[v_i0])
            T.writes(compute[v_i0])
            compute[v_i0] = T.fabs(x0[v_i0]) == T.float32("inf") and not T.isnan(x0[v_i0])
