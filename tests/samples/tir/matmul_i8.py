# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def matmul_i8(x0: T.Buffer((T.int64(3), T.int64(4)), "int8"), x1: T.Buffer((T.int64(4), T.int64(2)), "int8"), matmul: T.Buffer((T.int64(3), T.int64(2)), "int32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for i0, i1, k in T.grid(T.int64(3), T.int64(2), T.int64(4)):
        with T.sblock("matmul"):
            v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
            T.reads(x0[v_i0, v_k], x1[v_k, v_i1])
            T.writes(matmul[v_i0, v_i1])
            with T.init():
                matmul[v_i0, v_i1] = 0
            matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + T.Cast("int32", x0[v_i0, v_k]) * T.Cast("int32", x1[v_k, v_i1])
