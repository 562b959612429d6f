# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(input: R.Tensor((7, 1), dtype="float16")) -> R.Tensor((7, 1), dtype="uint2"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            gv: R.Tensor((7, 1), dtype="uint2") = R.astype(input, dtype="uint2")
            R.output(gv)
        return gv
