# check 2024-04: 0
# The attribute as a number of Python, in the spelling of the text.
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")):
        R.func_attr({"force_pure": 1})
        y = R.call_packed("look", x, sinfo_args=R.Object)
        return x
