# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def matmul_batched(x0: T.Buffer((T.int64(2), T.int64(3), T.int64(4)), "float32"), x1: T.Buffer((T.int64(4), T.int64(2)), "float32"), matmul: T.Buffer((T.int64(2), T.int64(3), T.int64(2)), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for i0, i1, i2, k in T.grid(T.int64(2), T.int64(3), T.int64(2), T.int64(4)):
        with T.sblock("matmul"):
            v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
            T.reads(x0[v_i0, v_i1, v_k], x1[v_k, v_i2])
            T.writes(matmul[v_i0, v_i1, v_i2])
            with T.init():
                matmul[v_i0, v_i1, v_i2] = T.float32(0.0)
            matmul[v_i0, v_i1, v_i2] = matmul[v_i0, v_i1, v_i2] + x0[v_i0, v_i1, v_k] * x1[v_k, v_i2]
