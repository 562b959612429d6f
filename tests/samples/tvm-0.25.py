# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    I.module_attrs({"b": True, "d": {"a": 1}, "device_num": 2, "fl": 1.5, "l": [1, 2, "a"], "sys": "x"})
    @T.prim_func
    def addone(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,))
        B = T.match_buffer(b, (n,))
        for i in range(n):
            with T.sblock("b"):
                vi = T.axis.spatial(n, i)
                T.reads(A[vi])
                T.writes(B[vi])
                B[vi] = A[vi] + T.float32(1.0)

    @R.function(private=True)
    def helper(x: R.Tensor(("n", "m + 1"), dtype="float32"), s: R.Shape(["n", "m"])) -> R.Tensor(("n", "m + 1"), dtype="float32"):
        n = T.int64()
        m = T.int64()
        R.func_attr({"b": True, "f": 2.5, "k": 1})
        with R.dataflow():
            y: R.Tensor((n, m + 1), dtype="float32") = R.add(x, x)
            z: R.Tensor((n, m + 1), dtype="float32") = R.multiply(y, R.const(2.0, "float32"))
            R.output(z)
        return z

    @R.function(pure=False)
    def main_0(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        cls = Module
        a = R.call_tir(cls.addone, (x,), out_sinfo=R.Tensor((n,), dtype="float32"))
        b = R.call_tir(cls.addone, (a,), out_sinfo=[R.Tensor((n,), dtype="float32"), R.Tensor((n,), dtype="float32")])
        b0: R.Tensor((n,), dtype="float32") = b[0]
        a1 = R.call_tir(cls.addone, (x,), out_sinfo=R.Tensor((n,), dtype="float32"))
        return x

    @R.function(pure=False)
    def main_1(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        cls = Module
        b = R.call_tir(cls.addone, (x,), out_sinfo=R.Tensor((n,), dtype="float32"), tir_vars=R.shape([n]))
        return x

    @R.function(pure=False)
    def main_12(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        R.print(x, format=R.str("{}"))
        R.assert_op(R.const(True, "bool"), x, format=R.str("bad {}"))
        return x

    @R.function(pure=False)
    def main_13(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        w: R.Tensor((n,), dtype="float32") = R.call_packed("vm.f", x, R.const(1, "int32"), sinfo_args=(R.Tensor((n,), dtype="float32"),))
        w2: R.Object = R.call_packed("vm.g", x, sinfo_args=(R.Object, R.Tensor))
        w3: R.Object = R.call_packed("vm.g", x)
        return x

    @R.function(pure=False)
    def main_14(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        # from tvm.script import ir as I
        # from tvm.script import tirx as T
        # from tvm.tirx.layout import Axis
        # from tvm.script import relax as R
        
        @R.function
        def inner(y: R.Tensor((n,), dtype="float32")) -> R.Tensor((n,), dtype="float32"):
            yy: R.Tensor((n,), dtype="float32") = R.add(y, x)
            return yy

        r: R.Tensor((n,), dtype="float32") = inner(x)
        hh: R.Tensor((n,), dtype="float32") = R.invoke_pure_closure(inner, (x,), sinfo_args=(R.Tensor((n,), dtype="float32"),))
        return x

    @R.function(pure=False)
    def main_15(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        cls = Module
        n_1 = T.int64()
        n_2 = T.int64()
        m = T.int64()
        xx: R.Callable((R.Tensor((n_1,), dtype="float32"), R.Tensor((), dtype="bool"), R.Prim("int64"), R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), R.Callable, R.Callable((R.Object,), R.Tuple, False), R.Shape(ndim=-1)), R.Tensor((n_1,), dtype="float32"), False) = cls.main_0
        gg: R.Callable((R.Tensor((n_2, m + 1), dtype="float32"), R.Shape([n_2, m])), R.Tensor((n_2, m + 1), dtype="float32"), True) = cls.helper
        return x

    @R.function(pure=False)
    def main_16(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        zz: R.Tensor((n,), dtype="float32") = x
        yy: R.Tensor((n,), dtype="float32") = zz
        return x

    @R.function(pure=False)
    def main_18(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        q: R.Tensor(s, dtype="float32") = R.call_pure_packed("a", x, sinfo_args=(R.Tensor(s, dtype="float32"),))
        return x

    @R.function(pure=False)
    def main_2(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        d = R.call_dps_packed("my.f", (x, R.shape([n, 2])), out_sinfo=R.Tensor((n, 2), dtype="float32"))
        return x

    @R.function(pure=False)
    def main_20(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        q: R.Shape([n, n + 1, n * 2 - 3, n // 2, n % 3, T.min(n, 4), T.max(n, 4), T.Select(n > 1, n, 2), T.Select(n > 1 and not n == 3, n, 2), T.if_then_else(n != 1, n, 2), T.Select(n > 1 or n <= 3, n, 2), T.Div(n, 3), T.truncmod(n, 3), n * -1]) = R.shape([n, n + 1, n * 2 - 3, n // 2, n % 3, T.min(n, 4), T.max(n, 4), T.Select(n > 1, n, 2), T.Select(n > 1 and not n == 3, n, 2), T.if_then_else(n != 1, n, 2), T.Select(n > 1 or n <= 3, n, 2), T.Div(n, 3), T.truncmod(n, 3), n * -1])
        return x

    @R.function(pure=False)
    def main_21(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        v: R.Object = R.vm.alloc_storage(R.shape([n]), R.prim_value(0), R.dtype("uint8"), R.str("global"))
        return x

    @R.function(pure=False)
    def main_22(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        v: R.Object = R.memory.alloc_storage(R.shape([n]), R.prim_value(0), R.str("global"), R.dtype("uint8"))
        v2: R.Tensor((n,), dtype="float32") = R.memory.alloc_tensor(v, R.prim_value(0), R.shape([n]), R.dtype("float32"), R.prim_value(0))
        v3: R.Tensor((n,), dtype="float32") = R.builtin.alloc_tensor(R.shape([n]), R.dtype("float32"), R.prim_value(0), R.str("global"))
        R.memory.kill_tensor(v2)
        return x

    @R.function(pure=False)
    def main_23(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        gv: R.Tensor((n,), dtype="float32") = R.multiply(x, x)
        x1: R.Tensor((n,), dtype="float32") = R.add(gv, x)
        return x

    @R.function(pure=False)
    def main_24(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        x_1: R.Tensor((n,), dtype="float32") = R.add(x, x)
        x_2: R.Tensor((n,), dtype="float32") = R.add(x_1, x_1)
        return x_2

    @R.function(pure=False)
    def main_25(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        p2: R.Prim(value=5) = R.prim_value(5)
        p3: R.Prim(value=T.float32(1.5)) = R.prim_value(T.float32(1.5))
        p4: R.Prim(value=True) = R.prim_value(True)
        return x

    @R.function(pure=False)
    def main_26(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        cls = Module
        i2: R.Tensor((n,), dtype="float32") = R.call_tir_inplace(cls.addone, (x,), out_sinfo=R.Tensor((n,), dtype="float32"), inplace_indices=[0])
        return x

    @R.function(pure=False)
    def main_27(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        i3: R.Tensor((n,), dtype="float32") = R.call_inplace_packed("fx", x, inplace_indices=[0], sinfo_args=(R.Tensor((n,), dtype="float32"),))
        return x

    @R.function(pure=False)
    def main_28(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        w: R.Tuple(R.Prim("int64"), R.Shape([n]), R.Tuple(R.Tensor((n,), dtype="int8"), R.Tuple), R.Callable((R.Tensor((n,)),), R.Tensor(dtype="int8"), False), R.Callable(ret=R.Tensor(ndim=2)), R.Callable(purity=True)) = R.call_pure_packed("g", x, sinfo_args=(R.Prim("int64"), R.Shape([n]), R.Tuple(R.Tensor((n,), dtype="int8"), R.Tuple), R.Callable((R.Tensor((n,)),), R.Tensor(dtype="int8"), False), R.Callable(ret=R.Tensor(ndim=2)), R.Callable(purity=True)))
        return x

    @R.function(pure=False)
    def main_29(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        e: R.Callable = R.ExternFunc("abc")
        e1: R.Object = e(x)
        return x

    @R.function(pure=False)
    def main_3(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        e: R.Tensor((n,), dtype="float32") = R.call_pure_packed("pf", x, R.prim_value(n + 1), R.str("hi"), R.dtype("float32"), sinfo_args=(R.Tensor((n,), dtype="float32"),))
        return x

    @R.function(pure=False)
    def main_30(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        ss: R.Tuple(R.Tensor(((n + 1) // 2,), dtype="float32"), R.Tensor((n - (n + 1) // 2,), dtype="float32")) = R.split(x, indices_or_sections=2, axis=0)
        ar: R.Tensor((n,), dtype="int64") = R.arange(R.prim_value(0), R.prim_value(n), R.prim_value(1), dtype="int64")
        fu: R.Tensor((n,), dtype="float32") = R.full(R.shape([n]), R.const(1.0, "float32"), dtype="float32")
        cl: R.Tensor((n,), dtype="float32") = R.clip(x, R.prim_value(T.float64(0.0)), R.prim_value(T.float64(1.5)))
        return x

    @R.function(pure=False)
    def main_32(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        aa: R.Shape([n, n + 1]) = R.shape([n, n + 1])
        ab: R.Shape([]) = R.shape([])
        return x

    @R.function(pure=False)
    def main_33(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        hint: R.Tensor((), dtype="int64") = R.size(x)
        return x

    @R.function(pure=False)
    def main_35(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        with R.dataflow():
            a: R.Tensor((n,), dtype="float32") = R.add(x, x)
            b: R.Tensor((n,), dtype="float32") = R.add(a, a)
            R.output(a, b)
        return x

    @R.function(pure=False)
    def main_36(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        q: R.Prim(value=n + 1) = R.prim_value(n + 1)
        return x

    @R.function(pure=False)
    def main_37(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        q: R.Tensor((n, 1), dtype="float32") = R.reshape(x, R.shape([n, 1]))
        q1: R.Tensor((n, 1), dtype="float32") = R.reshape(x, R.shape([n, 1]))
        return x

    @R.function(pure=False)
    def main_39(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        cls = Module
        b1 = R.call_tir(cls.addone, (x, c), out_sinfo=R.Tensor((), dtype="float32"))
        return x

    @R.function(pure=False)
    def main_4(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        m = T.int64()
        g: R.Tensor((m,), dtype="float32") = R.match_cast(x, R.Tensor((m,), dtype="float32"))
        return x

    @R.function(pure=False)
    def main_41(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        cls = Module
        b1 = R.call_tir(cls.addone, R.tuple(), out_sinfo=R.Tensor((), dtype="float32"))
        return x

    @R.function(pure=False)
    def main_44(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        b2 = R.call_dps_packed("my.f", (x,), out_sinfo=R.Tensor((n, 2), dtype="float32"))
        return x

    @R.function(pure=False)
    def main_46(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        gv: R.Tuple(R.Tensor((n, 2), dtype="float32"), R.Tensor((n, 2), dtype="float32")) = R.call_pure_packed("my.f", x, sinfo_args=(R.Tuple(R.Tensor((n, 2), dtype="float32"), R.Tensor((n, 2), dtype="float32")),))
        b2: R.Tensor((n, 2), dtype="float32") = gv[0]
        return x

    @R.function(pure=False)
    def main_47(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        a1: R.Tensor((), dtype="int32") = R.const(1, "int32")
        a2: R.Tensor((), dtype="float32") = R.const(2.5, "float32")
        a3: R.Tensor((), dtype="bool") = R.const(True, "bool")
        return x

    @R.function(pure=False)
    def main_49(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        return x

    @R.function(pure=False)
    def main_5(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        k = T.int64(is_size_var=True)
        kk: R.Shape([k]) = R.match_cast(R.shape_of(x), R.Shape([k]))
        return x

    @R.function(pure=False)
    def main_50(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        a1: R.Prim(value=n) = R.prim_value(n)
        return x

    @R.function(pure=False)
    def main_51(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        a1: R.Object = R.call_packed("f", R.prim_value(n), R.prim_value(1), R.str("s"), R.prim_value(n + 1), sinfo_args=(R.Object,))
        return x

    @R.function(pure=False)
    def main_52(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        a1: R.Tensor((n,), dtype="float32") = R.add(x, x)
        a2: R.Tensor((n,), dtype="float32") = R.negative(x)
        a3: R.Tensor((n,), dtype="bool") = R.greater(x, x)
        a4: R.Tensor((n,), dtype="float32") = R.multiply(x, R.const(2.0, "float32"))
        return x

    @R.function(pure=False)
    def main_53(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        a1: R.Tensor((n,), dtype="float32") = x
        return x

    @R.function(pure=False)
    def main_54(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        f_1: R.Object = R.null_value()
        return x

    @R.function(pure=False)
    def main_55(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        if c:
            b1: R.Tensor((n,), dtype="float32") = x
        else:
            b1: R.Tensor((n,), dtype="float32") = x
        b2: R.Tensor((n,), dtype="float32") = b1
        return x

    @R.function(pure=False)
    def main_56(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        if c:
            if c:
                b1_then_1: R.Tensor((n,), dtype="float32") = R.add(x, x)
                b1_then: R.Tensor((n,), dtype="float32") = b1_then_1
            else:
                b1_else: R.Tensor((n,), dtype="float32") = R.add(x, x)
                b1_then: R.Tensor((n,), dtype="float32") = b1_else
            b1: R.Tensor((n,), dtype="float32") = b1_then
        else:
            b1: R.Tensor((n,), dtype="float32") = x
        b2: R.Tensor((n,), dtype="float32") = b1
        return x

    @R.function(pure=False)
    def main_57(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        if c:
            with R.dataflow():
                b0: R.Tensor((n,), dtype="float32") = R.add(x, x)
                R.output(b0)
            b1: R.Tensor((n,), dtype="float32") = b0
        else:
            b1: R.Tensor((n,), dtype="float32") = x
        return x

    @R.function(pure=False)
    def main_59(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        if c:
            R.print(x, format=R.str("a"))
            b1: R.Tuple = R.tuple()
        else:
            b1: R.Tuple = R.tuple()
        return x

    @R.function(pure=False)
    def main_6(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        k = T.int64()
        _: R.Shape([k]) = R.match_cast(R.shape_of(x), R.Shape([k]))
        __1: R.Shape([k]) = R.match_cast(R.shape_of(x), R.Shape([k]))
        return x

    @R.function(pure=False)
    def main_61(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        s1: R.Object = R.str("a\"b\\n\n\x01\xC3\xA9")
        return x

    @R.function(pure=False)
    def main_62(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        o: R.Tensor(dtype="bool") = R.call_pure_packed("g", R.dtype("bool"), R.dtype("void"), sinfo_args=(R.Tensor(dtype="bool"),))
        return x

    @R.function(pure=False)
    def main_63(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        o: R.Tensor = R.call_pure_packed("g", R.dtype("void"), sinfo_args=(R.Tensor,))
        return x

    @R.function(pure=False)
    def main_64(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        o: R.Tensor = R.call_pure_packed("g", R.dtype("float32x4"), sinfo_args=(R.Tensor,))
        return x

    @R.function(pure=False)
    def main_65(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        q = T.int64()
        # from tvm.script import ir as I
        # from tvm.script import tirx as T
        # from tvm.tirx.layout import Axis
        # from tvm.script import relax as R
        
        @R.function(pure=False)
        def rec(y: R.Tensor((q,), dtype="float32")) -> R.Tensor((q,), dtype="float32"):
            R.print(y, format=R.str(""))
            yy: R.Tensor((q,), dtype="float32") = rec(y)
            return yy

        o: R.Tensor((n,), dtype="float32") = rec(x)
        return x

    @R.function(pure=False)
    def main_66(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        o: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True) = f
        return x

    @R.function(pure=False)
    def main_7(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        if c:
            h: R.Tensor((n,), dtype="float32") = R.add(x, x)
            h2_then: R.Tensor((n,), dtype="float32") = R.add(h, h)
            h2: R.Tensor((n,), dtype="float32") = h2_then
        else:
            q: R.Tensor((n,), dtype="float32") = R.exp(x)
            h2_else: R.Tensor((n,), dtype="float32") = R.multiply(q, q)
            h2: R.Tensor((n,), dtype="float32") = h2_else
        return x

    @R.function(pure=False)
    def main_8(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        h3: R.Tensor((n * 2,), dtype="float32") = R.concat((x, x), axis=0)
        j: R.Tensor((n,), dtype="float32") = R.nn.softmax(x, axis=-1)
        l: R.Tensor((n, 1), dtype="float32") = R.reshape(x, R.shape([n, 1]))
        mm: R.Tensor((1, n), dtype="float32") = R.permute_dims(l, axes=[1, 0])
        return x

    @R.function(pure=False)
    def main_9(x: R.Tensor(("n",), dtype="float32"), c: R.Tensor((), dtype="bool"), p: R.Prim("int64"), t: R.Tuple(R.Tensor, R.Shape(ndim=2), R.Object), f: R.Callable((R.Tensor((4,), dtype="float32"),), R.Tensor, True), f2: R.Callable, f3: R.Callable((R.Object,), R.Tuple, False), s: R.Shape(ndim=-1)) -> R.Tensor(("n",), dtype="float32"):
        n = T.int64()
        st: R.Tensor((T.min(1, n),), dtype="float32") = R.strided_slice(x, (R.prim_value(0),), (R.prim_value(0),), (R.prim_value(1),), assume_inbound=False)
        return x
