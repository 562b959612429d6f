# check 2023-02: 2 GRAM.DTYPE.FLOAT@6 GRAM.DTYPE.INT@7
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float23"), y: R.Tensor((2,), "float32")):
        z = R.astype(y, "int46")
        return x
