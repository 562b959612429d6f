# check 2024-04: 0
# modules: of_size.Module of_size.Module#2 of_size.Module#3 of_size.Module#4 InLoop InLoop#2
# A function that makes modules, called in a loop and in a comprehension.
from tvm.script import ir as I, relax as R
def of_size(n, dtype="float32"):
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((n,), dtype)) -> R.Tensor((n,), dtype):
            y = R.add(x, x)
            return y
    return Module
SIZES = (1, 2)
for size in SIZES:
    made = of_size(size)
others = [of_size(2 * n, dtype=kind) for n, kind in [(3, "int32"), (4, "float16")]]
for width, kind in [(5, "int8"), (6, "int16")]:
    @I.ir_module
    class InLoop:
        @R.function
        def main(x: R.Tensor((width,), kind)) -> R.Tensor((width,), kind):
            return x
