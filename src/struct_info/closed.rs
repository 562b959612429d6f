//! Closed information: the shape variables that a function type introduces belong to it, even if other variables have
//! the same names where the information is used.

use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use super::mapping::{Mapping, all_shape_vars, holds, introduced_by, introduced_shape_vars};
use super::own::binds_in_any_order;
use super::substitute::{replace_everywhere, substitute_dim};
use super::surroundings::{Nowhere, Surroundings};
use crate::book::Erratum;
use crate::grammar::{
    FuncStructInfo, PrimExpr, PrimStructInfo, ShapeStructInfo, ShapeVar, StructInfo, TensorShape, TensorStructInfo,
};
use crate::judge::{Cx, Once, VisitedTuples, with_stack};

/// The last character of a variable that a function type introduces, once for each enclosing function type.
const BOUND: char = '′';

/// The last character of a variable of a callee during one call.
const CHOSEN: char = '‵';

/// Closes information at a place where the variables of `scope` are bound. Variables of these names are those of the
/// scope. All other variables in a function type belong to it, and get new names.
///
/// The information is read from left to right, as a value is matched with it. A variable that a tensor or shape outside
/// of function types mentions is bound from there on. So a later function type in the same tuple refers to it. The same
/// holds for the parameters of a function type, unless they bind in any order (WF23-12.6.ANY-ORDER). Then the variables
/// of one function type are introduced first.
///
/// Literal E56: a variable is identified by its name alone, wherever it is introduced. Literal E80: this holds for
/// variables of nested function types. Literal E55: a name is one variable throughout a function type.
pub fn closed(cx: &Cx, s: &StructInfo, scope: &dyn Surroundings) -> StructInfo {
    if !holds_signature(s) || cx.literal(Erratum::E56) { s.clone() } else { Closing::new(cx, scope, BOUND).info(s) }
}

/// A closed function type whose own variables get the names of a single call.
pub fn chosen_anew(cx: &Cx, func: &FuncStructInfo, scope: &dyn Surroundings) -> FuncStructInfo {
    if cx.literal(Erratum::E56) { func.clone() } else { Closing::new(cx, scope, CHOSEN).func(func) }
}

/// Whether a variable belongs to a single call.
pub fn is_chosen(var: &ShapeVar) -> bool {
    var.name.ends_with(CHOSEN)
}

/// The variable before it was closed or chosen for a call.
pub fn original(var: &ShapeVar) -> ShapeVar {
    ShapeVar::numbered(var.name.trim_end_matches([BOUND, CHOSEN]).into(), var.id)
}

/// Closed information as it is written at a place where the variables of `scope` are bound. Its own variables get their
/// original names back unless these are taken, so the text has the same meaning there.
pub fn shown(s: &StructInfo, scope: &dyn Surroundings) -> StructInfo {
    if !holds_signature(s) {
        return s.clone();
    }
    let (own, mut used): (BTreeSet<ShapeVar>, BTreeSet<ShapeVar>) =
        all_shape_vars(s).into_iter().partition(|var| var.name.ends_with([BOUND, CHOSEN]));
    let mut mapping = Mapping::new();
    for var in own {
        let name = original(&var).name;
        let free = (0..).map(|i: u32| if i == 0 { ShapeVar::new(&name) } else { ShapeVar::new(&format!("{name}{i}")) });
        if let Some(name) = free.into_iter().find(|name| !used.contains(name) && !scope.has_shape_var(name)) {
            used.insert(name.clone());
            mapping.insert(var, PrimExpr::Var(name));
        }
    }
    replace_everywhere(s, &mapping)
}

/// [`shown`] where nothing is in scope, in place.
pub(crate) fn show(s: &mut StructInfo) {
    if !is_closed(s) {
        *s = shown(s, &Nowhere);
    }
}

/// Whether it is closed at every place: no function type in it may introduce variables.
pub(crate) fn is_closed(s: &StructInfo) -> bool {
    !holds_signature(s)
}

/// The form of information in messages.
pub struct ClosedDisplay<'s>(pub &'s StructInfo);

impl fmt::Display for ClosedDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A reader of the message knows the variables of the callee by the names in its text.
        f.write_str(&shown(self.0, &Nowhere).to_string().replace(CHOSEN, ""))
    }
}

/// Whether it contains a function type that may introduce variables.
fn holds_signature(s: &StructInfo) -> bool {
    match s {
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => false,
        StructInfo::Tuple(fields) => holds(fields, &mut VisitedTuples::default(), &mut holds_signature),
        StructInfo::Func(func) => func.params.is_some(),
    }
}

struct Closing<'a> {
    scope: &'a dyn Surroundings,
    /// The variables of enclosing function types, with their new names.
    own: Mapping,
    /// The variables used without being introduced. An inner function type may introduce a different variable of the
    /// same name.
    stray: BTreeSet<ShapeVar>,
    /// The variables met outside of function types.
    met: BTreeSet<ShapeVar>,
    /// The number of enclosing function types.
    depth: usize,
    /// The mark of the variables of the outermost function type.
    mark: char,
    /// Literal E80.
    outermost_only: bool,
    /// Literal E55.
    one_for_all: bool,
    /// WF23-12.6.ANY-ORDER.
    any_order: bool,
    /// The results for shared tuples, as long as nothing changes that they depend on. `params` is for tuples in
    /// parameters, which introduce variables, and `infos` for all others.
    params: Rc<Once<StructInfo, StructInfo>>,
    infos: Rc<Once<StructInfo, StructInfo>>,
}

impl<'a> Closing<'a> {
    fn new(cx: &Cx, scope: &'a dyn Surroundings, mark: char) -> Closing<'a> {
        let (outermost_only, one_for_all) = (cx.literal(Erratum::E80), cx.literal(Erratum::E55));
        let (own, stray, met) = (Mapping::new(), BTreeSet::new(), BTreeSet::new());
        let (params, infos) = (Rc::default(), Rc::default());
        let any_order = binds_in_any_order(cx);
        Closing { scope, own, stray, met, depth: 0, mark, outermost_only, one_for_all, any_order, params, infos }
    }

    fn info(&mut self, s: &StructInfo) -> StructInfo {
        with_stack(|| match s {
            StructInfo::Object => StructInfo::Object,
            StructInfo::Tensor(tensor) => match &tensor.shape {
                Some(TensorShape::Dims(dims)) => {
                    let shape = Some(TensorShape::Dims(self.dims(dims)));
                    StructInfo::Tensor(TensorStructInfo { shape, ..tensor.clone() })
                }
                Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) | None => s.clone(),
            },
            StructInfo::Shape(shape) => {
                let values = shape.values.as_ref().map(|values| self.dims(values));
                StructInfo::Shape(ShapeStructInfo { values, ndim: shape.ndim })
            }
            StructInfo::Prim(prim) => {
                let value = prim.value.as_ref().map(|value| self.dim(value));
                StructInfo::Prim(PrimStructInfo { dtype: prim.dtype, value })
            }
            StructInfo::Tuple(fields) => {
                let infos = self.infos.clone();
                infos.of(fields, || StructInfo::Tuple(fields.iter().map(|field| self.info(field)).collect()))
            }
            StructInfo::Func(func) => StructInfo::Func(Arc::new(self.func(func))),
        })
    }

    /// Closes a function type from left to right. A variable that a parameter introduces is visible in everything after
    /// it, but in no earlier function type. In any order, it is visible everywhere.
    fn func(&mut self, func: &FuncStructInfo) -> FuncStructInfo {
        let Some(params) = &func.params else { return func.clone() };
        let around = (self.own.clone(), self.stray.clone());
        self.forget();
        self.depth += 1;
        let introduced = introduced_by(params.iter());
        introduced.iter().for_each(|var| self.leave_to_this_one(var));
        if self.any_order {
            introduced.iter().for_each(|var| self.introduce(var));
        }
        let params = Some(params.iter().map(|param| self.param(param)).collect());
        let ret = self.info(&func.ret);
        self.depth -= 1;
        if self.depth == 0 || !self.one_for_all {
            (self.own, self.stray) = around;
        }
        self.forget();
        FuncStructInfo { params, ret, derive_func: func.derive_func.clone(), pure: func.pure }
    }

    fn param(&mut self, s: &StructInfo) -> StructInfo {
        with_stack(|| match s {
            StructInfo::Tuple(fields) => {
                let params = self.params.clone();
                params.of(fields, || StructInfo::Tuple(fields.iter().map(|field| self.param(field)).collect()))
            }
            StructInfo::Object
            | StructInfo::Tensor(_)
            | StructInfo::Shape(_)
            | StructInfo::Prim(_)
            | StructInfo::Func(_) => {
                introduced_shape_vars(s).iter().for_each(|var| self.introduce(var));
                self.info(s)
            }
        })
    }

    /// A variable that an enclosing function type uses without having introduced it differs from the one of the same
    /// name that this function type introduces.
    fn leave_to_this_one(&mut self, var: &ShapeVar) {
        if !self.one_for_all && !self.is_given(var) && self.stray.remove(var) {
            self.own.remove(var);
            self.forget();
        }
    }

    /// Forgets the results, because the variables change.
    fn forget(&self) {
        self.params.forget();
        self.infos.forget();
    }

    fn introduce(&mut self, var: &ShapeVar) {
        if self.stray.remove(var) {
            self.forget();
        }
        if !self.own.contains_key(var) && !self.is_given(var) {
            self.own.insert(var.clone(), self.named(var));
            self.forget();
        }
    }

    /// Whether the variable has a meaning outside the function type.
    fn is_given(&self, var: &ShapeVar) -> bool {
        self.met.contains(var) || self.scope.has_shape_var(var) || (self.depth > 1 && self.outermost_only)
    }

    fn named(&self, var: &ShapeVar) -> PrimExpr {
        let mut name = original(var).name.to_string();
        if self.depth > 1 {
            name.extend(std::iter::repeat_n(BOUND, self.depth))
        } else {
            name.push(self.mark)
        }
        PrimExpr::Var(ShapeVar::numbered(name.into(), var.id))
    }

    fn dims(&mut self, dims: &[PrimExpr]) -> Arc<[PrimExpr]> {
        dims.iter().map(|dim| self.dim(dim)).collect()
    }

    /// Outside of function types, a variable that is introduced nowhere is recorded as met.
    fn dim(&mut self, dim: &PrimExpr) -> PrimExpr {
        if self.depth == 0 {
            dim.for_each_var(|var| {
                if !self.met.contains(var) {
                    self.met.insert(var.clone());
                    self.forget();
                }
            });
            return dim.clone();
        }
        dim.for_each_var(|var| {
            if !self.own.contains_key(var) && !self.is_given(var) {
                self.own.insert(var.clone(), self.named(var));
                self.stray.insert(var.clone());
                self.forget();
            }
        });
        substitute_dim(dim, &self.own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grammar::{BinaryOp, DataType};
    use crate::struct_info::InScope;

    fn vector(name: &str) -> StructInfo {
        StructInfo::tensor([PrimExpr::var(name)], DataType::FLOAT32)
    }

    fn identity(name: &str) -> StructInfo {
        StructInfo::func([vector(name)], vector(name))
    }

    #[test]
    fn what_a_signature_introduces_is_told_apart() {
        let cx = Cx::new();
        let closed_there = closed(&cx, &identity("n"), &Nowhere);
        assert_eq!(closed_there, identity("n′"));
        assert_eq!(shown(&closed_there, &Nowhere), identity("n"));
        let n = InScope::new(&[], &[ShapeVar::new("n")]);
        assert_eq!(shown(&closed_there, &n), identity("n1"));
        assert_eq!(closed(&cx, &identity("n"), &n), identity("n"));
        assert_eq!(closed(&cx, &vector("n"), &Nowhere), vector("n"));
        assert_eq!(closed(&cx, &closed_there, &n), closed_there);
    }

    #[test]
    fn a_function_type_in_a_tuple_means_what_the_fields_before_it_bind() {
        let cx = Cx::new();
        let before = StructInfo::tuple([vector("n"), identity("n")]);
        assert_eq!(closed(&cx, &before, &Nowhere), before);
        let after = StructInfo::tuple([identity("n"), vector("n")]);
        assert_eq!(closed(&cx, &after, &Nowhere), StructInfo::tuple([identity("n′"), vector("n")]));
    }

    #[test]
    fn a_nested_function_type_means_what_stands_before_it() {
        let cx = Cx::new();
        let before = StructInfo::func([identity("n"), vector("n")], vector("n"));
        let expected = StructInfo::func([identity("n′′"), vector("n′")], vector("n′"));
        assert_eq!(closed(&cx, &before, &Nowhere), expected);
        assert_eq!(shown(&expected, &Nowhere), StructInfo::func([identity("n1"), vector("n")], vector("n")));
        let in_tuple = |fields: [StructInfo; 2]| StructInfo::func([StructInfo::tuple(fields)], vector("n"));
        assert_eq!(
            closed(&cx, &in_tuple([identity("n"), vector("n")]), &Nowhere),
            StructInfo::func([StructInfo::tuple([identity("n′′"), vector("n′")])], vector("n′"))
        );
        let after = StructInfo::func([vector("n"), identity("n")], vector("n"));
        assert_eq!(closed(&cx, &after, &Nowhere), StructInfo::func([vector("n′"), identity("n′")], vector("n′")));
    }

    #[test]
    fn what_nobody_introduces_is_not_what_a_function_type_inside_introduces() {
        let cx = Cx::new();
        let sum = |names: [&str; 2]| {
            let [left, right] = names.map(PrimExpr::var);
            StructInfo::tensor([PrimExpr::binary(BinaryOp::Add, left, right)], DataType::FLOAT32)
        };
        let before = StructInfo::func([sum(["n", "m"]), identity("n")], vector("n"));
        let expected = StructInfo::func([sum(["n′", "m′"]), identity("n′′")], vector("n′"));
        assert_eq!(closed(&cx, &before, &Nowhere), expected);
        let introduced_later = StructInfo::func([sum(["n", "m"]), vector("n")], vector("n"));
        let expected = StructInfo::func([sum(["n′", "m′"]), vector("n′")], vector("n′"));
        assert_eq!(closed(&cx, &introduced_later, &Nowhere), expected);
        let inside = StructInfo::func([sum(["n", "m"]), vector("n")], vector("n"));
        let before = StructInfo::func([sum(["n", "n"])], inside);
        let inside = StructInfo::func([sum(["n′′", "m′′"]), vector("n′′")], vector("n′′"));
        let expected = StructInfo::func([sum(["n′", "n′"])], inside);
        assert_eq!(closed(&cx, &before, &Nowhere), expected);
    }
}
