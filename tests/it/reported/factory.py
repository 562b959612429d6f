# check 2024-04: 0
# modules: copy_of.functions copy_of.functions#2
# A function of Python that makes PrimFuncs, read with the values that the file calls it with.
from tvm.script import ir as I, relax as R, tir as T
WIDTH = 4
def copy_of(n, dtype="float32"):
    @T.prim_func
    def copy(a: T.Buffer((n, WIDTH), dtype), b: T.Buffer((n, WIDTH), dtype)):
        for i, j in T.grid(n, WIDTH):
            b[i, j] = a[i, j]
    return copy
mod = {"a": copy_of(8), "b": copy_of(n=WIDTH * 2, dtype="int8"), "c": copy_of(8, "float32")}
