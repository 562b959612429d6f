# error 8: a shape is a tuple, and `(3)` is a number: write `(3,)`
# A shape without its comma.
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor((3), "float32")
    ):
        return x
