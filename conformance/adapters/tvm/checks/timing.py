"""What TVM takes for the work that `benches/against_tvm.rs` times in relax-spec.

Reads one JSON object from standard input: `texts`, TVMScript modules; `pairs`, pairs of structural information. Writes
one: seconds for each text to be read (`from_source`) and to be checked (`well_formed`), the best of several runs, and
seconds for one pass of base check and of lca over all pairs.
"""

import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from adapter import in_large_stack, take_over_stdout


def best(request, work):
    """The shortest of several runs, in seconds: what the machine can do when nobody disturbs it.

    At least `repeats` runs, and as many as `at_least` seconds have room for.
    """
    times = []
    begin = time.perf_counter()
    while len(times) < request["repeats"] or time.perf_counter() - begin < request["at_least"]:
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def read_text(text):
    import tvm.script
    from tvm.script import ir as I
    from tvm.script import relax as R
    from tvm.script import tirx as T

    return tvm.script.from_source(text, extra_vars={"I": I, "R": R, "T": T}, check_well_formed=False)


def built_pairs(pairs):
    from build import Builder

    objects = []
    for s1, s2 in pairs:
        builder = Builder()
        objects.append((builder.info(s1), builder.info(s2)))
    return objects


def main():
    stream = take_over_stdout()
    request = json.load(sys.stdin)
    from tvm import relax

    import names

    answer = {"read": [], "check": []}
    for text in request["texts"]:
        module = read_text(text)
        answer["read"].append(best(request, lambda text=text: read_text(text)))
        answer["check"].append(best(request, lambda module=module: relax.analysis.well_formed(module)))
    pairs = built_pairs(request["pairs"])
    answer["base_check"] = best(request, lambda: [names.base_check(s2, s1) for s1, s2 in pairs])
    answer["lca"] = best(request, lambda: [names.unify(s1, s2) for s1, s2 in pairs])
    stream.write(json.dumps(answer) + "\n")
    stream.flush()


if __name__ == "__main__":
    in_large_stack(main)
