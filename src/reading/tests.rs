use super::*;
use crate::syntax::tvmscript::{parse_module, print_module};

fn program(params: &str, body: &str) -> String {
    format!("@R.function\ndef main({params}):\n{body}")
}

/// The completed program, printed.
fn completed(text: &str) -> String {
    let mut module = parse_module(text).unwrap();
    complete(&mut module);
    print_module(&module, Default::default())
}

fn reshaped(params: &str, shape: &str) -> String {
    completed(&program(params, &format!("    y = R.reshape(x, {shape})\n    return y\n")))
}

#[test]
fn a_dimension_of_minus_one_keeps_the_number_of_elements() {
    for (params, shape, meant) in [
        ("x: R.Tensor((16, 4), \"float32\")", "(8, -1)", "R.shape([8, 8])"),
        ("x: R.Tensor((16, 4), \"float32\")", "[-1]", "R.shape([64])"),
        ("x: R.Tensor((16, 4), \"float32\")", "R.shape([2, -1, 4])", "R.shape([2, 8, 4])"),
        ("x: R.Tensor((16, 4), \"float32\")", "(0, 2, -1)", "R.shape([16, 2, 2])"),
        ("x: R.Tensor((16, \"n\"), \"float32\")", "(8, -1)", "R.shape([8, n * 2])"),
        ("x: R.Tensor((\"n\", 6), \"float32\")", "(-1, 0)", "R.shape([n, 6])"),
        ("x: R.Tensor((\"n\", \"m\", 6), \"float32\"), s: R.Shape([\"n\"])", "(-1, 2)", "R.shape([n * m * 3, 2])"),
        ("x: R.Tensor((\"n\", 4), \"float32\")", "(3, -1)", "R.shape([3, n * 4 // 3])"),
        ("x: R.Tensor((0, 4), \"float32\")", "(3, -1)", "R.shape([3, 0])"),
        // The operator reports that 60 is not 64.
        ("x: R.Tensor((16, 4), \"float32\")", "(5, -1)", "R.shape([5, 12])"),
        ("x: R.Tensor((16, 4), \"float32\")", "(0, 4)", "R.shape([0, 4])"),
    ] {
        let printed = reshaped(params, shape);
        assert!(printed.contains(&format!("R.reshape(x, {meant})")), "{shape}: {printed}");
    }
}

#[test]
fn what_cannot_be_determined_stays() {
    for (params, shape) in [
        ("x: R.Tensor((16, 4), \"float32\")", "(-1, -1)"),
        ("x: R.Tensor((16, 4), \"float32\")", "(-2, -1)"),
        ("x: R.Tensor((0, 4), \"float32\")", "(0, -1)"),
        ("x: R.Tensor((16, 4), \"float32\")", "(1, 1, 0, -1)"),
        ("x: R.Tensor(ndim=2, dtype=\"float32\")", "(2, -1)"),
        ("x: R.Object", "(2, -1)"),
        ("y: R.Tensor((2,), \"float32\")", "(2, -1)"),
    ] {
        assert!(reshaped(params, shape).contains("-1"), "{params} {shape}");
    }
}

#[test]
fn one_reshape_needs_another() {
    let body = "    a = R.reshape(x, (8, -1))
    b = R.reshape(a, (-1, 2))
    c = R.add(b, b)
    d = R.reshape(R.add(R.reshape(c, (4, -1)), R.reshape(c, (4, -1))), (-1,))
    return R.reshape(d, (2, -1))\n";
    let printed = completed(&program("x: R.Tensor((16, 4), \"float32\")", body));
    for shape in ["[8, 8]", "[32, 2]", "[4, 16]", "[64]", "[2, 32]"] {
        assert!(printed.contains(&format!("R.shape({shape})")), "{printed}");
    }
    assert!(!printed.contains("-1"), "{printed}");
}
