# error 7: print the module with `mod.script(show_meta=True)`
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        y = R.add(x, metadata["relax.expr.Constant"][0])
        return y
