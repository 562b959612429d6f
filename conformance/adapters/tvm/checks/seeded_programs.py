"""Programs, each with something for several passes to break, for `seeded_passes.py`."""

#: Name -> text.
PROGRAMS = {
    "effects": """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(x: R.Tensor((3,), "float32"), y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        a = R.add(x, y)
        R.print(a, format="first {}")
        R.print(x, format="second {}")
        b = R.subtract(a, x)
        return b
""",
    "casts": """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor("float32", ndim=1)) -> R.Tensor("float32", ndim=1):
        n = T.int64()
        z = R.match_cast(y, R.Tensor((n,), "float32"))
        a = R.subtract(x, z)
        b = R.astype(a, dtype="int32")
        c = R.astype(b, dtype="int8")
        d = R.astype(c, dtype="float32")
        return d
""",
    "values": """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32")) -> R.Tensor((4,), "float32"):
        with R.dataflow():
            a = R.subtract(x, y)
            b = R.multiply(a, R.const(3, "float32"))
            c = R.maximum(b, x)
            d = R.matmul(c, y)
            e = R.permute_dims(d, axes=[1, 0])
            f = R.add(e, R.const(0.5, "float32"))
            g = R.sum(f, axis=[0])
            R.output(g)
        return g
""",
    "branches": """
@I.ir_module
class Module:
    @R.function(private=True)
    def minus(a: R.Tensor((5,), "float32"), b: R.Tensor((5,), "float32")) -> R.Tensor((5,), "float32"):
        d = R.subtract(a, b)
        return d

    @R.function
    def other(a: R.Tensor((5,), "float32")) -> R.Tensor((5,), "float32"):
        d = R.exp(a)
        return d

    @R.function
    def main(c: R.Tensor((), "bool"), x: R.Tensor((5,), "float32"), y: R.Tensor((5,), "float32")) -> R.Tensor((5,), "float32"):
        cls = Module
        if c:
            t = R.add(x, y)
            r = t
        else:
            u = cls.minus(x, y)
            r = u
        s = R.multiply(r, x)
        return s
""",
    "sizes": """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32")) -> R.Tensor(("n * 4",), "float32"):
        n = T.int64()
        with R.dataflow():
            a = R.add(x, x)
            b = R.reshape(a, R.shape([n * 4]))
            c = R.subtract(b, R.const(1, "float32"))
            R.output(c)
        return c
""",
    "memory": """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((6,), "float32"), y: R.Tensor((6,), "float32")) -> R.Tensor((6,), "float32"):
        a = R.add(x, y)
        b = R.multiply(a, y)
        c = R.subtract(b, a)
        d = R.add(c, b)
        return d
""",
    "integers": """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((6,), "int8"), y: R.Tensor((6,), "int8")) -> R.Tensor((6,), "int32"):
        a = R.multiply(x, R.const(8, "int8"))
        b = R.floor_divide(a, R.const(3, "int8"))
        c = R.add(b, y)
        d = R.astype(c, dtype="int32")
        e = R.less(x, y)
        f = R.astype(x, dtype="int32")
        g = R.where(e, d, f)
        return g
""",
    "tuples": """
@I.ir_module
class Module:
    @R.function(private=True)
    def both(
        a: R.Tensor((4,), "float32"), b: R.Tensor((4,), "float32")
    ) -> R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32")):
        s = R.subtract(a, b)
        p = R.multiply(a, b)
        return (s, p)

    @R.function
    def main(
        x: R.Tensor((4,), "float32"), y: R.Tensor((4,), "float32")
    ) -> R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32")):
        cls = Module
        t = cls.both(x, y)
        s = t[0]
        p = t[1]
        u = R.subtract(s, p)
        v = R.subtract(p, s)
        w = R.subtract(s, p)
        dead = R.exp(s)
        k = R.multiply(R.const(1.5, "float32"), R.const(2, "float32"))
        z = R.multiply(v, k)
        o = R.multiply(u, w)
        return (o, z)
""",
    "closures": """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((3,), "float32"), y: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        a = R.add(x, y)
        b = R.subtract(x, y)

        @R.function
        def inner(p: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
            q = R.subtract(p, a)
            return q

        c = inner(b)
        d = inner(y)
        e = R.multiply(c, d)
        return e
""",
    "loop": """
@I.ir_module
class Module:
    @R.function
    def power(i: R.Tensor((), "int32"), a: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        again = R.less(i, R.const(3, "int32"))
        if again:
            j = R.add(i, R.const(1, "int32"))
            b = R.multiply(a, R.const(2, "float32"))
            c = cls.power(j, b)
            r = c
        else:
            r = a
        return r

    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        cls = Module
        y = cls.power(R.const(0, "int32"), x)
        return y
""",
    "slices": """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor((4,), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        a = R.add(x, y)
        b = R.strided_slice(a, axes=[1], begin=[0], end=[3], strides=[1])
        c = R.nn.pad(b, pad_width=[0, 0, 0, 1], pad_value=0)
        d = R.concat((x, c), axis=1)
        e = R.clip(d, -6, 6)
        f = R.max(e, axis=[1])
        g = R.negative(f)
        return g
""",
    "checks": """
@I.ir_module
class Module:
    @R.function(pure=False)
    def main(c: R.Tensor((), "bool"), x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):
        if c:
            R.print(x, format="yes {}")
            a = R.exp(x)
            r = a
        else:
            b = R.negative(x)
            r = b
        R.assert_op(c, r, format="wrong {}")
        s = R.add(r, x)
        return s
""",
    "symbols": """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("m",), "float32")) -> R.Tensor(("n", "m"), "float32"):
        n = T.int64()
        m = T.int64()
        a = R.reshape(x, R.shape([n, 1]))
        b = R.full(R.shape([n, m]), R.const(2, "float32"), dtype="float32")
        c = R.multiply(a, y)
        d = R.subtract(c, b)
        return d
""",
    # `LegalizeOps` is wrong on a length of zero, and still not to blame for what shows on others.
    "lengths": """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor((4, "m"), "float32")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        m = T.int64()
        with R.dataflow():
            a = R.matmul(x, y)
            b = R.sum(a, axis=[1])
            c = R.multiply(b, R.const(0.5, "float32"))
            R.output(c)
        return c
""",
}
