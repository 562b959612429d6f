# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(input: R.Tensor((3, 5), dtype="float32")) -> R.Tensor((3, 5), dtype="float8_e5m2"):
        R.func_attr({"num_input": 1})
        with R.dataflow():
            gv: R.Tensor((3, 5), dtype="float8_e5m2") = R.astype(input, dtype="float8_e5m2")
            R.output(gv)
        return gv
