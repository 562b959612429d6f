# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(n: T.int64, x: R.Tensor((n, 4), dtype="float32")) -> R.Tuple(T.int64, R.Tuple(R.Tensor((n, n + 1), dtype="float32"), R.Tensor((n, 4), dtype="float32"))):
        gv: T.int64 = n + 1
        gv1: R.Tensor((n, n + 1), dtype="float32") = R.zeros(R.shape([n, n + 1]), dtype="float32")
        return (gv, (gv1, x))
