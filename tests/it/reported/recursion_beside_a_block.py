# check 2023-02: 0
# check 2024-04: 0
# run [1, 2]:float32; -1:int32: [4.0, 8.0]:float32
# The same call behind the block.
from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function
    def main(v: R.Tensor(("n",), "float32"), i: R.Tensor((), "int32")) -> R.Tensor(dtype="float32", ndim=1):
        with R.dataflow():
            c = R.less(i, R.const(1, "int32"))
            R.output(c)
        if c:
            with R.dataflow():
                j = R.add(i, R.const(1, "int32"))
                w = R.add(v, v)
                R.output(j, w)
            r: R.Tensor(dtype="float32", ndim=1) = Module.main(w, j)
        else:
            r: R.Tensor(dtype="float32", ndim=1) = v
        return r
