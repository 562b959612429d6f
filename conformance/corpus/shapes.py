@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", "m"), "float32"), s: R.Shape(ndim=2)) -> R.Tuple(R.Tensor(("n * m",), "float32"), R.Shape(ndim=2)):
        n = T.int64()
        m = T.int64()
        a = T.int64()
        b = T.int64()
        with R.dataflow():
            flat = R.reshape(x, R.shape([n * m]))
            t = R.match_cast(s, R.Shape([a, b]))
            pair = (flat, R.shape([a + b, a * b]))
            out = pair
            R.output(out, flat, t)
        return (flat, t)
