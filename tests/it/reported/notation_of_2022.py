# check 2023-02: 0
# run [1, -2, 3, 4]:float32; [[1]]:float32: [1.0, 4.0]:float32
# The first notation of Relax: operators without a prefix, shapes as properties, several outputs by lists of shapes and data types.
import tvm.script
from tvm.script import tir as T, relax as R
@tvm.script.ir_module
class Old:
    @T.prim_func
    def halves(A: T.Buffer[(4,), "float32"], B: T.Buffer[(2,), "float32"], C: T.Buffer[(2,), "int32"]) -> None:
        for i in T.grid(2):
            B[i] = A[i]
            C[i] = i
    @R.function
    def main(x: Tensor[(4,), "float32"], y: Tensor[(_, _), "float32"]) -> Tensor[(2,), "float32"]:
        s: Shape = y.shape
        relax.match_shape(y.shape, (n, m))
        parts = relax.call_tir(halves, (x,), [(2,), (2,)], dtype=["float32", "int32"])
        a = parts[0]
        b = multiply(a, a)
        c = nn.relu(b)
        return c
