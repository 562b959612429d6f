//! One run tells all mistakes of a program, each once.

use tempfile::TempDir;

use super::{file, json_lines, run};

/// The output for a function with these statements.
fn told_of(dir: &TempDir, statements: &[&str]) -> Vec<String> {
    let body: String = statements.iter().map(|statement| format!("        {statement}\n")).collect();
    let text = format!(
        "@I.ir_module\nclass Module:\n    @R.function\n    def main(x: R.Tensor((3,), 'float32')) -> R.Object:\n{body}        return x\n"
    );
    let (_, out, _) = run(&["check", "--format", "json", &file(dir, "statements.py", text)]);
    let mut rules: Vec<String> =
        json_lines(&out).iter().filter_map(|line| Some(line["rule"].as_str()?.to_string())).collect();
    rules.sort();
    rules
}

/// Mistakes of all stages, one per statement.
const MISTAKES: [&str; 8] = [
    "a = R.add(x, nowhere)",
    "b = R.nn.relux(x)",
    "c = R.sum(x, axs=[0])",
    "d = x[0]",
    "e: R.Tensor((4,), 'float32') = R.add(x, x)",
    "f = R.add(x, R.zeros(R.shape([4]), 'float32'))",
    "g: R.Tensor((3,), 'float33') = R.add(x, x)",
    "h = R.match_cast(x, R.Tensor((4,), 'float32'))",
];

#[test]
fn one_run_tells_all_mistakes() {
    let dir = TempDir::new().unwrap();
    let alone: Vec<Vec<String>> = MISTAKES.iter().map(|mistake| told_of(&dir, &[mistake])).collect();
    for (i, told) in alone.iter().enumerate() {
        assert_eq!(told.len(), 1, "{}: {told:?}", MISTAKES[i]);
        for (k, other) in alone.iter().enumerate().filter(|(k, _)| *k != i) {
            let mut both = [told.clone(), other.clone()].concat();
            both.sort();
            assert_eq!(told_of(&dir, &[MISTAKES[i], MISTAKES[k]]), both, "{} and {}", MISTAKES[i], MISTAKES[k]);
        }
    }
    let mut all = alone.concat();
    all.sort();
    assert_eq!(told_of(&dir, &MISTAKES), all);
}

#[test]
fn what_depends_on_a_mistake_is_silent() {
    let dir = TempDir::new().unwrap();
    // Size mistakes are left out: a value with other sizes than its annotation is only found after all its uses are
    // typed.
    let named = MISTAKES.iter().filter_map(|mistake| Some((mistake, mistake.split([':', ' ']).next()?)));
    for (mistake, name) in named.filter(|(_, name)| ["a", "b", "c", "d", "g"].contains(name)) {
        let alone = told_of(&dir, &[mistake]);
        let uses = [format!("u = {name}[7]"), format!("v = R.add({name}, {name})"), format!("w = {name}(x)")];
        let uses: Vec<&str> = uses.iter().map(String::as_str).collect();
        assert_eq!(told_of(&dir, &[&[*mistake][..], &uses].concat()), alone, "{mistake}");
    }
}

/// Functions with an unknown datatype in their signature, and code that depends on it.
const SIGNATURES: [&str; 4] = [
    "    @R.function
    def f(x: R.Tensor((3,), 'float32')) -> R.Tensor((3,), 'float33'):
        return x
    @R.function
    def main(x: R.Tensor((3,), 'float32')) -> R.Tensor((3,), 'float32'):
        cls = Module
        y: R.Tensor((3,), 'float32') = cls.f(x)
        z = R.add(y, cls.f(y, y))
        return z
",
    "    @R.function
    def f(x: R.Tensor((3,), 'float33')) -> R.Tensor((3,), 'float32'):
        y: R.Tensor((3,), 'float32') = R.add(x, x)
        return y
    @R.function
    def main(x: R.Tensor((3,), 'float32')) -> R.Tensor((3,), 'float32'):
        cls = Module
        y: R.Tensor((3,), 'float32') = cls.f(x)
        return y
",
    "    @R.function
    def main(x: R.Tensor((3,), 'float32')) -> R.Tensor((3,), 'float32'):
        @R.function
        def f(z: R.Tensor((3,), 'float32')) -> R.Tensor((3,), 'float33'):
            return z
        y: R.Tensor((3,), 'float32') = f(x)
        return y
",
    "    @R.function
    def main(x: R.Tensor((3,), 'float32')) -> R.Tensor((3,), 'float32'):
        @R.function
        def f(z: R.Tuple(R.Object, R.Tensor((3,), 'float33'))) -> R.Tensor((3,), 'float32'):
            y: R.Tensor((3,), 'float32') = z[1]
            return y
        y: R.Tensor((3,), 'float32') = f((x, x))
        return y
",
];

#[test]
fn what_depends_on_a_mistake_in_a_signature_is_silent() {
    let dir = TempDir::new().unwrap();
    let told = |functions: &str| {
        let text = format!("@I.ir_module\nclass Module:\n{functions}");
        let (_, out, _) = run(&["check", "--format", "json", &file(&dir, "signature.py", text)]);
        json_lines(&out)
    };
    for functions in SIGNATURES {
        let found = told(functions);
        let rules: Vec<&str> = found.iter().filter_map(|line| line["rule"].as_str()).collect();
        assert_eq!(rules, ["GRAM.DTYPE.FLOAT"], "{functions}");
        let found = told(&functions.replace("\n        y: ", "\n        w = x[0]\n        y: "));
        assert!(found.iter().any(|line| line["rule"] == "TC.TGI.NOTTUPLE"), "{functions}");
    }
}

#[test]
fn a_typo_is_told_with_the_nearest_name() {
    let dir = TempDir::new().unwrap();
    let text = "@R.function\ndef main(x: R.Tensor((3,), 'float32')):\n    y = R.nn.relux(x)\n    return y\n";
    let path = file(&dir, "typo.py", text);
    let (status, out, _) = run(&["check", &path]);
    assert_eq!(status, 1);
    assert!(
        out.contains("there is no operator `relax.nn.relux`") && out.contains("did you mean `relax.nn.relu`?"),
        "{out}"
    );
    assert!(out.contains("typo.py:3:9"), "{out}");
    let (status, out, _) = run(&["check", "--allow-unknown-ops", &path]);
    assert!(status == 0 && out.contains("warning[SI.DERIVE.CALL.OP-DEFAULT]"), "{out}");
    let (status, _, err) = run(&["run", &path, "--arg", "[1, 2, 3]:float32"]);
    assert!(status == 1 && err.contains("did you mean `relax.nn.relu`?"), "{err}");
    let wrong: [(&[&str], &str); 6] = [
        (&["explain", "SUB.TENSOR.RNK"], "`SUB.TENSOR.RANK`"),
        (&["errata", "AO1"], "`A01`"),
        (&["ops", "relax.nn.relux"], "`relax.nn.relu`"),
        (&["conform", "typechecking/*"], "`type_checking/*`"),
        (&["conform", "purity/local-literal-pur"], "`purity/local-literal-pure`"),
        (&["rules", "SI.UNFY."], "`SI.UNIFY.`"),
    ];
    for (args, meant) in wrong {
        let (status, _, err) = run(args);
        assert!(status != 0 && err.contains(&format!("did you mean {meant}?")), "{args:?}: {err}");
    }
    let text = "@R.function\ndef main(x: R.Tensor((3,), 'flaot32')):\n    return x\n";
    let (_, _, err) = run(&["check", &file(&dir, "dtype.py", text)]);
    assert!(err.contains("did you mean `float32`?"), "{err}");
}

#[test]
fn a_boxed_scalar_is_no_object_in_messages() {
    let dir = TempDir::new().unwrap();
    let text = "@R.function
def main(x: R.Tensor((3,), 'float32')) -> R.Object:
    a = R.prim_value(3)
    b = R.add(x, a)
    c = a[0]
    d = a(x)
    return x
";
    let (_, out, _) = run(&["check", &file(&dir, "prim.py", text)]);
    assert_eq!(out.matches("error[").count(), 3, "{out}");
    assert!(!out.contains("Object") && out.contains("Prim(int64, value=3)"), "{out}");
}
