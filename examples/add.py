# The length of `y` is known only when the program runs; the match_cast checks that it is the length of `x`.
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(dtype="float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        z = R.match_cast(y, R.Tensor((n,), "float32"))
        return R.add(x, z)
