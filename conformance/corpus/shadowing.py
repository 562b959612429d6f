@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32"), c: R.Tensor((), "bool")) -> R.Tensor((2,), "float32"):
        if c:
            x: R.Tensor((), "float32") = R.const(1, "float32")
            _1 = R.call_packed("relax_spec.log", x, sinfo_args=(R.Object,))
            u = R.tuple()
        else:
            _2 = R.call_packed("relax_spec.log", c, sinfo_args=(R.Object,))
            u = R.tuple()
        _3 = R.call_packed("relax_spec.log", x, sinfo_args=(R.Object,))
        return x
