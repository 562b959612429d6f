# check 2024-04: 0
# run [[0, 0], [2, 2]]:float32: [[1.5, 3.0], [5.5, 7.0]]:float32
# Arrays of NumPy as constants. Those of NumPy's own types are narrowed as numbers are.
import numpy as np
from tvm.script import ir as I, relax as R
WEIGHT = np.array([[1, 2], [3, 4]])
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 2), "float32")) -> R.Tensor((2, 2), "float32"):
        a = R.matmul(x, R.const(np.eye(2, dtype="float32")))
        b = R.add(a, R.const(WEIGHT, "float32"))
        c = R.multiply(b, R.const(np.full((2,), 0.5)))
        d = R.add(c, R.const(np.float32(1)))
        e: R.Tensor((2, 2), "int32") = R.const(np.arange(4).reshape(2, -1))
        f = R.add(d, R.astype(e, "float32"))
        return f
