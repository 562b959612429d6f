# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import relax as R

v = TypeVar("v")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((v, 5), dtype="int64"), k: R.Tensor((), dtype="int64")) -> R.Tensor((v, 5), dtype="int64"):
        R.func_attr({"num_input": 2})
        with R.dataflow():
            lv: R.Tensor((5,), dtype="int64") = R.arange(0, 5, 1, dtype="int64")
            lv1: R.Tensor((1, 5), dtype="int64") = R.reshape(lv, R.shape([1, 5]))
            lv2: R.Tensor((v,), dtype="int64") = R.arange(0, v, 1, dtype="int64")
            lv3: R.Tensor((v, 1), dtype="int64") = R.reshape(lv2, R.shape([v, 1]))
            lv4: R.Tensor((v, 5), dtype="int64") = R.subtract(lv1, lv3)
            lv5: R.Tensor((), dtype="int64") = R.astype(k, dtype="int64")
            lv6: R.Tensor((v, 5), dtype="bool") = R.greater_equal(lv4, lv5)
            lv7: R.Tensor((v, 5), dtype="bool") = R.broadcast_to(lv6, R.shape([v, 5]))
            gv: R.Tensor((v, 5), dtype="int64") = R.where(lv7, x, R.const(0, "int64"))
            R.output(gv)
        return gv
