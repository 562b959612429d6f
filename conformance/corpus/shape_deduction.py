@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor(("n", 2, 2), "float32")) -> R.Object:
        n, m = T.int64(), T.int64()
        lv0: R.Tensor((n, 4), "float32") = R.reshape(x, (n, 4))
        lv1: R.Tensor((n * 4,), "float32") = R.flatten(lv0)
        lv2: R.Shape([n * 4]) = R.shape([n * 4])
        lv3: R.Shape(ndim=1) = R.call_packed("relax_spec.shape_double", lv2, sinfo_args=(R.Shape(ndim=1),))
        lv5: R.Tensor(ndim=1, dtype="float32") = R.call_packed("relax_spec.identity", lv1, sinfo_args=(R.Tensor(ndim=1, dtype="float32"),))
        lv6 = R.match_cast(lv5, R.Tensor((m,), "float32"))
        lv7 = R.match_cast(lv3, R.Shape([m * 2]))
        gv0: R.Tensor((m,), "float32") = R.add(lv6, lv6)
        return (gv0, lv7)
