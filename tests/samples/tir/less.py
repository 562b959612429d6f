# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def less(x0: T.Buffer((T.int64(6),), "float32"), x1: T.Buffer((T.int64(6),), "float32"), T_less: T.Buffer((T.int64(6),), "bool")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0 in range(T.int64(6)):
        with T.sblock("T_less"):
            v_ax0 = T.axis.spatial(T.int64(6), ax0)
            T.reads(x0[v_ax0], x1[v_ax0])
            T.writes(T_less[v_ax0])
            T_less[v_ax0] = x0[v_ax0] < x1[v_ax0]
