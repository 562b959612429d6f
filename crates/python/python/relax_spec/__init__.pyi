from os import PathLike
from typing import Any

from relax_spec._errors import RelaxSpecError as RelaxSpecError
from relax_spec._errors import RunError as RunError
from relax_spec._errors import UnreadableError as UnreadableError
from relax_spec._native import Judgement as Judgement
from relax_spec._results import CheckReport as CheckReport
from relax_spec._results import Derivation as Derivation
from relax_spec._results import Finding as Finding
from relax_spec._results import Program as Program
from relax_spec._results import Refinement as Refinement
from relax_spec._results import Report as Report
from relax_spec._results import RunResult as RunResult
from relax_spec._values import PackedFunc as PackedFunc
from relax_spec._values import Shape as Shape

# Text, a path, JSON, or a module or function of TVM.
_Program = str | PathLike[str] | dict[str, Any] | list[Any] | Any
_Edition = str | None

def check(program: _Program, *, edition: _Edition = None, **options: Any) -> CheckReport: ...
def run(program: _Program, *args: Any, edition: _Edition = None, **options: Any) -> RunResult: ...
def types(program: _Program, *, edition: _Edition = None, **options: Any) -> Program: ...
def derive(
    program: _Program, function: str = "main", variable: str | None = None, *, edition: _Edition = None, **options: Any
) -> str: ...
def normalize(program: _Program, *, edition: _Edition = None, **options: Any) -> Program: ...
def refine(before: _Program, after: _Program, *args: Any, edition: _Edition = None, **options: Any) -> Refinement: ...
def judge(judgement: str, *operands: Any, edition: _Edition = None) -> Judgement: ...
def blame(module: Any, passes: Any, *, target: str = "llvm", **settings: Any) -> Any: ...
def rules(*words: str, edition: _Edition = None) -> Report: ...
def explain(name: str, edition: _Edition = None) -> Report: ...
def assert_well_formed(module: _Program, **options: Any) -> None: ...
def assert_refines(before: _Program, after: _Program, *args: Any, **options: Any) -> Refinement: ...
def assert_agrees(
    module: Any,
    args: Any,
    *,
    entry: str = "main",
    target: str = "llvm",
    rtol: float = 1e-5,
    atol: float = 1e-6,
    **options: Any,
) -> None: ...
