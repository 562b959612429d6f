# error 7: `y` has no annotation
# What is derived of a variable is not known while the text is read.
from tvm.script import relax as R
@R.function
def main(x: R.Tensor((2, 3), "float32")):
    y = R.add(x, x)
    z: R.Tensor(y.struct_info.shape, "float32") = R.add(y, y)
    return z
