# A PrimFunc, a dataflow block, a match_cast that binds the shape variable `m`, and a packed call.
@I.ir_module
class Module:
    @T.prim_func
    def scale(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,), "float32")
        B = T.match_buffer(b, (n,), "float32")
        for i in range(n):
            with T.block("scale"):
                vi = T.axis.spatial(n, i)
                B[vi] = A[vi] * T.float32(2)

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(ndim=1, dtype="float32")) -> R.Tensor(ndim=1, dtype="float32"):
        n = T.int64()
        with R.dataflow():
            doubled = R.call_tir(Module.scale, (x,), out_sinfo=R.Tensor((n,), "float32"))
            sum = R.add(doubled, x)
            R.output(sum)
        m = T.int64()
        z = R.match_cast(y, R.Tensor((m, ), "float32"))
        w = R.call_packed("relax_spec.log", z, sinfo_args=(R.Tensor((m,), "float32"),))
        return sum
