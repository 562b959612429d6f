"""Programs in which passes find something to do, for `pass_table.py`.

A program is put together from parts, which a seed draws. Each takes a tensor of n by 8 numbers and makes one of the same
sizes of it.
"""

import random

#: What a program may be called with beside its first tensor: the parameters that parts use.
PARAMS = {
    "v": (8, 8),
    "w": (8, 8),
    "u": (8, 1),
    "k": (2, 2, 1, 1),
    "gamma": (2,),
    "beta": (2,),
    "mean": (2,),
    "variance": (2,),
    "scale": (8,),
    "shift": (8,),
}
#: Private functions that parts call.
FUNCTIONS = {
    "half": """
    @R.function(private=True)
    def half(a: R.Tensor((SIZE, 8), "float32"), b: R.Tensor((8, 8), "float32")) -> R.Tensor((SIZE, 8), "float32"):
        c = R.multiply(a, R.const(0.5, "float32"))
        return c
""",
    "both": """
    @R.function(private=True)
    def both(a: R.Tensor((SIZE, 8), "float32")) -> R.Tuple(R.Tensor((SIZE, 8), "float32"), R.Tensor((SIZE, 8), "float32")):
        c = R.negative(a)
        d = R.abs(a)
        return (c, d)
""",
    "summed": """
    @R.function(private=True)
    def summed(t: R.Tuple(R.Tensor((8, 8), "float32"), R.Tensor((8, 8), "float32"))) -> R.Tensor((8, 8), "float32"):
        a = t[0]
        b = t[1]
        c = R.add(a, b)
        return c
""",
}
#: What a part is for -> its bindings. `IN` is the tensor that it takes, `OUT` the one that it makes, `_1` and so on are
#: names of its own, SIZE is the first size, ALL the number of elements.
PARTS = {
    "order of products": ["_1 = R.matmul(IN, v)", "_2 = R.matmul(_1, u)", "OUT = R.add(IN, _2)"],
    "products of one tensor": ["_1 = R.matmul(IN, v)", "_2 = R.matmul(IN, w)", "OUT = R.subtract(_1, _2)"],
    "product of a sum": [
        "_1 = R.permute_dims(IN, axes=[1, 0])",
        "_2 = R.matmul(_1, IN)",
        "_3 = R.add(_2, v)",
        "OUT = R.matmul(IN, _3)",
    ],
    "chosen columns": ['_1 = R.arange(0, 8, 1, dtype="int64")', "_2 = R.take(w, _1, axis=1)", "OUT = R.matmul(IN, _2)"],
    "transposed weights": [
        "_1 = R.permute_dims(v, axes=[1, 0])",
        "_2 = R.permute_dims(w, axes=[1, 0])",
        "_3 = R.concat((_1, _2), axis=1)",
        "_4 = R.matmul(IN, _3)",
        "OUT = R.strided_slice(_4, axes=[1], begin=[0], end=[8], strides=[1])",
    ],
    "transposed operand": ["_1 = R.permute_dims(v, axes=[1, 0])", "OUT = R.matmul(IN, _1)"],
    "reshaped twice": [
        "_1 = R.reshape(IN, R.shape([ALL]))",
        "_2 = R.reshape(_1, R.shape([SIZE, 8]))",
        "OUT = R.sigmoid(_2)",
    ],
    "reshaped": [
        "_1 = R.reshape(IN, R.shape([ALL]))",
        "_2 = R.tanh(_1)",
        "OUT = R.reshape(_2, R.shape([SIZE, 8]))",
    ],
    "computed twice": ["_1 = R.add(IN, scale)", "_2 = R.add(IN, scale)", "OUT = R.multiply(_1, _2)"],
    "dead and named twice": ["_1 = R.exp(IN)", "_2 = IN", "OUT = R.subtract(_2, shift)"],
    "constants": ['_1 = R.multiply(R.const(1.5, "float32"), R.const(2, "float32"))', "OUT = R.add(IN, _1)"],
    "function": ["OUT = cls.half(IN, v)"],
    "function of two results": ["_1 = cls.both(IN)", "OUT = _1[1]"],
    "function of a tuple": ["_1 = (v, w)", "_2 = cls.summed(_1)", "OUT = R.matmul(IN, _2)"],
    "local function": [
        "@R.function",
        'def _1(_2: R.Tensor((SIZE, 8), "float32")) -> R.Tensor((SIZE, 8), "float32"):',
        "    _3 = R.subtract(_2, IN)",
        "    return _3",
        "_4 = R.sigmoid(IN)",
        "OUT = _1(_4)",
    ],
    "convolution": [
        "_1 = R.reshape(IN, R.shape([SIZE, 2, 2, 2]))",
        "_2 = R.nn.conv2d(_1, k)",
        "_3 = R.nn.relu(_2)",
        "OUT = R.reshape(_3, R.shape([SIZE, 8]))",
    ],
    "normalized by batches": [
        "_1 = R.reshape(IN, R.shape([SIZE, 2, 2, 2]))",
        "_2 = R.nn.conv2d(_1, k)",
        "_3 = R.nn.batch_norm(_2, gamma, beta, mean, variance, axis=1, epsilon=0.001, training=False)",
        "_4 = _3[0]",
        "OUT = R.reshape(_4, R.shape([SIZE, 8]))",
    ],
    "normalized by layers": ["OUT = R.nn.layer_norm(IN, scale, shift, axes=[-1])"],
    "dropout": ["_1 = R.nn.dropout(IN, rate=0.0)", "OUT = _1[0]"],
    "sums so far": ["_1 = R.cumsum(IN, axis=1)", "OUT = R.sort(_1, axis=1)"],
    "nested": ["OUT = R.add(R.multiply(IN, scale), R.multiply(shift, shift))"],
    "size as a value": ['_1 = R.full(R.shape([SIZE, 8]), R.const(2, "float32"), dtype="float32")', "OUT = R.add(IN, _1)"],
}
#: Parts that stand in front of a program with a DataflowBlock, since none can be in it.
OUTSIDE = ("local function",)
#: What a program ends with, so that its numbers stay of moderate size.
END = ["_1 = R.abs(IN)", '_2 = R.add(_1, R.const(1, "float32"))', "OUT = R.divide(IN, _2)"]


class Writer:
    """Puts a program together."""

    def __init__(self, seed, without=()):
        self.parts = [part for part in PARTS if part not in without]
        self.draw = random.Random(seed)
        #: Sizes, weights and whether there is a DataflowBlock take turns.
        self.size = "n" if seed % 2 else "4"
        self.is_dataflow = seed // 2 % 2 == 0
        self.count, self.functions, self.used = 0, set(), set()

    def part(self, lines, given):
        """The bindings of a part, and the name of what it makes."""
        names = {"IN": given, "SIZE": self.size, "ALL": "n * 8" if self.size == "n" else "32"}
        made = []
        for line in lines:
            for word in ("OUT", "_1", "_2", "_3", "_4"):
                if word in line and word not in names:
                    self.count += 1
                    names[word] = f"t{self.count}"
            for word, name in names.items():
                line = line.replace(word, name)
            made.append(line)
            self.functions |= {name for name in FUNCTIONS if f"cls.{name}(" in line}
            self.used |= {name for name in PARAMS if name in line.replace("(", " ").replace(")", " ").replace(",", " ").split()}
        return made, names["OUT"]

    def program(self):
        parts = self.draw.sample(self.parts, len(self.parts) * 2 // 3)
        parts.sort(key=lambda part: part not in OUTSIDE)
        front, inside, at = [], [], "x"
        for part in parts:
            made, at = self.part(PARTS[part], at)
            (front if part in OUTSIDE else inside).extend(made)
        made, at = self.part(END, at)
        inside += made
        if self.is_dataflow:
            inside = ["with R.dataflow():", *(f"    {line}" for line in [*inside, f"R.output({at})"])]
        params = "".join(f', {name}: R.Tensor({size}, "float32")' for name, size in PARAMS.items() if name in self.used)
        first = '("n", 8)' if self.size == "n" else "(4, 8)"
        sizes = ["n = T.int64()"] if self.size == "n" else []
        functions = [FUNCTIONS[name] for name in sorted(self.functions)]
        private = "".join(self.private(text) for text in functions)
        head = f'    @R.function\n    def main(x: R.Tensor({first}, "float32"){params}) -> R.Tensor({first}, "float32"):\n'
        lines = ['R.func_attr({"num_input": 1})', *sizes, "cls = Module", *front, *inside, f"return {at}"]
        return "@I.ir_module\nclass Module:" + (private or "\n") + head + "".join(f"        {line}\n" for line in lines)

    def private(self, text):
        """The text of a private function; a size in a signature is quoted."""
        if self.size != "n":
            return text.replace("SIZE", self.size) + "\n"
        head, rest = text.split(":\n", 1)
        variable = "        n = T.int64()\n" if "SIZE" in text else ""
        return head.replace("SIZE", '"n"') + ":\n" + variable + rest.replace("SIZE", "n") + "\n"


def programs(count, without=()):
    """The text of each program, which has none of some parts."""
    return [Writer(seed, without).program() for seed in range(count)]


if __name__ == "__main__":
    print("\n".join(programs(4)))
