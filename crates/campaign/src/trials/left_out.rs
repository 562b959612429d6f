//! Programs without many of their bindings at once, wherever they stand: in the bodies of functions, local and global, in branches and
//! in nested sequences. What used a variable that is gone uses another value of its structural information, so that the rest remains a
//! program. Asked about parts that become smaller (delta debugging), this takes few questions where few bindings matter.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::reduced::bindings_in;
use relax_spec::book::Edition;
use relax_spec::check::check_program;
use relax_spec::grammar::visit::Visitor;
use relax_spec::grammar::{
    Binder, Binding, BindingBlock, BlockKind, Call, Expr, Function, GlobalFunc, If, IrModule, MatchCast, PrimExpr,
    SeqExpr, StructInfo, TensorData, TensorShape, Var, VarBinding, VarKind,
};
use relax_spec::judge::{Cx, with_stack};

/// How many elements a constant in the place of a variable has at most.
const ELEMENTS: u64 = 256;

/// The module without the bindings of these numbers, as they are counted from the first of the first function on, an outer one before
/// those in its value. A binding whose variable is used, and has no other value of its structural information, stays. Whether the result
/// is well-formed is seen when it is checked.
pub(super) fn without(edition: Edition, module: &IrModule, numbers: Range<usize>) -> IrModule {
    let report = check_program(&mut Cx::new().with_edition(edition), module);
    let infos = report.derived.by_function();
    let mut next = 0;
    let mut less = module.clone();
    for (gv, func) in &mut less.funcs {
        let GlobalFunc::Function(function) = func else { continue };
        let infos = infos.get(&*gv.name).copied().unwrap_or_default();
        let mut rest = FunctionRemainder::new(infos, numbers.clone(), next);
        let mut left = rest.function(function);
        // What nothing can stand for is used: this time it stays.
        while !rest.missing.is_empty() {
            let kept: BTreeSet<usize> = rest.kept.union(&rest.missing).copied().collect();
            rest = FunctionRemainder { kept, ..FunctionRemainder::new(infos, numbers.clone(), next) };
            left = rest.function(function);
        }
        next = rest.next;
        *function = Arc::new(left);
    }
    less
}

/// What stands for a variable that is gone.
#[derive(Clone)]
enum Other {
    Variable(Var, VarKind),
    Literal(Expr),
}

impl Other {
    fn to_expr(&self) -> Expr {
        match self {
            Other::Variable(var, VarKind::Var) => Expr::Var(var.clone()),
            Other::Variable(var, VarKind::DataflowVar) => Expr::DataflowVar(var.clone()),
            Other::Literal(expr) => expr.clone(),
        }
    }
}

/// What is left of a function.
struct FunctionRemainder<'a> {
    /// The structural information of its variables.
    infos: FxHashMap<&'a Var, &'a StructInfo>,
    /// Which bindings go.
    numbers: Range<usize>,
    /// Which of them stay all the same.
    kept: BTreeSet<usize>,
    /// Which of them should have stayed.
    missing: BTreeSet<usize>,
    /// The number of the next binding.
    next: usize,
    /// What can be used where it goes on.
    scope: Vec<(Var, VarKind)>,
    /// The number of what is gone, and what stands for it.
    gone: FxHashMap<Var, (usize, Option<Other>)>,
}

impl<'a> FunctionRemainder<'a> {
    fn new(infos: &'a [(Var, StructInfo)], numbers: Range<usize>, next: usize) -> FunctionRemainder<'a> {
        FunctionRemainder {
            infos: infos.iter().map(|(var, info)| (var, info)).collect(),
            numbers,
            kept: BTreeSet::new(),
            missing: BTreeSet::new(),
            next,
            scope: Vec::new(),
            gone: FxHashMap::default(),
        }
    }

    fn function(&mut self, function: &Function) -> Function {
        let outside = self.scope.len();
        self.scope.extend(function.params.iter().map(|param| (param.var.clone(), param.kind)));
        let body = self.whole(&function.body);
        self.scope.truncate(outside);
        Function { body, ..function.clone() }
    }

    /// A body or a branch, which stays a sequence if it is one.
    fn whole(&mut self, body: &Expr) -> Expr {
        match body {
            Expr::SeqExpr(seq) => {
                let seq = self.sequence(seq);
                Expr::SeqExpr(Arc::new(seq))
            }
            other => self.expr(other),
        }
    }

    fn sequence(&mut self, seq: &SeqExpr) -> SeqExpr {
        let outside = self.scope.len();
        let mut blocks = Vec::new();
        for block in &seq.blocks {
            let before = self.scope.len();
            let bindings: Vec<Binding> = block.bindings.iter().filter_map(|binding| self.binding(binding)).collect();
            if block.kind == BlockKind::Dataflow {
                let own = self.scope.split_off(before);
                self.scope.extend(own.into_iter().filter(|(_, kind)| *kind == VarKind::Var));
            }
            if !bindings.is_empty() {
                blocks.push(BindingBlock { bindings, ..block.clone() });
            }
        }
        let body = self.expr(&seq.body);
        self.scope.truncate(outside);
        SeqExpr { blocks, body, span: seq.span }
    }

    /// What is left of a binding.
    fn binding(&mut self, binding: &Binding) -> Option<Binding> {
        let number = self.next;
        self.next += 1;
        let goes = self.numbers.contains(&number) && !self.kept.contains(&number);
        if goes {
            let value = binding.value();
            if let Some(binder) = binding.binder() {
                let other = self.other(binder, value);
                self.gone.insert(binder.var.clone(), (number, other));
            }
            self.next += bindings_in(value);
            return None;
        }
        let binder = binding.binder().cloned();
        let left = match binding {
            Binding::VarBinding(own) => {
                Binding::VarBinding(VarBinding { value: self.value(&own.value), ..own.clone() })
            }
            Binding::MatchCast(own) => Binding::MatchCast(MatchCast { value: self.value(&own.value), ..own.clone() }),
        };
        self.scope.extend(binder.map(|binder| (binder.var, binder.kind)));
        Some(left)
    }

    /// A bound value; a sequence of which no binding is left is its body.
    fn value(&mut self, value: &Expr) -> Expr {
        match self.expr(value) {
            Expr::SeqExpr(seq) if seq.blocks.is_empty() => seq.body.clone(),
            other => other,
        }
    }

    /// What can stand for a variable: an operand of its value or another variable, a parameter before others, or a constant.
    fn other(&self, binder: &Binder, value: &Expr) -> Option<Other> {
        let info = *self.infos.get(&binder.var)?;
        let fits = |(var, kind): &(Var, VarKind)| {
            (binder.kind == VarKind::DataflowVar || *kind == VarKind::Var) && self.infos.get(var) == Some(&info)
        };
        // Of an operand that is gone itself it is what stands for it.
        let left = |(var, kind): (Var, VarKind)| match self.gone.get(&var) {
            Some((_, Some(Other::Variable(other, kind)))) => Some((other.clone(), *kind)),
            Some((_, Some(Other::Literal(_)) | None)) => None,
            None => Some((var, kind)),
        };
        let mut operands = Vec::new();
        operands_of(value, &mut operands);
        let operand = operands.into_iter().filter_map(left).find(|operand| fits(operand));
        let variable = operand.or_else(|| self.scope.iter().find(|own| fits(own)).cloned());
        variable.map(|(var, kind)| Other::Variable(var, kind)).or_else(|| constant(info).map(Other::Literal))
    }

    fn variable(&mut self, var: &Var, itself: Expr) -> Expr {
        match self.gone.get(var) {
            None => itself,
            Some((_, Some(other))) => other.to_expr(),
            Some((number, None)) => {
                self.missing.insert(*number);
                itself
            }
        }
    }

    fn all(&mut self, exprs: &[Expr]) -> Vec<Expr> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    fn expr(&mut self, expr: &Expr) -> Expr {
        with_stack(|| match expr {
            Expr::Var(var) | Expr::DataflowVar(var) => self.variable(var, expr.clone()),
            Expr::Tuple(tuple) => Expr::tuple(self.all(&tuple.fields)),
            Expr::TupleGetItem(get) => Expr::tuple_get_item(self.expr(&get.tuple_value), get.index),
            Expr::SeqExpr(seq) => Expr::SeqExpr(Arc::new(self.sequence(seq))),
            Expr::Function(function) => Expr::Function(Arc::new(self.function(function))),
            Expr::If(own) => {
                let cond = self.expr(&own.cond);
                let (true_branch, false_branch) = (self.whole(&own.true_branch), self.whole(&own.false_branch));
                Expr::If(Arc::new(If { cond, true_branch, false_branch, span: own.span }))
            }
            Expr::Call(call) => {
                let (op, args) = (self.expr(&call.op), self.all(&call.args));
                Expr::Call(Arc::new(Call { op, args, ..(**call).clone() }))
            }
            Expr::Constant(_)
            | Expr::GlobalVar(_)
            | Expr::PrimValue(_)
            | Expr::StringImm(_)
            | Expr::DataTypeImm(_)
            | Expr::ExternFunc(_)
            | Expr::ShapeExpr(_)
            | Expr::Op(_) => expr.clone(),
        })
    }
}

/// The variables that stand in a value.
fn operands_of(value: &Expr, found: &mut Vec<(Var, VarKind)>) {
    struct OperandVariables<'f>(&'f mut Vec<(Var, VarKind)>);
    impl Visitor for OperandVariables<'_> {
        fn visit_var(&mut self, var: &Var, kind: VarKind) {
            self.0.push((var.clone(), kind));
        }
    }
    OperandVariables(found).visit_expr(value);
}

/// A value of this structural information that needs no variable: zeros, if the sizes are fixed.
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

#[cfg(test)]
mod tests {
    use super::*;
    use relax_spec::syntax::tvmscript::{Dialect, parse_module, print_module};

    const HEAD: &str = "@R.function\ndef main(x: R.Tensor((2,), \"float32\"), c: R.Tensor((), \"bool\"), y: R.Tensor((3,), \"float32\")):\n";

    /// The body of what is left.
    fn left(body: &str, numbers: Range<usize>) -> Vec<String> {
        let less = without(Edition::default(), &parse_module(&format!("{HEAD}{body}")).unwrap(), numbers);
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
        let body = "    a = R.concat((x, y), axis=0)\n    b = R.exp(a)\n    d = R.take(b, R.const([0], \"int64\"), axis=0)\n    return d\n";
        assert_eq!(left(body, 0..1)[0], "b = R.exp(R.const([0.0, 0.0, 0.0, 0.0, 0.0], \"float32\"))");
        let other = "    a = R.exp(x)\n    b = R.strided_slice(y, axes=[0], begin=[0], end=[2])\n    d = R.sin(b)\n    return (a, d)\n";
        assert_eq!(left(other, 1..2), ["a = R.exp(x)", "d = R.sin(x)", "return (a, d)"]);
    }

    #[test]
    fn what_nothing_can_stand_for_stays() {
        let body = "    @R.function\n    def f(z: R.Tensor((2,), \"float32\")) -> R.Tensor((2,), \"float32\"):\n        w = R.exp(z)\n        return w\n    a = f(x)\n    b = f(a)\n    return b\n";
        let all = left(body, 0..0);
        assert_eq!(all.len(), 7);
        // The function is called by what stays; without the calls it goes, too.
        assert_eq!(left(body, 0..1), all);
        assert_eq!(left(body, 0..4), ["return x"]);
    }

    #[test]
    fn bindings_are_numbered_from_outside_to_inside_and_through_all_branches() {
        let body = "    if c:\n        a = R.exp(x)\n        b = R.sin(a)\n    else:\n        d = R.cos(x)\n        b = R.tan(d)\n    return b\n";
        let names = |numbers| left(body, numbers).join(" ");
        assert!(!names(1..2).contains("exp") && names(1..2).contains("R.sin(x)"), "{}", names(1..2));
        assert!(!names(2..3).contains("cos") && names(2..3).contains("R.tan(x)"), "{}", names(2..3));
        assert_eq!(names(0..1), "return x");
    }

    #[test]
    fn a_variable_of_a_dataflow_block_stands_for_none_outside() {
        let body = "    with R.dataflow():\n        a = R.concat((x, x), axis=0)\n        b = R.exp(a)\n        R.output(b)\n    d = R.sin(b)\n    return d\n";
        let left = left(body, 1..2).join(" ");
        assert!(left.contains("R.sin(R.const("), "{left}");
    }
}
