# error 10: programs of distributed tensors are not read
# One sentence for all of it.
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    I.module_global_infos({"mesh": [R.device_mesh((4,), I.Range(0, 4))]})
    @R.function
    def main(
        a: R.Tensor((8,), "float32"),
        x: R.DTensor((8, 8), "float32", "mesh[0]", "S[0]"),
    ) -> R.DTensor((8, 8), "float32", "mesh[0]", "S[0]"):
        y: R.DTensor((8, 8), "float32", "mesh[0]", "S[0]") = R.add(x, x)
        z = R.dist.redistribute(y, "mesh[0]", "R")
        return y
