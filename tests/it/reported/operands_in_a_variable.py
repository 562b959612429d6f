# check 2023-02: 0
# check 2024-04: 0
# run [1, 2]:float32: [2.0, 4.0]:float32
# A variable that holds the operands of call_tir is no normal form, into which it is brought first: its fields are the
# operands (NF.5.OPNORM.EXPAND).
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def twice(a: T.Buffer((2,), "float32"), b: T.Buffer((2,), "float32")):
        for i in range(2):
            b[i] = a[i] * T.float32(2)
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        held: R.Tuple(R.Tensor((2,), "float32")) = (x,)
        y = R.call_tir(Module.twice, held, out_sinfo=R.Tensor((2,), "float32"))
        return y
