"""`PassOracle`: an instrument that judges each pass that has run, in place of `WellFormedInstrument`.

    with tvm.transform.PassContext(instruments=[PassOracle()]):
        mod = MyPass()(mod)

A pass breaks a contract (scopes, well-formedness, normal form, purity, information, exported names), or its result is not
an allowed optimization of the module that it was given. Then `PassVerdictError` is raised, or it is recorded, with the pass,
the clause of the specification and a reproducer on disk. A pass whose result the oracle cannot judge is not accused.
"""

import contextlib
import dataclasses
import inspect
import json
import time
import zlib

import tvm
import tvm_ffi
from tvm import relax

from relax_spec import _native
from relax_spec.tvm import EDITION, RELEASE, _reproduce, text_of
from relax_spec.tvm._adapter import load

_stages = load("stages")

#: The passes that are asked to change what a program means, or the parameters of what is exported: only their contracts
#: are judged. `blame` relates parameters that `BundleModelParams` and `LiftTransformParams` change.
ASKED_TO_CHANGE = {
    "ToMixedPrecision": "it rounds more, as it is asked to",
    "BindParams": "it takes away parameters",
    "BindSymbolicVars": "it takes away sizes",
    "DecomposeOpsForTraining": "it makes a program of inference one of training",
    "LazyGetInput": "it changes how parameters are passed",
    "LazySetOutput": "it changes how results are passed",
    "LazyTransformParams": "it changes how parameters are passed",
    "Gradient": "it adds results",
    "SetupTrainer": "it adds results",
    "AppendLoss": "it adds results",
}


class PassVerdictError(AssertionError):
    """A pass is wrong. `finding` says why."""

    def __init__(self, message, finding=None):
        super().__init__(message)
        self.finding = finding


# TVM's own code lies between the instrument and whoever runs the pass, and carries errors of registered classes only.
if hasattr(tvm_ffi, "register_error"):
    tvm_ffi.register_error("PassVerdictError", PassVerdictError)


@dataclasses.dataclass(frozen=True)
class Settings:
    """How much is judged, and what is done about it."""

    #: `raise`, or `record`.
    action: str = "raise"
    #: Inputs for each exported function, their seed, and the steps that all runs of one may take.
    runs: int = 20
    seed: int = 0
    steps: int = 100_000
    #: The part of the modules whose meaning is judged, chosen by their hashes.
    sample: float = 1.0
    #: The seconds of the processor that the oracle may take in all, beside a part of those in which it did nothing. The
    #: reproducers of findings count as neither.
    allowance: float = 0.5
    share: float = 0.5
    contracts: bool = True
    meaning: bool = True
    #: The passes that are not judged.
    skip: frozenset = frozenset()
    edition: str = EDITION
    #: Where reproducers go; None for none.
    out: str | None = "relax-oracle"
    #: How many smaller programs are tried for a reproducer, and for how many seconds.
    questions: int = 60
    patience: float = 5.0


@dataclasses.dataclass
class PassFinding:
    """A wrong pass: `clause` is the rule that it breaks."""

    name: str
    clause: str
    message: str
    contract: str
    entry: str | None = None
    counterexample: tuple = ()
    differing: dict | None = None
    before: str = dataclasses.field(default="", repr=False)
    after: str = dataclasses.field(default="", repr=False)
    reproducer: str | None = None

    def __str__(self):
        kind = f"breaks {self.contract}" if self.entry is None else f"changes what `{self.entry}` means"
        lines = [f"the pass {self.name} {kind} [{self.clause}]: {self.message}"]
        if self.differing:
            clause = f" [{self.differing['clause']}]" if self.differing.get("clause") else ""
            sides = f"{_cut(self.differing['before'])} before, {_cut(self.differing['after'])} after"
            lines.append(f"  first at `{self.differing['name']}`: {sides}{clause}")
        lines += [f"  with --arg '{_cut(argument)}'" for argument in self.counterexample]
        if self.reproducer:
            lines.append(f"  reproducer: {self.reproducer}")
        return "\n".join(lines)


def _cut(text, most=200):
    return text if len(text) <= most else f"{text[:most]} .."


class Judge:
    """What the instrument does. Counts say how many passes it saw, judged, and why it did not judge others."""

    def __init__(self, settings):
        self.settings = settings
        self.findings = []
        self.counts = {"run": 0, "seen": 0, "changed": 0, "contracts": 0, "meaning": 0}
        #: Why a judgement was not made, or has no verdict, with its number.
        self.open = {}
        self._running, self._modules, self._verdicts = [], {}, {}
        self._begun = self._since = time.process_time()
        self._spent, self._is_busy = 0.0, False

    def carry(self, spent, had):
        """Goes on with the budget of an earlier judge."""
        self._begun, self._spent = time.process_time() - had, spent

    def carried(self):
        """The seconds that the budget of the next judge begins with: those taken, and those had."""
        return self._spent, time.process_time() - self._begun

    # What TVM calls

    def before(self, mod, name):
        if not self._is_busy:
            self._running.append((name, _stages.copied(mod), len(self.findings)))

    def after(self, mod, name):
        """The finding on a pass that has run; None if there is none."""
        if self._is_busy or not self._running:
            return None
        # A pass that raised an exception has begun and not ended.
        while self._running[-1][0] != name and len(self._running) > 1:
            self._running.pop()
        _, before, found = self._running.pop()
        if _stages.CONTAINERS.search(name):
            return None
        self.counts["run"] += 1
        if len(self.findings) > found:
            return None  # A pass that ran inside of it is to blame.
        self._since, self._is_busy = time.process_time(), True
        try:
            finding = self._judge(before, mod, name)
        finally:
            self._is_busy = False
            self._spent += time.process_time() - self._since
        if finding is not None:
            self.findings.append(finding)
        return finding

    # Judgements

    def _judge(self, before, after, name):
        if name in self.settings.skip:
            return self._leave("the pass is skipped")
        if not any(isinstance(func, relax.Function) for func in before.functions.values()):
            return self._leave("there is no Relax function")
        self.counts["seen"] += 1
        if tvm_ffi.structural_equal(before, after, map_free_vars=True) and name != "Normalize":
            return None
        self.counts["changed"] += 1
        if self._is_spent():
            return self._leave("the budget is spent")
        key = (name, _hash(before), _hash(after))
        if key not in self._verdicts:
            try:
                self._verdicts[key] = self._verdict(before, after, name, key)
            except Unread as error:
                return self._leave(f"the module cannot be read: {error}")
        return self._verdicts[key]

    def _leave(self, reason):
        self.open[reason] = self.open.get(reason, 0) + 1

    def _is_spent(self):
        now = time.process_time()
        spent = self._spent + now - self._since
        return spent > self.settings.allowance + self.settings.share * (now - self._begun - spent)

    def _verdict(self, before, after, name, key):
        old, new = self._module(before, key[1]), self._module(after, key[2])
        finding = self._contracts(old, new, name) or self._meaning(old, new, name, key)
        if finding is not None and self.settings.out is not None:
            begun = time.process_time()
            again = self._again(name, finding)
            finding.reproducer = _reproduce.write(finding, old, self.settings, again)
            taken = time.process_time() - begun
            self._begun, self._since = self._begun + taken, self._since + taken
        return finding

    def _module(self, mod, key):
        if key not in self._modules:
            if len(self._modules) > 64:
                self._modules.clear()
            self._modules[key] = self.read(text_of(mod))
        return self._modules[key]

    def read(self, text):
        """The text, and what the oracle makes of it."""
        try:
            return text, _native.Module(text, self.settings.edition, RELEASE)
        except ValueError as error:
            raise Unread(_cut(str(error))) from None

    def _contracts(self, old, new, name):
        if not self.settings.contracts:
            return None
        self.counts["contracts"] += 1
        for broken in json.loads(old[1].contracts(name, new[1])):
            contract, rule = broken["contract"], broken["rule"]
            return PassFinding(name, rule, broken["message"], contract, before=old[0], after=new[0])
        return None

    def _meaning(self, old, new, name, key):
        settings = self.settings
        if not settings.meaning:
            return None
        if name in ASKED_TO_CHANGE:
            return self._leave(f"{name}: {ASKED_TO_CHANGE[name]}")
        if zlib.crc32(repr(key).encode()) % 10_000 >= settings.sample * 10_000:
            return self._leave("it is not in the sample")
        for entry in old[1].exported:
            if self._is_spent():
                return self._leave("the budget is spent")
            self.counts["meaning"] += 1
            verdict = self._of_entry(old, new, name, entry)
            if verdict["verdict"] == "undecided":
                self._leave(f"undecided: {_cut(verdict['message'] or '', 80)}")
            if verdict["verdict"] != "not allowed":
                continue
            rule = (verdict["differing"] or {}).get("clause") or verdict["rule"]
            found = PassFinding(name, rule, verdict["message"], "meaning", entry, before=old[0], after=new[0])
            found.counterexample, found.differing = tuple(verdict["counterexample"] or ()), verdict["differing"]
            return found
        return None

    def _of_entry(self, old, new, name, entry):
        s = self.settings
        return json.loads(old[1].meaning(name, new[1], entry, s.runs, s.seed, s.steps))

    # Reproducers

    def _again(self, name, finding):
        """A function of the text of a program: the text after the pass if it is wrong there in the same way."""
        found = _running_pass(name)
        if found is None or finding.clause is None:
            return None
        config = tvm.transform.PassContext.current()
        level = int(config.opt_level)
        until = time.monotonic() + self.settings.patience

        def again(text):
            if time.monotonic() > until:
                return None
            with contextlib.suppress(Exception), tvm.transform.PassContext(level, config=dict(config.config)):
                mod = load("text").parse_text(*load("trial").without_metadata(text))
                before = _stages.copied(mod)
                old, new = self.read(text_of(before)), self.read(text_of(found(mod)))
                if finding.entry is None:
                    same = self._contracts(old, new, name)
                else:
                    same = self._of_entry(old, new, name, finding.entry)
                    same = same["verdict"] == "not allowed" and same
                    if same and ((same["differing"] or {}).get("clause") or same["rule"]) != finding.clause:
                        return None
                    return (old[0], new[0], tuple(same["counterexample"] or ())) if same else None
                return (old[0], new[0], ()) if same and same.clause == finding.clause else None
            return None

        return again


class Unread(Exception):
    """The oracle cannot read a module."""


def _hash(mod):
    return tvm_ffi.structural_hash(mod, map_free_vars=True)


def _running_pass(name):
    """The pass that is running. TVM gives its name to an instrument, and not the pass itself."""
    frame = inspect.currentframe()
    while frame is not None:
        found = frame.f_locals.get("self")
        if isinstance(found, tvm.ir.transform.Pass):
            within = _within(found)
            return next((one for one in within if str(one.info.name) == name), None)
        frame = frame.f_back
    return None


def _within(found):
    passes = getattr(found, "passes", None) if isinstance(found, tvm.transform.Sequential) else None
    return [found] if passes is None else [one for inner in passes for one in _within(inner)]


@tvm.instrument.pass_instrument
class PassOracle:
    """Judges each pass that has run. Keywords are those of `Settings`."""

    def __init__(self, judge=None, **settings):
        skip = frozenset(settings.pop("skip", ()))
        self.judge = judge or Judge(Settings(skip=skip, **settings))

    @property
    def findings(self):
        return self.judge.findings

    def run_before_pass(self, mod, info):
        self.judge.before(mod, str(info.name))

    def run_after_pass(self, mod, info):
        finding = self.judge.after(mod, str(info.name))
        if finding is not None and self.judge.settings.action == "raise":
            raise PassVerdictError(str(finding), finding)


@dataclasses.dataclass
class Blamed:
    """What `blame` says: the wrong passes in their order, and the counts of the oracle."""

    findings: list
    counts: dict
    open: dict

    @property
    def blamed(self):
        return self.findings[0].name if self.findings else None

    def __repr__(self):
        lines = [str(finding) for finding in self.findings]
        answer = f"{self.blamed} is to blame" if self.findings else "no pass is to blame"
        return "\n".join([*lines, f"{answer}; of {self.counts['seen']} passes {self.counts['changed']} changed the module"])

    def _repr_html_(self):
        from relax_spec._results import linked

        return f"<pre>{linked(repr(self))}</pre>"


def blame(module, passes, *, target="llvm", **settings):
    """Runs passes, or the pipeline of a name, on a module, and judges each."""
    from relax_spec.tvm import module_of

    if isinstance(passes, str):
        passes = relax.get_pipeline(passes)
    elif isinstance(passes, (list, tuple)):
        passes = tvm.transform.Sequential(list(passes))
    judge = Judge(Settings(**{"action": "record", "share": 1e9, "runs": 20, "steps": 500_000, "out": None, **settings}))
    with tvm.target.Target(target), tvm.transform.PassContext(3, instruments=[PassOracle(judge)]):
        passes(_stages.copied(module_of(module)))
    return Blamed(judge.findings, judge.counts, judge.open)
