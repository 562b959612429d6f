//! Notations that releases of TVM are known to read differently.

use std::collections::BTreeSet;

use relax_spec::grammar::visit::{Visitor, walk_expr, walk_module};
use relax_spec::grammar::{Expr, IrModule, TypeCode};

/// What of a text two releases read differently, in words.
///
/// A bare float that is the argument of an operator: 0.25 reads a float32, 0.26 and 0.27 read a float64, as this project
/// does. (Asked by `R.prim_value(1.5)` and `R.arange(0.0, 5.0, 1.0)`.)
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

impl Visitor for BareFloats<'_> {
    fn visit_expr(&mut self, expr: &Expr) {
        if let Expr::PrimValue(prim) = expr
            && prim.dtype.code == TypeCode::Float
            && prim.dtype.bits == 64
        {
            let span = expr.span();
            let written = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
            let written = written.rsplit_once("prim_value(").map_or(written, |(_, rest)| rest.trim_end_matches(')'));
            if written.trim().parse::<f64>().is_ok() {
                self.places.insert((span.start, written.trim().to_string()));
            }
        }
        walk_expr(self, expr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use relax_spec::syntax::tvmscript::parse_module;

    #[test]
    fn bare_floats_are_found() {
        let text = "@I.ir_module\nclass M:\n    @R.function\n    def main(x: R.Tensor((2,), 'float32')):\n        \
                    a = R.prim_value(1.5)\n        b = R.prim_value(T.float64(2.5))\n        c = R.prim_value(3)\n        \
                    d = R.clip(x, 0.5, 1)\n        return x\n";
        let module = parse_module(text).unwrap();
        let line_of = |offset: u32| text[..offset as usize].matches('\n').count() + 1;
        let told = read_differently(text, &module, &line_of);
        let heads: Vec<&str> = told.iter().filter_map(|line| line.split(" is a ").next()).collect();
        assert_eq!(heads, ["line 5: the scalar `1.5`", "line 8: the scalar `0.5`"]);
    }
}
