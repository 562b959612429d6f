# check 2023-02: 1 WF.6.REC@17
# check 2024-04: 1 WF23-12.7.REC@17
# A dataflow block has no control flow, and so no call of the function around it: criterion 6 of the first edition. The
# releases of TVM do not look for one.
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
                s: R.Tensor(dtype="float32", ndim=1) = Module.main(w, j)
                R.output(s)
            r: R.Tensor(dtype="float32", ndim=1) = s
        else:
            r: R.Tensor(dtype="float32", ndim=1) = v
        return r
