//! The parts of a TVMScript text that depend on the whole program: the dimension -1 of `R.reshape`, and the result of a
//! local function without a result annotation.
//!
//! In `R.reshape(x, (8, -1))`, TVM replaces the -1 as soon as it has read the call, by the dimension that keeps the
//! number of elements. A 0 beside a -1 is the dimension of `x` at the same place. Without a -1, we read a 0 as a size,
//! although TVM takes the dimension of `x` there too. The abstract syntax has no such notation: its shapes have no
//! negative sizes (`SI.DIM.SHAPEEXPR-ERR`).

mod results;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::derivation::{DeriveReport, derive_module};
use crate::grammar::visit::{Visitor, walk_call, walk_module, walk_var_binding};
use crate::grammar::{
    BinaryOp, Binding, Call, Expr, GlobalFunc, IrModule, PrimExpr, SeqExpr, ShapeExpr, StructInfo, Var, VarBinding,
};
use crate::judge::{Cx, with_stack};
use crate::normal_form::normalize;
use crate::syntax::load::{self, ExternalForm, LoadError, SourceRef};
use crate::syntax::tvmscript::{PythonFile, Which};

pub use results::state_results;

/// Reads the selected modules of a text. In those of TVMScript, the notation that only the whole program explains is
/// replaced.
///
/// # Errors
///
/// The text is not a program in that form, or it is not clear which module is meant.
pub fn parse_modules(form: ExternalForm, given: SourceRef<'_>, which: Which<'_>) -> Result<PythonFile, LoadError> {
    let mut file = load::parse_modules(form, given, which)?;
    if form == ExternalForm::TvmScript {
        file.modules.iter_mut().for_each(|(_, module)| complete(module));
    }
    Ok(file)
}

/// Annotates local functions with their results, and replaces each -1, and each 0 beside one, in the target shapes of
/// `R.reshape`.
///
/// A shape that the program does not determine stays as it is: that of an unknown tensor, or one with more than one -1.
/// The operator then rejects the call.
pub fn complete(module: &mut IrModule) {
    let mut open = Open::default();
    walk_module(&mut open, module);
    if open.results > 0 {
        state_results(module);
    }
    // A shape found in one round may be needed in the next.
    while open.shapes > 0 {
        let normalized = normalize(&mut Cx::new(), module);
        let report = derive_module(&mut Cx::new(), &normalized);
        let found = Reshapes::of(&normalized, &report).found;
        if found.is_empty() {
            return;
        }
        for (_, func) in &mut module.funcs {
            match func {
                GlobalFunc::Function(function) => replace(&mut Arc::make_mut(function).body, &found),
                GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => {}
            }
        }
        open.shapes = open.shapes.saturating_sub(found.len());
    }
}

/// The target shape of a call of `R.reshape`, if exactly one of its dimensions is -1.
fn stated(call: &Call) -> Option<(&Expr, &ShapeExpr)> {
    match (&call.op, call.args.as_slice()) {
        (Expr::Op(op), [x, Expr::ShapeExpr(shape)]) if &*op.op_name == "relax.reshape" && !shape.span.is_none() => {
            (shape.values.iter().filter(|dim| **dim == MINUS_ONE).count() == 1).then_some((x, shape))
        }
        (_, [..]) => None,
    }
}

const MINUS_ONE: PrimExpr = PrimExpr::IntImm(-1);

/// Counts what only the whole program explains.
#[derive(Default)]
struct Open {
    /// The shapes with a -1.
    shapes: usize,
    /// The variables that are bound to functions and have no annotation.
    results: usize,
}

impl Visitor for Open {
    fn visit_call(&mut self, call: &Call) {
        self.shapes += usize::from(stated(call).is_some());
        walk_call(self, call);
    }

    fn visit_var_binding(&mut self, binding: &VarBinding) {
        self.results += usize::from(matches!((&binding.value, &binding.var.annotation), (Expr::Function(_), None)));
        walk_var_binding(self, binding);
    }
}

/// The determined shapes, by the position in the text where they begin.
type ShapeIndex = FxHashMap<u32, Arc<[PrimExpr]>>;

/// Determines shapes, from the first binding to the last.
struct Reshapes<'r> {
    known: FxHashMap<&'r Var, &'r StructInfo>,
    /// The shapes of the variables that are bound to a reshape just determined.
    here: FxHashMap<Var, Arc<[PrimExpr]>>,
    found: ShapeIndex,
}

impl<'r> Reshapes<'r> {
    fn of(module: &IrModule, report: &'r DeriveReport) -> Reshapes<'r> {
        let known = report.vars.iter().map(|(var, info)| (var, info)).collect();
        let mut reshapes = Reshapes { known, here: FxHashMap::default(), found: ShapeIndex::default() };
        walk_module(&mut reshapes, module);
        reshapes
    }

    fn dims_of(&self, e: &Expr) -> Option<Arc<[PrimExpr]>> {
        if let Expr::Var(var) | Expr::DataflowVar(var) = e {
            match (self.here.get(var), self.known.get(var)) {
                (Some(dims), _) => Some(dims.clone()),
                (None, Some(StructInfo::Tensor(tensor))) => tensor.shape.as_ref()?.as_dims().cloned(),
                (None, Some(_) | None) => None,
            }
        } else if let Expr::Constant(constant) = e {
            let size = |size: &u64| i64::try_from(*size).ok().map(PrimExpr::IntImm);
            constant.data.shape.iter().map(size).collect::<Option<Vec<_>>>().map(Into::into)
        } else if let Expr::Call(call) = e {
            stated(call).and_then(|(_, shape)| self.found.get(&shape.span.start).cloned())
        } else {
            None
        }
    }
}

impl Visitor for Reshapes<'_> {
    fn visit_var_binding(&mut self, binding: &VarBinding) {
        walk_var_binding(self, binding);
        if let Expr::Call(_) = &binding.value
            && let Some(dims) = self.dims_of(&binding.value)
        {
            self.here.insert(binding.var.var.clone(), dims);
        }
    }

    fn visit_call(&mut self, call: &Call) {
        walk_call(self, call);
        if let Some((x, shape)) = stated(call)
            && let Some(from) = self.dims_of(x)
            && let Some(dims) = determined(&from, &shape.values)
        {
            self.found.insert(shape.span.start, dims);
        }
    }
}

/// The shape with its -1 replaced, for a tensor of these dimensions.
fn determined(from: &[PrimExpr], to: &[PrimExpr]) -> Option<Arc<[PrimExpr]>> {
    let copied = |(i, dim): (usize, &PrimExpr)| match dim {
        PrimExpr::IntImm(0) => from.get(i).cloned(),
        other => Some(other.clone()),
    };
    let to: Vec<PrimExpr> = to.iter().enumerate().map(copied).collect::<Option<_>>()?;
    let rest = quotient(from, to.iter().filter(|dim| **dim != MINUS_ONE))?;
    Some(to.into_iter().map(|dim| if dim == MINUS_ONE { rest.clone() } else { dim }).collect())
}

/// The quotient of two products of dimensions. A dimension in both products cancels.
fn quotient<'d>(from: &[PrimExpr], by: impl Iterator<Item = &'d PrimExpr>) -> Option<PrimExpr> {
    let (mut above, number) = split(from.iter())?;
    let (below, divisor) = split(by)?;
    let below: Vec<&PrimExpr> = below
        .into_iter()
        .filter(|dim| match above.iter().position(|other| other == dim) {
            Some(at) => {
                above.remove(at);
                false
            }
            None => true,
        })
        .collect();
    let (number, divisor) = match divisor {
        ..=0 => return None,
        _ if number % divisor == 0 => (number / divisor, 1),
        // A remainder is reported by the inference of the operator.
        _ if above.is_empty() && below.is_empty() => (number / divisor, 1),
        _ => (number, divisor),
    };
    let product = |dims: Vec<&PrimExpr>, number: i64| {
        let product = dims.into_iter().cloned().reduce(|a, b| PrimExpr::binary(BinaryOp::Mul, a, b));
        match (product, number) {
            (None, number) => PrimExpr::IntImm(number),
            (Some(product), 1) => product,
            (Some(product), number) => PrimExpr::binary(BinaryOp::Mul, product, PrimExpr::IntImm(number)),
        }
    };
    let (above, below) = (product(above, number), product(below, divisor));
    Some(if below == PrimExpr::IntImm(1) { above } else { PrimExpr::binary(BinaryOp::FloorDiv, above, below) })
}

/// The dimensions that are not numbers, and the product of the numbers.
fn split<'d>(dims: impl Iterator<Item = &'d PrimExpr>) -> Option<(Vec<&'d PrimExpr>, i64)> {
    let (mut others, mut number) = (Vec::new(), 1i64);
    for dim in dims {
        match dim {
            PrimExpr::IntImm(size) => number = number.checked_mul(*size)?,
            other => others.push(other),
        }
    }
    Some((others, number))
}

/// Writes the determined shapes into the expression.
fn replace(e: &mut Expr, found: &ShapeIndex) {
    with_stack(|| {
        if let Expr::SeqExpr(seq) = e {
            return replace_in_seq(Arc::make_mut(seq), found);
        }
        if let Expr::Call(call) = e
            && let Some(dims) = stated(call).and_then(|(_, shape)| found.get(&shape.span.start))
            && let [_, Expr::ShapeExpr(shape)] = Arc::make_mut(call).args.as_mut_slice()
        {
            shape.values = dims.clone();
        }
        e.parts_mut().into_iter().for_each(|part| replace(part, found));
    });
}

fn replace_in_seq(seq: &mut SeqExpr, found: &ShapeIndex) {
    for binding in seq.blocks.iter_mut().flat_map(|block| &mut block.bindings) {
        match binding {
            Binding::VarBinding(binding) => replace(&mut binding.value, found),
            Binding::MatchCast(cast) => replace(&mut cast.value, found),
        }
    }
    replace(&mut seq.body, found);
}
