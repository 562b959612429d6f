"""Are the gradients that `relax.transform.Gradient` writes those of the function?

    PYTHON gradients.py RELAX_SPEC [--only GLOB]

Each program computes a number from tensors of float64. The pass makes `main_adjoint` of its `main`, and the oracle runs
both: `main_adjoint`, and `main` with each element moved by a step to either side, and by half of it. Central differences of
both steps, extrapolated (Richardson), are exact but for rounding and the fifth derivative times the fourth power of the
step. With values of about 1 and steps of 1e-3 that is below 1e-9, so a difference of more than `TOLERANCE`, absolute or
relative, is wrong. A line for each program that fails; the exit status is 1 if `KNOWN` does
not explain one, or explains one that does not fail.
"""

import argparse
import fnmatch
import json
import pathlib
import random
import struct
import subprocess
import sys

STEP = 1e-3
TOLERANCE = 1e-7
STAGES = pathlib.Path(__file__).resolve().parents[1] / "stages.py"
#: Sizes of the parameters, and the bindings: the last variable is summed up with weights, which are its squares and itself.
PROGRAMS = {
    "add": ([(2, 3), (3,)], ["z = R.add(a, b)"]),
    "subtract": ([(2, 3), (2, 1)], ["z = R.subtract(a, b)"]),
    "multiply": ([(2, 3), (3,)], ["z = R.multiply(a, b)"]),
    "divide": ([(2, 3), (2, 3)], ["z = R.divide(a, b)"]),
    "power": ([(2, 2), (2, 2)], ["z = R.power(a, b)"]),
    "maximum": ([(2, 3), (2, 3)], ["z = R.maximum(a, b)"]),
    "minimum": ([(2, 3), (3,)], ["z = R.minimum(a, b)"]),
    "where": ([(2, 3), (2, 3)], ["c = R.less(a, b)", "z = R.where(c, a, b)"]),
    "negative": ([(4,)], ["z = R.negative(a)"]),
    "exp": ([(4,)], ["z = R.exp(a)"]),
    "log": ([(4,)], ["z = R.log(a)"]),
    "sqrt": ([(4,)], ["z = R.sqrt(a)"]),
    "sin": ([(4,)], ["z = R.sin(a)"]),
    "cos": ([(4,)], ["z = R.cos(a)"]),
    "tanh": ([(4,)], ["z = R.tanh(a)"]),
    "sigmoid": ([(4,)], ["z = R.sigmoid(a)"]),
    "relu": ([(2, 3), (2, 3)], ["c = R.subtract(a, b)", "z = R.nn.relu(c)"]),
    "silu": ([(4,)], ["z = R.nn.silu(a)"]),
    "softmax": ([(2, 3)], ["z = R.nn.softmax(a, axis=-1)"]),
    "softmax of the first axis": ([(2, 3)], ["z = R.nn.softmax(a, axis=0)"]),
    "log_softmax": ([(2, 3)], ["z = R.nn.log_softmax(a, axis=-1)"]),
    "matmul": ([(2, 3), (3, 2)], ["z = R.matmul(a, b)"]),
    "matmul of batches": ([(2, 2, 3), (3, 2)], ["z = R.matmul(a, b)"]),
    "matmul of a vector": ([(3,), (2, 3, 2)], ["z = R.matmul(a, b)"]),
    "matmul of vectors": ([(3,), (3,)], ["z = R.matmul(a, b)"]),
    "permute_dims": ([(2, 3, 2), (2, 3)], ["c = R.permute_dims(a, axes=[2, 0, 1])", "z = R.multiply(c, b)"]),
    "reshape": ([(2, 3), (3, 2)], ["c = R.reshape(a, R.shape([3, 2]))", "z = R.multiply(c, b)"]),
    "expand_dims": ([(3,), (2, 3)], ["c = R.expand_dims(a, axis=[0])", "z = R.multiply(c, b)"]),
    "squeeze": ([(2, 1, 3), (2, 3)], ["c = R.squeeze(a, axis=[1])", "z = R.multiply(c, b)"]),
    "broadcast_to": ([(3,), (2, 3)], ["c = R.broadcast_to(a, R.shape([2, 3]))", "z = R.multiply(c, b)"]),
    "concat": ([(2, 2), (2, 1), (2, 3)], ["d = R.concat((a, b), axis=1)", "z = R.multiply(d, c)"]),
    "split": ([(2, 4)], ["d = R.split(a, 2, axis=1)", "e = d[0]", "f = d[1]", "z = R.multiply(e, f)"]),
    "one part of a split": ([(2, 4)], ["d = R.split(a, [1, 3], axis=1)", "z = d[1]"]),
    "sum": ([(2, 3), (2,)], ["c = R.sum(a, axis=[1])", "z = R.multiply(c, b)"]),
    "sum that keeps axes": ([(2, 3), (2, 3)], ["c = R.sum(a, axis=[0], keepdims=True)", "z = R.multiply(c, b)"]),
    "mean": ([(2, 3), (3,)], ["c = R.mean(a, axis=[0])", "z = R.multiply(c, b)"]),
    "variance": ([(2, 3), (2,)], ["c = R.variance(a, axis=[1])", "z = R.multiply(c, b)"]),
    "cumsum": ([(2, 3), (2, 3)], ["c = R.cumsum(a, axis=1)", "z = R.multiply(c, b)"]),
    "take": ([(3, 2)], ['i = R.arange(0, 2, 1, dtype="int64")', "z = R.take(a, i, axis=0)"]),
    "used twice": ([(2, 3)], ["b = R.exp(a)", "c = R.multiply(b, a)", "z = R.add(c, b)"]),
    "not used": ([(2, 3), (2,)], ["z = R.exp(a)"]),
    "dead": ([(2, 3)], ["b = R.exp(a)", "z = R.sin(a)"]),
    "of a tuple": ([(2, 3), (2, 3)], ["c = (a, b)", "d = c[1]", "e = c[0]", "z = R.divide(d, e)"]),
    "of nested tuples": (
        [(2,), (2,)],
        ["c = (a, b)", "d = (c, a)", "e = d[0]", "f = e[1]", "g = d[1]", "z = R.divide(f, g)"],
    ),
    "nll_loss": (
        [(2, 3)],
        ["b = R.nn.log_softmax(a, axis=-1)", 'i = R.arange(0, 2, 1, dtype="int64")', "z = R.nn.nll_loss(b, i)"],
    ),
    "cross_entropy_with_logits": ([(2, 3), (2, 3)], ["z = R.nn.cross_entropy_with_logits(a, b)"]),
    "conv2d": ([(1, 2, 3, 3), (2, 2, 2, 2)], ["z = R.nn.conv2d(a, b)"]),
    "conv2d with strides": ([(1, 1, 4, 4), (2, 1, 2, 2)], ["z = R.nn.conv2d(a, b, strides=[2, 2], padding=[1, 1, 1, 1])"]),
    "avg_pool2d": ([(1, 2, 4, 4)], ["z = R.nn.avg_pool2d(a, pool_size=[2, 2], strides=[2, 2])"]),
    "max_pool2d": ([(1, 2, 4, 4)], ["z = R.nn.max_pool2d(a, pool_size=[2, 2], strides=[2, 2])"]),
}
#: The programs whose gradient is wrong or refused, with the reason.
KNOWN = {
    "squeeze": "the release has no gradient of it",
    "take": "the pass writes `take_backward` with an empty mode, which is none of its modes",
}


def text_of(sizes, bindings):
    """The program: the sum of the squares and of the values of `z`."""
    params = ", ".join(f'{name}: R.Tensor({size!r}, "float64")' for name, size in zip("abc", sizes))
    lines = [*bindings, "z1 = R.multiply(z, z)", "z2 = R.add(z1, z)", "z3 = R.sum(z2)", "R.output(z3)"]
    head = f'@I.ir_module\nclass Module:\n    @R.function\n    def main({params}) -> R.Tensor((), "float64"):\n'
    return head + "        with R.dataflow():\n" + "".join(f"            {line}\n" for line in lines) + "        return z3\n"


class Recorder:
    """The process that runs the pass."""

    def __init__(self):
        command = [sys.executable, str(STAGES)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def adjoint(self, program):
        """The text of the module with the gradient, or the reason why there is none."""
        request = {"script": program, "steps": [{"name": "Gradient", "arguments": ["main"]}]}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        made, refused = None, "nothing is made"
        for text in self.process.stdout:
            line = json.loads(text)
            if "done" in line:
                break
            if line.get("pass") == "Gradient" and "text" in line:
                made, refused = line["text"], None
            refused = line.get("error", refused)
        return made, refused

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Oracle:
    """`relax-spec adapter`, which runs functions."""

    def __init__(self, tool):
        self.process = subprocess.Popen([tool, "adapter"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask({"id": 0, "op": "hello", "protocol": [1, 1]})

    def ask(self, question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def run(self, program, entry, tensors):
        bits = [struct.pack(f"<{len(values)}d", *values).hex() for _, values in tensors]
        inputs = [{"Tensor": {"dtype": "float64", "shape": size, "bits": own}} for (size, _), own in zip(tensors, bits)]
        question = {"id": 1, "op": "evaluate", "edition": "2024-04", "args": [{"Script": program}, entry, inputs]}
        reply = self.ask(question)
        if reply["outcome"] != "answer" or "Returns" not in reply["answer"]:
            raise RuntimeError(f"{entry}: {json.dumps(reply)[:300]}")
        # The value, what the arguments hold at the end, and the effects.
        returned = reply["answer"]["Returns"]
        return returned[0] if isinstance(returned, list) else returned

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def numbers(value):
    """The elements of a tensor of float64."""
    return [x for (x,) in struct.iter_unpack("<d", bytes.fromhex(value["Tensor"]["bits"]))]


def differences(oracle, program, tensors):
    """The gradient for each tensor, by differences."""

    def moved(nth, at, by):
        changed = [(size, list(values)) for size, values in tensors]
        changed[nth][1][at] += by
        return numbers(oracle.run(program, "main", changed))[0]

    def slope(nth, at, step):
        return (moved(nth, at, step) - moved(nth, at, -step)) / (2 * step)

    def extrapolated(nth, at):
        return (4 * slope(nth, at, STEP / 2) - slope(nth, at, STEP)) / 3

    return [[extrapolated(nth, at) for at in range(len(values))] for nth, (_, values) in enumerate(tensors)]


def fault(oracle, recorder, name, sizes, bindings):
    """What is wrong with the gradient of a program."""
    program = text_of(sizes, bindings)
    made, refused = recorder.adjoint(program)
    if refused:
        return f"refused: {refused}"
    draw = random.Random(name)
    tensors = []
    for size in sizes:
        count = 1
        for extent in size:
            count *= extent
        # Pairwise different by more than the step, so that none is at a bend.
        tensors.append((list(size), [0.5 + (place + draw.random() / 2) / count for place in draw.sample(range(count), count)]))
    try:
        _, gradients = oracle.run(made, "main_adjoint", tensors)["Tuple"]
        expected = differences(oracle, program, tensors)
    except RuntimeError as error:
        return str(error)
    for nth, (gradient, slopes) in enumerate(zip(gradients["Tuple"], expected)):
        for at, (given, slope) in enumerate(zip(numbers(gradient), slopes)):
            if not abs(given - slope) <= TOLERANCE * max(1, abs(slope)):
                return f"by {'abc'[nth]}, element {at}: {given}, and {slope} by differences"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("--only", default="*")
    args = parser.parse_args()
    oracle, recorder, counts = Oracle(args.tool), Recorder(), {"right": 0, "known": 0, "WRONG": 0}
    for name, (sizes, bindings) in PROGRAMS.items():
        if not fnmatch.fnmatch(name, args.only):
            continue
        found = fault(oracle, recorder, name, sizes, bindings)
        word = "known" if found and name in KNOWN else "WRONG" if found or name in KNOWN else "right"
        counts[word] += 1
        if found:
            print(f"{word} {name}: {found}", flush=True)
    oracle.close()
    recorder.close()
    print(", ".join(f"{count} {word}" for word, count in counts.items()))
    return 1 if counts["WRONG"] or not counts["right"] else 0


if __name__ == "__main__":
    sys.exit(main())
