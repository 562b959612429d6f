# check 2024-04: 1 OP.CALLTIR.PRIMSIG@16
# The tuple of one that is written holds a tuple, which no PrimFunc takes.
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def negate(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
        for i in range(2):
            b[i] = T.float32(0) - a[i]
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        t = (x,)
        good = R.call_tir(Module.negate, (t[0],), R.Tensor((2,), "float32"))
        whole = R.call_tir(Module.negate, t, R.Tensor((2,), "float32"))
        both = R.add(good, whole)
        bad = R.call_tir(Module.negate, (t,), R.Tensor((2,), "float32"))
        return (both, bad)
