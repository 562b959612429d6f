# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(n_1: R.Prim(value="n"), x: R.Tensor(("n", 4), dtype="float32")) -> R.Tuple(R.Prim(value="n + 1"), R.Tuple(R.Tensor(("n", "n + 1"), dtype="float32"), R.Tensor(("n", 4), dtype="float32"))):
        n = T.int64()
        gv: R.Prim(value=n + 1) = R.prim_value(n + 1)
        gv1: R.Tensor((n, n + 1), dtype="float32") = R.zeros(R.shape([n, n + 1]), dtype="float32")
        return (gv, (gv1, x))
