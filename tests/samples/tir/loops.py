# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def loops(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4, 8), "float32")):
    for i in T.parallel(4):
        for j in T.unroll(2):
            for k in T.vectorized(4):
                B[i, j * 4 + k] = T.Select(A[i, j * 4 + k] > T.float32(0.0), A[i, j * 4 + k] * T.float32(2.0), T.float32(-1.0))
