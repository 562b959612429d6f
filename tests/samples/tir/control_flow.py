# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis

@T.prim_func(s_tir=True)
def control_flow(A: T.Buffer((8,), "int32"), B: T.Buffer((8,), "int32")):
    for i in range(8):
        x: T.int32 = A[i] * A[i]
        y: T.let[T.int32] = x % 5
        B[i] = y
        while x > 10:
            x = x // 3
            if x % 2 == 0:
                B[i] = B[i] + x
            else:
                B[i] = B[i] - 1
        for j in range(2, 6):
            if j == i:
                T.break_loop()
            if j % 2 == 1:
                T.continue_loop()
            B[i] = B[i] * 2 + j
        for k in range(0, i, 3):
            B[i] = B[i] + k
