# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def integers(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32"), C: T.Buffer((6, 8), "int32")):
    for i in range(8):
        C[0, i] = T.Div(A[i], B[i])
        C[1, i] = T.truncmod(A[i], B[i])
        C[2, i] = A[i] // B[i]
        C[3, i] = A[i] % B[i]
        C[4, i] = A[i] * 1000003 * B[i] * 1000003
        C[5, i] = (A[i] << 3) + (A[i] >> 1) + (A[i] & 6 | B[i] ^ 5) + ~A[i]
