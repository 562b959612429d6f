//! The `PrimFunc`s that programs call: loops, reductions, a scatter, branches, several outputs, arguments written in
//! place.

use std::sync::Arc;

use relax_spec::grammar::tir::PrimFunc;
use relax_spec::grammar::{DataType, GlobalFunc};
use relax_spec::syntax::tvmscript::parse_module;

/// A tensor parameter of a `PrimFunc`: its data type, and its sizes by name.
pub(super) type BufferSignature = (DataType, Vec<&'static str>);

/// How a `PrimFunc` is called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CallForm {
    /// By `call_tir`.
    CallTir,
    /// By `call_tir_inplace`, or directly: it writes to its first input, and has no other output.
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
    pub(super) inputs: Vec<BufferSignature>,
    pub(super) outputs: Vec<BufferSignature>,
    pub(super) form: CallForm,
}

/// A paragraph for each: its name, the tensors that it takes and gives, and its body, in which they are `B0`, `B1` and
/// so on. What gives none writes its first input.
const FUNCS: &str = r#"tir_twice: float32[n] -> float32[n]
for i in range(n):
    with T.block("b"):
        v = T.axis.spatial(n, i)
        B1[v] = B0[v] * T.float32(2)

tir_row_sum: float32[n,m] -> float32[n]
for i, j in T.grid(n, m):
    with T.block("b"):
        vi, vj = T.axis.remap("SR", [i, j])
        with T.init():
            B1[vi] = T.float32(0)
        B1[vi] = B1[vi] + B0[vi, vj]

tir_transpose: float32[n,m] -> float32[m,n]
for i, j in T.grid(m, n):
    with T.block("b"):
        vi, vj = T.axis.remap("SS", [i, j])
        B1[vi, vj] = B0[vj, vi]

tir_split: float32[n] float32[n] -> float32[n] float32[n]
for i in range(n):
    with T.block("b"):
        v = T.axis.spatial(n, i)
        B2[v] = B0[v] + B1[v]
        B3[v] = T.if_then_else(B0[v] < B1[v], B0[v], T.float32(0))

tir_increment: float32[n] ->
for i in range(n):
    with T.block("b"):
        v = T.axis.spatial(n, i)
        B0[v] = B0[v] + T.float32(1)

tir_scatter: int64[n] -> int64[m]
for i in range(m):
    with T.block("zero"):
        v = T.axis.spatial(m, i)
        B1[v] = T.int64(0)
for i in range(n):
    with T.block("add"):
        v = T.axis.opaque(n, i)
        if B0[v] >= T.int64(0) and B0[v] < m:
            B1[B0[v]] = B1[B0[v]] + T.int64(1)

tir_product: float32[n,k] float32[k,m] -> float32[n,m]
for i, j, l in T.grid(n, m, k):
    with T.block("b"):
        vi, vj, vl = T.axis.remap("SSR", [i, j, l])
        with T.init():
            B2[vi, vj] = T.float32(0)
        B2[vi, vj] = B2[vi, vj] + B0[vi, vl] * B1[vl, vj]

tir_greatest: float32[n,m] -> float32[n]
for i, j in T.grid(n, m):
    with T.block("b"):
        vi, vj = T.axis.remap("SR", [i, j])
        with T.init():
            B1[vi] = T.float32(-1)
        B1[vi] = T.max(B1[vi], B0[vi, vj])

tir_reverse: int64[n] -> int64[n]
for i in range(n):
    with T.block("b"):
        v = T.axis.spatial(n, i)
        B1[v] = B0[n - T.int64(1) - v] - v"#;

/// Those with a number as a parameter.
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

/// The templates, with or without those with a number as a parameter. All of them can be read.
pub(super) fn templates(on_numbers: bool) -> Vec<Template> {
    let further = ON_NUMBERS.iter().filter(|_| on_numbers);
    let further = further.filter_map(|(name, form, text)| template(name, text, [Vec::new(), Vec::new()], *form));
    FUNCS.split("\n\n").filter_map(of_paragraph).chain(further).collect()
}

fn of_paragraph(paragraph: &'static str) -> Option<Template> {
    let (head, body) = paragraph.split_once('\n')?;
    let (name, signature) = head.split_once(": ")?;
    let (inputs, outputs) = signature.split_once(" ->")?;
    let buffers = [inputs, outputs].map(|text| text.split_whitespace().filter_map(buffer).collect::<Vec<_>>());
    let form = if outputs.is_empty() { CallForm::InPlace } else { CallForm::CallTir };
    template(name, &text(name, &buffers.concat(), body), buffers, form)
}

/// `float32[n,m]`.
fn buffer(text: &'static str) -> Option<BufferSignature> {
    let (dtype, sizes) = text.strip_suffix(']')?.split_once('[')?;
    Some((dtype.parse().ok()?, sizes.split(',').collect()))
}

fn template(name: &'static str, text: &str, buffers: [Vec<BufferSignature>; 2], form: CallForm) -> Option<Template> {
    let [inputs, outputs] = buffers;
    let module = parse_module(text).ok()?;
    match module.get(name)? {
        GlobalFunc::PrimFunc(func) => Some(Template { name, func: func.clone(), inputs, outputs, form }),
        GlobalFunc::Function(_) | GlobalFunc::ExternFunc(_) => None,
    }
}

fn text(name: &str, buffers: &[BufferSignature], body: &str) -> String {
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
        for paragraph in FUNCS.split("\n\n") {
            assert!(of_paragraph(paragraph).is_some(), "{paragraph}");
        }
        assert_eq!(templates(true).len(), 9 + ON_NUMBERS.len());
    }
}
