# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def mod_i64(x0: T.Buffer((T.int64(6),), "int64"), x1: T.Buffer((T.int64(6),), "int64"), T_mod: T.Buffer((T.int64(6),), "int64")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0 in range(T.int64(6)):
        with T.sblock("T_mod"):
            v_ax0 = T.axis.spatial(T.int64(6), ax0)
            T.reads(x0[v_ax0], x1[v_ax0])
            T.writes(T_mod[v_ax0])
            T_mod[v_ax0] = T.truncmod(x0[v_ax0], x1[v_ax0])
