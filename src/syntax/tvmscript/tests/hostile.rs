//! No text makes the reader panic, overflow the stack or hang.

use super::*;
use crate::grammar::source::{MAX_DEPTH, MAX_NESTING};

/// Reads, writes and reads again. Returns the errors if the text cannot be read.
fn all_the_way(text: &str) -> Result<(), String> {
    let module = parse_module(text).map_err(|error| error.to_string())?;
    for dialect in [Dialect::Tvm025, Dialect::Tvm027] {
        let printed = print_module(&module, dialect);
        assert!(parse_module(&printed).is_ok() || module_is_deep(text), "{printed}");
    }
    Ok(())
}

/// Text near the limit of nesting may exceed it in a different written form.
fn module_is_deep(text: &str) -> bool {
    text.len() > 1_000
}

fn function_of(statements: &str) -> String {
    format!("@R.function\ndef f(x: R.Object, c: R.Object):\n{statements}    return x\n")
}

fn nested_ifs(depth: usize) -> String {
    let mut text = String::new();
    for i in 1..=depth {
        text.push_str(&format!("{}if c:\n", " ".repeat(i + 3)));
    }
    text.push_str(&format!("{}y = x\n", " ".repeat(depth + 4)));
    for i in (1..=depth).rev() {
        text.push_str(&format!("{0}else:\n{0} y = x\n", " ".repeat(i + 3)));
    }
    function_of(&text)
}

fn nested_functions(depth: usize) -> String {
    let mut text = String::new();
    for i in 1..=depth {
        let indent = " ".repeat(i + 3);
        text.push_str(&format!("{indent}@R.function\n{indent}def g(x: R.Object):\n"));
    }
    for i in (1..=depth).rev() {
        text.push_str(&format!("{} return x\n", " ".repeat(i + 3)));
    }
    function_of(&text)
}

fn elifs(depth: usize) -> String {
    function_of(&format!("    if c:\n     y = x\n{}    else:\n     y = x\n", "    elif c:\n     y = x\n".repeat(depth)))
}

fn repeated(open: &str, inner: &str, close: &str, depth: usize) -> String {
    function_of(&format!("    y = {}{inner}{}\n", open.repeat(depth), close.repeat(depth)))
}

/// The deepest readable text must be handled too. Deeper text is rejected.
#[test]
fn nesting() {
    type Form = Box<dyn Fn(usize) -> String>;
    let forms: Vec<(usize, Form)> = vec![
        (MAX_NESTING, Box::new(nested_ifs)),
        (MAX_NESTING, Box::new(nested_functions)),
        (MAX_NESTING, Box::new(elifs)),
        (MAX_NESTING, Box::new(|n| repeated("(", "x", ",)", n))),
        (MAX_NESTING, Box::new(|n| repeated("[", "x", "]", n))),
        (MAX_NESTING, Box::new(|n| repeated("R.exp(", "x", ")", n))),
        (MAX_NESTING, Box::new(|n| repeated("x(", "x", ")", n))),
        (MAX_DEPTH, Box::new(|n| repeated("", "x", "[0]", n))),
        (MAX_DEPTH, Box::new(|n| repeated("", "x", ".a", n))),
        (MAX_DEPTH, Box::new(|n| repeated("-", "x", "", n))),
        (MAX_DEPTH, Box::new(|n| repeated("x + ", "x", "", n))),
        (MAX_DEPTH, Box::new(|n| repeated("x if c else ", "x", "", n))),
        (MAX_DEPTH, Box::new(|n| repeated("lambda: ", "x", "", n))),
        (MAX_NESTING, Box::new(|n| repeated("R.shape([", "1", "])", n))),
        (MAX_DEPTH, Box::new(|n| function_of(&format!("    y = R.shape([{}1])\n", "1 + ".repeat(n))))),
        (
            MAX_NESTING,
            Box::new(|n| function_of(&format!("    y: {}R.Object{} = x\n", "R.Tuple(".repeat(n), ")".repeat(n)))),
        ),
        (MAX_NESTING, Box::new(|n| function_of(&format!("    y = R.const({}1{})\n", "[".repeat(n), "]".repeat(n))))),
        (
            MAX_NESTING,
            Box::new(|n| function_of(&format!("    R.func_attr({{\"k\": {}1{}}})\n", "[".repeat(n), "]".repeat(n)))),
        ),
    ];
    for (i, (limit, form)) in forms.iter().enumerate() {
        let _ = all_the_way(&form(limit / 4 - 10));
        let _ = all_the_way(&form(limit - 10));
        assert!(all_the_way(&form(limit + 10)).is_err(), "form {i}");
        assert!(all_the_way(&form(2 * limit)).is_err(), "form {i}");
    }
}

#[test]
fn deep_text_is_read() {
    for depth in [1, 10, 100, MAX_NESTING - 10] {
        assert_eq!(all_the_way(&nested_ifs(depth)), Ok(()), "{depth}");
        assert_eq!(all_the_way(&elifs(depth)), Ok(()), "{depth}");
    }
}

#[test]
fn garbage() {
    let long = "\u{fffd}(".repeat(300_000);
    for text in [
        "",
        " \n\t",
        "\u{feff}",
        "\0",
        "@",
        "\"\"\"",
        "'",
        "f\"{",
        "\\",
        "if",
        "\r\r\r",
        "@I.ir_module\nclass M: pass\n@I.ir_module\nclass N: pass\n",
        "@R.function\ndef f(*a): return a\n",
        "@R.function\ndef f(a=1): return a\n",
        "@R.function\ndef f(): return\n",
        "@R.function\ndef f():\n    return 99999999999999999999999999\n",
        "@R.function\ndef f():\n    return R.const()\n",
        "@R.function\ndef f():\n    return R.const([[1], 2])\n",
        "@R.function\ndef f():\n    return R.call_tir()\n",
        "@R.function\ndef f():\n    return R.call_tir(f, (), R.Object)\n",
        "@R.function\ndef f():\n    return metadata[\"ir.GenericConst\"][0]\n",
        "@R.function\ndef f():\n    x[0] = 1\n    return x\n",
        "@R.function\ndef f():\n    with R.dataflow() as d:\n        pass\n    return d\n",
        "@R.function\ndef f():\n    if x:\n        pass\n    return x\n",
        long.as_str(),
    ] {
        let _ = all_the_way(text);
    }
    let text = include_str!("../../../../tests/samples/tvm-0.25.py");
    for cut in (0..text.len()).step_by(397) {
        let _ = parse_module_all(&text[..cut]);
        let _ = parse_module_all(&text[cut..]);
    }
}

#[test]
fn every_error_has_a_place_in_the_text() {
    let text = "@R.function\ndef f(x: R.Object):\n    y = é[é]\n    return y\n";
    let error = parse_module(text).unwrap_err();
    assert_eq!((error.line, error.column, error.source_line.as_str()), (3, 11, "    y = é[é]"));
}

/// Ten times the text takes about ten times as long, not a hundred times.
#[test]
fn reading_and_writing_take_linear_time() {
    let program = |bindings: usize| {
        let lines: String = (0..bindings).map(|i| format!("    x = R.add(x, c)\n    y{i} = R.exp(x)\n")).collect();
        function_of(&lines)
    };
    let time = |text: &str| {
        let start = std::time::Instant::now();
        let module = parse_module(text).unwrap();
        print_module(&module, Dialect::Tvm025);
        start.elapsed()
    };
    let (small, large) = (program(1_000), program(10_000));
    time(&small);
    let (small, large) = (time(&small), time(&large));
    assert!(large < 40 * small, "{small:?} {large:?}");
}
