# check 2023-02: 0
# check 2024-04: 1 SI.DERIVE.CALL.OP.PURITY@13
# A closure is an object and may be printed. From edition 2023-12 on a function is pure unless it says otherwise, and
# print is not.
from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        @R.function
        def doubled(y: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
            return R.add(y, y)
        a = R.print(doubled, format="{}")
        return a
