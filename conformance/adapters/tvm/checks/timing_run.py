"""What TVM takes to compile and run the program that `benches/run_against_tvm.rs` evaluates in relax-spec.

Reads one JSON object from standard input: `text`, a TVMScript module; `args`, the arguments of its `main`; `repeats` and
`at_least`, how often and how many seconds to repeat at least. Writes one: `seconds`, the shortest repetition, and
`result`. Reading the text is not counted, as it is not in relax-spec.
"""

import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from adapter import in_large_stack, take_over_stdout


def compile_and_run(mod, arguments):
    import run
    from prelude import NOW

    vm = run.machine(run.compile_module(mod, lambda _stage: None))
    args = []
    for value in arguments:
        args.append(NOW.values.to_tvm(value, args))
    return NOW.values.read(run.call(vm, "main", args, lambda _stage: None))


def main():
    stream = take_over_stdout()
    request = json.load(sys.stdin)
    from programs import Program

    mod = Program({"Script": request["text"]}).derive()
    times, begin = [], time.perf_counter()
    while len(times) < request["repeats"] or time.perf_counter() - begin < request["at_least"]:
        start = time.perf_counter()
        result = compile_and_run(mod, request["args"])
        times.append(time.perf_counter() - start)
    stream.write(json.dumps({"seconds": min(times), "result": result}) + "\n")
    stream.flush()


if __name__ == "__main__":
    in_large_stack(main)
