# check 2024-04: 0
# Functions of Python in a module are packed functions of which nothing is known.
from tvm.relax import BasePyModule
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module(BasePyModule):
    @I.pyfunc
    def normalize(self, x):
        y = self._convert(x)
        return y / y.sum()
    def helper(self):
        return 1
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = R.call_py_func("normalize", (x,), out_sinfo=R.Tensor((4,), "float32"))
        return y
