# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3, 4), dtype="float32")) -> R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="int64")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            lv: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="int64")) = R.topk(x, k=3, axis=1, ret_type="both", largest=False, dtype="int64")
            lv1: R.Tensor((3, 3), dtype="float32") = lv[0]
            lv2: R.Tensor((3, 3), dtype="int64") = lv[1]
            gv: R.Tuple(R.Tensor((3, 3), dtype="float32"), R.Tensor((3, 3), dtype="int64")) = lv1, lv2
            R.output(gv)
        return gv
