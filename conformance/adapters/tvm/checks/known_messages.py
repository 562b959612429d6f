"""The causes that a message says: the name of a pass, what is said of it, and what the program has to have besides.

A form begins with the pass that is responsible and holds what only this cause says. So another mistake of the same pass, or
the same words about another pass, stay without a cause.
"""

import re


def reads_behind(found, _=None):
    """Whether an index lies behind the end, and none before the beginning."""
    index, shape = (list(map(int, re.findall(r"-?\d+", part))) for part in found.groups()[-2:])
    return len(index) == len(shape) and all(i >= 0 for i in index)


def repeats_no_one(found, _=None):
    """Whether each axis along which an index lies behind the end has the size 1."""
    index, shape = (list(map(int, re.findall(r"-?\d+", part))) for part in found.groups()[-2:])
    return reads_behind(found) and all(i < size or size == 1 for i, size in zip(index, shape))


def counts_from_the_end(found, _=None):
    """Whether each index that lies outside is negative, and inside if it is counted from the end."""
    index, shape = (list(map(int, re.findall(r"-?\d+", part))) for part in found.groups()[-2:])
    return len(index) == len(shape) and all(-size <= i < size for i, size in zip(index, shape))


def asks_for(found, program):
    """Whether the program itself asks for this data type, which no pass has made of another one."""
    return re.search(rf'R\.topk\(.*dtype=["\']{found[1]}["\']', program or "") is not None


def sizes_of_the_outside(found, program):
    """Whether the variables that are named are sizes in the parameters of a global function."""
    named = re.findall(r"`(\w+)`", found[0])
    return bool(named) and all(re.search(rf"^    def .*\b{name}\b", program or "", re.MULTILINE) for name in named)


def shuffles_unknown_channels(_found, program):
    """Whether the program calls `nn.pixel_shuffle` on a parameter whose channels are no constant."""
    shuffled = re.findall(r"R\.nn\.pixel_shuffle\((\w+)", program or "")
    sizes = [shape.split(", ") for name in shuffled for shape in re.findall(rf"\b{name}: R\.Tensor\(\(([^)]*)\)", program)]
    return any(len(dims) >= 3 and not dims[-3].isdigit() for dims in sizes)


def measures_a_scalar(_found, program):
    """Whether the program calls `size` on a parameter without axes."""
    measured = re.findall(r"R\.size\((\w+)", program or "")
    return any(re.search(rf"\b{name}: R\.Tensor\(\(\),", program) for name in measured)


def is_a_sampled_image(found, program):
    """Whether the variable that is named is bound to a call of `image.grid_sample`."""
    return re.search(rf"\b{found[1]}\b[^\n=]*= R\.image\.grid_sample\(", program or "") is not None


def calls(*operators):
    """Whether the program calls one of these operators."""
    called = re.compile(rf"\bR\.({'|'.join(operators)})\(")
    return lambda _found, program: called.search(program or "") is not None


def is_a_boolean_as_a_number(found, _program=None):
    """Whether the two values differ in nothing but truth values, in whose place there are 1 and 0."""
    source, target = found.groups()
    return source != target and re.sub(r"\btrue\b", "1", re.sub(r"\bfalse\b", "0", source)) == target


def has_a_boxed_size(_found, program):
    """Whether the program says of a boxed integer which size it is."""
    return re.search(r"R\.Prim\([\"']\w+[\"'], value=[a-z]", program or "") is not None


def always(_found, _program=None):
    """What a message says is enough."""
    return True


OUTSIDE = r": `\w+\[([-\d, ]+)\]` is outside of the shape \[([\d, ]+)\]"
#: What an operator demands of sizes that inference cannot compare.
OF_SIZES = (
    r"a region is an image and two corners, 5 numbers, not \d+"
    r"|the data has \d+ channels, the weight takes \d+"
    r"|the gradient has the dimension \d+, the result \d+"
    r"|a place has \d+ coordinates, there are \d+"
    r"|the indices have \d+ places along axis \d+, the data \d+|\d+ elements cannot take a shape of \d+"
    r"|there are more values than places|the sizes \d+ and \d+ differ"
)
#: A `MatchCast` to a size that has been bound.
OF_VARIABLE = r"dimension \d+: expected [a-z]\w* = \d+(?=.*\[SI\.MATCHCAST\.TENSOR\.EVAL\])"
#: What reduces an axis, which may have no elements.
REDUCTIONS = (
    r"(collapse_)?sum(_like|_to)?|mean|prod|max|min|std|variance|arg(max|min)|matmul|linear|einsum|cum(sum|prod)"
    r"|nn\.(log_)?softmax|nn\.(layer|rms|group|instance|batch)_norm|nn\.conv\w+|nn\.(adaptive_)?(max|avg)_pool\w+"
    r"|nn\.cross_entropy_with_logits|nn\.nll_loss|nn\.attention\w*|grad\.\w+|vision\.\w+"
)
UNWRITTEN = r"at (`\w+`|the end of the run) a tensor is read that was not written in every element$"
#: A broken contract.
CONTRACT = r'\{"contract": "%s", "message": "'
#: What a message says -> what it and the program have to say besides, and the folder, or the reason why there is none.
MESSAGES = [
    (r"^LegalizeOps: .*@index_tensor\d*" + OUTSIDE, counts_from_the_end, "negative-index-of-a-tensor"),
    (r"^LegalizeOps: .*@slice_scatter\d*" + OUTSIDE, reads_behind, "slice-scatter-beyond-the-updates"),
    (
        rf"^LegalizeOps: the source fails[\w ]*(, the target gives a value)?: ({OF_SIZES}) \[PURE\.ERR\.OP\]",
        always,
        "product-of-unequal-sizes",
    ),
    (
        r"^(FoldConstant|DeadCodeElimination): the source fails outside of DataflowBlocks, the target gives a value",
        always,
        "unused-call-outside-of-blocks",
    ),
    (
        r"^TVM: Rejected: error: Prim\(\) got an unexpected keyword argument 'value'",
        has_a_boxed_size,
        "a size that only a boxed integer gives, which the releases from 0.26 on have no form for",
    ),
    (r"^code generation: the source returns (.*), the target (.*)$", is_a_boolean_as_a_number, "boxed-boolean-as-a-number"),
    (r"^FuseTIRInner: .*func_info_\.global_name != \"fused\"", always, "projections-alone-in-a-function"),
    (
        r"^RemoveUnusedParameters: the source fails[\w ]*, the target gives a value: parameter \w+: .*\[SI\.MATCHCAST",
        always,
        "unused-parameter-with-a-check",
    ),
    (
        r"^StaticPlanBlockMemory: .*(the variable storage[\w#]* has no value here|`storage[\w#]*` is not (bound|in scope))",
        always,
        "planned-storage-of-a-branch",
    ),
    (r"^LegalizeOps: .*@broadcast_to\d*" + OUTSIDE, repeats_no_one, "broadcast-of-a-symbolic-size"),
    (
        r"^LegalizeOps: .*@max_pool2d_backward\d*: `maxpool_grad_argmax_v0\[([-\d, ]+)\]` is outside of the shape \[([\d, ]+)\]",
        reads_behind,
        "max-pool-backward-behind-the-gradient",
    ),
    (
        r"^code generation: .*the target fails: topk raised an error: Unsupported output dtype: (uint32|uint64) \[PURE.ERR.OP\]",
        asks_for,
        "topk-places-as-uint32",
    ),
    (
        r"^(Canonicalize(Relax)?Bindings|CanonicalizeTIRVariables|ConvertToDataflow|KillAfterLastUse): "
        rf"the source fails[\w ]*, the target gives a value: {OF_VARIABLE}, found \d+ ",
        calls("match_cast"),
        "cast-to-a-size-of-another-cast",
    ),
    (rf"^Normalize: .* the target fails: {OF_VARIABLE}, found \d+ ", always, "sizes-of-a-flattened-sequence"),
    (
        r"^LegalizeOps: .*the stride 0 is not possible \[PURE\.ERR\.OP\].*@shape_func\d*: division of -?\d+ by zero",
        always,
        "division-by-zero",
    ),
    (
        r"^LegalizeOps: the source fails[\w ]*: an integer is divided by zero \[PURE\.ERR\.OP\]; of the target nothing is said: "
        r"@(floor_)?(divide|mod)\d*: division of -?\d+ by zero",
        always,
        "division-by-zero",
    ),
    (
        r"^code generation: .*the target fails: ((arg)?sort|median) raised an error: Unsupported input dtype: (bool|int8)\b",
        always,
        "sort-of-booleans",
    ),
    (
        r"^(LegalizeOps|FoldConstant): the source .*(does what is undefined|of the target nothing is said): " + UNWRITTEN,
        calls(REDUCTIONS),
        "sum-of-nothing-unwritten",
    ),
    (r"^LegalizeOps: the source .*does what is undefined: " + UNWRITTEN, measures_a_scalar, "size-of-a-scalar"),
    (
        r"^LegalizeOps: .*the target does what is undefined: @conv[123]d_transpose\d*: dimension \d+ is -\d+, which is negative",
        always,
        "transposed-convolution-of-nothing",
    ),
    (
        r"^LegalizeOps: .*the target fails: no shape has the negative size -\d+ \[PURE\.ERR\.OP\]",
        calls("dynamic_strided_slice"),
        "dynamic-slice-behind-its-end",
    ),
    (
        r"^LegalizeOps: .*the target does what is undefined: @te_nll_loss_backward\w*: `\w+\[-\d+\]` is outside of the shape",
        calls(r"grad\.nll_loss_backward"),
        "nll-gradient-of-ignored-targets",
    ),
    (
        r"^code generation: InternalError: (CodeGenVM cannot .*Offending call: )?R\.nn\.(adaptive_)?(max|avg)_pool[123]d\("
        r'.*[ (]layout="(\w+)", out_layout="(?!\4")\w+"',
        always,
        "no operator of a pool has a lowering for another layout of the result (ops/nn.avg_pool2d-8-exact in the ledger)",
    ),
    (
        r"^RewriteDataflowReshape: .*CanProveDivisible\(info\.padding_factor, divisor\)",
        calls("permute_dims", "reshape", "flatten", "squeeze", "expand_dims"),
        "reshape-pattern-of-a-computed-size",
    ),
    (
        r"^Normalize: " + CONTRACT % "well-formed" + r"`(\w+)` is annotated as .*, but its value is .*SI\.DERIVE\.VB\.ANNOT\.ERR",
        is_a_sampled_image,
        "grid-of-places-in-inference",
    ),
    (
        r"^Normalize: " + CONTRACT % "well-formed" + r"the body is .*, where the function returns .*SI\.DERIVE\.FUNC\.RET\.ERR",
        calls(r"image\.grid_sample"),
        "grid-of-places-in-inference",
    ),
    (
        r"^LowerRuntimeBuiltin: "
        + CONTRACT % "well-formed"
        + "the body is Object, where the function returns .*SI.DERIVE.FUNC.RET-ERR",
        always,
        "field-of-a-closure-result",
    ),
    (r"^\w+: " + CONTRACT % "normal form" + r".*\"NF\.UNIT\.INLINE\"", calls("dataflow"), "unit-in-a-dataflow-block"),
    (
        r"^LambdaLift: " + CONTRACT % "no free variable" + r"`.*` does not bind the new shape variable `\w+`, which is not alone",
        always,
        "lifted-size-of-the-outside",
    ),
    (
        r"^LambdaLift: " + CONTRACT % "well-formed" + r"the annotation uses `\w+`, which is not in scope .*DIMS-SCOPE",
        always,
        "lifted-size-of-the-outside",
    ),
    (
        r"^LambdaLift: " + CONTRACT % "no free variable" + r"the shape variable `\w+` is not bound at this point",
        sizes_of_the_outside,
        "lifted-size-of-the-outside",
    ),
    (
        r"^LambdaLift: " + CONTRACT % "well-formed" + r"no parameter has (`\w+`(, )?)+ as a dimension alone",
        sizes_of_the_outside,
        "lifted-size-of-the-outside",
    ),
    (
        r"^(LegalizeOps|DispatchSortScan): .*@cum(sum|prod)\d*: division of 0 by zero",
        calls("cumsum", "cumprod"),
        "scan-along-nothing",
    ),
    (
        r"^LegalizeOps: .*the target does what is undefined: @take_backward\d*: `out_buf\[",
        calls(r"grad\.take_backward"),
        "no program that the release can write gives `take_backward` the mode of this index",
    ),
    (
        r"^code generation: InternalError: (CodeGenVM cannot .*Offending call: )?R\.hint_on_device\(",
        always,
        "no pass of the default pipeline lowers it; RealizeVDevice does",
    ),
    (
        r"^TVM: .*The vdevice is not in the ir_module",
        always,
        "a device that is written out is another one for TVM than its equal in the list",
    ),
    (
        r"^LowerRuntimeBuiltin: "
        + CONTRACT % "well-formed"
        + r".* is to lie on llvm:0:global, which is another device .*VDEV\.UPDATE\.CLASH",
        always,
        "a copy to a device becomes a packed call, whose arguments lie where its result lies",
    ),
    (
        r"^TVM: Rejected: .*layout_transform\(\) got an unexpected keyword argument '(input_)?axis_separators'",
        always,
        "since 0.26 `layout_transform` has no separators of axes",
    ),
    (r"^Normalize: TVM's process ended: signal 11 \(SIGSEGV\)", shuffles_unknown_channels, "pixel-shuffle-of-symbolic-channels"),
    (r": the (source|target) ran out of fuel$", always, "the program does not end on this input"),
]


def by_message(message, name="", program=None):
    """The cause that a message alone says, of a pass on a program."""
    for said, also, folder in MESSAGES:
        found = re.search(said, f"{name}: {' '.join(message.split())}")
        if found and also(found, program):
            return folder
    return None
