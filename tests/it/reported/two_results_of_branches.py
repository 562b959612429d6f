# error 7: both branches must end with a binding of one variable, but they bind `y` and `z`
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((1,), "float32")):
        if c:
            y = R.add(x, x)
        else:
            z = R.multiply(x, x)
        return y
