//! Criteria 6 and 7: recursion, in `DataflowBlock`s and in functions without a return annotation.
//!
//! A call is a call of `f` if its callee is the variable `f` or a variable bound directly to `f` (A34).

use super::{Spot, WellFormedChecker};
use crate::findings::{Complaint, Finder, Trail};
use crate::grammar::{Call, Expr, Function};
use crate::scope::strongly_connected;

/// The function that a variable denotes, if it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum DenotedFunction {
    Unknown,
    /// The n-th function of the module.
    Global(usize),
    /// The literal with this serial number, at this depth of nesting.
    Local {
        depth: usize,
        serial: usize,
    },
}

/// A function whose body is being traversed.
pub(super) struct FunctionFrame {
    pub(super) callee: DenotedFunction,
    /// The number of `DataflowBlock`s of this function around the current node.
    pub(super) in_dataflow: usize,
    calls_itself: bool,
}

/// The direct calls between global functions.
pub(super) struct CallGraph {
    callees: Vec<Vec<usize>>,
    in_dataflow: Vec<DataflowCall>,
    serial: usize,
}

/// A call in a `DataflowBlock` to another global function.
struct DataflowCall {
    caller: usize,
    callee: usize,
    spot: Spot,
}

impl CallGraph {
    pub(super) fn new(functions: usize) -> CallGraph {
        CallGraph { callees: vec![Vec::new(); functions], in_dataflow: Vec::new(), serial: 0 }
    }
}

impl<'m> WellFormedChecker<'_, 'm> {
    /// The identity of the local function literal that is about to be traversed.
    pub(super) fn next_local(&mut self) -> DenotedFunction {
        self.calls.serial += 1;
        DenotedFunction::Local { depth: self.functions.len(), serial: self.calls.serial }
    }

    pub(super) fn enter_function(&mut self, callee: DenotedFunction) {
        self.functions.push(FunctionFrame { callee, in_dataflow: 0, calls_itself: false });
    }

    /// WF.7.SELF: checked at the end of a function.
    pub(super) fn leave_function(&mut self, function: &Function) {
        let Some(frame) = self.functions.pop() else { return };
        let told = !frame.calls_itself || function.ret_struct_info.is_some();
        self.demand(
            function.span,
            &[(rule!("WF.7.SELF"), 1, told, &|| {
                Complaint::error("a function that calls itself has no return annotation")
                    .with_hint("annotate the result of the function")
            })],
        );
    }

    /// The function that an expression denotes.
    pub(super) fn denotes(&self, expr: &Expr) -> DenotedFunction {
        if let Expr::GlobalVar(gv) = expr {
            self.globals.get(&*gv.name).map_or(DenotedFunction::Unknown, |index| DenotedFunction::Global(*index))
        } else if let Expr::Var(v) | Expr::DataflowVar(v) = expr {
            self.bound(v).map_or(DenotedFunction::Unknown, |bound| bound.callee)
        } else {
            DenotedFunction::Unknown
        }
    }

    /// Records a call, and checks criterion 6.
    pub(super) fn call_to(&mut self, call: &Call) {
        let in_dataflow = self.functions.last().is_some_and(|frame| frame.in_dataflow > 0);
        if in_dataflow {
            self.purity_is_deferred(call);
        }
        let callee = self.denotes(&call.op);
        let active = match callee {
            DenotedFunction::Unknown => None,
            DenotedFunction::Global(index) => {
                self.calls.callees[self.global].push(index);
                (index == self.global).then_some(0)
            }
            DenotedFunction::Local { depth, .. } => {
                self.functions.get(depth).is_some_and(|frame| frame.callee == callee).then_some(depth)
            }
        };
        if let Some(frame) = active.and_then(|depth| self.functions.get_mut(depth)) {
            frame.calls_itself = true;
        }
        let to_itself = active.is_some_and(|depth| depth + 1 == self.functions.len());
        self.not_recursive(call, in_dataflow && to_itself);
        if in_dataflow && active.is_none() {
            self.call_elsewhere(callee, call);
        }
    }

    /// WF.6.REC: no `DataflowBlock` calls the function that contains it.
    fn not_recursive(&mut self, call: &Call, recursive: bool) {
        self.demand(
            call.span,
            &[(rule!("WF.6.REC"), 1, !recursive, &|| {
                Complaint::error("a DataflowBlock calls the function that contains it")
                    .with_hint("move the call into an ordinary BindingBlock")
            })],
        );
    }

    /// WF.6.IMPURE-WHEN: later stages decide the kind of the callee, and with it the purity of the call.
    fn purity_is_deferred(&mut self, call: &Call) {
        let by_its_looks = (!self.cx.fire(rule!("WF.6.IMPURE-WHEN"))).then_some(call);
        let judged = self.cx.conclude(rule!("WF.6.IMPURE"), by_its_looks);
        if let Some(call) = judged.filter(|call| !matches!(call.op, Expr::Op(_))) {
            let message = "a call in a DataflowBlock is not known to be pure".to_string();
            self.error(rule!("WF.6.IMPURE"), call.span, message);
        }
    }

    fn call_elsewhere(&mut self, callee: DenotedFunction, call: &Call) {
        if let DenotedFunction::Global(callee) = callee {
            let (caller, spot) = (self.global, self.spot(call.span));
            self.calls.in_dataflow.push(DataflowCall { caller, callee, spot });
        }
    }

    /// WF.6.MUTREC and WF.7.MUTUAL, checked when all direct calls are known.
    ///
    /// Errata: A34 takes mutual recursion to be a common strongly connected component.
    pub(super) fn mutual_recursion(&mut self) {
        let components = strongly_connected(&self.calls.callees);
        let mut component_of = vec![0; self.module.funcs.len()];
        for (number, members) in components.iter().enumerate() {
            members.iter().for_each(|member| component_of[*member] = number);
        }
        for call in std::mem::take(&mut self.calls.in_dataflow) {
            let mutual = component_of[call.caller] == component_of[call.callee];
            self.mutual_call_in_dataflow(call, mutual);
        }
        for members in components.iter().filter(|members| members.len() > 1) {
            members.iter().for_each(|member| self.mutually_recursive_is_annotated(*member));
        }
    }

    fn mutual_call_in_dataflow(&mut self, call: DataflowCall, mutual: bool) {
        let callee = self.module.funcs.get(call.callee).map(|(gv, _)| gv);
        self.demand_back_at(
            call.spot,
            &[(rule!("WF.6.MUTREC"), 1, !mutual, &|| {
                let callee = callee.map_or_else(|| "a function".to_string(), |gv| format!("`{}`", gv.name));
                Complaint::error(format!("a DataflowBlock calls {callee}, which is mutually recursive with it"))
                    .with_hint("move the call into an ordinary BindingBlock")
            })],
        );
    }

    fn mutually_recursive_is_annotated(&mut self, member: usize) {
        let module = self.module;
        let Some((gv, crate::grammar::GlobalFunc::Function(function))) = module.funcs.get(member) else { return };
        self.clock += 1;
        self.trail = Trail::new(gv.name.clone());
        self.demand(
            function.span,
            &[(rule!("WF.7.MUTUAL"), 1, function.ret_struct_info.is_some(), &|| {
                Complaint::error(format!("`{}` takes part in mutual recursion and has no return annotation", gv.name))
                    .with_hint("annotate the result of the function")
            })],
        );
    }
}
