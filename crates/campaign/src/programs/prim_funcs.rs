//! The `PrimFunc`s that programs call: loops, reductions, a scatter, branches, several outputs, arguments written in
//! place.

use std::sync::Arc;

use relax_spec::grammar::tir::PrimFunc;
use relax_spec::grammar::{DataType, GlobalFunc};
use relax_spec::syntax::tvmscript::parse_module;

/// A tensor that a `PrimFunc` takes or gives: its data type, and its sizes by name.
pub(super) type BufferSignature = (DataType, &'static [&'static str]);

/// How a `PrimFunc` is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CallForm {
    /// By `call_tir`.
    CallTir,
    /// By `call_tir_inplace`, or directly: it writes its first input, and has no output else.
    InPlace,
    /// Directly, on a number.
    GivesNothing,
    /// Directly, on a number.
    GivesNumber,
}

/// A `PrimFunc`, and how it is called.
#[derive(Clone, Debug)]
pub(super) struct Template {
    pub(super) name: &'static str,
    pub(super) func: Arc<PrimFunc>,
    pub(super) inputs: &'static [BufferSignature],
    pub(super) outputs: &'static [BufferSignature],
    pub(super) form: CallForm,
}

const F32: DataType = DataType::FLOAT32;
const I64: DataType = DataType::INT64;

/// Name, inputs, outputs, how it is called, and the body.
type PrimFuncRow = (&'static str, &'static [BufferSignature], &'static [BufferSignature], CallForm, &'static str);

const ROWS: [PrimFuncRow; 9] = [
    (
        "tir_twice",
        &[(F32, &["n"])],
        &[(F32, &["n"])],
        CallForm::CallTir,
        "for i in range(n):
    with T.block(\"b\"):
        v = T.axis.spatial(n, i)
        B1[v] = B0[v] * T.float32(2)",
    ),
    (
        "tir_row_sum",
        &[(F32, &["n", "m"])],
        &[(F32, &["n"])],
        CallForm::CallTir,
        "for i, j in T.grid(n, m):
    with T.block(\"b\"):
        vi, vj = T.axis.remap(\"SR\", [i, j])
        with T.init():
            B1[vi] = T.float32(0)
        B1[vi] = B1[vi] + B0[vi, vj]",
    ),
    (
        "tir_transpose",
        &[(F32, &["n", "m"])],
        &[(F32, &["m", "n"])],
        CallForm::CallTir,
        "for i, j in T.grid(m, n):
    with T.block(\"b\"):
        vi, vj = T.axis.remap(\"SS\", [i, j])
        B1[vi, vj] = B0[vj, vi]",
    ),
    (
        "tir_split",
        &[(F32, &["n"]), (F32, &["n"])],
        &[(F32, &["n"]), (F32, &["n"])],
        CallForm::CallTir,
        "for i in range(n):
    with T.block(\"b\"):
        v = T.axis.spatial(n, i)
        B2[v] = B0[v] + B1[v]
        B3[v] = T.if_then_else(B0[v] < B1[v], B0[v], T.float32(0))",
    ),
    (
        "tir_increment",
        &[(F32, &["n"])],
        &[],
        CallForm::InPlace,
        "for i in range(n):
    with T.block(\"b\"):
        v = T.axis.spatial(n, i)
        B0[v] = B0[v] + T.float32(1)",
    ),
    (
        "tir_scatter",
        &[(I64, &["n"])],
        &[(I64, &["m"])],
        CallForm::CallTir,
        "for i in range(m):
    with T.block(\"zero\"):
        v = T.axis.spatial(m, i)
        B1[v] = T.int64(0)
for i in range(n):
    with T.block(\"add\"):
        v = T.axis.opaque(n, i)
        if B0[v] >= T.int64(0) and B0[v] < m:
            B1[B0[v]] = B1[B0[v]] + T.int64(1)",
    ),
    (
        "tir_product",
        &[(F32, &["n", "k"]), (F32, &["k", "m"])],
        &[(F32, &["n", "m"])],
        CallForm::CallTir,
        "for i, j, l in T.grid(n, m, k):
    with T.block(\"b\"):
        vi, vj, vl = T.axis.remap(\"SSR\", [i, j, l])
        with T.init():
            B2[vi, vj] = T.float32(0)
        B2[vi, vj] = B2[vi, vj] + B0[vi, vl] * B1[vl, vj]",
    ),
    (
        "tir_greatest",
        &[(F32, &["n", "m"])],
        &[(F32, &["n"])],
        CallForm::CallTir,
        "for i, j in T.grid(n, m):
    with T.block(\"b\"):
        vi, vj = T.axis.remap(\"SR\", [i, j])
        with T.init():
            B1[vi] = T.float32(-1)
        B1[vi] = T.max(B1[vi], B0[vi, vj])",
    ),
    (
        "tir_reverse",
        &[(I64, &["n"])],
        &[(I64, &["n"])],
        CallForm::CallTir,
        "for i in range(n):
    with T.block(\"b\"):
        v = T.axis.spatial(n, i)
        B1[v] = B0[n - T.int64(1) - v] - v",
    ),
];

/// Those that are called on a number.
const ON_NUMBERS: [(&str, CallForm, &str); 2] = [
    (
        "tir_unused",
        CallForm::GivesNothing,
        "@T.prim_func(private=True)\ndef tir_unused(n: T.int64):\n    T.evaluate(0)\n",
    ),
    (
        "tir_double",
        CallForm::GivesNumber,
        "@T.prim_func(private=True)\ndef tir_double(n: T.int64) -> T.int64:\n    return n * T.int64(2)\n",
    ),
];

/// Those that the reader reads, which are all of them; with or without those that are called on a number.
pub(super) fn templates(on_numbers: bool) -> Vec<Template> {
    let further = ON_NUMBERS.iter().filter(|_| on_numbers);
    let further = further.filter_map(|(name, form, text)| template(name, text, &[], &[], *form));
    ROWS.iter().filter_map(of_row).chain(further).collect()
}

fn of_row(row: &PrimFuncRow) -> Option<Template> {
    let (name, inputs, outputs, form, _) = *row;
    template(name, &text(row), inputs, outputs, form)
}

fn template(
    name: &'static str,
    text: &str,
    inputs: &'static [BufferSignature],
    outputs: &'static [BufferSignature],
    form: CallForm,
) -> Option<Template> {
    let module = parse_module(text).ok()?;
    match module.get(name)? {
        GlobalFunc::PrimFunc(func) => Some(Template { name, func: func.clone(), inputs, outputs, form }),
        GlobalFunc::Function(_) | GlobalFunc::ExternFunc(_) => None,
    }
}

fn text((name, inputs, outputs, _, body): &PrimFuncRow) -> String {
    let buffers: Vec<BufferSignature> = inputs.iter().chain(outputs.iter()).copied().collect();
    let params: Vec<String> = (0..buffers.len()).map(|i| format!("b{i}: T.handle")).collect();
    let mut out = format!("@T.prim_func(private=True)\ndef {name}({}):\n", params.join(", "));
    let mut declared: Vec<&str> = Vec::new();
    for size in buffers.iter().flat_map(|(_, sizes)| sizes.iter()) {
        if !declared.contains(size) {
            declared.push(size);
            out.push_str(&format!("    {size} = T.int64()\n"));
        }
    }
    for (i, (dtype, sizes)) in buffers.iter().enumerate() {
        let shape: String = sizes.iter().map(|size| format!("{size}, ")).collect();
        out.push_str(&format!("    B{i} = T.match_buffer(b{i}, ({shape}), \"{dtype}\")\n"));
    }
    for line in body.lines() {
        out.push_str(&format!("    {line}\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_them_can_be_read() {
        for row in &ROWS {
            assert!(of_row(row).is_some(), "{:?}\n{}", parse_module(&text(row)).err(), text(row));
        }
        assert_eq!(templates(true).len(), ROWS.len() + ON_NUMBERS.len());
    }
}
