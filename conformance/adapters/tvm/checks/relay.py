"""Does TVM compute what a program of Relay means?

    cargo run --release --example relay -- 500 0 --questions | PYTHON relay.py

Each line of the input is the translation of a program into Relax, as a question of the protocol, with the value that the
program gives by its own evaluator, which the translation gives in the evaluator of Relax too. TVM builds and runs the
translation; its value must be the same, floats up to rounding. The exit status is 1 if one is not.
"""

import collections
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from adapter import Adapter, in_large_stack

#: What rounding in another order may make of a float, relative to the largest element.
TOLERANCE = 1e-4

#: What `main` gives in its thread.
STATUS = []


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


def judged_apart(adapter, case):
    """As `judged`, in a process of its own, which TVM may bring down."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with os.fdopen(writing, "w") as out:
                json.dump(judged(adapter, case), out)
        finally:
            # Nothing of the parent's may be cleaned up here.
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as lines:
        told = lines.read()
    status = os.waitpid(child, 0)[1]
    return json.loads(told) if told and not status else ("crash", f"the process ended with status {status}")


def main():
    counts = collections.Counter()
    with open(os.devnull, "w") as nowhere:
        adapter = Adapter(nowhere)
        for line in sys.stdin:
            case = json.loads(line)
            verdict, reply = judged_apart(adapter, case)
            counts[verdict] += 1
            if verdict != "same":
                print(f"seed {case['question']['id']}: {verdict}: expected {case['expected']}, given {reply}")
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    STATUS.append(int(set(counts) != {"same"}))


if __name__ == "__main__":
    import prelude

    prelude.register()
    in_large_stack(main)
    sys.exit(STATUS[0] if STATUS else 1)
