# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), dtype="float32")) -> R.Tensor((4, 8), dtype="float32"):
        with R.dataflow():
            gv: R.Tensor((4, 8), dtype="float32") = R.hint_on_device(x, R.device(device_type=2, index=1), "global")
            R.output(gv)
        return gv
