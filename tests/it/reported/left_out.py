# check 2024-04: 0
# run [[1, 2, 3], [4, 5, 6]]:float32: ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]:float32, [[1, 0], [0, 1]]:int32, [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]:float32, [[0.0, 1.0], [0.0, 0.0]]:float32)
# What the functions of Python write for parameters that are left out.
from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")):
        a = R.memory.view(x, [3, 2])
        b = R.eye(2, dtype="int32")
        c = R.eye_like(x)
        d = R.eye(2, k=1)
        return (a, b, c, d)
