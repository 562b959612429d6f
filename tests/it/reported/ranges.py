# check 2024-04: 0
# run nothing: ([0, 1, 2]:int64, [1.0, 1.5, 2.0, 2.5]:float32)
# Bounds alone: the first is the end where there is one, and the data type follows from how they are written.
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @R.function
    def main():
        a = R.arange(3)
        b = R.arange(1, 3, step=R.prim_value(T.float32(0.5)))
        c = (a, b)
        return c
