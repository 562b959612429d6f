"""Judgements on whole programs."""

import tvm_ffi
from asked import NOW
from devices import Devices
from tvm import ir, relax

import fill
import names
import tir
from build import Builder, Scope, binders, bound_by_casts, bound_by_params, force_pure, recursive_functions
from faults import Rejected, Unsupported, stage
from judge import mentions_purity
from read import Reader
from text import parse_text

#: Rounds of finding return annotations and purities that the program leaves open; each can only sharpen.
_ROUNDS = 8


class Program:
    """A program of a question, and the TVM module made of it."""

    def __init__(self, json, prim_funcs=None, beat=lambda stage: None):
        self.beat = beat
        self.prim_funcs = prim_funcs
        self.script = json.get("Script")
        self.json = json.get("Module")
        self.builders = {}
        self.mod = None
        self.devices = Devices()

    def relax_functions(self):
        for name, func in self.json.get("funcs", []):
            if "Function" in func:
                yield name, func["Function"]

    def prim_func_jsons(self):
        return {name: func for name, func in self.json.get("funcs", []) if "PrimFunc" in func}

    # Construction

    def build(self, inferred=None, claim_purity=True):
        """The module as written: no structural information beyond the annotations."""
        self.beat("build")
        if self.json is None:
            self.mod = parse_text(self.script)
            return self.mod
        with stage("construct"):
            return self._build(inferred or {}, claim_purity)

    def _build(self, inferred, claim_purity):
        self.builders, globals_ = {}, {}
        prim_mod = tir.parse(self.prim_funcs, self.prim_func_jsons())
        functions = {}
        for gv, func in prim_mod:
            globals_[gv.name_hint] = gv
            functions[gv] = func
        signatures, devices = [], Devices()
        devices.take(self.json.get("global_infos", {}))
        self.devices = devices
        recursive = recursive_functions(list(self.relax_functions()))
        for name, json in self.relax_functions():
            scope = Scope()
            scope.collect(json)
            builder = Builder(scope, globals_, inferred, claim_purity, recursive, devices)
            gv = ir.GlobalVar(name) if name in self.builders else builder.global_var(name)
            self.builders.setdefault(name, builder)
            info = builder.signature(json)
            if info is not None and names.info_of(gv) is None:
                names.set_info(gv, info)
            signatures.append((gv, builder, json))
        for gv, builder, json in signatures:
            functions[gv] = builder.function(json, outer=True)
        if len(functions) != len(prim_mod) + len(signatures):
            raise Unsupported("a name that is bound twice")
        self.mod = ir.IRModule(functions)
        # A program of the first edition has no list: what a call names is taken for listed.
        listed = devices.listed if NOW.purity_is_declared else list(devices.made.values())
        if listed:
            self.mod.update_global_info("vdevice", listed)
        return self.mod

    # Derivation

    def derive(self, claim_purity=True):
        """The module normalized, with structural information everywhere."""
        if self.json is None:
            self.build()
            return self._normalize()
        inferred = {}
        for _ in range(_ROUNDS):
            self.build(inferred, claim_purity)
            self.beat("check")
            refused = []
            mod = self._normalize(refused)
            if not self._infer(mod, inferred, {gv for gv, _ in refused}):
                break
        if refused:
            raise refused[0][1]
        return mod

    def _normalize(self, refused=None):
        """The functions in normal form. Those that TVM refuses are noted in `refused` with its words, if it is given."""
        with stage("normalize"):
            block_builder = relax.BlockBuilder(self.mod)
            out = {}
            for gv, func in self.mod.functions.items():
                try:
                    with stage("normalize"):
                        out[gv] = block_builder.normalize(func) if isinstance(func, relax.Function) else func
                except Rejected as rejected:
                    # What it calls may not be known yet.
                    if refused is None:
                        raise
                    refused.append((gv, rejected))
                    out[gv] = func
            self.mod = ir.IRModule(out, attrs=self.mod.attrs, global_infos=self.mod.global_infos)
        return self.mod

    def _infer(self, mod, inferred, refused):
        """Notes return annotations and purities of functions that leave them open; whether any is new."""
        changed = False
        for gv, func in mod.functions.items():
            if not isinstance(func, relax.Function) or gv in refused:
                continue
            builder = self.builders[gv.name_hint]
            # Normalization keeps the order of function literals, wherever it moves them.
            for json, function in zip(builder.functions, functions_below(func), strict=True):
                changed |= self._infer_one(builder, json, function, inferred)
        return changed

    def _infer_one(self, builder, json, function, inferred):
        old = inferred.get(id(json), {})
        new = dict(old)
        if json.get("ret_struct_info") is None:
            info = names.info_of(function.body)
            if info is not None:
                info = seen_from_outside(builder.scope, json, info)
                new["ret"] = Reader(builder.scope.identity, say_pure=True).info(info)
        if json.get("pure") is None and not NOW.purity_is_declared and builder.purity(json) and not force_pure(json):
            new["pure"] = not relax.analysis.contains_impure_call(function)
        if new != old:
            inferred[id(json)] = new
        return new != old

    # Judgements

    def global_var(self, name):
        for gv in self.mod.functions.keys():
            if gv.name_hint == name:
                return gv
        raise Unsupported(f"there is no global function {name}")


def seen_from_outside(scope, json, info):
    """What is left of the information of a function's body without the variables bound in the body."""
    inside = {binder["var"] for binder in binders(json["body"])}
    casts = set(bound_by_casts(json["body"], None)) - set(bound_by_params(json))
    outer = [var for (_, identity), var in scope.vars.items() if identity not in inside]
    shapes = [var for table in scope.all_shape_vars for identity, var in table.items() if identity not in casts]
    return names.erase_to_well_defined(info, {var: var for var in shapes}, {var: var for var in outer})


def functions_below(func):
    """All function literals of a function, itself first, in textual order."""
    found = []

    def visit(node):
        if isinstance(node, relax.Function):
            found.append(node)
            visit(node.body)
        elif isinstance(node, relax.SeqExpr):
            for block in node.blocks:
                for binding in block.bindings:
                    visit(binding.value)
            visit(node.body)
        elif isinstance(node, relax.If):
            for part in (node.cond, node.true_branch, node.false_branch):
                visit(part)
        elif isinstance(node, names.Call):
            visit(node.op)
            for arg in node.args:
                visit(arg)
        elif isinstance(node, names.Tuple):
            for field in node.fields:
                visit(field)
        elif isinstance(node, names.TupleGetItem):
            visit(node.tuple_value)

    visit(func)
    return found


def parse(text):
    mod = parse_text(text)
    # TVM keeps whether a function is pure, and not whether the text says so.
    return Reader(say_pure="pure=" in text).module(mod)


def well_formed(program):
    """`Accepted`, or `Rejected` is raised.

    TVM's check wants structural information everywhere, and normal form. What lacks information gets the least
    there is, since well-formedness does not depend on it; a complaint of nesting alone does not count. Annotations
    TVM checks only together with what it derives, so it is asked again about the normal form where there is one.
    """
    mod = program.build(claim_purity=False)
    program.beat("check")
    try:
        fill.module(mod)
        with stage("well_formed"):
            names.well_formed(mod, False)
    except fill.NoFill:
        pass
    except Rejected as fault:
        if about_normal_form(fault.message):
            check_flattened(program)
        elif not about_types(fault):
            raise
    try:
        mod = program.derive(claim_purity=False)
        with stage("well_formed"):
            names.well_formed(mod, True)
    except Rejected as fault:
        # Types and purity are for type checking to judge.
        if fault.stage == "well_formed" and not about_types(fault):
            raise
    return "Accepted"


def check_flattened(program):
    """Checks the scopes of a nested program after flattening, which needs no more than the information filled in."""
    try:
        mod = program._normalize()
        with stage("well_formed"):
            names.well_formed(mod, False)
    except Rejected as fault:
        if fault.stage == "well_formed" and not about_types(fault):
            raise


def about_types(fault):
    return fault.klass == "TypeError" or "impure" in fault.message.lower()


def about_normal_form(message):
    return "leaf" in message or "A-normal form" in message or "ANF" in message


def normal_form(program):
    """Whether TVM's normalizer leaves the program as it is."""
    if program.json is not None and not bodies_are_sequences(program.json):
        raise Unsupported("a body that is no SeqExpr: TVM's constructors wrap it")
    before = program.build()
    program.beat("check")
    with stage("well_formed"):
        mod = program._normalize()
        if not same_structure(before, mod):
            raise Rejected("normal_form", "NotNormal", "the normalizer changes the program")
    return "Accepted"


def same_structure(a, b):
    return all(
        tvm_ffi.structural_equal(func, b[gv.name_hint], map_free_vars=True)
        for gv, func in a.functions.items()
        if isinstance(func, relax.Function)
    )


def bodies_are_sequences(json):
    stack = [json]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            stack.extend(node)
        elif isinstance(node, dict):
            for key in ("true_branch", "false_branch"):
                if key in node and "SeqExpr" not in node[key]:
                    return False
            if "Function" in node and "SeqExpr" not in node["Function"]["body"]:
                return False
            stack.extend(node.values())
    return True


def normalize(program):
    mod = program.derive()
    if program.json is None:
        return Reader().module(mod)
    identity = {}
    for builder in program.builders.values():
        identity |= builder.scope.identity
    order = [name for name, _ in program.json.get("funcs", [])]
    reader = Reader(identity, say_pure=mentions_purity(program.json))
    return reader.module(mod, order, program.prim_func_jsons())


def check(program):
    """Derives everything and then has TVM check well-formedness, structural information included."""
    if program.json is not None:
        well_formed(Program({"Module": program.json}, program.prim_funcs))
    mod = realized(program, program.derive())
    with stage("check"):
        names.well_formed(mod, True)
    return "Accepted"


def realized(program, mod):
    """The module with devices propagated, which is a pass of its own, if it lists any."""
    if not program.devices.listed or not NOW.purity_is_declared:
        return mod
    with stage("devices"):
        return relax.transform.RealizeVDevice()(mod)


def derive_function(program, name):
    mod = program.derive()
    func = mod[program.global_var(name)]
    info = names.info_of(func)
    if info is None:
        raise Unsupported("a function without structural information")
    return reader_for(program, name).info(info)


def derive_var(program, name, identity):
    before = program.derive()
    builder = program.builders.get(name)
    if builder is None:
        raise Unsupported("variables of a program given as text")
    mod = realized(program, before)
    var = find_var(builder.scope, identity)
    info = names.info_of(var if mod is before else like_var(mod[name], var))
    if info is None:
        raise Unsupported(f"no structural information of {identity} in {name}")
    return reader_for(program, name).info(info)


def find_var(scope, identity):
    """The variable itself, or the only one of that name: a reader numbers the variables of the whole module."""
    bound = {key[1]: var for key, var in scope.vars.items() if key in scope.binders}
    if identity in bound:
        return bound[identity]
    alike = [var for known, var in bound.items() if known.split("#")[0] == identity]
    if len(alike) != 1:
        raise Unsupported(f"no variable {identity}")
    return alike[0]


def like_var(function, var):
    """The variable that a pass has put in the place of another one."""
    found = []

    def visit(node):
        if isinstance(node, names.RelaxVar) and names.var_name(node) == names.var_name(var):
            found.append(node)

    relax.analysis.post_order_visit(function, visit)
    if not found:
        raise Unsupported(f"no variable {names.var_name(var)} after the pass")
    return found[-1]


def reader_for(program, name):
    builder = program.builders.get(name)
    return Reader(builder.scope.identity if builder else None, True, program.devices)
