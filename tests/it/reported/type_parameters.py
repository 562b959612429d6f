# check 2024-04: 0
from tvm.script import ir as I, relax as R, tirx as T
@I.ir_module
class Module:
    @R.function
    def main[n: T.int64, m: T.int64](x: R.Tensor((n, m), "float32")) -> R.Tensor((n, m), "float32"):
        gv: R.Tensor((n, m), "float32") = R.add(x, x)
        return gv
