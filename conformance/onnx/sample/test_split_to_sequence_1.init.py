# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(data: R.Tensor((3, 6), dtype="float32")) -> R.Tuple(R.Tensor((3, 2), dtype="float32"), R.Tensor((3, 2), dtype="float32"), R.Tensor((3, 2), dtype="float32")):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            gv: R.Tuple(R.Tensor((3, 2), dtype="float32"), R.Tensor((3, 2), dtype="float32"), R.Tensor((3, 2), dtype="float32")) = R.split(data, indices_or_sections=3, axis=1)
            R.output(gv)
        return gv
