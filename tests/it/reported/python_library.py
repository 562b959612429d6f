# check 2024-04: 0
# run [1, 2, 3, 4, 5, 6]:float32: [[2.0, 4.0], [6.0, 8.0], [10.0, 12.0]]:float32
# What Python computes from literals: dictionaries, comparisons, slices, comprehensions, its functions and those of math.
import math
from dataclasses import dataclass
from tvm.script import ir as I, relax as R
CFG = {"heads": 2, "size": 6, "dtype": "float32"}
DIMS = [2 * i for i in range(1, 4) if i != 2]
LAST = (7, 1, 6)[-1:]
ROOT = int(math.sqrt(CFG["size"] ** 2))
NAME = "{}{}".format("flo", "at") + "%d" % 32
KIND = NAME if 1 < len(DIMS) <= 2 and DIMS[0] in (1, 2) else "int8"
if ROOT > 5 or not DIMS:
    FACTOR = max(DIMS) - abs(-4)
else:
    FACTOR = 1
pad = lambda n: (n + 1) // 2 * 2
def ceil_div(a, b=2):
    """The quotient, rounded up."""
    return -(-a // b)
@dataclass
class Options:
    factor: float = float(FACTOR)
    name: str = "x"
    def scaled(self, by):
        return self.factor * by
options = Options(name="y")
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(LAST, KIND)) -> R.Tensor((sum(DIMS) - 5, math.ceil(5 / 2) - 1), CFG["dtype"]):
        y = R.reshape(x, R.shape([ceil_div(ROOT), pad(1)]))
        z = R.multiply(y, R.const(options.factor, "float32"))
        return z
