# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def gelu(x0: T.Buffer((T.int64(6),), "float32"), T_multiply: T.Buffer((T.int64(6),), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    T_multiply_1 = T.sblock_alloc_buffer((T.int64(6),))
    compute = T.sblock_alloc_buffer((T.int64(6),))
    T_multiply_2 = T.sblock_alloc_buffer((T.int64(6),))
    T_add = T.sblock_alloc_buffer((T.int64(6),))
    for ax0 in range(T.int64(6)):
        with T.sblock("T_multiply"):
            v_ax0 = T.axis.spatial(T.int64(6), ax0)
            T.reads(x0[v_ax0])
            T.writes(T_multiply_1[v_ax0])
            T_multiply_1[v_ax0] = x0[v_ax0] * T.float32(0.70710678118654757)
    for i0 in range(T.int64(6)):
        with T.sblock("compute"):
            v_i0 = T.axis.spatial(T.int64(6), i0)
            T.reads(T_multiply_1[v_i0])
            T.writes(compute[v_i0])
            compute[v_i0] = T.erf(T_multiply_1[v_i0])
    for ax0 in range(T.int64(6)):
        with T.sblock("T_multiply_1"):
            v_ax0 = T.axis.spatial(T.int64(6), ax0)
            T.reads(compute[v_ax0])
            T.writes(T_multiply_2[v_ax0])
            T_multiply_2[v_ax0] = compute[v_ax0] * T.float32(0.5)
    for ax0 in range(T.int64(6)):
        with T.sblock("T_add"):
            v_ax0 = T.axis.spatial(T.int64(6), ax0)
            T.reads(T_multiply_2[v_ax0])
            T.writes(T_add[v_ax0])
            T_add[v_ax0] = T.float32(0.5) + T_multiply_2[v_ax0]
    for ax0 in range(T.int64(6)):
        with T.sblock("T_multiply_2"):
            v_ax0 = T.axis.spatial(T.int64(6), ax0)
            T.reads(x0[v_ax0], T_add[v_ax0])
            T.writes(T_multiply[v_ax0])
            T_multiply[v_ax0] = x0[v_ax0] * T_add[v_ax0]
