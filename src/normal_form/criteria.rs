//! Criteria 1 to 4: whether a program is in normal form.

use super::is_leaf;
use super::op_norm::Tuples;
use super::units::{first_use, used_units};
use crate::book::Erratum;
use crate::findings::{Complaint, Demand, Diagnostic, Finder, Trail, TrailStep};
use crate::grammar::{Binding, BindingBlock, BlockKind, Call, Expr, Function, GlobalFunc, If, IrModule, SeqExpr};
use crate::judge::{Cx, with_stack};

/// NF.1.RHS to NF.4.ALL-EMPTY: every place that violates normal form, in the order of the text.
///
/// Each violating node is reported once. 2023-02, Normal Form.
pub fn check(cx: &mut Cx, module: &IrModule) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    if cx.fire(rule!("WF.NF")) {
        findings = violations(cx, module);
    }
    findings
}

/// The violations of the criteria in a program, normalized or not.
pub(crate) fn violations(cx: &mut Cx, module: &IrModule) -> Vec<Diagnostic> {
    let tuples = Tuples::of(cx);
    let mut criteria = Criteria { cx, trail: Trail::default(), findings: Vec::new(), tuples, first_only: false };
    criteria.module(module);
    criteria.findings
}

/// NF.UNIT.INLINE: reports uses of variables that are known to be the empty tuple.
fn units(criteria: &mut Criteria, module: &IrModule) {
    let units = used_units(criteria.cx, module);
    for ((gv, func), units) in module.funcs.iter().zip(units) {
        let GlobalFunc::Function(function) = func else { continue };
        criteria.trail = Trail::new(gv.name.clone());
        let used = first_use(function, &units);
        criteria.demand(
            used.as_ref().map_or(function.span, |(_, span)| *span),
            &[(rule!("NF.UNIT.INLINE"), 1, used.is_none(), &|| {
                let var = used.as_ref().map_or_else(String::new, |(var, _)| format!(" `{var}`"));
                Complaint::error(format!("the variable{var}, which is known to be the empty tuple, is used"))
                    .with_hint("write the empty tuple instead")
            })],
        );
    }
}

/// Whether a function is already in normal form.
pub(super) fn is_normal(cx: &mut Cx, function: &Function) -> bool {
    let tuples = Tuples::of(cx);
    let mut criteria = Criteria { cx, trail: Trail::default(), findings: Vec::new(), tuples, first_only: true };
    criteria.function(function);
    criteria.findings.is_empty()
}

struct Criteria<'c> {
    cx: &'c mut Cx,
    trail: Trail,
    findings: Vec<Diagnostic>,
    /// The variables that the program text shows to be tuples.
    tuples: Tuples,
    /// Whether to stop at the first finding, as the procedure does, which only asks whether it has anything to do. The
    /// path of a finding is as long as its place is deep.
    first_only: bool,
}

/// The role of an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperandPlace {
    Callee,
    Field,
    Other,
}

impl Finder for Criteria<'_> {
    fn trail(&mut self) -> &mut Trail {
        &mut self.trail
    }

    fn cx(&mut self) -> &mut Cx {
        self.cx
    }

    fn has_enough(&self) -> bool {
        self.first_only && !self.findings.is_empty()
    }

    fn found(&mut self, finding: Diagnostic) {
        self.findings.push(finding);
    }
}

impl Criteria<'_> {
    fn module(&mut self, module: &IrModule) {
        for (gv, func) in &module.funcs {
            match func {
                GlobalFunc::Function(function) => {
                    self.trail = Trail::new(gv.name.clone());
                    self.function(function);
                }
                GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => {}
            }
        }
        units(self, module);
    }

    /// NF.3.FUNC: the body of a function is a `SeqExpr`.
    fn function(&mut self, function: &Function) {
        function.params.iter().for_each(|param| self.tuples.enter(param, None));
        with_stack(|| self.at(TrailStep::Field("body"), |c| c.body_of_function(&function.body)));
    }

    fn body_of_function(&mut self, body: &Expr) {
        let is_seq = matches!(body, Expr::SeqExpr(_));
        self.demand(
            body.span(),
            &[(rule!("NF.3.FUNC"), 1, is_seq, &|| {
                Complaint::error(format!("the body of a function is a {}, not a SeqExpr", body.node_name()))
                    .with_hint("wrap the body in a SeqExpr")
            })],
        );
        match body {
            Expr::SeqExpr(seq) if self.cx.conclude(rule!("NF.2.POS-FUNC"), true) => self.seq_expr(seq),
            _ => self.inside(body),
        }
    }

    /// NF.3.IF: both branches are `SeqExpr`s.
    fn branch(&mut self, branch: &Expr) {
        let is_seq = matches!(branch, Expr::SeqExpr(_));
        self.demand(
            branch.span(),
            &[(rule!("NF.3.IF"), 1, is_seq, &|| {
                Complaint::error(format!("a branch of an If is a {}, not a SeqExpr", branch.node_name()))
                    .with_hint("wrap the branch in a SeqExpr")
            })],
        );
        match branch {
            Expr::SeqExpr(seq) if self.cx.conclude(rule!("NF.2.POS-IF"), true) => self.seq_expr(seq),
            _ => self.inside(branch),
        }
    }

    /// NF.2.NOWHERE-ELSE.
    fn misplaced_sequence(&mut self, seq: &SeqExpr) {
        if !self.cx.premise(rule!("NF.2.NOWHERE-ELSE"), 1, false) {
            self.complain(rule!("NF.2.NOWHERE-ELSE"), seq.span, &|| {
                Complaint::error("a SeqExpr stands where it is neither a function's body nor a branch")
                    .with_hint("move its bindings in front of this place")
            });
        }
        self.seq_expr(seq);
    }

    fn seq_expr(&mut self, seq: &SeqExpr) {
        let mut previous: Option<BlockKind> = None;
        for (i, block) in seq.blocks.iter().enumerate() {
            self.at(TrailStep::Item("blocks", i), |c| c.block(block, previous));
            previous = Some(block.kind);
        }
        self.at(TrailStep::Field("body"), |c| c.body_of_sequence(&seq.body));
    }

    /// NF.1.BODY-LEAF. Errata: A12. The criteria in the text do not include this.
    fn body_of_sequence(&mut self, body: &Expr) {
        if let Expr::SeqExpr(seq) = body {
            return with_stack(|| self.misplaced_sequence(seq));
        }
        let leaf = is_leaf(self.cx, body) || self.cx.literal(Erratum::A12);
        self.demand(
            body.span(),
            &[(rule!("NF.1.BODY-LEAF"), 1, leaf, &|| {
                Complaint::error(format!("the body of a SeqExpr is a {}, which is not a leaf", body.node_name()))
                    .with_hint("bind it to a variable in the last block")
            })],
        );
        self.inside(body);
    }

    /// NF.4: no empty blocks, and no two adjacent blocks of the same kind.
    fn block(&mut self, block: &BindingBlock, previous: Option<BlockKind>) {
        let kept = block.bindings.is_empty() && block.kind == BlockKind::Dataflow && self.cx.literal(Erratum::A37);
        let apart = previous != Some(block.kind);
        let follows =
            |kind| Complaint::error(format!("a {kind} directly follows another {kind}")).with_hint("merge the two");
        let merged: Demand = match block.kind {
            BlockKind::Binding => (rule!("NF.4.MERGE-BB"), 1, apart, &|| follows("BindingBlock")),
            BlockKind::Dataflow => (rule!("NF.4.MERGE-DF"), 1, apart, &|| follows("DataflowBlock")),
        };
        self.demand(
            block.span,
            &[
                (rule!("NF.4.DROP-EMPTY"), 1, !block.bindings.is_empty() || kept, &|| {
                    Complaint::error("a block is empty").with_hint("drop it")
                }),
                merged,
            ],
        );
        for (i, binding) in block.bindings.iter().enumerate() {
            self.at(TrailStep::Item("bindings", i), |c| c.binding(binding));
        }
    }

    fn binding(&mut self, binding: &Binding) {
        let applies = match binding {
            Binding::VarBinding(_) => true,
            Binding::MatchCast(_) => self.cx.conclude(rule!("NF.1.MATCHCAST"), true),
        };
        self.at(
            TrailStep::Field("value"),
            |c| if applies { c.value(binding.value()) } else { c.inside(binding.value()) },
        );
        self.tuples.enter_binding(binding);
    }

    /// NF.1.RHS: the value of a binding is a leaf, or all its operands are leaves.
    fn value(&mut self, value: &Expr) {
        match value {
            Expr::SeqExpr(seq) => with_stack(|| self.misplaced_sequence(seq)),
            Expr::Tuple(tuple) => self.fields(&tuple.fields),
            Expr::Call(call) => {
                self.at(TrailStep::Field("op"), |c| c.operand(&call.op, OperandPlace::Callee));
                for (i, arg) in call.args.iter().enumerate() {
                    self.at(TrailStep::Item("args", i), |c| c.operand(arg, OperandPlace::Other));
                }
                self.conforms(call);
            }
            Expr::TupleGetItem(get) => {
                self.at(TrailStep::Field("tuple_value"), |c| c.operand(&get.tuple_value, OperandPlace::Other));
            }
            Expr::If(branch) => self.if_value(branch),
            Expr::Function(function) => self.function_value(function),
            Expr::Constant(_)
            | Expr::Var(_)
            | Expr::DataflowVar(_)
            | Expr::GlobalVar(_)
            | Expr::PrimValue(_)
            | Expr::StringImm(_)
            | Expr::DataTypeImm(_)
            | Expr::ExternFunc(_)
            | Expr::ShapeExpr(_)
            | Expr::Op(_) => {}
        }
    }

    /// NF.5.OPNORM.CALLTIR: the inputs of `call_tir` and similar operators are written as a tuple. WF23-12.23 requires
    /// the same of normalized programs.
    fn conforms(&mut self, call: &Call) {
        let Some(inputs) = self.tuples.inputs_elsewhere(self.cx, call) else { return };
        let complain = || {
            Complaint::error(format!("the inputs of the call are the variable `{inputs}`, not a tuple"))
                .with_hint("write the tuple of its fields")
        };
        let by_rule = self.cx.fire(rule!("NF.5.OPNORM"));
        self.demand(
            call.span,
            &[(rule!("NF.5.OPNORM.CALLTIR"), 1, !by_rule, &complain), (rule!("WF23-12.23"), 1, !by_rule, &complain)],
        );
    }

    /// NF.1.EXCEPT-BODIES: criterion 1 tests only the condition of an `If`.
    fn if_value(&mut self, branch: &If) {
        self.at(TrailStep::Field("cond"), |c| c.condition(&branch.cond));
        let exempt = self.bodies_are_exempt();
        self.at(TrailStep::Field("true_branch"), |c| c.branch_value(&branch.true_branch, exempt));
        self.at(TrailStep::Field("false_branch"), |c| c.branch_value(&branch.false_branch, exempt));
    }

    /// NF.1.LEAF.PRIMEXPR: an expression over shape variables is a leaf as a condition.
    ///
    /// Errata: M02. Read literally, it is not a leaf.
    fn condition(&mut self, cond: &Expr) {
        if cond.is_over_shape_vars() {
            let leaf = self.cx.conclude(rule!("NF.1.LEAF.PRIMEXPR"), true) && !self.cx.literal(Erratum::M02);
            self.demand(
                cond.span(),
                &[(rule!("NF.1.RHS"), 1, leaf, &|| {
                    Complaint::error("the condition is an expression over shape variables")
                })],
            );
        }
        self.operand(cond, OperandPlace::Other);
    }

    fn branch_value(&mut self, branch: &Expr, exempt: bool) {
        if !exempt {
            self.test_leaf(branch, OperandPlace::Other);
        }
        with_stack(|| self.branch(branch));
    }

    fn function_value(&mut self, function: &Function) {
        if !self.bodies_are_exempt() {
            self.at(TrailStep::Field("body"), |c| {
                c.test_leaf(&function.body, OperandPlace::Other);
            });
        }
        self.function(function);
    }

    /// Errata: A12. Read literally, bodies and branches are subexpressions like any other.
    fn bodies_are_exempt(&mut self) -> bool {
        self.cx.conclude(rule!("NF.1.EXCEPT-BODIES"), true) && self.leaves_alone()
    }

    fn callee_is_exempt(&mut self) -> bool {
        self.cx.conclude(rule!("NF.1.LEAF.OTHERS"), true) && self.leaves_alone()
    }

    /// A12 changes the criteria and not the procedure, which moves neither bodies nor operators.
    fn leaves_alone(&self) -> bool {
        self.first_only || !self.cx.literal(Erratum::A12)
    }

    fn fields(&mut self, fields: &[Expr]) {
        for (i, field) in fields.iter().enumerate() {
            self.at(TrailStep::Item("fields", i), |c| with_stack(|| c.operand(field, OperandPlace::Field)));
        }
    }

    fn operand(&mut self, operand: &Expr, place: OperandPlace) {
        match operand {
            Expr::Tuple(tuple) if self.cx.conclude(rule!("NF.1.LEAF.TUPLE"), true) => self.fields(&tuple.fields),
            // A sequence is reported as misplaced, which is more specific than not being a leaf.
            Expr::SeqExpr(seq) => with_stack(|| self.misplaced_sequence(seq)),
            // NF.1.LEAF.OTHERS: they are not leaves, but allowed as callees (A12).
            Expr::Op(_) | Expr::ExternFunc(_) if place == OperandPlace::Callee && self.callee_is_exempt() => {}
            _ => self.simple_operand(operand, place),
        }
    }

    fn simple_operand(&mut self, operand: &Expr, place: OperandPlace) {
        if !self.test_leaf(operand, place) {
            with_stack(|| self.value(operand));
        }
    }

    /// NF.1.SUBLEAF, for the fields of tuples, and NF.1.RHS.
    fn test_leaf(&mut self, operand: &Expr, place: OperandPlace) -> bool {
        let leaf = is_leaf(self.cx, operand);
        let complain = || {
            Complaint::error(format!("an operand is a {}, which is not a leaf", operand.node_name()))
                .with_hint("bind it to a variable first")
        };
        let demand: Demand = match place {
            OperandPlace::Field => (rule!("NF.1.SUBLEAF"), 1, leaf, &complain),
            OperandPlace::Callee | OperandPlace::Other => (rule!("NF.1.RHS"), 1, leaf, &complain),
        };
        self.demand(operand.span(), &[demand]);
        leaf
    }

    /// Checks the inside of an expression that criterion 1 does not test or has already rejected.
    fn inside(&mut self, expr: &Expr) {
        match expr {
            Expr::SeqExpr(seq) => with_stack(|| self.misplaced_sequence(seq)),
            Expr::Function(function) => self.function(function),
            Expr::If(branch) => with_stack(|| {
                self.at(TrailStep::Field("cond"), |c| c.inside(&branch.cond));
                self.at(TrailStep::Field("true_branch"), |c| c.branch(&branch.true_branch));
                self.at(TrailStep::Field("false_branch"), |c| c.branch(&branch.false_branch));
            }),
            Expr::Tuple(tuple) => self.each_inside("fields", &tuple.fields),
            Expr::Call(call) => {
                self.at(TrailStep::Field("op"), |c| with_stack(|| c.inside(&call.op)));
                self.each_inside("args", &call.args);
            }
            Expr::TupleGetItem(get) => {
                self.at(TrailStep::Field("tuple_value"), |c| with_stack(|| c.inside(&get.tuple_value)));
            }
            Expr::Constant(_)
            | Expr::Var(_)
            | Expr::DataflowVar(_)
            | Expr::GlobalVar(_)
            | Expr::PrimValue(_)
            | Expr::StringImm(_)
            | Expr::DataTypeImm(_)
            | Expr::ExternFunc(_)
            | Expr::ShapeExpr(_)
            | Expr::Op(_) => {}
        }
    }

    fn each_inside(&mut self, field: &'static str, exprs: &[Expr]) {
        for (i, expr) in exprs.iter().enumerate() {
            self.at(TrailStep::Item(field, i), |c| with_stack(|| c.inside(expr)));
        }
    }
}
