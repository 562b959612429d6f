"""`KillAfterLastUse` kills a tensor that a `match_cast` has given another name, while that name is still used."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")) -> R.Tensor("float32", ndim=1):
        y = R.add(x, x)
        z = R.match_cast(y, R.Tensor("float32", ndim=1))
        u = R.add(z, x)
        return z
"""

LOWERING = ("LegalizeOps", "RemovePurityChecking", "CallTIRRewrite", "LowerAllocTensor", "KillAfterLastUse")
module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
for name in LOWERING:
    module = getattr(relax.transform, name)()(module)
text = module["main"].script()
lines = text.splitlines()
killed = next(number for number, line in enumerate(lines) if "kill_tensor" in line)
last = next(number for number, line in enumerate(lines) if line.strip().startswith("return"))
expected = "no use of z behind the kill"
used = any("z" in line.replace("(", " ").replace(",", " ").replace(")", " ").split() for line in lines[killed : last + 1])
given = "z is used behind the kill" if used else expected
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
