//! Notations that releases of TVM are known to read differently.

use std::collections::BTreeSet;

use relax_spec::grammar::visit::{Visitor, walk_call, walk_expr, walk_module};
use relax_spec::grammar::{Call, DataType, Expr, IrModule};

/// What of a text two releases read differently, in words.
///
/// A float in `R.prim_value(1.5)`, or as a bound of `R.arange(0.0, 5.0)`: 0.25 reads a float32, 0.26 and 0.27 read a
/// float64, as this project does. Elsewhere, as in `R.clip(x, 0.5, 1.5)`, all read a float64.
pub fn read_differently(text: &str, module: &IrModule, line_of: &dyn Fn(u32) -> usize) -> Vec<String> {
    let mut floats = BareFloats { text, places: BTreeSet::new() };
    walk_module(&mut floats, module);
    let told = floats.places.into_iter().map(|(start, written)| {
        format!(
            "line {}: the scalar `{written}` is a float32 by tvm@0.25 and a float64 by tvm@0.26 and tvm@0.27; it is \
             written as a float64",
            line_of(start)
        )
    });
    told.collect()
}

struct BareFloats<'t> {
    text: &'t str,
    places: BTreeSet<(u32, String)>,
}

impl BareFloats<'_> {
    /// A literal without a data type of its own.
    fn literal(&mut self, expr: &Expr, is_bound: bool) {
        let Expr::PrimValue(prim) = expr else { return };
        let (start, end) = (prim.span.start as usize, prim.span.end as usize);
        let written = self.text.get(start..end).unwrap_or_default();
        let (before, written) = match written.rsplit_once("prim_value(") {
            Some((_, rest)) => (true, rest.trim_end_matches(')').trim()),
            None => (self.text.get(..start).is_some_and(|before| before.ends_with("prim_value(")), written.trim()),
        };
        if prim.dtype == DataType::FLOAT64 && (before || is_bound) && written.parse::<f64>().is_ok() {
            self.places.insert((prim.span.start, written.to_string()));
        }
    }
}

impl Visitor for BareFloats<'_> {
    fn visit_expr(&mut self, expr: &Expr) {
        self.literal(expr, false);
        walk_expr(self, expr);
    }

    fn visit_call(&mut self, call: &Call) {
        if matches!(&call.op, Expr::Op(op) if &*op.op_name == "relax.arange") {
            call.args.iter().for_each(|arg| self.literal(arg, true));
        }
        walk_call(self, call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use relax_spec::syntax::tvmscript::parse_module;

    #[test]
    fn bare_floats_are_found() {
        let lines = [
            "a = R.prim_value(1.5)",
            "b = R.prim_value(T.float64(2.5))",
            "c = R.prim_value(3)",
            "d = R.clip(x, 0.5, 1)",
            "e = R.arange(0, 2.5, 1)",
        ];
        let head = "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((2,), 'float32')):\n";
        let text = format!("{head}        {}\n        return x\n", lines.join("\n        "));
        let module = parse_module(&text).unwrap();
        let line_of = |offset: u32| text[..offset as usize].matches('\n').count() + 1;
        let told = read_differently(&text, &module, &line_of);
        let heads: Vec<&str> = told.iter().filter_map(|line| line.split(" is a ").next()).collect();
        assert_eq!(heads, ["line 5: the scalar `1.5`", "line 9: the scalar `2.5`"]);
    }
}
