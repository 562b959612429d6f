//! The parameters of the entry after a pass that bundled them, or moved computations on them into a new function.

use std::sync::Arc;

use super::lazy::called_back;
use relax_spec::arguments::linked;
use relax_spec::grammar::{
    AttrValue, Attrs, Binder, Expr, Function, GlobalFunc, GlobalVar, IrModule, Span, StructInfo,
};

/// The attribute with the number of parameters that are inputs, not weights.
const INPUTS: &str = "num_input";
/// The name of the function that computes new weights from the given ones.
const TRANSFORM: &str = "_transform_params";

/// The program after a pass, with an entry that has the parameters of the entry before. `None` if no parameters are
/// bundled (`BundleModelParams`), none are computed in a new function (`LiftTransformParams`), and no callback gets
/// them or takes the results (`LazyGetInput`, `LazySetOutput`).
pub(super) fn related(before: &IrModule, after: &IrModule, entry: &str) -> Option<IrModule> {
    let (old, new) = (linked(before, entry)?, linked(after, entry)?);
    let inputs = match old.attrs.get(INPUTS) {
        Some(AttrValue::Int(inputs)) => *inputs,
        Some(_) | None => 0,
    };
    let inputs = usize::try_from(inputs).ok()?;
    if let Some(made) = called_back(before, after, entry, inputs) {
        return Some(made);
    }
    if !old.attrs.contains_key(INPUTS) {
        return None;
    }
    let given: Vec<Expr> = old.params.iter().map(Binder::to_expr).collect();
    let (inputs, weights) = given.split_at_checked(inputs)?;
    let bundle = Expr::tuple(weights.to_vec());
    let args = match transform(before, after, entry) {
        Some((transform, func)) => {
            // The parameters of the new function may have been bundled too.
            let given = StructInfo::tuple(weights_of(old, inputs.len()));
            let is_bundled_again = last(func, 0) == Some(&StructInfo::tuple([given]));
            let bundle = if is_bundled_again { Expr::tuple(vec![bundle]) } else { bundle };
            let computed = Expr::call(transform, vec![bundle]);
            let count = new.params.len().checked_sub(inputs.len())?;
            let fields = (0..).take(count).map(|index| Expr::tuple_get_item(computed.clone(), index));
            match (&func.ret_struct_info, last(new, inputs.len())) {
                (Some(result), Some(param)) if result == param => inputs.iter().cloned().chain([computed]).collect(),
                (_, _) => inputs.iter().cloned().chain(fields).collect(),
            }
        }
        None if is_bundled(old, new, inputs.len(), weights.len()) => inputs.iter().cloned().chain([bundle]).collect(),
        None => return None,
    };
    Some(entered(after, old, entry, args))
}

/// The function that computes the weights, if the pass has created it.
fn transform<'m>(before: &IrModule, after: &'m IrModule, entry: &str) -> Option<(Expr, &'m Function)> {
    let name = format!("{entry}{TRANSFORM}");
    match (before.get(&name), after.get(&name)?) {
        (None, GlobalFunc::Function(func)) => {
            Some((Expr::GlobalVar(GlobalVar { name: name.as_str().into(), span: Span::NONE }), func))
        }
        (_, _) => None,
    }
}

/// The annotations of the weights.
fn weights_of(func: &Function, inputs: usize) -> impl Iterator<Item = StructInfo> {
    func.params.iter().skip(inputs).map(|param| param.annotation.clone().unwrap_or(StructInfo::Object))
}

/// The annotation of the first parameter behind the inputs.
fn last(func: &Function, inputs: usize) -> Option<&StructInfo> {
    func.params.get(inputs).and_then(|param| param.annotation.as_ref())
}

/// Whether one tuple has replaced all weights.
fn is_bundled(old: &Function, new: &Function, inputs: usize, weights: usize) -> bool {
    let is_tuple = matches!(last(new, inputs), Some(StructInfo::Tuple(fields)) if fields.len() == weights);
    let is_other = old.params.len() != new.params.len() || last(old, inputs) != last(new, inputs);
    new.params.len() == inputs + 1 && is_tuple && is_other
}

/// The module with a new entry, which has the parameters of another function and calls the old entry.
pub(super) fn entered(module: &IrModule, signature: &Function, entry: &str, args: Vec<Expr>) -> IrModule {
    let mut module = module.clone();
    let symbol = AttrValue::Str(entry.into());
    let is_entry = |func: &Function| func.attrs.get("global_symbol") == Some(&symbol);
    let mut made = None;
    for (gv, func) in &mut module.funcs {
        if let GlobalFunc::Function(func) = func
            && is_entry(&*func)
        {
            let attrs = Attrs::from_iter([("global_symbol".into(), symbol.clone())]);
            let body = Expr::call(Expr::GlobalVar(gv.clone()), args.clone());
            made = Some(Function { body, ret_struct_info: None, attrs, pure: func.pure, ..signature.clone() });
            Arc::make_mut(func).attrs.remove("global_symbol");
        }
    }
    let name = GlobalVar { name: format!("{entry} before").as_str().into(), span: Span::NONE };
    module.funcs.extend(made.map(|made| (name, GlobalFunc::Function(Arc::new(made)))));
    module
}

#[cfg(test)]
mod tests {
    use super::*;
    use relax_spec::judge::Cx;
    use relax_spec::refine::{RefinementVerdict, Settings, refine};
    use relax_spec::syntax::tvmscript::parse_module;

    fn program(params: &str, functions: &str) -> IrModule {
        let text = format!(
            "@I.ir_module\nclass Module:\n{functions}    @R.function\n    def main({params}):\n        \
             R.func_attr({{\"num_input\": 1}})\n        return x\n"
        );
        parse_module(&text).unwrap()
    }

    #[test]
    fn weights_are_bundled_or_computed() {
        let tensor = "R.Tensor((2,), \"float32\")";
        let before = program(&format!("x: {tensor}, w: {tensor}, b: {tensor}"), "");
        let bundled = program(&format!("x: {tensor}, p: R.Tuple({tensor}, {tensor})"), "");
        let transform = format!(
            "    @R.function(private=True)\n    def main_transform_params(p: R.Tuple({tensor}, {tensor})):\n        \
             return p\n"
        );
        let lifted = program(&format!("x: {tensor}, b: {tensor}, v: {tensor}"), &transform);
        let again = format!(
            "    @R.function(private=True)\n    def main_transform_params(p: R.Tuple(R.Tuple({tensor}, {tensor}))) -> \
             R.Tuple({tensor}, {tensor}):\n        q = p[0]\n        return q\n"
        );
        let both = program(&format!("x: {tensor}, p: R.Tuple({tensor}, {tensor})"), &again);
        let values = |after: &IrModule| {
            let settings = Settings::runs(3);
            refine(&mut Cx::new(), &before, after, "main", &[], &settings).unwrap().verdict
        };
        for after in [&bundled, &lifted, &both] {
            let made = related(&before, after, "main").unwrap();
            assert_eq!(linked(&made, "main").map(|func| func.params.len()), Some(3), "{made:?}");
            assert_eq!(values(&made), RefinementVerdict::Allowed, "{made:?}");
        }
        assert_eq!(related(&before, &before, "main"), None);
        assert_eq!(related(&bundled, &bundled, "main"), None);
        assert_eq!(related(&lifted, &lifted, "main"), None);
    }
}
