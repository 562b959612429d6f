# Five mistakes: `relax-spec check examples/mistakes.py` names each, with its place and its rule.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), c: R.Tensor((), "bool")) -> R.Tensor(("n", 4), "float32"):
        with R.dataflow():
            lv = R.add(x, x)
            if c:
                w = R.add(x, x)
            else:
                w = x
            out = R.multiply(lv, y)
            R.output(out)
        z = R.add(lv, out)
        k = T.int64()
        s = R.shape([k])
        t: R.Tensor((4, 4), "float32", ndim=3) = R.add(z, z)
        return z
