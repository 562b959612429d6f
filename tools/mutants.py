"""Mutants of the judgement modules, made by cargo-mutants and run all from one build.

cargo-mutants says what the mutants are (`cargo mutants --list --json`). Building each of some thousand mutants by itself
takes days on two cores; here all of them are written into one copy of the sources, each behind a switch that is read from the
environment, so that one build serves them all and a mutant costs one run of the golden suite.

    mutants.py sample                  draw 600, stratified by module, from a fixed seed; what is in the committed sample stays
    mutants.py run --work DIR [--all]  build the copy, run the sample (or everything), go on where the last run stopped
    mutants.py report --work DIR       what was caught and what was not

Needs cargo-mutants on the path and the packages in tools/requirements-mutants.txt. What cannot be switched in place (a
deleted field, an operand that is a `let`) is built by itself, after the others.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "conformance" / "mutants.json"
SIZE = 600
SEED = 22

# The judgement modules: what decides an answer of the chapters.
MODULES = [
    "src/struct_info/**/*.rs",
    "src/derivation/**/*.rs",
    "src/types/**/*.rs",
    "src/type_checking/**/*.rs",
    "src/scope.rs",
    "src/well_formed/**/*.rs",
    "src/normal_form/**/*.rs",
    "src/eval/**/*.rs",
]
# The tests in the test program `it` that state laws, the cheap ones first; each group is asked for what those before it let
# pass: what the cases record, tables of types and informations, generated programs in many spellings, and what each rule is
# good for.
LAWS = [
    ["gates::claimed_is_recorded", "gates::the_lock_is_up_to_date"],
    ["laws::"],
    ["programs::", "invariance::", "soundness::", "errata::"],
    ["gates::every_premise_fails", "gates::a_case_depends", "gates::switching_a_rule_off"],
]
# Neither a judgement: what only masked runs give, processes that provide functions, and what is written for people.
LEFT_OUT = [
    "src/**/tests.rs",
    "src/**/*_tests.rs",
    "src/**/instead.rs",
    "src/eval/extern_process.rs",
    "src/eval/inputs.rs",
    "src/eval/trace.rs",
]

SWITCH = """//! Which mutant is on in this copy of the sources.
use std::sync::LazyLock;
static ON: LazyLock<Option<u32>> = LazyLock::new(|| std::env::var("RELAX_SPEC_MUTANT").ok()?.parse().ok());
pub fn on(number: u32) -> bool {
    *ON == Some(number)
}
"""


def listed():
    """Every mutant of the judgement modules, as cargo-mutants lists them."""
    command = ["cargo", "mutants", "--list", "--json", "--no-shuffle"]
    for glob in MODULES:
        command += ["--file", glob]
    for glob in LEFT_OUT:
        command += ["--exclude", glob]
    found = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    return [mutant for mutant in found if worth_asking(mutant)]


def worth_asking(mutant):
    """What a derivation tree shows, a message or a debug print is no answer."""
    name = (mutant.get("function") or {}).get("function_name", "")
    return not re.search(r"::fmt$|conclude$|as_str$|message", name)


def name_of(mutant):
    """A name that survives edits elsewhere in the file: no line numbers."""
    function = (mutant.get("function") or {}).get("function_name", "")
    return f"{mutant['file']}: {mutant['genre']} {mutant['replacement']!r} in {function}"


def named(mutants):
    """The mutants by name; those of one name are told apart by their order."""
    seen = collections.Counter()
    by_name = {}
    for mutant in mutants:
        name = name_of(mutant)
        seen[name] += 1
        by_name[f"{name} #{seen[name]}"] = mutant
    return by_name


def draw(names, by_name, kept):
    """A sample in proportion to what each file has; those kept stay in it, so that an edit asks for few new runs."""
    by_file = collections.defaultdict(list)
    for name in names:
        by_file[by_name[name]["file"]].append(name)
    rng = random.Random(SEED)
    for group in by_file.values():
        rng.shuffle(group)
    # One from each file in turn, weighted by its size: a fraction of the group is taken at each step.
    ordered = sorted(
        ((index + 0.5) / len(group), hashlib.sha256(name.encode()).hexdigest(), name)
        for group in by_file.values()
        for index, name in enumerate(group)
    )
    fresh = [name for _, _, name in ordered if name not in kept]
    return sorted([*kept, *fresh][:SIZE])


def sample():
    by_name = named(listed())
    kept = {name: None for name in json.loads(SAMPLE.read_text()) if name in by_name} if SAMPLE.exists() else {}
    drawn = draw(sorted(by_name), by_name, kept)
    SAMPLE.write_text(json.dumps(drawn, indent=1) + "\n")
    print(f"{len(drawn)} of {len(by_name)} mutants")


# The instrumented copy.


class Source:
    """A source file, in bytes, with the syntax tree by which the mutants' places are found."""

    def __init__(self, path):
        import tree_sitter
        import tree_sitter_rust

        self.text = path.read_bytes()
        self.starts = [0]
        for index, byte in enumerate(self.text):
            if byte == 10:
                self.starts.append(index + 1)
        parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_rust.language()))
        self.tree = parser.parse(self.text)
        self.edits = []  # (kind, node, mutant number, mutant)

    def offset(self, place):
        """cargo-mutants counts lines and columns from 1, columns in characters."""
        start = self.starts[place["line"] - 1]
        line = self.text[start : self.text.find(b"\n", start)]
        return start + len(line.decode()[: place["column"] - 1].encode())

    def slice(self, node):
        return self.text[node.start_byte : node.end_byte].decode()

    def nodes(self, kinds):
        pending = [self.tree.root_node]
        while pending:
            node = pending.pop()
            if node.type in kinds:
                yield node
            pending.extend(node.children)

    def at(self, start, end, kinds):
        """The smallest node of these kinds that spans the bytes."""
        fit = [n for n in self.nodes(kinds) if n.start_byte <= start and end <= n.end_byte]
        return min(fit, key=lambda n: n.end_byte - n.start_byte, default=None)


def is_const(node):
    while node is not None:
        if node.type in ("const_item", "static_item", "macro_invocation", "token_tree", "attribute_item"):
            return True
        if node.type == "function_item":
            return any(child.type == "function_modifiers" and b"const" in child.text for child in node.children)
        node = node.parent
    return False


def place(source, number, mutant):
    """Files a mutant under the node at which it can be switched; False where it cannot."""
    start, end = source.offset(mutant["span"]["start"]), source.offset(mutant["span"]["end"])
    genre, new = mutant["genre"], mutant["replacement"]
    if genre == "FnValue":
        node = source.at(start, end, ["block"])
        fits = node is not None and node.parent is not None and node.parent.type == "function_item" and not is_const(node)
    elif genre == "BinaryOperator":
        node = source.at(start, end, ["binary_expression", "compound_assignment_expr"])
        fits = node is not None and not is_const(node) and operator_at(node, start)
    elif genre == "UnaryOperator":
        node = source.at(start, end, ["unary_expression"])
        fits = node is not None and node.start_byte == start and not is_const(node)
    elif genre == "MatchArm":
        node = source.at(start, end, ["match_arm"])
        fits = node is not None and not is_const(node)
    elif genre == "MatchArmGuard":
        arm = source.at(start, end, ["match_arm"])
        pattern = arm.child_by_field_name("pattern") if arm else None
        node = pattern.child_by_field_name("condition") if pattern else None
        fits = node is not None and node.type not in ("let_condition", "let_chain") and new in ("true", "false")
    else:
        fits, node = False, None
    if fits:
        source.edits.append((genre, node, number, new))
    return bool(fits)


def operator_at(node, start):
    operator = node.child_by_field_name("operator")
    return operator is not None and operator.start_byte == start


def instrumented(source):
    """The text with every filed mutant behind its switch, on a line of its own so that errors name it."""
    by_node = collections.defaultdict(list)
    for genre, node, number, new in source.edits:
        by_node[(genre in ("MatchArm",), node.start_byte, node.end_byte, node.type)].append((genre, node, number, new))

    def children(node):
        out, at = [], node.start_byte
        for child in node.children:
            out.append(source.text[at : child.start_byte].decode())
            out.append(render(child))
            at = child.end_byte
        out.append(source.text[at : node.end_byte].decode())
        return "".join(out)

    def switched(edits, plain):
        """`if` one of the mutants is on, its text, else the plain one."""
        text = ""
        for text_of, number in edits:
            text += f"if crate::mutant::on({number}) {{\n{text_of} /*M{number}*/\n}} else "
        return f"({text}{{ {plain} }})"

    def render(node):
        edits = by_node.get((False, node.start_byte, node.end_byte, node.type), [])
        plain = children(node)
        if node.type == "match_arm":
            arm = by_node.get((True, node.start_byte, node.end_byte, node.type), [])
            if arm:
                plain = dropped_arm(node, arm, plain)
        bodies = [(new, number) for genre, _, number, new in edits if genre == "FnValue"]
        if bodies:
            inner = "".join(f"\nif crate::mutant::on({number}) {{ return {new}; /*M{number}*/ }}" for new, number in bodies)
            plain = "{" + inner + "\n" + plain[1:]
        operators = [(genre, n, number, new) for genre, n, number, new in edits if genre in ("BinaryOperator", "UnaryOperator")]
        if operators:
            variants = []
            for genre, n, number, new in operators:
                operator = n.child_by_field_name("operator") if genre == "BinaryOperator" else None
                if operator is None:
                    variants.append((source.text[n.start_byte + 1 : n.end_byte].decode(), number))
                else:
                    before = source.text[n.start_byte : operator.start_byte].decode()
                    after = source.text[operator.end_byte : n.end_byte].decode()
                    variants.append((before + new + after, number))
            plain = switched(variants, plain)
        guards = [(new, number) for genre, _, number, new in edits if genre == "MatchArmGuard"]
        if guards:
            plain = switched(guards, plain)
        return plain

    def dropped_arm(node, arm, plain):
        number = arm[0][2]
        pattern = node.child_by_field_name("pattern")
        off = f"!crate::mutant::on({number}) /*M{number}*/\n"
        condition = pattern.child_by_field_name("condition")
        head = source.text[node.start_byte : pattern.start_byte].decode()
        rest, at = "", pattern.end_byte
        for child in node.children:
            if child.start_byte >= at:
                rest += source.text[at : child.start_byte].decode() + render(child)
                at = child.end_byte
        rest += source.text[at : node.end_byte].decode()
        if condition is None:
            return head + source.slice(pattern) + f" if {off}" + rest
        before = source.text[pattern.start_byte : condition.start_byte].decode()
        return head + before + f"{off} && ({render(condition)})" + rest

    return render(source.tree.root_node)


def copy_tree(to):
    """The tracked files, as they are in the working tree; files that did not change keep their time."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
    kept = set()
    for name in filter(None, tracked):
        source, target = ROOT / name, to / name
        if not source.is_file():
            continue
        kept.add(target)
        write_if_new(target, source.read_bytes())
    for path in (to / "src").rglob("*.rs"):
        if path not in kept and path.name != "mutant.rs":
            path.unlink()


def write_if_new(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != content:
        path.write_bytes(content)


def write_copy(tree, numbered, unviable):
    """Writes the copy without the mutants that do not compile; answers the numbers that cannot be switched."""
    by_file = collections.defaultdict(list)
    for number, mutant in numbered.items():
        by_file[mutant["file"]].append((number, mutant))
    direct = set()
    for name, mutants in by_file.items():
        source = Source(ROOT / name)
        for number, mutant in mutants:
            if number not in unviable and not place(source, number, mutant):
                direct.add(number)
        write_if_new(tree / name, instrumented(source).encode())
    library = (ROOT / "src/lib.rs").read_text()
    write_if_new(tree / "src/lib.rs", (library + "\n#[allow(missing_docs)]\npub mod mutant;\n").encode())
    write_if_new(tree / "src/mutant.rs", SWITCH.encode())
    manifest = (ROOT / "Cargo.toml").read_text()
    manifest = re.sub(r"(?ms)^\[lints.*?(?=^\[(?!lints)|\Z)", "", manifest)
    write_if_new(tree / "Cargo.toml", manifest.encode())
    return direct


MARK = re.compile(r"/\*M(\d+)\*/|mutant::on\((\d+)\)")


def marks_at(path, line, end):
    """The mutants in these lines; none in a file of the standard library."""
    if not path.is_file():
        return set()
    lines = path.read_text().splitlines()
    found = set()
    for at in range(line - 1, min(end + 2, len(lines))):
        found |= {int(a or b) for a, b in MARK.findall(lines[at])}
        if found and at >= end - 1:
            break
    return found


def check(tree, target):
    """The errors of a check: pairs of file and the lines of each error's places."""
    command = ["cargo", "check", "--lib", "--message-format=json", "--offline"]
    env = dict(os.environ, CARGO_TARGET_DIR=str(target))
    out = subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True)
    errors = []
    for line in out.stdout.splitlines():
        message = json.loads(line)
        if message.get("reason") != "compiler-message" or message["message"]["level"] != "error":
            continue
        spans = message["message"]["spans"]
        for child in message["message"]["children"]:
            spans = spans + child["spans"]
        errors.append((message["message"]["message"], [(s["file_name"], s["line_start"], s["line_end"]) for s in spans]))
    return out.returncode, errors, out.stderr


def settle(tree, target, numbered):
    """Takes out mutants that do not compile until the copy does."""
    unviable = set()
    while True:
        direct = write_copy(tree, numbered, unviable)
        status, errors, stderr = check(tree, target)
        if status == 0:
            return unviable, direct
        found = set()
        for message, spans in errors:
            for name, line, end in spans:
                found |= marks_at(tree / name, line, min(end, line + 3))
                if "non-exhaustive" in message:
                    # The place is that of the match: no dropped arm of the file can be switched by a guard.
                    found |= {n for n, m in numbered.items() if m["file"] == name and m["genre"] == "MatchArm"}
        found -= unviable
        if not found:
            sys.exit("the copy does not compile, and no mutant is to blame:\n" + "\n".join(map(str, errors[:5])) + stderr[-2000:])
        unviable |= found
        print(f"  {len(found)} more that do not compile, {len(unviable)} in all", flush=True)


def build(tree, target, tests):
    """The test programs: that of the unit tests, then these."""
    command = ["cargo", "test", "--release", "--no-run", "--offline", "--message-format=json", "--lib"]
    for test in tests:
        command += ["--test", test]
    env = dict(os.environ, CARGO_TARGET_DIR=str(target))
    out = subprocess.run(command, cwd=tree, env=env, stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {}
    for line in out.splitlines():
        message = json.loads(line)
        if message.get("reason") == "compiler-artifact" and message.get("executable"):
            found["lib" if "lib" in message["target"]["kind"] else message["target"]["name"]] = message["executable"]
    return [found[test] for test in ["lib", *tests]]


def run_tests(binary, arguments, number, seconds, tree):
    """Whether the tests fail, and which said so first."""
    env = dict(os.environ, RUST_BACKTRACE="0")
    env.pop("RELAX_SPEC_MUTANT", None)
    if number is not None:
        env["RELAX_SPEC_MUTANT"] = str(number)
    # The limit is on processor time, so that a busy machine makes no mutant look caught; a mutant that waits for ever is ended
    # by the clock.
    limit = ["bash", "-c", f'ulimit -v {6 * 1024 * 1024}; ulimit -t {int(seconds)}; exec "$@"', "-", binary, *arguments]
    try:
        out = subprocess.run(limit, cwd=tree, env=env, capture_output=True, text=True, timeout=10 * seconds, errors="replace")
    except subprocess.TimeoutExpired:
        return "timeout"
    if out.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "timeout"
    if out.returncode == 0:
        return None
    failed = re.findall(r"^test (.*?)\s+\.\.\. FAILED", out.stdout, re.M)
    return ", ".join(failed[:3]) or f"exit {out.returncode}"


def run(work, everything, jobs, seconds):
    by_name = named(listed())
    wanted = sorted(by_name) if everything else json.loads(SAMPLE.read_text())
    missing = [name for name in wanted if name not in by_name]
    if missing:
        print(f"{len(missing)} of the sample are gone from the sources; draw it anew")
    numbers = {name: number for number, name in enumerate(sorted(by_name), 1)}
    numbered = {numbers[name]: by_name[name] for name in wanted if name in by_name}
    tree, target = work / "tree", work / "target"
    copy_tree(tree)
    unviable, direct = settle(tree, target, numbered)
    print(f"{len(numbered)} mutants: {len(unviable)} do not compile, {len(direct)} cannot be switched in place", flush=True)
    log = work / "results.jsonl"
    done = {}
    if log.exists():
        done = {entry["name"]: entry for entry in map(json.loads, log.read_text().splitlines())}
    units, suite, tests = build(tree, target, ["suite", "it"])
    for binary, arguments in [(suite, []), (units, [])] + [(tests, laws) for laws in LAWS]:
        if failed := run_tests(binary, arguments, None, 10 * seconds, tree):
            sys.exit(f"with no mutant on, {binary} fails: {failed}")
    backwards = {number: name for name, number in numbers.items()}

    def by_suite(number):
        return number, run_tests(suite, ["--test-threads", "1"], number, seconds, tree)

    def by_laws(number):
        if by := run_tests(units, ["--test-threads", "1"], number, seconds, tree):
            return number, f"units: {by}"
        for laws in LAWS:
            if by := run_tests(tests, [*laws, "--test-threads", "1"], number, 10 * seconds, tree):
                return number, f"laws: {by}"
        return number, None

    with open(log, "a") as out, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for number in sorted(unviable):
            record(out, done, {"name": backwards[number], "unviable": True})
        for number in sorted(direct):
            record(out, done, {"name": backwards[number], "direct": True})
        asked = [n for n in sorted(numbered) if n not in unviable and n not in direct and backwards[n] not in done]
        # The suite first, for all: it takes half a second, and the laws half a minute for each that it lets pass. The laws
        # that stand as unit tests beside the code come before those over tables and generated programs.
        left = []
        for number, by in told(pool.map(by_suite, asked), len(asked), "suite"):
            if by is None:
                left.append(number)
            else:
                record(out, done, {"name": backwards[number], "caught_by": by})
        for number, by in told(pool.map(by_laws, left), len(left), "laws"):
            record(out, done, {"name": backwards[number], "caught_by": by})
    report(work)


def told(answers, count, by):
    """The answers, with a line now and then of how many there are."""
    for at, answer in enumerate(answers, 1):
        yield answer
        if at % 25 == 0 or at == count:
            print(f"  {by}: {at} of {count}", flush=True)


def record(out, done, entry):
    if entry["name"] not in done:
        done[entry["name"]] = entry
        out.write(json.dumps(entry) + "\n")
        out.flush()


def report(work):
    entries = [json.loads(line) for line in (work / "results.jsonl").read_text().splitlines()]
    viable = [e for e in entries if "caught_by" in e]
    caught = [e for e in viable if e["caught_by"]]
    for entry in viable:
        if not entry["caught_by"]:
            print(f"SURVIVED {entry['name']}")
    for entry in entries:
        if entry.get("direct"):
            print(f"BUILD BY ITSELF {entry['name']}")
    print(f"{len(entries)} mutants, {len(viable)} viable, {len(caught)} caught ({100 * len(caught) / max(1, len(viable)):.1f} %)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["sample", "run", "report"])
    parser.add_argument("--work", type=Path, default=ROOT / "target" / "mutants")
    parser.add_argument("--all", action="store_true", help="every mutant instead of the sample")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60, help="of processor time, for one run of the suite")
    arguments = parser.parse_args()
    if arguments.command == "sample":
        sample()
    elif arguments.command == "run":
        arguments.work.mkdir(parents=True, exist_ok=True)
        run(arguments.work, arguments.all, arguments.jobs, arguments.seconds)
    else:
        report(arguments.work)


if __name__ == "__main__":
    main()
