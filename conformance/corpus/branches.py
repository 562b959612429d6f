@I.ir_module
class Module:
    @R.function
    def main(flag: R.Tensor((), "bool"), x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n", 4), "float32"):
        n = T.int64()
        if flag:
            a = R.add(x, x)
            b = R.multiply(a, x)
            r = R.add(b, a)
        else:
            r = R.multiply(x, x)
        return r
