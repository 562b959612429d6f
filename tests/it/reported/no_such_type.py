# error 6: `float23` is not a data type
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float23"), y: R.Tensor((2,), "float32")):
        z = R.astype(y, "int46")
        return x
