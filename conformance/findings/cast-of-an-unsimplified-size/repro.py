"""`CanonicalizeBindings` overflows the stack on a `match_cast` of a size such as `n + 1 - 1`."""

import subprocess
import sys

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n + 1 - 1",), "float32")):
        n = T.int64()
        m = T.int64()
        z = R.match_cast(y, R.Tensor((m,), "float32"))
        return z
"""

CHILD = """
import sys

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

try:
    from tvm.script import tirx as T
except ImportError:
    from tvm.script import tir as T

tensor = lambda values: tvm.runtime.tensor(np.array(values, "float32"))
module = tvm.script.from_source(sys.argv[1], {"I": I, "R": R, "T": T})
module = relax.transform.CanonicalizeBindings()(module)
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
print(vm["main"](tensor([1, 2]), tensor([1, 2])).numpy().tolist())
"""

run = subprocess.run([sys.executable, "-c", CHILD, PROGRAM], capture_output=True, text=True)
given = run.stdout.strip() if run.returncode == 0 else f"exit status {run.returncode}"
print("expected: [1.0, 2.0]")
print("given:   ", given)
sys.exit(given == "[1.0, 2.0]")
