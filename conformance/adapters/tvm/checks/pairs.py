"""Compatibility and unification of many pairs of structural information, one a line.

Reads lines `[S1, S2]` or `{"id": .., "pair": [S1, S2]}` and writes for each
`{"id": .., "compatibility": .., "unify": ..}`; the id of a bare pair is its line number, from 0. What TVM refuses
stands there as `{"rejected": message}`, what cannot be put to it as `{"unsupported": why}`.
"""

import functools
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from adapter import in_large_stack, take_over_stdout


def answer(s1, s2):
    import judge
    import names

    builder, (left, right) = judge.infos(s1, s2)
    out = {"compatibility": judge.COMPATIBILITY[judge.base_check(left, right)]}
    out["unify"] = guarded(lambda: judge.reader(builder, s1, s2).info(names.unify(left, right)))
    return out


def guarded(compute):
    from faults import Rejected, Unsupported, stage

    try:
        with stage("check"):
            return compute()
    except Rejected as fault:
        return {"rejected": fault.message}
    except Unsupported as fault:
        return {"unsupported": str(fault)}


def main():
    stream = take_over_stdout()
    for number, line in enumerate(sys.stdin):
        request = json.loads(line)
        ident, pair = (number, request) if isinstance(request, list) else (request.get("id"), request["pair"])
        found = guarded(functools.partial(answer, *pair))
        if "compatibility" not in found:
            found = {"compatibility": found, "unify": found}
        stream.write(json.dumps({"id": ident, **found}) + "\n")
    stream.flush()


if __name__ == "__main__":
    in_large_stack(main)
