# check 2024-04: 0
# What a call in place takes, by place: the indices before the outputs, and variables behind them.
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def shift(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
        for i in range(2):
            a[i] = a[i] + b[i]
            b[i] = T.float32(0)
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        y = R.add(x, x)
        z = R.multiply(x, x)
        both = R.call_tir_inplace(Module.shift, (y, z), [0, 1], [R.Tensor((2,), "float32"), R.Tensor((2,), "float32")])
        return both
