"""The adapter of Apache TVM: answers the questions of the conformance suite over standard input and output.

One source for the versions 0.25, 0.26 and 0.27. The protocol is described in `conformance/INTERPRETING.md`.
"""

import json
import os
import sys
import threading
import traceback

#: Depth of Python recursion and bytes of stack: programs of the suite nest deeply.
_RECURSION, _STACK = 200_000, 1 << 29


def take_over_stdout():
    """The protocol's stream. Everything else that is printed, by TVM's own code too, goes to standard error."""
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return stream


class Adapter:
    def __init__(self, stream, machine=None):
        self.stream = stream
        #: Who runs what programs are compiled to, if TVM's own machine does not.
        self.machine = machine
        self.id = 0

    def send(self, **reply):
        self.stream.write(json.dumps({"id": self.id, **reply}) + "\n")
        self.stream.flush()

    def beat(self, stage):
        self.send(stage=stage)

    def serve(self, lines):
        for line in lines:
            if not line.strip():
                continue
            try:
                request = json.loads(line)
            except (ValueError, RecursionError) as error:
                self.send(outcome="internal_error", message=f"unreadable request: {error}")
                continue
            if request.get("op") == "bye":
                return
            self.id = request.get("id", 0)
            if request.get("op") == "hello":
                self.hello()
            else:
                self.send(**self.answer(request))

    def hello(self):
        import names

        self.send(
            protocol=1,
            implementation={"name": "apache-tvm", "version": names.VERSION},
            edition=names.EDITION,
            capabilities=sorted(self.ops()),
        )

    def ops(self):
        return RUNS if self.machine else OPS

    def answer(self, request):
        from asked import NOW

        from faults import Rejected, Trapped, Unsupported
        from machine import Reply

        NOW.take(request)
        try:
            op = self.ops().get(request.get("op"))
            if op is None:
                return {"outcome": "unsupported", "what": f"the op {request.get('op')}"}
            answer = op(self, request, *request.get("args", []))
            return answer if isinstance(answer, Reply) else {"outcome": "answer", "answer": answer}
        except Unsupported as fault:
            return {"outcome": "unsupported", "what": str(fault)}
        except Rejected as fault:
            return {"outcome": "rejected", "stage": fault.stage, "class": fault.klass, "message": fault.message}
        except Trapped as fault:
            return {"outcome": "trapped", "class": fault.klass, "message": fault.message, "effects": fault.effects}
        except Exception:
            return {"outcome": "internal_error", "message": traceback.format_exc(limit=-12)}

    def program(self, request, json):
        from programs import Program

        return Program(json, request.get("prim_funcs"), self.beat)


def _judgement(name):
    def answer(_adapter, _request, *args):
        import judge

        return getattr(judge, name)(*args)

    return answer


def _of_program(name):
    def answer(adapter, request, program, *args):
        import programs

        return getattr(programs, name)(adapter.program(request, program), *args)

    return answer


def _run(name):
    def answer(adapter, request, program, entry, arguments):
        import run

        return getattr(run, name)(adapter.program(request, program), entry, arguments)

    return answer


def _trial(adapter, request, program, way, entry, inputs):
    import trial

    return trial.trial(adapter.program(request, program), way, entry, inputs)


def _on_machine(identity):
    def answer(adapter, request, program, entry, arguments):
        import executable

        made = executable.executable(adapter.program(request, program))
        adapter.beat("run")
        return adapter.machine.run(made, entry or "main", arguments, identity, request.get("edition"))

    return answer


def _executable(adapter, request, program):
    import executable

    return executable.executable(adapter.program(request, program))


def _running(name):
    def answer(adapter, _request, *args):
        import run

        return getattr(run, name)(*args, adapter.beat)

    return answer


def _parse(_adapter, _request, text):
    import programs

    return programs.parse(text)


#: What TVM can be asked. It exposes no `find_glb`, `wrap_type` or `get_shape_var_mapping`.
OPS = {
    **{
        name: _judgement(name)
        for name in (
            "subtype",
            "lub",
            "erase",
            "erase_to_well_defined",
            "compatibility",
            "more_specific",
            "possibly_more_specific",
            "unify",
            "prove_equal",
            "derive_call",
        )
    },
    **{name: _of_program(name) for name in ("well_formed", "normal_form", "normalize", "check", "derive_function", "derive_var")},
    "type_check": _of_program("check"),
    "eval_dim": _running("eval_dim"),
    "match_value": _running("match_value"),
    "parse": _parse,
    "executable": _executable,
    "trial": _trial,
    **{name: _run(name) for name in ("evaluate", "evaluate_identity", "evaluate_compiled")},
}


#: What can be asked where another machine runs what TVM has compiled.
RUNS = {
    "evaluate": _on_machine(identity=False),
    "evaluate_identity": _on_machine(identity=True),
    "evaluate_compiled": _on_machine(identity=True),
}


def main():
    stream = take_over_stdout()
    import prelude
    from machine import Machine

    prelude.register()
    machine = Machine(sys.argv[2]) if sys.argv[1:2] == ["--machine"] else None
    Adapter(stream, machine).serve(iter(sys.stdin.readline, ""))
    stream.flush()
    # TVM's destructors at the end of the interpreter are of no use to anyone.
    os._exit(0)


def in_large_stack(function):
    sys.setrecursionlimit(_RECURSION)
    threading.stack_size(_STACK)
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


if __name__ == "__main__":
    in_large_stack(main)
