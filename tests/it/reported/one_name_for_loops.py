# check 2024-04: 0
# run [[1, 2], [3, 4]]:float32: [[1.0, 2.0], [3.0, 4.0]]:float32
# One name for the variables of nested loops, over sizes that have a name; parts of memory that only compilers look at.
from tvm.script import ir as I, relax as R, tir as T
SHAPE = (2, 2)
@I.ir_module
class Module:
    @T.prim_func(private=True)
    def copy(a: T.handle, b: T.handle):
        A = T.match_buffer(a, (2, 2), "float32", axis_separators=[1])
        B = T.match_buffer(b, (2, 2), "float32", elem_offset=T.int64(0), offset_factor=1)
        for i in T.grid(*SHAPE):
            with T.block("copy"):
                vi, vj = T.axis.remap("SS", [i[0], i[1]])
                B[vi, vj] = A[vi, vj]
    @R.function
    def main(x: R.Tensor((2, 2), "float32")):
        y = R.call_tir(Module.copy, (x,), R.Tensor((2, 2), "float32"))
        return y
