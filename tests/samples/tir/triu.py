# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def triu(x0: T.Buffer((T.int64(3), T.int64(4)), "int32"), trilu: T.Buffer((T.int64(3), T.int64(4)), "int32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for i0, i1 in T.grid(T.int64(3), T.int64(4)):
        with T.sblock("trilu"):
            v_i0, v_i1 = T.axis.remap("SS", [i0, i1])
            T.reads(x0[v_i0, v_i1])
            T.writes(trilu[v_i0, v_i1])
            trilu[v_i0, v_i1] = T.Select(v_i0 < v_i1, x0[v_i0, v_i1], 0)
