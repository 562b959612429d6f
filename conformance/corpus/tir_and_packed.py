@I.ir_module
class Module:
    @T.prim_func
    def double(x: T.handle, y: T.handle):
        n = T.int64()
        A = T.match_buffer(x, (n,), "float32")
        B = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            with T.block("b"):
                vi = T.axis.spatial(n, i)
                B[vi] = A[vi] * T.float32(2)

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(dtype="float32")) -> R.Tensor(dtype="float32"):
        n = T.int64()
        m = T.int64()
        cls = Module
        with R.dataflow():
            z = R.call_tir(cls.double, (x,), out_sinfo=R.Tensor((n,), dtype="float32"))
            w = R.match_cast(y, R.Tensor((m,), "float32"))
            R.output(z, w)
        u = R.call_packed("relax_spec.log", z, sinfo_args=R.Tensor((n,), "float32"))
        v = R.match_cast(u, R.Tensor((m,), "float32"))
        return v
