# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def logical_not(x0: T.Buffer((T.int64(6),), "bool"), T_logical_not: T.Buffer((T.int64(6),), "bool")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0 in range(T.int64(6)):
        with T.sblock("T_logical_not"):
            v_ax0 = T.axis.spatial(T.int64(6), ax0)
            T.reads(x0[v_ax0])
            T.writes(T_logical_not[v_ax0])
            T_logical_not[v_ax0] = not x0[v_ax0]
