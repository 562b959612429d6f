# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(start: R.Tensor((), dtype="float32"), limit: R.Tensor((), dtype="float32"), delta: R.Tensor((), dtype="float32")) -> R.Tensor(dtype="float32", ndim=1):
        R.func_attr({"num_input": 3})
        range_len_0 = T.int64()
        with R.dataflow():
            lv: R.Tensor((), dtype="float32") = R.subtract(limit, start)
            lv1: R.Tensor((), dtype="float64") = R.astype(lv, dtype="float64")
            lv2: R.Tensor((), dtype="float64") = R.astype(delta, dtype="float64")
            lv3: R.Tensor((), dtype="float64") = R.divide(lv1, lv2)
            lv4: R.Tensor((), dtype="float64") = R.ceil(lv3)
            lv5: R.Tensor((), dtype="float64") = R.maximum(lv4, R.const(0.0, "float64"))
            lv6: R.Tensor((), dtype="int64") = R.astype(lv5, dtype="int64")
            lv7: R.Tensor((1,), dtype="int64") = R.match_cast(R.reshape(lv6, R.shape([1])), R.Tensor((1,), dtype="int64"))
            lv8: R.Shape(ndim=1) = R.tensor_to_shape(lv7)
            lv9: R.Shape([range_len_0]) = R.match_cast(lv8, R.Shape([range_len_0]))
            lv10: R.Tensor((range_len_0,), dtype="int64") = R.arange(0, range_len_0, 1, dtype="int64")
            lv11: R.Tensor((range_len_0,), dtype="float32") = R.astype(lv10, dtype="float32")
            lv12: R.Tensor((range_len_0,), dtype="float32") = R.multiply(lv11, delta)
            gv: R.Tensor((range_len_0,), dtype="float32") = R.add(lv12, start)
            R.output(gv)
        return gv
