"""The seeded passes of the adapter's checks, as tests that run one each. `wrong_passes.py` and `right_passes.py` use it."""

import os
import pathlib
import sys

ROOT = pathlib.Path(os.environ.get("RELAX_SPEC_CHECKOUT", pathlib.Path(__file__).resolve().parents[3]))
ADAPTER = ROOT / "conformance" / "adapters" / "tvm"
sys.path[:0] = [str(ADAPTER), str(ADAPTER / "checks")]

import seeded_passes  # noqa: E402
import tvm  # noqa: E402
from seeded_programs import PROGRAMS  # noqa: E402
from stages import made  # noqa: E402
from tvm import relax  # noqa: E402

from relax_spec import _native  # noqa: E402
from text import parse_text  # noqa: E402

WRONG = (
    "drops_an_effect",
    "doubles_an_effect",
    "reorders_effects",
    "promises_purity",
    "drops_an_assertion",
    "loses_a_match_cast",
    "loses_a_cast",
    "exchanges_operands",
    "folds_a_constant_wrongly",
    "takes_the_minimum",
    "loses_a_transposition",
    "sums_along_another_axis",
    "folds_a_shift_wrongly",
    "exchanges_a_choice",
    "takes_another_field",
    "pads_with_one",
    "takes_one_branch",
    "stops_a_loop_early",
    "loses_an_exported_function",
    "subtracts_in_a_loop",
    "leaves_out_the_last",
    "frees_a_variable",
)
RIGHT = (
    "renames_a_variable",
    "names_a_copy",
    "inlines_a_call",
    "adds_a_private_function",
    "unrolls_a_step",
    "adds_a_dead_binding",
    "removes_a_dead_binding",
    "merges_equal_bindings",
    "reorders_pure_bindings",
    "computes_twice",
    "computes_before_a_branch",
    "commutes_a_sum",
    "moves_a_constant",
    "doubles_by_a_product",
    "multiplies_by_a_shift",
    "subtracts_the_negative",
    "negates_a_choice",
    "compares_the_other_way",
    "transposes_twice",
    "concatenates_the_other_way",
    "commutes_in_a_loop",
    "sums_backwards",
)


def run(name):
    """The passes in front of a seeded one, and the seeded one, each in the context of the test."""
    program, places, *_ = {**seeded_passes.WRONG, **seeded_passes.RIGHT}[name]
    text = _native.Module(PROGRAMS[program], "2024-04", tvm.__version__).text
    mod = relax.transform.Normalize()(parse_text(text))
    with tvm.target.Target("llvm"), tvm.transform.PassContext(opt_level=3):
        for before in seeded_passes.PIPELINE[: seeded_passes.PIPELINE.index(places[0])]:
            mod = made(before, None)(mod)
        getattr(seeded_passes, name)(mod)
