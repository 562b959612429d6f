# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def multiply_u8_wraps(x0: T.Buffer((T.int64(8),), "uint8"), x1: T.Buffer((T.int64(8),), "uint8"), T_multiply: T.Buffer((T.int64(8),), "uint8")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for ax0 in range(T.int64(8)):
        with T.sblock("T_multiply"):
            v_ax0 = T.axis.spatial(T.int64(8), ax0)
            T.reads(x0[v_ax0], x1[v_ax0])
            T.writes(T_multiply[v_ax0])
            T_multiply[v_ax0] = x0[v_ax0] * x1[v_ax0]
