# from tvm.script import ir as I
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def count(n: R.Tensor((), dtype="int64"), again: R.Tensor((), dtype="bool")) -> R.Tensor((), dtype="int64"):
        cls = Module
        if again:
            r_then: R.Tensor((), dtype="int64") = cls.count(n, again)
            r: R.Tensor((), dtype="int64") = r_then
        else:
            r: R.Tensor((), dtype="int64") = n
        return r

    @R.function(pure=False)
    def teller(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        # from tvm.script import relax as R
        
        @R.function(pure=False)
        def tell(v: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
            w: R.Tensor((4,), dtype="float32") = R.call_packed("demo.tell", v, ty_args=(R.Tensor((4,), dtype="float32"),))
            return w

        a: R.Tensor((4,), dtype="float32") = tell(x)
        return a

    @R.function(pure=False)
    def told(x: R.Tensor((4,), dtype="float32"), again: R.Tensor((), dtype="bool")) -> R.Tensor((4,), dtype="float32"):
        cls = Module
        y: R.Tensor((4,), dtype="float32") = R.call_packed("demo.tell", x, ty_args=(R.Tensor((4,), dtype="float32"),))
        if again:
            r_then: R.Tensor((4,), dtype="float32") = cls.told(y, again)
            r: R.Tensor((4,), dtype="float32") = r_then
        else:
            r: R.Tensor((4,), dtype="float32") = y
        return r

    @R.function
    def main(x: R.Tensor((4,), dtype="float32"), again: R.Tensor((), dtype="bool")) -> R.Tensor((4,), dtype="float32"):
        # from tvm.script import relax as R
        
        @R.function
        def inner(v: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
            w: R.Tensor((4,), dtype="float32") = R.add(v, x)
            return w

        # from tvm.script import relax as R
        
        @R.function
        def loop(v: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
            if again:
                r_then: R.Tensor((4,), dtype="float32") = loop(v)
                r: R.Tensor((4,), dtype="float32") = r_then
            else:
                r: R.Tensor((4,), dtype="float32") = v
            return r

        with R.dataflow():
            a: R.Tensor((4,), dtype="float32") = inner(x)
            b: R.Tensor((4,), dtype="float32") = loop(a)
            R.output(b)
        return b
