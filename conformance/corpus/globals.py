@I.ir_module
class Module:
    @R.function
    def helper(x: R.Tensor(("k",), "float32")) -> R.Tensor(("k",), "float32"):
        y = R.add(x, R.const(1.0, "float32"))
        return y

    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tuple(R.Tensor(("n",), "float32"), R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        a: R.Tensor((n,), "float32") = cls.helper(x)
        h = cls.helper(a)
        b = (a, h)
        c = b[1]
        return (a, c)
