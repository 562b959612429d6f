# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def silu(x0: T.Buffer((T.int64(6),), "float32"), T_multiply: T.Buffer((T.int64(6),), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    compute = T.sblock_alloc_buffer((T.int64(6),))
    for i0 in range(T.int64(6)):
        with T.sblock("compute"):
            v_i0 = T.axis.spatial(T.int64(6), i0)
            T.reads(x0[v_i0])
            T.writes(compute[v_i0])
            compute[v_i0] = T.sigmoid(x0[v_i0])
    for ax0 in range(T.int64(6)):
        with T.sblock("T_multiply"):
            v_ax0 = T.axis.spatial(T.int64(6), ax0)
            T.reads(x0[v_ax0], compute[v_ax0])
            T.writes(T_multiply[v_ax0])
            T_multiply[v_ax0] = x0[v_ax0] * compute[v_ax0]
