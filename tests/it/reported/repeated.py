# check 2024-04: 0
# Lists that Python makes, in annotations and in values, from names around the module.
from tvm.script import ir as I, relax as R, tir as T
LAYERS = 3
WIDTH = 8
@I.ir_module
class Module:
    @R.function
    def main(ps: R.Tuple(*([R.Tensor((WIDTH // 2,), "float32")] * LAYERS), *[R.Tensor((i + 1,), "float32") for i in range(2)])) -> R.Tensor((4,), "float32"):
        axes = [0]
        layer = 2 * LAYERS - 4
        info = R.Tensor((WIDTH // 2,), "float32")
        a: R.Tensor((4,), "float32") = ps[LAYERS - 1]
        s: R.Tensor((1,), "float32") = ps[LAYERS]
        b = R.sum(a, axis=axes, keepdims=True)
        c = R.call_pure_packed("scale", a, b, sinfo_args=[info])
        return c
