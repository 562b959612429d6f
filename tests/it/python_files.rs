//! Python files from users: the modules in them, and the code around.

use relax_spec::grammar::IrModule;
use relax_spec::grammar::source::SyntaxError;
use relax_spec::syntax::tvmscript::{PythonFile, Which, parse_file, parse_module, print_module};
use tempfile::TempDir;

use crate::cli::{file, json_lines, run};

const IMPORTS: &str = "from tvm.script import ir as I, relax as R, tir as T\n";

/// A class with a function whose parameter has this annotation.
fn class(name: &str, annotation: &str) -> String {
    format!("@I.ir_module\nclass {name}:\n    @R.function\n    def main(x: {annotation}):\n        return x\n")
}

fn all(text: &str) -> PythonFile {
    parse_file(text, Which::All).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"))
}

fn errors(text: &str) -> Vec<SyntaxError> {
    parse_file(text, Which::All).map_or_else(|errors| errors, |file| file.faults)
}

/// Checks that a module equals one that is written without dependence on its surroundings.
fn same(module: &IrModule, plain: &str) {
    let plain = parse_module(plain).unwrap();
    assert_eq!(print_module(module, Default::default()), print_module(&plain, Default::default()));
}

fn names(file: &PythonFile) -> Vec<&str> {
    file.modules.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn constants_around_a_module_are_known_inside() {
    for (constants, annotation, plain) in [
        ("N = 4 * 16", "R.Tensor((N, 2), \"float32\")", "R.Tensor((64, 2), \"float32\")"),
        ("D = \"float\" + \"16\"", "R.Tensor((2,), D)", "R.Tensor((2,), \"float16\")"),
        ("S = (2, 3)\nS2 = S + (4,)", "R.Tensor(S2, \"int8\")", "R.Tensor((2, 3, 4), \"int8\")"),
        ("S = [2] * 3", "R.Tensor((7, *S), \"int8\")", "R.Tensor((7, 2, 2, 2), \"int8\")"),
        ("H, (W, C) = 3, (5, 7)", "R.Tensor((H, W * C), \"int8\")", "R.Tensor((3, 35), \"int8\")"),
        ("A = B = 2 ** 5 // 3", "R.Tensor((A, B), \"int8\")", "R.Tensor((10, 10), \"int8\")"),
        ("N: int = -7 // 2", "R.Tensor((-N,), \"int8\")", "R.Tensor((4,), \"int8\")"),
        ("S = (8, 9)", "R.Tensor((S[0], S[-1]), \"int8\")", "R.Tensor((8, 9), \"int8\")"),
        ("N = 3\nN += 4", "R.Tensor((N,), \"int8\")", "R.Tensor((7,), \"int8\")"),
        ("N = 1 << 4 | 3", "R.Tensor((N % 8, N ^ 1), \"int8\")", "R.Tensor((3, 18), \"int8\")"),
    ] {
        let text = format!("{IMPORTS}{constants}\n{}", class("M", annotation));
        let read = all(&text);
        assert_eq!(read.skipped.map(|(_, count)| count), None, "{text}");
        same(&read.modules[0].1, &class("M", plain));
    }
}

#[test]
fn a_constant_has_the_value_that_it_has_where_the_module_is_decorated() {
    let annotation = "R.Tensor((N,), \"int8\")";
    let (a, b) = (class("A", annotation), class("B", annotation));
    let read = all(&format!("{IMPORTS}N = 2\n{a}N = 3\n{b}N = 4\n"));
    assert_eq!(names(&read), ["A", "B"]);
    for ((_, module), size) in read.modules.iter().zip([2, 3]) {
        same(module, &class("M", &format!("R.Tensor(({size},), \"int8\")")));
    }
}

#[test]
fn names_that_are_bound_inside_are_not_those_outside() {
    let text = "N = 4\nx = 5\ni = 9\nn = 3
@I.ir_module
class M:
    @T.prim_func(private=True)
    def f(A: T.Buffer((N,), \"float32\"), B: T.Buffer((N,), \"float32\")):
        for i in range(N):
            with T.block(\"b\"):
                vi = T.axis.spatial(N, i)
                B[vi] = A[vi]
    @R.function
    def main(x: R.Tensor((\"n\",), \"float32\")):
        n = T.int64()
        y: R.Tensor((n,), \"float32\") = R.add(x, x)
        return y
";
    same(
        &all(text).modules[0].1,
        &text.replace('N', "4").split_once('\n').map(|(_, rest)| rest).unwrap().replacen(
            "x = 5\ni = 9\nn = 3\n",
            "",
            1,
        ),
    );
    // The name is a parameter of the Python function around a module.
    let inner = class("M", "R.Tensor((N,), \"int8\")").replace('\n', "\n    ");
    let told = errors(&format!("{IMPORTS}N = 4\ndef make(N):\n    {inner}\n"));
    assert!(told[0].message.contains("`N` is not known: line 3"), "{told:?}");
}

#[test]
fn what_is_no_literal_is_told_where_it_is_used() {
    for (binding, reason) in [
        ("N = hash(\"abc\")", "line 2 binds it outside of the module to what is not computed from literals"),
        ("N = int(f\"{3:2}\")", "not computed"),
        ("N = [1, 2][2]", "not computed"),
        ("def f(n):\n    return f(n)\nN = f(1)", "not computed"),
        ("for N in range(3):\n    pass", "not computed"),
        ("from sizes import N", "line 2 imports it"),
        ("N = 1 // 0", "not computed"),
        ("N = 3\ndef grow():\n    global N\n    N = 4\ngrow()", "not computed"),
        ("N = 3\nif hash(\"x\"):\n    N = 4", "not computed"),
        ("N = 3\ndel N", "not computed"),
        ("import sys\nN = sys.argv", "line 3 binds"),
    ] {
        // Without a definition, a name in a signature is a shape variable.
        let text = format!("{IMPORTS}{binding}\n{}", class("M", "R.Tensor((N, 2), \"int8\")"));
        let told = errors(&text);
        assert_eq!(told.len(), 1, "{text}{told:?}");
        assert!(told[0].message.starts_with("`N` is not known") && told[0].message.contains(reason), "{told:?}");
        assert_eq!(told[0].source_line.trim(), "def main(x: R.Tensor((N, 2), \"int8\")):");
    }
    let dtype = format!("{IMPORTS}D = input(\"float32\")\n{}", class("M", "R.Tensor((2,), D)"));
    assert!(errors(&dtype)[0].message.starts_with("`D` is not known"));
    let text = "N = hash(\"abc\")\n@T.prim_func\ndef f(A: T.Buffer((4,), \"float32\")):\n    A[0] = T.float32(N)\n";
    assert!(errors(text)[0].message.starts_with("`N` is not known"));
}

#[test]
fn modules_stand_anywhere() {
    let inner = |name: &str, depth: usize| {
        let indent = " ".repeat(4 * depth);
        class(name, "R.Tensor((N,), \"int8\")").lines().map(|line| format!("{indent}{line}\n")).collect::<String>()
    };
    let text = format!(
        "{IMPORTS}import numpy as np
class TestSuite:
    def test_one(self):
{}
        print(Before)
{}
    def helper(self):
        return np.ones(3)
if True:
{}
@R.function
def main(x: R.Object):
    return x
@T.prim_func
def f(A: T.Buffer((N,), \"int8\")):
    A[0] = A[1]
def main():
    pass
N = 5
print(N)
if __name__ == \"__main__\":
    main()
",
        inner("Before", 2),
        inner("Expected", 2),
        inner("Chosen", 1).replace("(N,)", "(1,)"),
    );
    // At the position of `f`, N has no value yet. Code in functions runs later.
    let text = text.replace("Buffer((N,), ", "Buffer((3,), ");
    let read = all(&text);
    assert_eq!(names(&read), ["TestSuite.test_one.Before", "TestSuite.test_one.Expected", "Chosen", "functions"]);
    same(&read.modules[1].1, &class("M", "R.Tensor((5,), \"int8\")"));
    assert_eq!(read.modules[3].1.funcs.len(), 2);
    let (first, count) = read.skipped.unwrap();
    assert_eq!((count, &text[first.start as usize..first.end as usize]), (3, "def main():\n    pass"));
    for (name, found) in [
        ("Before", Some("TestSuite.test_one.Before")),
        ("TestSuite.test_one.Expected", Some("TestSuite.test_one.Expected")),
        ("functions", Some("functions")),
        ("Nothing", None),
        ("TestSuite", None),
    ] {
        let named = parse_file(&text, Which::Named(name)).ok().map(|file| file.modules[0].0.clone());
        assert_eq!(named.as_deref(), found, "{name}");
    }
    // A name that is bound again may have either value when the function is called.
    let twice = errors(&text.replace("print(N)", "N = 6"));
    assert!(twice[0].message.contains("may run before or after"), "{twice:?}");
}

#[test]
fn decorators_go_by_what_they_were_imported_as() {
    for imports in [
        "from tvm.script import ir as I, relax as R",
        "from tvm.script import ir as II\nfrom tvm.script import relax as rx",
        "import tvm.script.relax as relay\nfrom tvm.script import ir_module",
        "import tvm\nfrom tvm.script.parser import relax as R, ir as I",
        "from tvm import script\nfrom tvm.script.relax import function, Tensor",
        "import tvm as t",
    ] {
        let (module, relax) = match () {
            () if imports.contains("II") => ("II.ir_module", "rx."),
            () if imports.contains("relay") => ("ir_module", "relay."),
            () if imports.contains("function") => ("script.ir_module(check_well_formed=False)", ""),
            () if imports.contains("as t") => ("t.script.ir_module", "t.script.relax."),
            () => ("I.ir_module(check_well_formed=False)", "R."),
        };
        let text = format!(
            "{imports}\n@{module}\nclass M:\n    @{relax}function\n    def main(x: {relax}Tensor((2,), \"int8\")):\n        return x\n"
        );
        let read = all(&text);
        assert_eq!((names(&read), read.skipped.is_none()), (vec!["M"], true), "{text}");
        same(&read.modules[0].1, &class("M", "R.Tensor((2,), \"int8\")"));
    }
}

#[test]
fn a_file_without_a_module_says_so_once() {
    let cells = "# %%\n%matplotlib inline\n!pip install numpy\nimport numpy as np\n# %%\nx = np.ones(3)\nx.sum()\n";
    let told = errors(cells);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].message.contains("none of the 5 statements of this Python file"), "{told:?}");
    let read = all(&format!("%matplotlib inline\n{IMPORTS}{}", class("M", "R.Object")));
    assert_eq!(names(&read), ["M"]);
    // If only one meaning is possible, the error explains the fault.
    let told = errors(&class("M", "R.Object").replace("@I.ir_module", "@dataclass"));
    assert_eq!(told.len(), 1);
    assert!(told[0].message.contains("@I.ir_module on the class"), "{told:?}");
}

#[test]
fn the_names_that_tvm_prints_are_read() {
    let text = "@I.ir_module
class Module:
    @T.prim_func(private=True)
    def <lambda>(A: T.Buffer((2,), \"float32\"), B: T.Buffer((2,), \"float32\")):
        T.func_attr({\"tir.noalias\": True})
        for i in range(2):
            with T.block(\"b\"):
                vi = T.axis.spatial(2, i)
                B[vi] = A[vi]

    @R.function
    def main(x: R.Tensor((2,), \"float32\")) -> R.Tensor((2,), \"float32\"):
        cls = Module
        y = R.call_tir(cls.<lambda>, (x,), out_sinfo=R.Tensor((2,), \"float32\"))
        return y
";
    let module = parse_module(text).unwrap();
    same(&module, &text.replace("<lambda>", "_lambda_"));
    let (dir, report) = (TempDir::new().unwrap(), relax_spec::check(&module));
    assert!(report.accepts(), "{:?}", report.diagnostics);
    let (exit, out, _) = run(&["run", &file(&dir, "lambda.py", text), "--arg", "[1, 2]:float32"]);
    assert_eq!((exit, out.as_str()), (0, "[1.0, 2.0]:float32\n"));
}

#[test]
fn a_command_takes_one_module_and_check_takes_all() {
    let dir = TempDir::new().unwrap();
    let text = format!(
        "{IMPORTS}{}{}{}print(3)\n",
        class("Before", "R.Tensor((2,), \"float32\")"),
        class("After", "R.Tensor((2,), \"float32\")").replace("return x", "return R.add(x, x)"),
        class("Wrong", "R.Tensor((2,), \"float32\")").replace("return x", "return R.nn.relu(x, x)"),
    );
    let path = file(&dir, "several.py", &text);
    let (exit, out, _) = run(&["check", &path]);
    assert_eq!(exit, 1);
    assert!(out.contains("class") || out.contains("R.nn.relu(x, x)"), "{out}");
    assert!(out.contains("several.py: 1 statement belongs to no module and is skipped: line 17"), "{out}");
    let (_, out, _) = run(&["check", "--format", "json", &path]);
    let lines = json_lines(&out);
    assert_eq!(lines[0]["module"], "Wrong");
    assert_eq!(lines.last().unwrap()["severity"], "note");
    assert_eq!(lines.last().unwrap()["start"]["line"], 17);
    assert_eq!(run(&["check", "--module", "Before", &path]).0, 0);

    let arg = ["--arg", "[1, 2]:float32"];
    let (exit, _, err) = run(&[&["run", path.as_str()][..], &arg].concat());
    assert_eq!(exit, 2);
    assert!(err.contains("found 3: Before (line 3), After (line 8), Wrong (line 13)"), "{err}");
    let (exit, out, err) = run(&[&["run", &path, "--module", "After"][..], &arg].concat());
    assert_eq!((exit, out.as_str()), (0, "[2.0, 4.0]:float32\n"), "{err}");
    assert!(err.contains("1 statement belongs to no module"), "{err}");
    for command in ["normalize", "convert", "types"] {
        assert_eq!(run(&[command, &path, "--module", "After"]).0, 0);
        assert_eq!(run(&[command, &path, "--module", "Afterwards"]).0, 2);
        assert_eq!(run(&[command, &path]).0, 2);
    }
    let refine =
        |modules: &[&str]| run(&[&["refine", path.as_str(), path.as_str(), "--runs", "5"], modules].concat()).0;
    assert_eq!(refine(&["--module", "Before"]), 0);
    assert_eq!(refine(&["--module", "Before", "--module", "After"]), 1);
    assert_eq!(refine(&[]), 2);
}

#[test]
fn a_reshape_to_minus_one_means_the_same_in_every_command() {
    let dir = TempDir::new().unwrap();
    let text = "@R.function
def main(x: R.Tensor((\"n\", 4), \"float32\")):
    y = R.reshape(x, (2, -1))
    return y
";
    let path = file(&dir, "reshape.py", text);
    assert_eq!(run(&["check", &path]).0, 0);
    let (_, types, _) = run(&["types", &path]);
    assert!(types.contains("R.Tensor((2, n * 2), dtype=\"float32\") = R.reshape(x, R.shape([2, n * 2]))"), "{types}");
    let (exit, out, _) = run(&["run", &path, "--arg", "iota(3, 4)"]);
    assert_eq!(
        (exit, out.as_str()),
        (0, "[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0],\n [6.0, 7.0, 8.0, 9.0, 10.0, 11.0]]:float32\n")
    );
    assert_eq!(
        relax_spec::parse(text).map(|module| print_module(&module, Default::default())).unwrap(),
        run(&["convert", &path]).1
    );
    let unknown = file(&dir, "unknown.py", text.replace("(\"n\", 4)", "None"));
    let (exit, out, _) = run(&["check", &unknown]);
    assert_eq!(exit, 1);
    assert!(out.contains("the result would have a dimension of -1") && out.contains("unknown.py:3:9"), "{out}");
}

/// Changes that make the class `B` invalid Python, each as a replacement of its body.
const SPOILED: [&str; 7] = [
    "        return x +\n",
    "        y = R.add(x, (x\n        return y\n",
    "        y = [x, x\n        return y\n",
    "        y = x\n      return y\n",
    "        if x\n            return x\n",
    "        return \"open\n",
    "        def = x\n        return x\n",
];

#[test]
fn a_module_that_python_cannot_parse_does_not_hide_the_others() {
    let good = |name: &str| class(name, "R.Tensor((2,), \"float32\")");
    for spoiled in SPOILED {
        let bad = good("B").replace("        return x\n", spoiled);
        for (text, others) in [
            (format!("{IMPORTS}{bad}{}{}", good("A"), good("C")), ["A", "C"]),
            (format!("{IMPORTS}{}{bad}{}", good("A"), good("C")), ["A", "C"]),
            (format!("{IMPORTS}{}{}{bad}", good("A"), good("C")), ["A", "C"]),
        ] {
            let file = all(&text);
            assert_eq!(names(&file), others, "{text}");
            let line = |part: &str| text[..text.find(part).unwrap()].matches('\n').count() + 1;
            let (first, last) = (line("class B"), line("class B") + 7);
            assert!(!file.faults.is_empty(), "{text}");
            assert!(file.faults.iter().all(|fault| (first..=last).contains(&fault.line)), "{:?}\n{text}", file.faults);
            // A request for a different class succeeds. A request for this one gets the reason why it fails.
            assert_eq!(names(&parse_file(&text, Which::Named("C")).unwrap()), ["C"]);
            assert_eq!(parse_file(&text, Which::Named("B")).unwrap_err(), file.faults);
            assert!(parse_file(&text, Which::Only).is_err());
        }
    }
}

#[test]
fn a_module_that_is_not_read_does_not_hide_what_is_wrong_in_another() {
    let dir = TempDir::new().unwrap();
    let unread = class("A", "R.Tensor((2,), \"float32\")").replace("return x", "y = R.add(x)(\n        return y");
    let unknown = class("B", "R.Tensor((2,), \"float32\")")
        .replace("return x", "y = R.match_cast(x, R.Nothing)\n        return y");
    let wrong = class("C", "R.Tensor((2,), \"float32\")").replace("return x", "return z");
    let path = file(&dir, "three.py", format!("{IMPORTS}{unread}{unknown}{wrong}"));
    let (status, out, err) = run(&["check", &path]);
    assert_eq!(status, 2, "{out}{err}");
    assert!(err.contains("three.py:6") && err.contains("R.Nothing"), "{err}");
    assert!(out.contains("C") || out.contains("`z`"), "{out}");
    assert!(out.contains("1 in part unreadable"), "{out}");
    let (status, out, _) = run(&["check", "--format", "json", &path]);
    assert!(status == 2 && json_lines(&out).len() >= 3, "{out}");
}

#[test]
fn functions_beside_one_that_python_cannot_parse_are_no_whole_module() {
    let function = |name: &str, body: &str| {
        format!("@R.function\ndef {name}(x: R.Tensor((2,), \"float32\")):\n    return {body}\n")
    };
    let text = format!("{IMPORTS}{}{}", function("main", "g(x)"), function("g", "x +"));
    let found = errors(&text);
    assert_eq!(found.iter().map(|error| error.line).collect::<Vec<_>>(), [7], "{found:?}");
}
