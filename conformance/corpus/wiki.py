@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n", "k"), "float32"), w: R.Tensor(("k", "m"), "float32")) -> R.Object:
        n, k, m = T.int64(), T.int64(), T.int64()
        with R.dataflow():
            lv0: R.Tensor((n, m), "float32") = R.matmul(x, w)
            gv0: R.Tensor((n * m,), "float32") = R.flatten(lv0)
            R.output(gv0)
        gv1 = R.call_packed("relax_spec.add_inplace", gv0, R.const(10, "float32"), sinfo_args=(R.Object,))
        return gv1
