# check 2024-04: 0
# run [[1, -2, 3], [-4, 5, -6]]:float32: [[1.0, 0.0, 3.0], [0.0, 5.0, 0.0]]:float32
# The dimensions of a buffer, each in a variable.
from tvm.script import ir as I, relax as R, tirx as T
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def relu(A: T.Buffer((2, 3), "float32"), B: T.Buffer((2, 3), "float32")):
        m, n = A.shape
        zero, first = T.float32(0), 0
        for i in range(first, m):
            for j in range(first, n):
                B[i, j] = T.max(A[i, j], zero)
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        y = R.call_tir(Module.relu, (x,), out_sinfo=R.Tensor((2, 3), "float32"))
        return y
