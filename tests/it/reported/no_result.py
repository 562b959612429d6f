# check 2023-02: 0
# check 2024-04: 0
# run [1, 2]:float32: [2.0, 4.0]:float32
# Neither function says what it gives: the outer one gives a function, whose result is that of its body.
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        @R.function
        def make(n: R.Tensor((2,), "float32")):
            @R.function
            def plus(m: R.Tensor((2,), "float32")):
                s = R.add(n, m)
                return s
            return plus
        g = make(x)
        r = g(x)
        return r
