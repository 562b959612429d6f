# check 2024-04: 0
# run [[1, 2, 3], [4, 5, 6]]:float32: (32, 0, 2, 3)
# What a program asks of a tensor while it runs.
from tvm.script import ir as I, relax as R, tir as T
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor):
        bits = x.dtype.bits
        offset = x.byte_offset
        rank = x.ndim
        last = x.shape[1]
        return (bits, offset, rank, last)
