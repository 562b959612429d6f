# check 2024-04: 0
# Shape variables in front of two modules, as the next release of TVM prints them.
from tvm.script import ir as I, relax as R, tir as T
n = I.dynamic("n", dtype="int64")
m = I.dynamic("m", "int64")
@I.ir_module
class First:
    @T.prim_func(private=True)
    def copy(a: T.Buffer((n,), "float32"), b: T.Buffer((n,), "float32")):
        for i in range(n):
            b[i] = a[i]
    @R.function
    def main(x: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
        y = R.call_tir(First.copy, (x,), R.Tensor((n,), "float32"))
        return y
@I.ir_module
class Second:
    @R.function
    def main(x: R.Tensor((n, m), "float32")) -> R.Tensor((m, n), "float32"):
        y = R.permute_dims(x)
        return y
