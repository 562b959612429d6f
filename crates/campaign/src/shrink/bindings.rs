//! Programs with many bindings removed at once, in functions, branches and nested sequences.
//!
//! A use of a removed variable becomes a use of another value with the same structural information, so that the rest is
//! still a program. If the removed ranges become smaller step by step (delta debugging), few questions are needed where
//! few bindings matter.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use relax_spec::book::Edition;
use relax_spec::check::check_program;
use relax_spec::grammar::visit::{Visitor, walk_block, walk_module, walk_seq_expr};
use relax_spec::grammar::{
    Binder, Binding, BindingBlock, BlockKind, Expr, Function, GlobalFunc, IrModule, PrimExpr, SeqExpr, ShapeVar,
    StructInfo, TensorData, TensorShape, Var, VarKind,
};
use relax_spec::judge::{Cx, with_stack};

/// The most elements of a constant that replaces a variable.
const ELEMENTS: u64 = 256;

/// The module without the bindings with these numbers; a binding remains if it is used and nothing can replace its
/// variable. Bindings are numbered from the first function on, an outer binding before those in its value.
///
/// The replacement has the structural information of the variable, or is the operand with this number of the value.
pub(super) fn without(edition: Edition, module: &IrModule, numbers: Range<usize>, operand: Option<usize>) -> IrModule {
    let report = check_program(&mut Cx::new().with_edition(edition), module);
    let infos = report.derived.by_function();
    let mut next = 0;
    let mut less = module.clone();
    for (gv, func) in &mut less.funcs {
        let GlobalFunc::Function(function) = func else { continue };
        let infos = infos.get(&*gv.name).copied().unwrap_or_default();
        let mut kept = BTreeSet::new();
        // Bindings that are used and have no replacement are retained in the next round.
        let (rest, left) = loop {
            let mut rest = FunctionRemainder::new(infos, numbers.clone(), next);
            (rest.operand, rest.kept) = (operand, kept.clone());
            let mut left = (**function).clone();
            rest.function(&mut left);
            if rest.missing.is_empty() {
                break (rest, left);
            }
            kept.append(&mut rest.missing);
        };
        next = rest.next;
        *function = Arc::new(left);
    }
    less
}

/// The function while bindings are removed from it.
struct FunctionRemainder<'a> {
    /// The structural information of its variables.
    infos: FxHashMap<&'a Var, &'a StructInfo>,
    /// The bindings to remove.
    numbers: Range<usize>,
    /// The operand of a value that replaces its variable, whatever its structural information.
    operand: Option<usize>,
    /// The bindings that are retained nevertheless.
    kept: BTreeSet<usize>,
    /// The bindings that should have been retained.
    missing: BTreeSet<usize>,
    /// The number of the next binding.
    next: usize,
    /// The variables in scope at the current position.
    scope: Vec<(Var, VarKind)>,
    /// The removed variables, with the number of their binding and their replacement.
    gone: FxHashMap<Var, (usize, Option<Expr>)>,
}

impl<'a> FunctionRemainder<'a> {
    fn new(infos: &'a [(Var, StructInfo)], numbers: Range<usize>, next: usize) -> FunctionRemainder<'a> {
        FunctionRemainder {
            infos: infos.iter().map(|(var, info)| (var, info)).collect(),
            numbers,
            operand: None,
            kept: BTreeSet::new(),
            missing: BTreeSet::new(),
            next,
            scope: Vec::new(),
            gone: FxHashMap::default(),
        }
    }

    fn function(&mut self, function: &mut Function) {
        let outside = self.scope.len();
        self.scope.extend(function.params.iter().map(|param| (param.var.clone(), param.kind)));
        self.expr(&mut function.body);
        self.scope.truncate(outside);
    }

    fn sequence(&mut self, seq: &mut SeqExpr) {
        let outside = self.scope.len();
        for block in &mut seq.blocks {
            let before = self.scope.len();
            block.bindings.retain_mut(|binding| self.stays(binding));
            if block.kind == BlockKind::Dataflow {
                let own = self.scope.split_off(before);
                self.scope.extend(own.into_iter().filter(|(_, kind)| *kind == VarKind::Var));
            }
        }
        seq.blocks.retain(|block| !block.bindings.is_empty());
        self.expr(&mut seq.body);
        self.scope.truncate(outside);
    }

    /// Whether a binding remains. Removed variables in its value are replaced.
    fn stays(&mut self, binding: &mut Binding) -> bool {
        let number = self.next;
        self.next += 1;
        let binder = binding.binder().cloned();
        if self.numbers.contains(&number) && !self.kept.contains(&number) {
            if let Some(binder) = binder {
                let other = self.substitute(&binder, binding.value());
                self.gone.insert(binder.var, (number, other));
            }
            self.next += bindings_in(binding.value());
            return false;
        }
        let value = match binding {
            Binding::VarBinding(own) => &mut own.value,
            Binding::MatchCast(own) => &mut own.value,
        };
        self.expr(value);
        // A sequence without bindings becomes its body, unless a single binding is being removed.
        if let Expr::SeqExpr(seq) = value
            && seq.blocks.is_empty()
            && self.operand.is_none()
        {
            *value = seq.body.clone();
        }
        self.scope.extend(binder.map(|binder| (binder.var, binder.kind)));
        true
    }

    /// A replacement for a variable: an operand of its value or another variable (parameters first), or a constant.
    fn substitute(&self, binder: &Binder, value: &Expr) -> Option<Expr> {
        // If an operand was removed itself, its replacement.
        let left = |(var, kind): (Var, VarKind)| match self.gone.get(&var) {
            Some((_, Some(Expr::Var(other)))) => Some((other.clone(), VarKind::Var)),
            Some((_, Some(Expr::DataflowVar(other)))) => Some((other.clone(), VarKind::DataflowVar)),
            Some(_) => None,
            None => Some((var, kind)),
        };
        let mut operands = operands_of(value).into_iter().filter_map(left);
        let to_expr = |(var, kind): (Var, VarKind)| match kind {
            VarKind::Var => Expr::Var(var),
            VarKind::DataflowVar => Expr::DataflowVar(var),
        };
        if let Some(number) = self.operand {
            return operands.nth(number).map(to_expr);
        }
        let info = *self.infos.get(&binder.var)?;
        let fits = |(var, kind): &(Var, VarKind)| {
            (binder.kind == VarKind::DataflowVar || *kind == VarKind::Var) && self.infos.get(var) == Some(&info)
        };
        let variable = operands.find(fits).or_else(|| self.scope.iter().find(|own| fits(own)).cloned());
        variable.map(to_expr).or_else(|| constant(info))
    }

    fn expr(&mut self, expr: &mut Expr) {
        with_stack(|| match expr {
            Expr::Var(var) | Expr::DataflowVar(var) => match self.gone.get(var) {
                None => {}
                Some((_, Some(other))) => *expr = other.clone(),
                Some((number, None)) => {
                    self.missing.insert(*number);
                }
            },
            Expr::SeqExpr(seq) => self.sequence(Arc::make_mut(seq)),
            Expr::Function(function) => self.function(Arc::make_mut(function)),
            other => other.parts_mut().into_iter().for_each(|part| self.expr(part)),
        });
    }
}

/// The variables in a value, each once.
fn operands_of(value: &Expr) -> Vec<(Var, VarKind)> {
    struct OperandVariables(Vec<(Var, VarKind)>);
    impl Visitor for OperandVariables {
        fn visit_var(&mut self, var: &Var, kind: VarKind) {
            if !self.0.iter().any(|(known, _)| known == var) {
                self.0.push((var.clone(), kind));
            }
        }
    }
    let mut operands = OperandVariables(Vec::new());
    operands.visit_expr(value);
    operands.0
}

/// A value with this structural information that needs no variable: zeros, if the sizes are fixed.
fn constant(info: &StructInfo) -> Option<Expr> {
    match info {
        StructInfo::Tensor(tensor) => {
            let Some(TensorShape::Dims(dims)) = &tensor.shape else { return None };
            let sizes = dims.iter().map(size).collect::<Option<Vec<u64>>>()?;
            let elements = sizes.iter().try_fold(1_u64, |all, size| all.checked_mul(*size))?;
            let elements = usize::try_from(elements).ok().filter(|_| elements <= ELEMENTS)?;
            let zeros = vec![0; elements * tensor.dtype.bytes()];
            TensorData::new(tensor.dtype, &sizes, zeros).ok().map(Expr::constant)
        }
        StructInfo::Tuple(fields) => fields.iter().map(constant).collect::<Option<Vec<Expr>>>().map(Expr::tuple),
        StructInfo::Shape(shape) => shape.values.as_ref().map(|values| Expr::shape(values.iter().cloned())),
        StructInfo::Object | StructInfo::Prim(_) | StructInfo::Func(_) => None,
    }
}

fn size(dim: &PrimExpr) -> Option<u64> {
    let PrimExpr::IntImm(size) = dim else { return None };
    u64::try_from(*size).ok()
}

/// Counts the parts of a module.
#[derive(Default)]
pub(super) struct ProgramExtent {
    pub(super) bindings: usize,
    /// Sequences, plus the `DataflowBlock`s in them.
    pub(super) sequences: usize,
    pub(super) dims: BTreeSet<ShapeVar>,
}

impl ProgramExtent {
    pub(super) fn of(module: &IrModule) -> ProgramExtent {
        let mut extent = ProgramExtent::default();
        walk_module(&mut extent, module);
        extent
    }
}

impl Visitor for ProgramExtent {
    fn visit_block(&mut self, block: &BindingBlock) {
        self.bindings += block.bindings.len();
        self.sequences += usize::from(block.kind == BlockKind::Dataflow);
        walk_block(self, block);
    }

    fn visit_seq_expr(&mut self, seq: &SeqExpr) {
        self.sequences += 1;
        walk_seq_expr(self, seq);
    }

    fn visit_shape_var(&mut self, var: &ShapeVar) {
        self.dims.insert(var.clone());
    }
}

/// How many bindings a program has.
pub fn bindings(module: &IrModule) -> usize {
    ProgramExtent::of(module).bindings
}

/// How many bindings there are in an expression.
fn bindings_in(expr: &Expr) -> usize {
    let mut extent = ProgramExtent::default();
    extent.visit_expr(expr);
    extent.bindings
}

#[cfg(test)]
mod tests {
    use super::*;
    use relax_spec::syntax::tvmscript::{Dialect, parse_module, print_module};

    const HEAD: &str = "@R.function\n\
        def main(x: R.Tensor((2,), \"float32\"), c: R.Tensor((), \"bool\"), y: R.Tensor((3,), \"float32\")):\n";

    /// The bindings of the rest.
    fn left(body: &str, numbers: Range<usize>) -> Vec<String> {
        left_with(body, numbers, None)
    }

    fn left_with(body: &str, numbers: Range<usize>, operand: Option<usize>) -> Vec<String> {
        let module = parse_module(&format!("{HEAD}{body}")).unwrap();
        let less = without(Edition::default(), &module, numbers, operand);
        assert!(check_program(&mut Cx::new(), &less).accepts(), "{}", print_module(&less, Dialect::default()));
        let text = print_module(&less, Dialect::default());
        text.lines().skip_while(|line| !line.contains("def main")).skip(1).map(|line| line.trim().to_string()).collect()
    }

    #[test]
    fn an_operand_stands_for_what_is_gone() {
        let body = "    a = R.exp(x)\n    b = R.add(a, a)\n    d = R.sin(b)\n    return d\n";
        assert_eq!(left(body, 1..2), ["a = R.exp(x)", "d = R.sin(a)", "return d"]);
        assert_eq!(left(body, 0..2), ["d = R.sin(x)", "return d"]);
        assert_eq!(left(body, 0..3), ["return x"]);
    }

    #[test]
    fn another_variable_or_zeros_stand_for_what_has_no_such_operand() {
        let body = "    a = R.concat((x, y), axis=0)\n    b = R.exp(a)\n    \
            d = R.take(b, R.const([0], \"int64\"), axis=0)\n    return d\n";
        assert_eq!(left(body, 0..1)[0], "b = R.exp(R.const([0.0, 0.0, 0.0, 0.0, 0.0], \"float32\"))");
        let other = "    a = R.exp(x)\n    b = R.strided_slice(y, axes=[0], begin=[0], end=[2])\n    \
            d = R.sin(b)\n    return (a, d)\n";
        assert_eq!(left(other, 1..2), ["a = R.exp(x)", "d = R.sin(x)", "return (a, d)"]);
    }

    #[test]
    fn an_operand_of_another_structural_information_is_taken_by_its_number() {
        let body = "    a = R.concat((x, y), axis=0)\n    b = R.exp(a)\n    return b\n";
        assert_eq!(left_with(body, 0..1, Some(1)), ["b = R.exp(y)", "return b"]);
        assert_eq!(left_with(body, 0..1, Some(2)).len(), 3, "there is no third one");
        let nested = "    with R.SeqExpr():\n        a = R.exp(x)\n        b = x\n    return b\n";
        assert_eq!(left(nested, 1..2), ["b = x", "return b"]);
        assert!(left_with(nested, 1..2, Some(0)).join(" ").contains("SeqExpr"));
    }

    #[test]
    fn what_nothing_can_stand_for_stays() {
        let body = "    @R.function\n    \
            def f(z: R.Tensor((2,), \"float32\")) -> R.Tensor((2,), \"float32\"):\n        \
            w = R.exp(z)\n        return w\n    a = f(x)\n    b = f(a)\n    return b\n";
        let all = left(body, 0..0);
        assert_eq!(all.len(), 7);
        // The remaining code calls the function; if the calls are removed too, it can be removed.
        assert_eq!(left(body, 0..1), all);
        assert_eq!(left(body, 0..4), ["return x"]);
    }

    #[test]
    fn bindings_are_numbered_from_outside_to_inside_and_through_all_branches() {
        let body = "    if c:\n        a = R.exp(x)\n        b = R.sin(a)\n    else:\n        \
            d = R.cos(x)\n        b = R.tan(d)\n    return b\n";
        let names = |numbers| left(body, numbers).join(" ");
        assert!(!names(1..2).contains("exp") && names(1..2).contains("R.sin(x)"), "{}", names(1..2));
        assert!(!names(2..3).contains("cos") && names(2..3).contains("R.tan(x)"), "{}", names(2..3));
        assert_eq!(names(0..1), "return x");
    }

    #[test]
    fn a_variable_of_a_dataflow_block_stands_for_none_outside() {
        let body = "    with R.dataflow():\n        a = R.concat((x, x), axis=0)\n        b = R.exp(a)\n        \
            R.output(b)\n    d = R.sin(b)\n    return d\n";
        let left = left(body, 1..2).join(" ");
        assert!(left.contains("R.sin(R.const("), "{left}");
    }
}
