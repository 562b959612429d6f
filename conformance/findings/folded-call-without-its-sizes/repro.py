"""`FoldConstant` evaluates a `call_tir` of constants without its `tir_vars`, and fails."""

import sys

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R

PROGRAM = """
@I.ir_module
class Module:
    @R.function
    def main():
        y = R.dist.redistribute_replica_to_shard(R.const([1, 2], "float32"), num_workers=1, axis=0)
        return y
"""

module = tvm.script.from_source(PROGRAM, {"I": I, "R": R})
expected = "a module"
try:
    module = relax.transform.FoldConstant()(relax.transform.LegalizeOps()(module))
    given = "a module"
except Exception as refusal:
    given = str(refusal).strip().splitlines()[0]
print("expected:", expected)
print("given:   ", given)
sys.exit(given == expected)
