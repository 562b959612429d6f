# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def casts(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "int32"), C: T.Buffer((8,), "int8"), D: T.Buffer((8,), "uint8"), E: T.Buffer((8,), "float16"), F: T.Buffer((8,), "float32"), G: T.Buffer((8,), "bool")):
    for i in range(8):
        C[i] = T.Cast("int8", A[i])
        D[i] = T.Cast("uint8", B[i] * 100)
        E[i] = T.Cast("float16", A[i]) / T.float16(8.0)
        F[i] = T.Cast("float32", T.Cast("uint8", B[i]) + T.uint8(250))
        G[i] = T.Cast("bool", B[i] // 2) and A[i] < T.float32(3.0)
