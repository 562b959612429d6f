"""`ConvertLayout` fails on `R.nn.dropout`, because it infers one layout for a result that is a tuple."""

import subprocess
import sys

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        with R.dataflow():
            y = R.nn.dropout(x)
            R.output(y)
        return y
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

module = tvm.script.from_source(sys.argv[1], {"I": I, "R": R, "T": T})
module = relax.transform.ConvertLayout({"relax.nn.conv2d": ["NHWC", "OHWI"]})(module)
vm = relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())
print([part.numpy().tolist() for part in vm["main"](tvm.runtime.tensor(np.array([1, 2], "float32")))])
"""

run = subprocess.run([sys.executable, "-c", CHILD, PROGRAM], capture_output=True, text=True)
said = (run.stderr.strip().splitlines() or [""])[-1]
given = run.stdout.strip() if run.returncode == 0 else f"exit status {run.returncode}: {said}"
expected = "[[1.0, 2.0], [1.0, 1.0]]"
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
