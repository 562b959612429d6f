# check 2024-04: 0
# An operator by the path of its function in Python, with the file that it stands in and without.
import tvm
from tvm import relax
from tvm.relax.op import nn
from tvm.relax import op
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 2, 4, 4), "float32"), w: R.Tensor((3, 2, 3, 3), "float32")) -> R.Tensor((1, 3, 2, 2), "float32"):
        with R.dataflow():
            a = relax.op.nn.conv2d(x, w)
            b = relax.op.binary.add(a, a)
            c = tvm.relax.op.unary.exp(b)
            d = nn.relu(c)
            e = op.manipulate.permute_dims(d, [0, 1, 3, 2])
            f = op.nn.nn.softmax(e, axis=-1)
            R.output(f)
        return f
