@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def mm(a: T.handle, b: T.handle, c: T.handle):
        m, n, k = T.int64(), T.int64(), T.int64()
        A = T.match_buffer(a, (m, n), "float32")
        B = T.match_buffer(b, (n, k), "float32")
        C = T.match_buffer(c, (m, k), "float32")
        for i, j, l in T.grid(m, k, n):
            with T.sblock("C"):
                vi, vj, vl = T.axis.remap("SSR", [i, j, l])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vl] * B[vl, vj]
    @R.function(pure=False)
    def main(x: R.Tensor(("m", "n"), "float32"), y: R.Tensor(("n", "k"), "float32")) -> R.Object:
        m, n, k = T.int64(), T.int64(), T.int64()
        cls = Module
        with R.dataflow():
            gv0 = R.call_tir(cls.mm, (x, y), out_sinfo=R.Tensor((m, k), "float32"))
            R.output(gv0)
        _ = R.call_packed("relax_spec.log", gv0, sinfo_args=(R.Object,))
        gv1 = R.call_packed("relax_spec.add", gv0, gv0, sinfo_args=(R.Tensor((m, k), "float32"),))
        gv2 = R.call_dps_packed("relax_spec.fill_dps", (gv1,), out_sinfo=R.Tensor((m, k * 2), "float32"))
        return (gv1, gv2)
