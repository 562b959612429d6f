# from typing import TypeVar
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

n = TypeVar("n")
@T.prim_func(s_tir=True)
def matmul(x0: T.Buffer((n, T.int64(4)), "float32"), x1: T.Buffer((T.int64(4), T.int64(3)), "float32"), matmul: T.Buffer((n, T.int64(3)), "float32")):
    T.func_attr({"tirx.noalias": True})
    # with T.sblock("root"):
    for i0, i1, k in T.grid(n, T.int64(3), T.int64(4)):
        with T.sblock("matmul"):
            v_i0, v_i1, v_k = T.axis.remap("SSR", [i0, i1, k])
            T.reads(x0[v_i0, v_k], x1[v_k, v_i1])
            T.writes(matmul[v_i0, v_i1])
            with T.init():
                matmul[v_i0, v_i1] = T.float32(0.0)
            matmul[v_i0, v_i1] = matmul[v_i0, v_i1] + x0[v_i0, v_k] * x1[v_k, v_i1]
