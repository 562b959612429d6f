"""Assertions for tests of passes."""

import numpy as np

from relax_spec._questions import check, refine, run


def assert_well_formed(module, **options):
    """Fails with the findings of a check."""
    report = check(module, **options)
    assert report, f"\n{report}"


def assert_refines(before, after, *args, **options):
    """Fails with the counterexample and the differing binding if AFTER is no allowed optimization of BEFORE."""
    verdict = refine(before, after, *args, **options)
    assert verdict.verdict != "not_allowed", f"\n{verdict}"
    return verdict


def assert_agrees(module, args, *, entry="main", target="llvm", rtol=1e-5, atol=1e-6, **options):
    """Fails if what TVM compiles a module to gives another result than the specification. It names the pass to blame."""
    import tvm
    from tvm import relax

    from relax_spec import _values
    from relax_spec.tvm import blame, module_of

    module = module_of(module)
    expected = run(module, *args, entry=entry, **options).value
    arrays = [_values.array_of(arg) for arg in args]
    given = [arg if array is None else tvm.runtime.tensor(array) for arg, array in zip(args, arrays)]
    machine = relax.VirtualMachine(relax.build(module, target), tvm.cpu())
    found = _plain(machine[entry](*given))
    difference = _difference(_plain(expected), found, rtol, atol, "the result")
    if difference:
        blamed = blame(module, relax.get_default_pipeline(tvm.target.Target(target)), target=target)
        raise AssertionError(f"{difference}\n{blamed}")


def _plain(value):
    from relax_spec import _values

    array = _values.array_of(value)
    if array is not None:
        return array
    return [_plain(field) for field in value] if hasattr(value, "__len__") and not isinstance(value, str) else value


def _difference(expected, found, rtol, atol, where):
    """Where two results differ, in words; None if they do not."""
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found))
        parts = (_difference(a, b, rtol, atol, f"{where}[{index}]") for index, (a, b) in pairs)
        return next((part for part in parts if part), None)
    if isinstance(expected, np.ndarray) and isinstance(found, np.ndarray):
        if (expected.dtype, expected.shape) != (found.dtype, found.shape):
            return f"{where}: {expected.dtype}{expected.shape} in the text, {found.dtype}{found.shape} of TVM"
        wide = expected.astype("float64"), found.astype("float64")
        same = np.isclose(*wide, rtol, atol, equal_nan=True) if expected.dtype.kind not in "iub" else expected == found
        if same.all():
            return None
        at = tuple(int(index) for index in np.argwhere(~np.atleast_1d(same))[0])
        flat = np.atleast_1d(expected)[at], np.atleast_1d(found)[at]
        return f"{where}: element {at} is {flat[0]!r} in the text, and {flat[1]!r} of TVM"
    return None if expected == found else f"{where}: {expected!r} in the text, and {found!r} of TVM"
