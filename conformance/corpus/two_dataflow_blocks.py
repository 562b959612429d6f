@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def linear(A: T.Buffer((1, 2), "float32"), W: T.Buffer((2, 2), "float32"), B: T.Buffer((2,), "float32"), C: T.Buffer((1, 2), "float32")):
        for i, j in T.grid(2, 2):
            with T.sblock("C"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    C[0, vi] = B[vi]
                C[0, vi] = C[0, vi] + A[0, vj] * W[vi, vj]
    @T.prim_func(private=True, s_tir=True)
    def relu(A: T.Buffer((1, 2), "float32"), B: T.Buffer((1, 2), "float32")):
        for i in range(2):
            with T.sblock("B"):
                v = T.axis.spatial(2, i)
                B[0, v] = T.max(A[0, v], T.float32(0))
    @R.function(pure=False)
    def main(x: R.Tensor((1, 2), "float32"), w: R.Tensor((2, 2), "float32"), b: R.Tensor((2,), "float32")) -> R.Object:
        cls = Module
        with R.dataflow():
            lv0 = R.call_tir(cls.linear, (x, w, b), out_sinfo=R.Tensor((1, 2), "float32"))
            gv0 = R.call_tir(cls.relu, (lv0,), out_sinfo=R.Tensor((1, 2), "float32"))
            R.output(gv0)
        _ = R.call_packed("relax_spec.add_inplace", gv0, R.const(1, "float32"), sinfo_args=(R.Object,))
        gv1 = R.call_packed("relax_spec.identity", w, sinfo_args=(R.Tensor((2, 2), "float32"),))
        with R.dataflow():
            out = R.call_tir(cls.linear, (gv0, gv1, b), out_sinfo=R.Tensor((1, 2), "float32"))
            R.output(out)
        return out
