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


def main():
    adapter = Adapter(open(os.devnull, "w"))
    counts = collections.Counter()
    for line in sys.stdin:
        case = json.loads(line)
        reply = adapter.answer(case["question"])
        given = value_of(reply)
        agrees = given is not None and same(case["expected"], given)
        counts["same" if agrees else reply["outcome"] if given is None else "different"] += 1
        if not agrees:
            print(f"seed {case['question']['id']}: expected {case['expected']}, given {reply}")
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    STATUS.append(int(set(counts) != {"same"}))


if __name__ == "__main__":
    import prelude

    prelude.register()
    in_large_stack(main)
    sys.exit(STATUS[0] if STATUS else 1)
