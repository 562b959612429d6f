# check 2024-04: 0
# Two devices have the number 0, and the type of the hint tells which of them is meant; one has options behind its kind.
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice("llvm", 0), I.vdevice("cuda -arch=sm_80", 0)]})
    @R.function
    def main(x: R.Tensor((3,), "float32")):
        with R.dataflow():
            a = R.hint_on_device(x, R.device(device_type=2, index=0))
            b = R.hint_on_device(x, R.cuda(0), memory_scope="global")
            c = R.add(a, b)
            R.output(c)
        return c
