//! Virtual devices. They propagate backwards, from annotations and transfers to the operands. A second derivation
//! propagates them forwards and checks that they agree (editions 2023-12 and later).

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{DeriveReport, Deriver};
use crate::book::Erratum;
use crate::findings::{Complaint, Diagnostic, Finder, Trail, TrailStep};
use crate::grammar::{
    AttrValue, Attrs, Binder, Binding, Call, Expr, FuncStructInfo, Function, GlobalFunc, IrModule, Name, SeqExpr, Span,
    StructInfo, TensorStructInfo, VDevice, Var,
};
use crate::judge::{Cx, Once, VisitedTuples, is_new, with_stack};

/// The information that propagation found for variables, by the address of their binder.
pub(crate) type Located = FxHashMap<usize, StructInfo>;

/// A conflict: a tensor on one device cannot be on another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Clash;

fn address<T>(node: &T) -> usize {
    std::ptr::from_ref(node) as usize
}

/// VDEV.UPDATE: the information with a device.
pub(crate) fn update_struct_info(cx: &mut Cx, s: &StructInfo, device: &Arc<VDevice>) -> Result<StructInfo, Clash> {
    update(cx, s, device, &Once::default())
}

/// As [`update_struct_info`], with a cache for tuples that are shared.
fn update(
    cx: &mut Cx,
    s: &StructInfo,
    device: &Arc<VDevice>,
    known: &Once<StructInfo, Result<StructInfo, Clash>>,
) -> Result<StructInfo, Clash> {
    with_stack(|| match s {
        StructInfo::Tensor(tensor) => {
            let other = tensor.vdevice.as_ref().is_some_and(|own| !is_same(cx, own, device));
            if !cx.holds(&[(rule!("VDEV.UPDATE.CLASH"), 1, !other)]) {
                return Err(Clash);
            }
            let placed = TensorStructInfo { vdevice: Some(device.clone()), ..tensor.clone() };
            Ok(cx.conclude(rule!("VDEV.UPDATE.TENSOR"), StructInfo::Tensor(placed)))
        }
        StructInfo::Tuple(fields) => known.of(fields, || {
            let placed: Result<Vec<_>, _> = fields.iter().map(|field| update(cx, field, device, known)).collect();
            Ok(cx.conclude(rule!("VDEV.UPDATE.TUPLE"), StructInfo::tuple(placed?)))
        }),
        StructInfo::Func(func) if func.params.is_none() => Ok(cx.conclude(rule!("VDEV.UPDATE.FUNC.PACKED"), s.clone())),
        StructInfo::Func(func) => {
            let ret = update(cx, &func.ret, device, known)?;
            let func = FuncStructInfo { ret, ..(**func).clone() };
            Ok(cx.conclude(rule!("VDEV.UPDATE.FUNC"), StructInfo::Func(Arc::new(func))))
        }
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) => {
            Ok(cx.conclude(rule!("VDEV.UPDATE.OTHER"), s.clone()))
        }
    })
}

/// GRAM.VDEVICE.EQ: whether all fields are equal, even if the nodes differ.
fn is_same(cx: &mut Cx, a: &Arc<VDevice>, b: &Arc<VDevice>) -> bool {
    cx.conclude(rule!("GRAM.VDEVICE.EQ"), **a == **b)
}

/// The device of a tensor.
fn device_of(info: &StructInfo) -> Option<&Arc<VDevice>> {
    info.as_tensor()?.vdevice.as_ref()
}

/// The operators that transfer a tensor to another device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Transfer {
    To,
    Hint,
}

fn transfer(call: &Call) -> Option<Transfer> {
    let op = call.op.as_op()?;
    match &*op.op_name {
        "relax.to_vdevice" => Some(Transfer::To),
        "relax.hint_on_device" => Some(Transfer::Hint),
        _another => None,
    }
}

/// The target device of a transfer: it has a name, is written out, or has an id that belongs to one device of the
/// module.
fn goal(kind: Transfer, attrs: &Attrs, listed: &[VDevice]) -> Option<Arc<VDevice>> {
    match kind {
        Transfer::To => match attrs.get("dst_vdevice")? {
            AttrValue::Str(name) => Some(VDevice::named(name, listed).into()),
            made => VDevice::made_by(made).map(Arc::new),
        },
        Transfer::Hint => {
            let id = match attrs.get("index") {
                Some(AttrValue::Int(id)) => *id,
                Some(_) | None => 0,
            };
            let of_type = |device: &&VDevice| attrs.get("device_type").is_none_or(|kind| device.is_of_type(kind));
            let mut of_id = listed.iter().filter(|device| device.dev_id == id).filter(of_type);
            of_id.next().filter(|_| of_id.next().is_none()).map(|device| device.clone().into())
        }
    }
}

/// The backward pass over one global function.
struct Backward<'c, 'm> {
    cx: &'c mut Cx,
    listed: Vec<VDevice>,
    globals: FxHashMap<&'m str, &'m StructInfo>,
    infos: FxHashMap<&'m Var, StructInfo>,
    binders: FxHashMap<&'m Var, &'m Binder>,
    changed: bool,
    trail: Trail,
    findings: Vec<Diagnostic>,
}

impl Finder for Backward<'_, '_> {
    fn trail(&mut self) -> &mut Trail {
        &mut self.trail
    }

    fn cx(&mut self) -> &mut Cx {
        self.cx
    }

    fn found(&mut self, finding: Diagnostic) {
        self.findings.push(finding);
    }
}

/// VDEV.WHEN: runs the backward pass if the module lists virtual devices and derivation found no error.
pub(crate) fn propagate(
    cx: &mut Cx,
    module: &IrModule,
    report: &DeriveReport,
) -> Option<Result<Located, Vec<Diagnostic>>> {
    let listed = module.vdevices();
    let is_listed = !listed.is_empty() && cx.fire(rule!("MOD.DEVICES"));
    if !(report.accepts() && is_listed && cx.fire(rule!("VDEV.WHEN"))) {
        return None;
    }
    let globals: FxHashMap<&str, &StructInfo> = report.functions.iter().map(|(name, info)| (&**name, info)).collect();
    let by_function = report.by_function();
    let (mut located, mut findings) = (Located::default(), Vec::new());
    for (gv, func) in &module.funcs {
        let GlobalFunc::Function(function) = func else { continue };
        let known = by_function.get(&*gv.name).copied().unwrap_or_default();
        let mut pass = Backward {
            cx,
            listed: listed.clone(),
            globals: globals.clone(),
            infos: known.iter().map(|(var, info)| (var, info.clone())).collect(),
            binders: FxHashMap::default(),
            changed: false,
            trail: Trail::new(gv.name.clone()),
            findings: Vec::new(),
        };
        pass.until_nothing_changes(function, &gv.name);
        findings.append(&mut pass.findings);
        located.extend(pass.found_of(known));
    }
    Some(if findings.is_empty() { Ok(located) } else { Err(findings) })
}

impl<'m> Backward<'_, 'm> {
    /// VDEV.BACK.ORDER: visits the bindings from the last to the first, until nothing changes.
    ///
    /// Errata: N44. Read literally, it visits them once, from the first to the last.
    fn until_nothing_changes(&mut self, function: &'m Function, name: &Name) {
        loop {
            self.changed = false;
            let ret = self.globals.get(&**name).and_then(|info| result_of(info));
            self.function(function, ret.as_ref());
            if !self.changed || !self.findings.is_empty() || !self.goes_back() {
                return;
            }
        }
    }

    fn goes_back(&mut self) -> bool {
        !self.cx.literal(Erratum::N44) && self.cx.fire(rule!("VDEV.BACK.ORDER"))
    }

    /// The entries of `known` that propagation changed.
    fn found_of<'k>(&'k self, known: &'k [(Var, StructInfo)]) -> impl Iterator<Item = (usize, StructInfo)> + 'k {
        known.iter().filter_map(|(var, before)| {
            let (now, binder) = (self.infos.get(var)?, self.binders.get(var)?);
            (now != before).then(|| (address(*binder), now.clone()))
        })
    }

    /// Updates the information of an expression. The result is stored for variables only.
    fn set(&mut self, e: &'m Expr, device: &Arc<VDevice>) {
        if let Expr::Var(var) | Expr::DataflowVar(var) = e {
            self.set_var(var, device);
        }
    }

    fn set_var(&mut self, var: &'m Var, device: &Arc<VDevice>) {
        let Some(info) = self.infos.get(var).cloned() else { return };
        match update_struct_info(self.cx, &info, device) {
            Ok(placed) => {
                self.changed |= placed != info;
                self.infos.insert(var, placed);
            }
            Err(Clash) => self.clash(var.span, &info, device),
        }
    }

    fn clash(&mut self, span: Span, info: &StructInfo, device: &VDevice) {
        let message = format!("{info} is to lie on {device}, which is another device");
        self.error(rule!("VDEV.UPDATE.CLASH"), span, message);
    }

    /// The device of a value, if it is known.
    fn device_of_value(&mut self, e: &Expr) -> Option<Arc<VDevice>> {
        let info = if let Expr::Var(var) | Expr::DataflowVar(var) = e {
            self.infos.get(var).cloned()
        } else if let Expr::TupleGetItem(get) = e {
            self.field(&get.tuple_value, get.index)
        } else if let Expr::Call(call) = e {
            match (transfer(call), &call.op) {
                (Some(kind), _) => return goal(kind, &call.attrs, &self.listed),
                (None, Expr::Op(_)) => return common(&self.devices_of_args(call)),
                (None, callee) => self.callee(callee).and_then(|info| result_of(&info)),
            }
        } else {
            None
        };
        info.as_ref().and_then(device_of).cloned()
    }

    fn field(&self, tuple: &Expr, index: i64) -> Option<StructInfo> {
        let (Expr::Var(var) | Expr::DataflowVar(var)) = tuple else { return None };
        let fields = self.infos.get(var)?.as_tuple()?;
        fields.get(usize::try_from(index).ok()?).cloned()
    }

    fn callee(&self, callee: &Expr) -> Option<StructInfo> {
        if let Expr::GlobalVar(gv) = callee {
            return self.globals.get(&*gv.name).map(|info| (*info).clone());
        }
        let (Expr::Var(var) | Expr::DataflowVar(var)) = callee else { return None };
        self.infos.get(var).cloned()
    }

    fn devices_of_args(&self, call: &Call) -> Vec<Arc<VDevice>> {
        let infos = call.args.iter().filter_map(|arg| {
            let (Expr::Var(var) | Expr::DataflowVar(var)) = arg else { return None };
            self.infos.get(var)
        });
        infos.filter_map(device_of).cloned().collect()
    }

    /// VDEV.BACK.FUNC: the body is on the device of the result.
    fn function(&mut self, function: &'m Function, ret: Option<&StructInfo>) {
        function.params.iter().for_each(|param| self.bind(param));
        let device = ret.and_then(device_of).cloned();
        let device = device.filter(|_| self.cx.fire(rule!("VDEV.BACK.FUNC")));
        self.at(TrailStep::Field("body"), |pass| {
            if let Some(device) = &device {
                pass.set(&function.body, device);
            }
            pass.visit(&function.body, device.as_ref());
        });
    }

    fn bind(&mut self, binder: &'m Binder) {
        self.binders.insert(&binder.var, binder);
    }

    /// VDEV.BACK: visits an expression whose information has this device.
    fn visit(&mut self, e: &'m Expr, device: Option<&Arc<VDevice>>) {
        with_stack(|| {
            if let Expr::Call(call) = e {
                self.call(call, device)
            } else if let Expr::SeqExpr(seq) = e {
                self.seq(seq, device)
            } else if let Expr::Function(function) = e {
                self.function(function, function.ret_struct_info.as_ref())
            } else {
                self.other(e)
            }
        });
    }

    /// VDEV.BACK.OTHER: visits the parts of any other expression.
    fn other(&mut self, e: &'m Expr) {
        if let Expr::Tuple(tuple) = e {
            tuple.fields.iter().for_each(|field| self.visit(field, None));
        }
        if let Expr::If(branch) = e
            && self.cx.fire(rule!("VDEV.BACK.OTHER"))
        {
            self.at(TrailStep::Field("true_branch"), |pass| pass.visit(&branch.true_branch, None));
            self.at(TrailStep::Field("false_branch"), |pass| pass.visit(&branch.false_branch, None));
        }
    }

    /// VDEV.BACK.CALL: callee and arguments are on the device of the result. VDEV.BACK.CALL.TRANSFER: the arguments of
    /// a transfer are not.
    ///
    /// Errata: N42. Read literally, they are, and so are the arguments of functions whose parameters name devices.
    fn call(&mut self, call: &'m Call, device: Option<&Arc<VDevice>>) {
        let Some(device) = device else { return };
        if !self.cx.literal(Erratum::N42) {
            let is_transfer = transfer(call).is_some();
            let says_itself = self.callee(&call.op).is_some_and(|info| has_params_with_devices(&info));
            if (is_transfer && self.cx.fire(rule!("VDEV.BACK.CALL.TRANSFER"))) || says_itself {
                return;
            }
        }
        if self.cx.fire(rule!("VDEV.BACK.CALL")) {
            self.set(&call.op, device);
            call.args.iter().for_each(|arg| self.set(arg, device));
        }
    }

    /// VDEV.BACK.SEQ: the body is on the device of the sequence. Visits the bindings, then the body.
    fn seq(&mut self, seq: &'m SeqExpr, device: Option<&Arc<VDevice>>) {
        let device = device.filter(|_| self.cx.fire(rule!("VDEV.BACK.SEQ")));
        if let Some(device) = device {
            self.set(&seq.body, device);
        }
        let mut places: Vec<(usize, usize)> = Vec::new();
        for (b, block) in seq.blocks.iter().enumerate() {
            places.extend((0..block.bindings.len()).map(|i| (b, i)));
        }
        if self.goes_back() {
            places.reverse();
        }
        for (b, i) in places {
            let Some(binding) = seq.blocks.get(b).and_then(|block| block.bindings.get(i)) else { continue };
            self.at(TrailStep::Item("blocks", b), |pass| {
                pass.at(TrailStep::Item("bindings", i), |pass| pass.binding(binding))
            });
        }
        self.visit(&seq.body, device);
    }

    fn binding(&mut self, binding: &'m Binding) {
        match binding {
            Binding::VarBinding(binding) => {
                let var = &binding.var.var;
                self.bind(&binding.var);
                let between = self.cx.fire(rule!("VDEV.BACK.VB"));
                self.at(TrailStep::Field("value"), |pass| pass.both_ways(var, &binding.value, between));
            }
            Binding::MatchCast(cast) => {
                if let Some(binder) = &cast.var {
                    self.bind(binder);
                    let of_target = device_of(&cast.struct_info).cloned();
                    if let Some(device) = of_target.filter(|_| self.cx.fire(rule!("VDEV.BACK.MC"))) {
                        self.set_var(&binder.var, &device);
                    }
                    let between = self.cx.fire(rule!("VDEV.BACK.MC"));
                    return self
                        .at(TrailStep::Field("value"), |pass| pass.both_ways(&binder.var, &cast.value, between));
                }
                self.visit(&cast.value, None);
            }
        }
    }

    /// Propagates from a variable to its value and back, then into the value.
    fn both_ways(&mut self, var: &'m Var, value: &'m Expr, between: bool) {
        if let Expr::Function(function) = value {
            let ret = self.infos.get(var).and_then(result_of);
            return self.function(function, ret.as_ref());
        }
        let mut device = None;
        if between {
            device = self.infos.get(var).and_then(device_of).cloned();
            if let Some(device) = &device {
                self.set(value, device);
            }
            if let Some(of_value) = self.device_of_value(value) {
                self.set_var(var, &of_value);
                device = Some(of_value);
            }
        }
        self.visit(value, device.as_ref());
    }
}

/// The information of a closure's result.
fn result_of(info: &StructInfo) -> Option<StructInfo> {
    info.as_func().filter(|func| func.params.is_some()).map(|func| func.ret.clone())
}

fn has_params_with_devices(info: &StructInfo) -> bool {
    let mut params = info.as_func().into_iter().flat_map(|func| &func.params).flat_map(|params| params.iter());
    params.any(|param| device_of(param).is_some())
}

/// The common device of all, if there is one.
fn common(devices: &[Arc<VDevice>]) -> Option<Arc<VDevice>> {
    let first = devices.first()?;
    devices.iter().all(|device| **device == **first).then(|| first.clone())
}

/// Collects the devices of tensors, including those in tuples.
fn devices_in(info: &StructInfo, seen: &mut VisitedTuples, into: &mut Vec<Arc<VDevice>>) {
    match info {
        StructInfo::Tensor(tensor) => into.extend(tensor.vdevice.clone()),
        StructInfo::Tuple(fields) if !is_new(fields, seen) => {}
        StructInfo::Tuple(fields) => with_stack(|| fields.iter().for_each(|field| devices_in(field, seen, into))),
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Func(_) => {}
    }
}

/// The information with every tensor in it moved to a device.
fn moved(info: &StructInfo, device: &Arc<VDevice>) -> StructInfo {
    moved_all(info, device, &Once::default())
}

fn moved_all(info: &StructInfo, device: &Arc<VDevice>, known: &Once<StructInfo, StructInfo>) -> StructInfo {
    match info {
        StructInfo::Tensor(tensor) => {
            StructInfo::Tensor(TensorStructInfo { vdevice: Some(device.clone()), ..tensor.clone() })
        }
        StructInfo::Tuple(fields) => known.of(fields, || {
            with_stack(|| StructInfo::tuple(fields.iter().map(|field| moved_all(field, device, known))))
        }),
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Func(_) => info.clone(),
    }
}

/// The information, with devices taken from another one where it has none.
fn filled(info: &StructInfo, from: &StructInfo) -> StructInfo {
    filled_all(info, from, &Once::default())
}

fn filled_all(info: &StructInfo, from: &StructInfo, known: &Once<StructInfo, StructInfo>) -> StructInfo {
    match (info, from) {
        (StructInfo::Tensor(tensor), StructInfo::Tensor(from)) => StructInfo::Tensor(TensorStructInfo {
            vdevice: tensor.vdevice.clone().or_else(|| from.vdevice.clone()),
            ..tensor.clone()
        }),
        (StructInfo::Tuple(fields), StructInfo::Tuple(from)) if fields.len() == from.len() => {
            let pairs = fields.iter().zip(from.iter());
            known.of_both(fields, from, || {
                with_stack(|| StructInfo::tuple(pairs.map(|(field, from)| filled_all(field, from, known))))
            })
        }
        (StructInfo::Func(func), StructInfo::Func(from)) => {
            let ret = with_stack(|| filled_all(&func.ret, &from.ret, known));
            StructInfo::Func(Arc::new(FuncStructInfo { ret, ..(**func).clone() }))
        }
        (info, _) => info.clone(),
    }
}

impl<'m> Deriver<'_, 'm> {
    /// VDEV.FORWARD: the information of a variable, with the devices that propagation found.
    ///
    /// Errata: N45. Read literally, an annotation determines the information, and the devices found by propagation are
    /// lost.
    pub(super) fn located(&mut self, binder: &Binder, info: StructInfo) -> StructInfo {
        let found = self.beforehand.located.as_ref().and_then(|located| located.get(&address(binder)));
        let Some(found) = found else { return info };
        if binder.annotation.is_some() && self.cx.literal(Erratum::N45) {
            return info;
        }
        let located = filled(&info, found);
        if self.cx.fire(rule!("VDEV.FORWARD")) { located } else { info }
    }

    /// VDEV.FORWARD: the result of an operator is on the device of its operands. OP.TOVDEVICE, OP.HINT: a transfer
    /// names the device instead.
    pub(super) fn placed(&mut self, call: &Call, args: &[StructInfo], info: StructInfo) -> StructInfo {
        if !self.cx.has(rule!("VDEV.FORWARD")) {
            return info;
        }
        match transfer(call) {
            Some(kind) => self.transferred(kind, call, info),
            None => {
                let (mut devices, mut seen) = (Vec::new(), VisitedTuples::default());
                args.iter().for_each(|arg| devices_in(arg, &mut seen, &mut devices));
                let device = common(&devices);
                let agree = devices.is_empty() || device.is_some();
                self.demand(
                    call.span,
                    &[(rule!("VDEV.FORWARD"), 1, agree, &|| {
                        Complaint::error("an operator is called on tensors of different devices")
                            .with_hint("take them to one device with `to_vdevice`")
                    })],
                );
                let is_open = matches!(&info, StructInfo::Tensor(tensor) if tensor.vdevice.is_none());
                match device.filter(|_| is_open) {
                    Some(device) if self.cx.fire(rule!("VDEV.FORWARD")) => moved(&info, &device),
                    Some(_) | None => info,
                }
            }
        }
    }

    /// OP.TOVDEVICE: moves to the device that it names. OP.HINT: moves to the device of its type and id.
    /// OP.HINT.REMOVE: nothing happens if the tensor is already there.
    fn transferred(&mut self, kind: Transfer, call: &Call, info: StructInfo) -> StructInfo {
        let listed = self.module.vdevices();
        let goal = goal(kind, &call.attrs, &listed);
        match kind {
            Transfer::To => match goal {
                Some(device) if self.cx.fire(rule!("OP.TOVDEVICE")) => moved(&info, &device),
                Some(_) | None => info,
            },
            Transfer::Hint if listed.is_empty() => info,
            Transfer::Hint => {
                self.demand(
                    call.span,
                    &[(rule!("OP.HINT"), 1, goal.is_some(), &|| {
                        Complaint::error("the hint names no device of the module, or several of its type and number")
                    })],
                );
                let Some(device) = goal else { return info };
                let is_there = device_of(&info).is_some_and(|own| **own == *device);
                let wanted = moved(&info, &device);
                let (rule, result) =
                    if is_there { (rule!("OP.HINT.REMOVE"), info) } else { (rule!("OP.HINT.DESUGAR"), wanted) };
                self.cx.conclude(rule, result)
            }
        }
    }

    /// VDEV.FINAL.ERR: after propagation each tensor argument of an operator or a PrimFunc has a device. The argument
    /// of a transfer needs none.
    ///
    /// Errata: N46. Read literally, a constant has no device. N47: every argument has one, even a shape.
    pub(super) fn lies_somewhere(&mut self, call: &Call, args: &[StructInfo]) {
        if self.beforehand.located.is_none() || transfer(call).is_some() {
            return;
        }
        for (i, (arg, info)) in call.args.iter().zip(args).enumerate() {
            let lies = if self.cx.literal(Erratum::N47) {
                device_of(info).is_some()
            } else {
                !lies_nowhere(info, &mut VisitedTuples::default())
                    || (is_constant(arg) && !self.cx.literal(Erratum::N46))
            };
            self.at(TrailStep::Item("args", i), |d| {
                d.demand(
                    arg.span(),
                    &[(rule!("VDEV.FINAL.ERR"), 1, lies, &|| {
                        Complaint::error("it is not known on which device this tensor lies")
                            .with_hint("annotate it with a device, or take it to one with `to_vdevice`")
                    })],
                );
            });
        }
    }
}

fn is_constant(e: &Expr) -> bool {
    if let Expr::Tuple(tuple) = e {
        return with_stack(|| tuple.fields.iter().all(is_constant));
    }
    matches!(e, Expr::Constant(_))
}

/// Whether the information has a tensor without a known device.
fn lies_nowhere(info: &StructInfo, seen: &mut VisitedTuples) -> bool {
    match info {
        StructInfo::Tensor(tensor) => tensor.vdevice.is_none(),
        StructInfo::Tuple(fields) => {
            is_new(fields, seen) && with_stack(|| fields.iter().any(|field| lies_nowhere(field, seen)))
        }
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Func(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::book::Edition;
    use crate::check::check_program;
    use crate::judge::Cx;
    use crate::syntax::tvmscript::parse_module;

    const HEAD: &str = r#"
@I.ir_module
class Module:
    I.module_global_infos({"vdevice": [I.vdevice({"kind": "llvm"}, 0, "global")]})
    @R.function(pure=False)
    def main(x: R.Tensor((2,), "float32", vdevice="llvm:0")):
        y0 = (x, x)
"#;

    #[test]
    fn tuples_that_others_hold_as_well_are_gone_through_once() {
        let pairs: String = (1..40).map(|k| format!("        y{k} = (y{}, y{})\n", k - 1, k - 1)).collect();
        let module =
            parse_module(&format!("{HEAD}{pairs}        z = R.print(y39, format=\"a\")\n        return x\n")).unwrap();
        for edition in [Edition::E2023_12, Edition::E2024_04] {
            let report = check_program(&mut Cx::new().with_edition(edition), &module);
            assert!(report.diagnostics.is_empty(), "{:?}", report.diagnostics);
        }
    }
}
