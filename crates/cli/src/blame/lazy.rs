//! The entry after a pass that made its weights or its results the business of a callback.

use std::collections::BTreeMap;
use std::sync::Arc;

use relax_spec::arguments::linked;
use relax_spec::grammar::{
    Binder, Binding, Call, Expr, Function, GlobalFunc, If, IrModule, PrimExpr, SeqExpr, StructInfo, Var,
};
use relax_spec::judge::with_stack;

use super::params::entered;

/// What the callback does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// `LazyGetInput`: it is called with the index of a weight, and returns the weight.
    Get,
    /// `LazySetOutput`: it is called with the index of a result, and the result.
    Set,
}

/// The program after a pass, with an entry without the callback that the pass has added behind the inputs. `None` if it
/// has added none. Where the function does not say how many inputs it has, results are set by its last parameter.
pub(super) fn called_back(before: &IrModule, after: &IrModule, entry: &str, inputs: usize) -> Option<IrModule> {
    let (old, new) = (linked(before, entry)?, linked(after, entry)?);
    let places = [inputs, old.params.len()];
    let (inputs, role) = places.into_iter().find_map(|inputs| Some((inputs, role(old, new, inputs)?)))?;
    let callback = new.params.get(inputs)?.var.clone();
    let mut calls = Calls { callback, role, weights: Vec::new(), results: BTreeMap::new() };
    let mut made = new.clone();
    made.params.remove(inputs);
    if role == Role::Get {
        let names = (inputs..old.params.len()).map(|index| format!("weight {index}"));
        made.params.extend(names.map(|name| Binder::var(Var::new(&name)).annotated(StructInfo::Object)));
        calls.weights = made.params.iter().skip(inputs).map(Binder::to_expr).collect();
    }
    made.body = calls.replaced(&new.body);
    if role == Role::Set {
        made.body = with_results(made.body, old, calls.results)?;
        made.ret_struct_info = None;
    }
    let mut program = after.clone();
    let is_new = |func: &GlobalFunc| matches!(func, GlobalFunc::Function(func) if **func == *new);
    let (_, place) = program.funcs.iter_mut().find(|(_, func)| is_new(func))?;
    *place = GlobalFunc::Function(Arc::new(made));
    Some(entered(&program, old, entry, old.params.iter().map(Binder::to_expr).collect()))
}

/// The role of the parameter behind the inputs, if it is a new callback.
fn role(old: &Function, new: &Function, inputs: usize) -> Option<Role> {
    let at = |func: &Function| func.params.get(inputs).and_then(|param| param.annotation.clone());
    let Some(StructInfo::Func(callback)) = at(new) else { return None };
    if matches!(at(old), Some(StructInfo::Func(_))) || callback.params.as_ref()?.len() != 2 {
        return None;
    }
    let is_unit = matches!(&callback.ret, StructInfo::Tuple(fields) if fields.is_empty());
    if callback.ret == StructInfo::Object && new.params.len() == inputs + 1 {
        Some(Role::Get)
    } else if is_unit && new.params.len() == old.params.len() + 1 {
        Some(Role::Set)
    } else {
        None
    }
}

/// The calls of a callback.
struct Calls {
    callback: Var,
    role: Role,
    weights: Vec<Expr>,
    /// The results by their indices.
    results: BTreeMap<i64, Expr>,
}

impl Calls {
    /// The expression without the calls.
    fn replaced(&mut self, expr: &Expr) -> Expr {
        with_stack(|| {
            if let Expr::Call(call) = expr {
                self.call(call).unwrap_or_else(|| expr.clone())
            } else if let Expr::SeqExpr(seq) = expr {
                Expr::SeqExpr(Arc::new(self.seq(seq)))
            } else if let Expr::If(choice) = expr {
                Expr::If(Arc::new(If {
                    true_branch: self.replaced(&choice.true_branch),
                    false_branch: self.replaced(&choice.false_branch),
                    ..(**choice).clone()
                }))
            } else {
                expr.clone()
            }
        })
    }

    fn seq(&mut self, seq: &SeqExpr) -> SeqExpr {
        let mut seq = seq.clone();
        for binding in seq.blocks.iter_mut().flat_map(|block| &mut block.bindings) {
            let value = match binding {
                Binding::VarBinding(binding) => &mut binding.value,
                Binding::MatchCast(cast) => &mut cast.value,
            };
            *value = self.replaced(value);
        }
        seq.body = self.replaced(&seq.body);
        seq
    }

    /// What stands in place of a call of the callback.
    fn call(&mut self, call: &Call) -> Option<Expr> {
        let (Expr::Var(callee), [Expr::PrimValue(index), second]) = (&call.op, call.args.as_slice()) else {
            return None;
        };
        let PrimExpr::IntImm(index) = index.value else { return None };
        if *callee != self.callback {
            return None;
        }
        match self.role {
            Role::Get => self.weights.get(usize::try_from(index).ok()?).cloned(),
            Role::Set => {
                self.results.insert(index, second.clone());
                Some(Expr::tuple(Vec::new()))
            }
        }
    }
}

/// The body with the results in place of unit. `None` if it has another form, or a result is missing.
fn with_results(body: Expr, old: &Function, results: BTreeMap<i64, Expr>) -> Option<Expr> {
    let is_tuple = match &old.ret_struct_info {
        Some(info) => matches!(info, StructInfo::Tuple(_)),
        None => matches!(&old.body, Expr::SeqExpr(seq) if matches!(seq.body, Expr::Tuple(_))) || results.len() != 1,
    };
    let are_all = results.keys().copied().eq(0..i64::try_from(results.len()).ok()?);
    let mut results: Vec<Expr> = results.into_values().collect();
    let result = if is_tuple { Expr::tuple(results) } else { results.pop()? };
    let Expr::SeqExpr(seq) = body else { return None };
    are_all.then(|| Expr::SeqExpr(Arc::new(SeqExpr { body: result, ..(*seq).clone() })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use relax_spec::syntax::tvmscript::parse_module;

    const TENSOR: &str = "R.Tensor((2,), \"float32\")";

    fn program(params: &str, body: &str, result: &str) -> IrModule {
        let text = format!(
            "@I.ir_module\nclass Module:\n    @R.function(pure=False)\n    def main({params}) -> {result}:\n        \
             R.func_attr({{\"num_input\": 1}})\n{body}"
        );
        parse_module(&text).unwrap()
    }

    fn source() -> IrModule {
        let body = "        y = R.add(x, w)\n        return y\n";
        program(&format!("x: {TENSOR}, w: {TENSOR}"), body, TENSOR)
    }

    #[test]
    fn weights_are_got() {
        let body = format!(
            "        g = fget(R.prim_value(0), R.str(\"w\"))\n        w = R.match_cast(g, {TENSOR})\n        \
             y = R.add(x, w)\n        return y\n"
        );
        let callback = "R.Callable((R.Prim(\"int64\"), R.Object), R.Object, True)";
        let after = program(&format!("x: {TENSOR}, fget: {callback}"), &body, TENSOR);
        let made = called_back(&source(), &after, "main", 1).unwrap();
        assert_eq!(linked(&made, "main").map(|func| func.params.len()), Some(2));
        assert_eq!(called_back(&source(), &source(), "main", 1), None);
        assert!(!format!("{:?}", made.funcs.first()).contains("StringImm"), "{made:?}");
    }

    #[test]
    fn results_are_set() {
        let callback = "R.Callable((R.Prim(\"int64\"), R.Object), R.Tuple, False)";
        let params = format!("x: {TENSOR}, fset: {callback}, w: {TENSOR}");
        let body = "        y = R.add(x, w)\n        _ = fset(R.prim_value(0), y)\n        return R.tuple()\n";
        let made = called_back(&source(), &program(&params, body, "R.Tuple"), "main", 1).unwrap();
        assert_eq!(linked(&made, "main").map(|func| func.params.len()), Some(2));
        // Without a number of inputs, it is the last parameter; without an annotation, two results are a tuple.
        let last = format!("x: {TENSOR}, w: {TENSOR}, fset: {callback}");
        let both = "        y = R.add(x, w)\n        _ = fset(R.prim_value(0), y)\n        _1 = fset(R.prim_value(1), \
                    x)\n        return R.tuple()\n";
        let mut old = source();
        for (_, func) in &mut old.funcs {
            if let GlobalFunc::Function(func) = func {
                Arc::make_mut(func).ret_struct_info = None;
            }
        }
        let made = called_back(&old, &program(&last, both, "R.Tuple"), "main", 0).unwrap();
        let bodies = made.funcs.iter().filter_map(|(_, func)| match func {
            GlobalFunc::Function(func) => Some(&func.body),
            GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => None,
        });
        let is_pair = |body: &&Expr| matches!(body, Expr::SeqExpr(seq) if matches!(&seq.body, Expr::Tuple(tuple) if tuple.fields.len() == 2));
        assert_eq!(bodies.filter(is_pair).count(), 1, "{made:?}");
        let nothing = "        y = R.add(x, w)\n        return R.tuple()\n";
        assert_eq!(called_back(&source(), &program(&params, nothing, "R.Tuple"), "main", 1), None);
    }
}
