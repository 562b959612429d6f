# check 2024-04: 0
# modules: Double
# Without a call in the file it is not known what a factory makes: it is skipped, and told.
from tvm.script import ir as I, relax as R, tir as T
def twice(n, dtype):
    @T.prim_func
    def double(a: T.Buffer((n,), dtype), b: T.Buffer((n,), dtype)):
        for i in range(n):
            b[i] = a[i] + a[i]
    return double
@I.ir_module
class Double:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return R.add(x, x)
