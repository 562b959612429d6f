# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def aliases(A: T.Buffer((6,), "int32"), B: T.Buffer((2, 3), "int32")):
    C = T.alloc_buffer((6,), "int32")
    D = T.decl_buffer((6,), "int32", data=C.data)
    for i in range(6):
        C[i] = A[i] + 1
    for i, j in T.grid(2, 3):
        B[i, j] = C[j * 2 + i]
        if j < 2:
            B[i, j] = B[i, j] * D[j * 2 + i]
