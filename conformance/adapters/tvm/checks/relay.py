"""Does TVM compute what a program of Relay means?

    cargo xtask relay 500 0 --questions | PYTHON relay.py

Each line of the input is the translation of a program into Relax, as a question of the protocol, with the value that the
program gives by its own evaluator, which the translation gives in the evaluator of Relax too. TVM builds and runs the
translation; its value must be the same, floats up to rounding, or the reason why not must be one of those listed here, which is
found by mending just that. The exit status is 1 if a program is left without one.
"""

import collections
import contextlib
import copy
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from adapter import Adapter, in_large_stack

#: What rounding in another order may make of a float, relative to the largest element.
TOLERANCE = 1e-4

#: What `main` gives in its thread.
STATUS = []

#: What TVM does otherwise, with the clause that decides. The pool of constants is right from 0.26 on.
REASONS = {
    "closure": "EVAL.FUNC.CLOSURE: a function that captures variables is a function; LambdaLift makes an object of it of"
    " which nothing is known, and refuses the call that is given it, or loses a captured function that it calls",
    "rank": "EVAL.CALL.OP.ARGS: an operator takes tensors of whatever rank they have; LegalizeOps leaves it as it is where the"
    " rank is not known, as in the one instance of a polymorphic definition, and nothing else lowers it",
    "planning": "OPT.GENERAL: planning memory changes no value; StaticPlanBlockMemory brings the process down",
    "constants": "EVAL.CONST.FRESH: a constant gives its own data; the machine's pool takes one scalar for another where both"
    " have one structural hash, as -1 and 1",
}

#: What is mended, from the least on, where TVM builds the program and something else comes of it.
MENDED = (("planning",), ("constants",), ("planning", "constants"))
#: What LambdaLift says, and what the code generator says of an operator.
FORGOTTEN = re.compile(r"Argument \d+ type mismatch: expected .*, given R\.(Object|Any)|: Var \w+ is not defined")
NOT_LOWERED = re.compile(r"CodeGenVM cannot (handle this intrinsic now|emit this Relax operator directly)")


def elements(data):
    import numpy as np

    raw = np.frombuffer(bytes.fromhex(data["bits"]), dtype=data["dtype"])
    return raw.reshape(data["shape"])


def same(expected, given):
    import numpy as np

    if set(expected) != set(given):
        return False
    if "Tuple" in expected:
        pairs = list(zip(expected["Tuple"], given["Tuple"]))
        return len(expected["Tuple"]) == len(given["Tuple"]) and all(same(a, b) for a, b in pairs)
    a, b = elements(expected["Tensor"]), elements(given["Tensor"])
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind != "f":
        return bool((a == b).all())
    scale = max(1.0, float(np.abs(a[np.isfinite(a)]).max(initial=0.0)))
    return bool(np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * scale, equal_nan=True))


def value_of(reply):
    run = reply.get("answer")
    return run["Returns"][0] if isinstance(run, dict) and "Returns" in run else None


def judged(adapter, case):
    """What TVM makes of a program: `same`, `different`, or how it fails; with its reply."""
    reply = adapter.answer(case["question"])
    given = value_of(reply)
    if given is None:
        return reply["outcome"], reply
    return "same" if same(case["expected"], given) else "different", reply


def apart(question):
    """The answer of a function, in a process of its own, which TVM may bring down."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        # What TVM writes when it falls.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            with os.fdopen(writing, "w") as out:
                json.dump(question(), out)
        finally:
            # Nothing of the parent's may be cleaned up here.
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as lines:
        told = lines.read()
    status = os.waitpid(child, 0)[1]
    return json.loads(told) if told and not status else ("crash", f"the process ended with status {status}")


def reasons(adapter, case, verdict, reply):
    """The names of the reasons why TVM does not give the value; none if it is not one of those that are known."""
    if verdict in ("crash", "different"):
        for names in MENDED:
            if apart(lambda names=names: judged_mended(adapter, case, names))[0] == "same":
                return names
        return ()
    message = reply.get("message", "") if verdict == "rejected" else ""
    if FORGOTTEN.search(message) and apart(lambda: lifting_forgets(adapter, case)) is True:
        return ("closure",)
    if NOT_LOWERED.search(message) and apart(lambda: only_unknown_ranks_are_left(adapter, case)) is True:
        return ("rank",)
    return ()


def judged_mended(adapter, case, names):
    import tvm

    planning = tvm.transform.PassContext(disabled_pass=["StaticPlanBlockMemory"])
    with planning if "planning" in names else contextlib.nullcontext():
        return judged(adapter, without_negative_constants(case) if "constants" in names else case)


def without_negative_constants(case):
    """The program with the negative of a positive number in place of each negative scalar: of two numbers that are not
    negative no two have the same hash."""
    case = copy.deepcopy(case)
    case["question"]["args"][0] = computed(case["question"]["args"][0])
    return case


def computed(node):
    if isinstance(node, list):
        return [computed(part) for part in node]
    if not isinstance(node, dict):
        return node
    if set(node) == {"Constant"} and not node["Constant"]["data"]["shape"]:
        data = node["Constant"]["data"]
        number = elements(data)
        if number.dtype.kind in "if" and number < 0:
            positive = {"Constant": {"data": {**data, "bits": (-number).tobytes().hex()}}}
            return {"Call": {"op": {"Op": {"op_name": "relax.negative"}}, "args": [positive]}}
        return node
    return {key: computed(value) for key, value in node.items()}


def module_of(adapter, case):
    from programs import Program

    question = case["question"]
    return Program(question["args"][0], question.get("prim_funcs"), adapter.beat).derive()


def lifting_forgets(adapter, case):
    """Whether LambdaLift refuses the program, which was accepted before, or makes an object of a function or uses variables
    that are bound nowhere, which a later pass refuses."""
    from tvm import relax

    from names import Call

    mod = module_of(adapter, case)
    try:
        lifted = relax.transform.LambdaLift()(mod)
    except Exception as error:
        return bool(FORGOTTEN.search(str(error)))
    made = []

    def visit(e):
        if isinstance(e, Call) and getattr(e.op, "name", "") == "relax.make_closure":
            made.append(e)

    for function in lifted.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, visit)
            made.extend(relax.analysis.free_vars(function))
    return bool(made)


def only_unknown_ranks_are_left(adapter, case):
    """Whether each tensor operator that LegalizeOps leaves has an operand whose rank is not known; at least one does."""
    import tvm
    from tvm import relax

    from names import Call, TensorInfo, info_of

    with tvm.target.Target("llvm"):
        mod = relax.transform.LegalizeOps()(relax.transform.LambdaLift()(module_of(adapter, case)))
    found = []

    def visit(e):
        if isinstance(e, Call) and isinstance(e.op, tvm.ir.Op) and isinstance(info_of(e), TensorInfo):
            infos = [info_of(arg) for arg in e.args]
            if any(isinstance(info, TensorInfo) and info.ndim < 0 for info in infos):
                found.append(True)
            elif e.op.name not in ("relax.call_tir", "relax.call_pure_packed", "relax.invoke_pure_closure"):
                found.append(False)

    for function in mod.functions.values():
        if isinstance(function, relax.Function):
            relax.analysis.post_order_visit(function, visit)
    return bool(found) and all(found)


def main():
    counts, explained, unexplained = collections.Counter(), collections.Counter(), 0
    with open(os.devnull, "w") as nowhere:
        adapter = Adapter(nowhere)
        for line in sys.stdin:
            case = json.loads(line)
            verdict, reply = apart(lambda case=case: judged(adapter, case))
            counts[verdict] += 1
            if verdict == "same":
                continue
            why = reasons(adapter, case, verdict, reply)
            explained.update([" and ".join(why)] if why else [])
            if not why:
                unexplained += 1
                print(f"seed {case['question']['id']}: {verdict}: expected {case['expected']}, given {reply}")
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    for name, count in explained.most_common():
        print(f"{count} by {name}")
    for name in sorted({name for names in explained for name in names.split(" and ")}):
        print(f"  {name}: {REASONS[name]}")
    print(f"{unexplained} without a reason")
    STATUS.append(int(unexplained > 0 or not counts))


if __name__ == "__main__":
    import prelude

    prelude.register()
    in_large_stack(main)
    sys.exit(STATUS[0] if STATUS else 1)
