# check 2024-04: 0
# A module beside passes and models of Python, one of which a class holds.
import tvm
from tvm import relax
from tvm.relax.frontend import nn
from tvm.script import ir as I, relax as R, tir as T

@relax.expr_functor.mutator
class Fuse(relax.PyExprMutator):
    def visit_call_(self, call):
        return super().visit_call_(call)

@tvm.ir.transform.module_pass(opt_level=0, name="Fuse")
class FusePass:
    def transform_module(self, mod, ctx):
        return mod

@relax.transform.function_pass(opt_level=1)
def count(func, mod, ctx):
    return func

class Model(nn.Module):
    def forward(self, x):
        return x

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 4), "float32")):
        y = R.add(x, x)
        return y
