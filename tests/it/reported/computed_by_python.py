# check 2024-04: 0
# run [[1, 2, 3], [4, 5, 6]]:float32: [[2.0, 8.0], [4.0, 10.0], [6.0, 12.0]]:float32
# Texts with holes, lengths, choices and maps of indices that have a name.
from tvm.script import ir as I, relax as R, tir as T
SHAPE, BITS, WIDE = (2, 3), 32, True
def swap(i, j):
    """Columns become rows."""
    return j, i
@I.ir_module
class Turned:
    @R.function
    def main(x: R.Tensor(SHAPE, f"float{BITS}")) -> R.Tensor((max(2, 3), len(SHAPE)), "float32" if WIDE else "float16"):
        y = R.layout_transform(x, index_map=swap)
        z = R.zeros(x.struct_info.shape, x.struct_info.dtype)
        w = R.layout_transform(R.add(x, z), index_map=swap)
        return R.add(y, w)
