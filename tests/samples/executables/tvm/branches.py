# The program of which TVM has made the executables beside: a closure, sizes, and a branch.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 2), "float32"), c: R.Tensor((), "bool")) -> R.Tensor(("n", 2), "float32"):
        n = T.int64()
        y = R.add(x, R.const([1.0, 2.0], "float32"))

        @R.function
        def f(z: R.Tensor((n, 2), "float32")) -> R.Tensor((n, 2), "float32"):
            return R.multiply(z, y)

        if c:
            w = f(x)
        else:
            q = R.reshape(y, R.shape([n * 2]))
            w = R.reshape(q, R.shape([n, 2]))
        return w
