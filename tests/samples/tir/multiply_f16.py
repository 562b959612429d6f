# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def multiply_f16(x0: T.Buffer((T.int64(8),), "float16"), x1: T.Buffer((T.int64(8),), "float16"), T_multiply: T.Buffer((T.int64(8),), "float16")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0 in range(T.int64(8)):
        with T.sblock("T_multiply"):
            v_ax0 = T.axis.spatial(T.int64(8), ax0)
            T.reads(x0[v_ax0], x1[v_ax0])
            T.writes(T_multiply[v_ax0])
            T_multiply[v_ax0] = x0[v_ax0] * x1[v_ax0]
