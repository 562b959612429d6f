//! The parts of a program that are programs themselves, the smallest first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::signature::{CAST, IF, Trait};
use super::sizes::fixed;

use relax_spec::book::Edition;
use relax_spec::check::check_program;
use relax_spec::derivation::DeriveReport;
use relax_spec::grammar::visit::{
    Visitor, walk_block, walk_expr, walk_function, walk_match_cast, walk_module, walk_struct_info,
};
use relax_spec::grammar::{
    Attrs, Binder, Binding, BindingBlock, BlockKind, Expr, Function, GlobalFunc, GlobalVar, IrModule, MatchCast,
    ShapeVar, StructInfo, TensorShape, Var, VarBinding, VarKind,
};
use relax_spec::judge::Cx;
use relax_spec::value::{Scalar, Tensor, ValueSpec};

/// How many bindings a program has.
pub fn bindings(module: &IrModule) -> usize {
    let mut count = BindingCount(0);
    walk_module(&mut count, module);
    count.0
}

/// How many bindings there are in an expression.
pub(super) fn bindings_in(expr: &Expr) -> usize {
    let mut count = BindingCount(0);
    count.visit_expr(expr);
    count.0
}

struct BindingCount(usize);

impl Visitor for BindingCount {
    fn visit_block(&mut self, block: &BindingBlock) {
        self.0 += block.bindings.len();
        walk_block(self, block);
    }
}

/// The operators that a program calls, and the packed functions; `if` and `match_cast` among them where it has one, as what goes
/// wrong in planning for these does so whatever is called.
pub fn operators(module: &IrModule) -> Vec<String> {
    struct OperatorNames(BTreeSet<String>);
    impl Visitor for OperatorNames {
        fn visit_expr(&mut self, expr: &Expr) {
            if let Expr::Op(op) = expr {
                self.0.insert(op.op_name.to_string());
            }
            if let Expr::ExternFunc(packed) = expr {
                self.0.insert(packed.global_symbol.to_string());
            }
            if let Expr::If(_) = expr {
                self.0.insert(IF.to_string());
            }
            walk_expr(self, expr);
        }

        fn visit_match_cast(&mut self, cast: &MatchCast) {
            self.0.insert(CAST.to_string());
            walk_match_cast(self, cast);
        }
    }
    let mut operators = OperatorNames(BTreeSet::new());
    walk_module(&mut operators, module);
    operators.0.into_iter().collect()
}

/// What tells the program from others with its operators, as far as it can be seen in it and in what it is run on.
pub(super) fn held(module: &IrModule, input: Option<&[ValueSpec]>) -> BTreeSet<Trait> {
    let mut traits = written(module);
    let is_empty = |part: &ValueSpec| matches!(part, ValueSpec::Tensor(tensor) if tensor.shape.contains(&0));
    if input.unwrap_or_default().iter().any(|value| value.parts().any(is_empty)) {
        traits.insert(Trait::Empty);
    }
    if input.unwrap_or_default().iter().any(|value| value.parts().any(holds_nan)) {
        traits.insert(Trait::Nan);
    }
    traits
}

/// What can be seen in the program.
fn written(module: &IrModule) -> BTreeSet<Trait> {
    struct ProgramTraits(BTreeSet<Trait>);
    impl ProgramTraits {
        /// A body or a branch, which may be a sequence.
        fn whole(&mut self, body: &Expr) {
            match body {
                Expr::SeqExpr(seq) => self.visit_seq_expr(seq),
                other => self.visit_expr(other),
            }
        }
    }
    impl Visitor for ProgramTraits {
        fn visit_function(&mut self, function: &Function) {
            self.whole(&function.body);
        }

        fn visit_expr(&mut self, expr: &Expr) {
            match expr {
                Expr::Constant(_) => {
                    self.0.insert(Trait::Constant);
                }
                Expr::PrimValue(_) => {
                    self.0.insert(Trait::Scalar);
                }
                Expr::SeqExpr(_) => {
                    self.0.insert(Trait::Nested);
                }
                Expr::If(branch) => {
                    self.visit_expr(&branch.cond);
                    self.whole(&branch.true_branch);
                    self.whole(&branch.false_branch);
                    return;
                }
                Expr::Var(_)
                | Expr::DataflowVar(_)
                | Expr::GlobalVar(_)
                | Expr::Tuple(_)
                | Expr::TupleGetItem(_)
                | Expr::ShapeExpr(_)
                | Expr::StringImm(_)
                | Expr::DataTypeImm(_)
                | Expr::ExternFunc(_)
                | Expr::Op(_)
                | Expr::Function(_)
                | Expr::Call(_) => {}
            }
            walk_expr(self, expr);
        }
    }
    let mut parts = ProgramTraits(BTreeSet::new());
    walk_module(&mut parts, module);
    parts.0
}

fn holds_nan(value: &ValueSpec) -> bool {
    let ValueSpec::Tensor(data) = value else { return false };
    let Ok(tensor) = Tensor::from_data(data) else { return false };
    (0..tensor.len()).any(|i| matches!(tensor.get(i), Some(Scalar::Float(x)) if x.is_nan()))
}

/// The body of a function as a list of bindings, each with the kind of its block.
#[derive(Clone)]
struct Flat {
    function: Function,
    bindings: Vec<(BlockKind, Binding)>,
    result: Expr,
}

impl Flat {
    fn of(function: &Function) -> Option<Flat> {
        let Expr::SeqExpr(seq) = &function.body else { return None };
        let bindings = seq.blocks.iter().flat_map(|block| block.bindings.iter().map(|b| (block.kind, b.clone())));
        Some(Flat { function: function.clone(), bindings: bindings.collect(), result: seq.body.clone() })
    }

    fn function(self) -> Function {
        let mut blocks: Vec<BindingBlock> = Vec::new();
        for (kind, binding) in self.bindings {
            match blocks.last_mut() {
                Some(block) if block.kind == kind => block.bindings.push(binding),
                Some(_) | None => {
                    let span = relax_spec::grammar::Span::NONE;
                    blocks.push(BindingBlock { kind, bindings: vec![binding], span });
                }
            }
        }
        Function { body: Expr::seq(blocks, self.result), ..self.function }
    }

    /// Without what nothing uses, parameters too; casts stay where shape variables come from them.
    fn swept(mut self) -> Flat {
        loop {
            let mut used = Used::default();
            used.visit_expr(&self.result);
            self.bindings.iter().for_each(|(_, binding)| used.binding(binding));
            self.function
                .params
                .iter()
                .filter_map(|p| p.annotation.as_ref())
                .for_each(|info| used.visit_struct_info(info));
            let before = self.bindings.len();
            self.bindings.retain(|(_, binding)| {
                let own = binding.binder().is_some_and(|binder| used.vars.contains(&binder.var));
                let dims = match binding {
                    Binding::MatchCast(cast) => dims_in(&cast.struct_info).iter().any(|dim| used.dims.contains(dim)),
                    Binding::VarBinding(_) => false,
                };
                own || dims
            });
            if self.bindings.len() == before {
                let needed = needed_dims(&self);
                self.function.params.retain(|param| {
                    used.vars.contains(&param.var)
                        || param
                            .annotation
                            .as_ref()
                            .is_some_and(|info| dims_in(info).iter().any(|dim| needed.contains(dim)))
                });
                return self;
            }
        }
    }
}

/// The shape variables that are used other than by the annotations of parameters that nothing uses.
fn needed_dims(flat: &Flat) -> BTreeSet<ShapeVar> {
    let mut used = Used::default();
    used.visit_expr(&flat.result);
    flat.bindings.iter().for_each(|(_, binding)| used.binding(binding));
    for param in &flat.function.params {
        if used.vars.contains(&param.var)
            && let Some(info) = &param.annotation
        {
            used.dims.extend(dims_in(info));
        }
    }
    used.dims
}

#[derive(Default)]
struct Used {
    vars: BTreeSet<Var>,
    dims: BTreeSet<ShapeVar>,
}

impl Used {
    fn binding(&mut self, binding: &Binding) {
        match binding {
            Binding::VarBinding(binding) => {
                self.visit_expr(&binding.value);
                binding.var.annotation.iter().for_each(|info| self.visit_struct_info(info));
            }
            Binding::MatchCast(cast) => self.visit_expr(&cast.value),
        }
    }
}

impl Visitor for Used {
    fn visit_var(&mut self, var: &Var, _: VarKind) {
        self.vars.insert(var.clone());
    }

    fn visit_shape_var(&mut self, var: &ShapeVar) {
        self.dims.insert(var.clone());
    }
}

fn dims_in(info: &StructInfo) -> BTreeSet<ShapeVar> {
    let mut used = Used::default();
    used.visit_struct_info(info);
    used.dims
}

/// Programs with the same bindings of which more makes a program when others are left out: with no more functions than are called,
/// without `DataflowBlock`s, with the bindings of nested sequences outside of them, and without variables of sizes.
pub(super) fn plainer(
    edition: Edition,
    module: &IrModule,
    entry: &str,
    sizes: &BTreeMap<ShapeVar, i64>,
) -> Vec<IrModule> {
    let Some(function) = function(module, entry) else { return Vec::new() };
    let mut found = vec![replaced(edition, module, entry, function.clone())];
    if let Some(flat) = Flat::of(function) {
        if flat.bindings.iter().any(|(kind, _)| *kind == BlockKind::Dataflow) {
            found.push(replaced(edition, module, entry, ordinary(flat.clone()).function()));
        }
        found.extend(hoisted(flat).map(|flat| replaced(edition, module, entry, flat.function())));
    }
    if !sizes.is_empty() && has_dims(module) {
        found.push(fixed(module, sizes));
    }
    found.retain(|plainer| plainer != module);
    found
}

/// The bindings of nested sequences outside of them, where no `DataflowBlock` is around them.
fn hoisted(flat: Flat) -> Option<Flat> {
    let mut found = false;
    let mut bindings = Vec::new();
    for (kind, binding) in flat.bindings {
        if let Binding::VarBinding(VarBinding { var, value: Expr::SeqExpr(seq), span }) = &binding
            && kind == BlockKind::Binding
        {
            found = true;
            bindings.extend(seq.blocks.iter().flat_map(|b| b.bindings.iter().map(|inner| (b.kind, inner.clone()))));
            let own = VarBinding { var: var.clone(), value: seq.body.clone(), span: *span };
            bindings.push((kind, Binding::VarBinding(own)));
        } else {
            bindings.push((kind, binding));
        }
    }
    found.then_some(Flat { bindings, ..flat })
}

/// Programs that are smaller, and have the entry point still; whether they are well-formed is seen when they are checked.
pub fn candidates(edition: Edition, module: &IrModule, entry: &str, sizes: &BTreeMap<ShapeVar, i64>) -> Vec<IrModule> {
    let Some(function) = function(module, entry) else { return Vec::new() };
    let Some(flat) = Flat::of(function) else { return Vec::new() };
    let report = check_program(&mut Cx::new().with_edition(edition), module);
    let with = |flat: Flat| replaced(edition, module, entry, flat.function());
    let swept = |flat: Flat| with(flat.swept());
    let mut found: Vec<IrModule> = Vec::new();
    found.extend(fewer_results(&flat).into_iter().map(swept));
    found.extend(other_entries(edition, module, entry, function));
    found.extend(plainer(edition, module, entry, sizes));
    // Without the parameters that nothing uses.
    found.push(swept(flat.clone()));
    // The second half on the values that the first has made; the other halves are left out binding by binding or all at once elsewhere.
    if flat.bindings.len() > FEW {
        found.extend(suffix(&flat, flat.bindings.len() / 2, &report.derived).map(swept));
    }
    found.extend(earlier_results(&flat).map(swept));
    // A value as a parameter, so that what makes it is not needed.
    for (at, (_, binding)) in flat.bindings.iter().enumerate().rev() {
        found.extend(cut(&flat, at, binding, &report.derived).map(swept));
    }
    for at in (0..flat.bindings.len()).rev() {
        let mut less = flat.clone();
        less.bindings.remove(at);
        found.push(with(less));
    }
    found.extend(branches(&flat).into_iter().map(swept));
    smaller(found, module, entry, flat.bindings.len())
}

/// One of the results, or half of them.
fn fewer_results(flat: &Flat) -> Vec<Flat> {
    let with = |result: Expr| Flat { result, ..flat.clone() };
    if let Expr::Tuple(tuple) = &flat.result
        && tuple.fields.len() > 1
    {
        let halves = tuple.fields.split_at(tuple.fields.len() / 2);
        let of_half = |half: &[Expr]| match half {
            [one] => one.clone(),
            several => Expr::tuple(several.to_vec()),
        };
        vec![with(of_half(halves.0)), with(of_half(halves.1))]
    } else if let Expr::Tuple(tuple) = &flat.result
        && let [one] = tuple.fields.as_slice()
    {
        vec![with(one.clone())]
    } else {
        Vec::new()
    }
}

/// Another function in the place of the entry point.
fn other_entries(edition: Edition, module: &IrModule, entry: &str, function: &Function) -> Vec<IrModule> {
    let mut found = Vec::new();
    for (gv, func) in &module.funcs {
        if let GlobalFunc::Function(other) = func
            && *gv.name != *entry
        {
            let other = Function { attrs: function.attrs.clone(), ..(**other).clone() };
            found.push(replaced(edition, module, entry, other));
        }
    }
    found
}

/// One of the values on the way to the result in its place.
fn earlier_results(flat: &Flat) -> impl Iterator<Item = Flat> {
    let binders = flat.bindings.iter().filter_map(|(_, binding)| binding.binder());
    let others = binders.filter(|binder| binder.kind == VarKind::Var && binder.to_expr() != flat.result);
    others.map(|binder| Flat { result: binder.to_expr(), ..flat.clone() })
}

/// A branch for the If.
fn branches(flat: &Flat) -> Vec<Flat> {
    let mut found = Vec::new();
    for (at, (kind, binding)) in flat.bindings.iter().enumerate() {
        if let Binding::VarBinding(binding) = binding
            && let Expr::If(choice) = &binding.value
        {
            for branch in [&choice.true_branch, &choice.false_branch] {
                found.extend(inlined(flat, at, *kind, &binding.var, branch));
            }
        }
    }
    found
}

/// Those that are smaller than the program itself, which has so many bindings.
fn smaller(mut found: Vec<IrModule>, module: &IrModule, entry: &str, count: usize) -> Vec<IrModule> {
    let size = |module: &IrModule| bindings(module) * 100 + module.funcs.len() * 10 + params(module, entry);
    let now = (size(module), open_dims(module), dataflow(module));
    found.retain(|smaller| (size(smaller), open_dims(smaller), dataflow(smaller)) < now);
    if count > FEW {
        // Halves first, whatever is smaller, for that takes few questions.
        found.truncate(MANY);
    } else {
        found.sort_by_key(|module| (size(module), open_dims(module)));
    }
    found.dedup();
    found
}

/// How many bindings are looked at one by one, and how many candidates there are for more of them.
pub(super) const FEW: usize = 6;
const MANY: usize = 32;

/// The last bindings, with parameters in the place of the values that others have made.
fn suffix(flat: &Flat, at: usize, derived: &DeriveReport) -> Option<Flat> {
    let mut flat = flat.clone();
    let mut used = Used::default();
    used.visit_expr(&flat.result);
    flat.bindings.get(at..)?.iter().for_each(|(_, binding)| used.binding(binding));
    for n in (0..at).rev() {
        let (_, binding) = flat.bindings.get(n)?;
        if !binding.binder().is_some_and(|binder| used.vars.contains(&binder.var)) {
            flat.bindings.remove(n);
        } else if let Some(less) = cut(&flat, n, &binding.clone(), derived) {
            flat = less;
        } else {
            used.binding(&binding.clone());
        }
    }
    Some(flat)
}

/// The program that ends with one of the variables of the function as its result, and before what is bound after it; none if the
/// function binds no such variable outside of branches.
pub(super) fn returning(module: &IrModule, entry: &str, var: &Var) -> Option<IrModule> {
    let mut flat = Flat::of(function(module, entry)?)?;
    let binds = |binding: &Binding| binding.binder().is_some_and(|binder| binder.var == *var);
    let at = flat.bindings.iter().position(|(_, binding)| binds(binding))?;
    flat.bindings.truncate(at + 1);
    flat.result = flat.bindings.last()?.1.binder()?.to_expr();
    let ending = Function { ret_struct_info: None, ..flat.function() };
    let mut module = module.clone();
    let (_, func) = module.funcs.iter_mut().find(|(gv, _)| *gv.name == *entry)?;
    *func = GlobalFunc::Function(Arc::new(ending));
    Some(module)
}

pub(super) fn function<'m>(module: &'m IrModule, entry: &str) -> Option<&'m Function> {
    match module.get(entry)? {
        GlobalFunc::Function(function) => Some(function),
        GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => None,
    }
}

fn params(module: &IrModule, entry: &str) -> usize {
    function(module, entry).map_or(0, |function| function.params.len())
}

/// The module with another body of the function, a result as it is derived, and without functions that nothing mentions.
fn replaced(edition: Edition, module: &IrModule, entry: &str, function: Function) -> IrModule {
    let open = Function { ret_struct_info: None, attrs: linked(&function.attrs), ..function };
    let put = |function: Function| {
        let mut module = module.clone();
        for (gv, func) in &mut module.funcs {
            if *gv.name == *entry {
                *func = GlobalFunc::Function(Arc::new(function.clone()));
            }
        }
        mentioned(module, entry)
    };
    let module = put(open.clone());
    let report = check_program(&mut Cx::new().with_edition(edition), &module);
    let ret = report.derived.info_of_function(entry).and_then(|info| info.as_func()).map(|func| func.ret.clone());
    put(Function { ret_struct_info: ret, ..open })
}

fn linked(attrs: &Attrs) -> Attrs {
    attrs
        .iter()
        .filter(|(name, _)| &***name == "global_symbol")
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Only the functions that the entry point comes to.
fn mentioned(module: IrModule, entry: &str) -> IrModule {
    struct GlobalMentions(BTreeSet<String>);
    impl Visitor for GlobalMentions {
        fn visit_global_var(&mut self, gv: &GlobalVar) {
            self.0.insert(gv.name.to_string());
        }
    }
    let mut known: BTreeSet<String> = BTreeSet::from([entry.to_string()]);
    loop {
        let mut names = GlobalMentions(known.clone());
        for (gv, func) in &module.funcs {
            if let GlobalFunc::Function(function) = func
                && known.contains(&*gv.name)
            {
                walk_function(&mut names, function);
            }
        }
        if names.0 == known {
            break;
        }
        known = names.0;
    }
    let funcs = module.funcs.into_iter().filter(|(gv, _)| known.contains(&*gv.name)).collect();
    IrModule { funcs, version: module.version, attrs: module.attrs, global_infos: module.global_infos }
}

/// The function with a parameter in the place of a binding.
fn cut(flat: &Flat, at: usize, binding: &Binding, derived: &DeriveReport) -> Option<Flat> {
    let Binding::VarBinding(VarBinding { var, value, .. }) = binding else { return None };
    if matches!(value, Expr::Constant(_) | Expr::Function(_) | Expr::Var(_)) || var.kind != VarKind::Var {
        return None;
    }
    let info = derived.info_of_var(&var.var)?.clone();
    let visible: BTreeSet<ShapeVar> =
        flat.function.params.iter().filter_map(|p| p.annotation.as_ref()).flat_map(dims_in).collect();
    if !is_data(&info) || !dims_in(&info).is_subset(&visible) {
        return None;
    }
    let mut flat = flat.clone();
    flat.bindings.remove(at);
    flat.function.params.push(Binder::var(var.var.clone()).annotated(info));
    Some(flat)
}

/// Whether arguments of which that is known can be made: tensors, and tuples of them.
fn is_data(info: &StructInfo) -> bool {
    match info {
        StructInfo::Tensor(tensor) => matches!(tensor.shape, Some(TensorShape::Dims(_))),
        StructInfo::Tuple(fields) => fields.iter().all(is_data),
        StructInfo::Object | StructInfo::Shape(_) | StructInfo::Prim(_) | StructInfo::Func(_) => false,
    }
}

/// The function with the bindings of a branch in the place of the If.
fn inlined(flat: &Flat, at: usize, kind: BlockKind, var: &Binder, branch: &Expr) -> Option<Flat> {
    let mut flat = flat.clone();
    flat.bindings.remove(at);
    let (inner, value) = match branch {
        Expr::SeqExpr(seq) => {
            let inner = seq.blocks.iter().flat_map(|b| b.bindings.iter().map(|binding| (b.kind, binding.clone())));
            (inner.collect(), seq.body.clone())
        }
        other => (Vec::new(), other.clone()),
    };
    let own = Binder { annotation: None, ..var.clone() };
    let bound = Binding::VarBinding(VarBinding { var: own, value, span: relax_spec::grammar::Span::NONE });
    let inner: Vec<(BlockKind, Binding)> = inner;
    flat.bindings.splice(at..at, inner.into_iter().chain([(kind, bound)]));
    Some(flat)
}

/// The same without `DataflowBlock`s.
fn ordinary(mut flat: Flat) -> Flat {
    for (kind, binding) in &mut flat.bindings {
        *kind = BlockKind::Binding;
        if let Binding::VarBinding(VarBinding { var, .. }) = binding {
            var.kind = VarKind::Var;
        }
        if let Binding::MatchCast(cast) = binding
            && let Some(var) = &mut cast.var
        {
            var.kind = VarKind::Var;
        }
    }
    let module = Function { body: Expr::tuple(Vec::new()), ..flat.function.clone() };
    let rewritten = flat.bindings.iter().map(|(kind, binding)| (*kind, of_binding(binding))).collect();
    Flat { function: module, bindings: rewritten, result: as_var(&flat.result) }
}

fn of_binding(binding: &Binding) -> Binding {
    match binding {
        Binding::VarBinding(own) => Binding::VarBinding(VarBinding { value: as_var(&own.value), ..own.clone() }),
        Binding::MatchCast(own) => {
            let mut own = own.clone();
            own.value = as_var(&own.value);
            Binding::MatchCast(own)
        }
    }
}

/// The variables of an expression in normal form as ordinary ones.
fn as_var(expr: &Expr) -> Expr {
    match expr {
        Expr::DataflowVar(var) => Expr::Var(var.clone()),
        Expr::Tuple(tuple) => Expr::tuple(tuple.fields.iter().map(as_var).collect()),
        Expr::TupleGetItem(get) => Expr::tuple_get_item(as_var(&get.tuple_value), get.index),
        Expr::Call(call) => {
            let mut call = (**call).clone();
            call.args = call.args.iter().map(as_var).collect();
            call.op = as_var(&call.op);
            Expr::Call(Arc::new(call))
        }
        Expr::Constant(_)
        | Expr::Var(_)
        | Expr::GlobalVar(_)
        | Expr::SeqExpr(_)
        | Expr::PrimValue(_)
        | Expr::StringImm(_)
        | Expr::DataTypeImm(_)
        | Expr::Function(_)
        | Expr::If(_)
        | Expr::ExternFunc(_)
        | Expr::ShapeExpr(_)
        | Expr::Op(_) => expr.clone(),
    }
}

fn dataflow(module: &IrModule) -> usize {
    struct DataflowBlockCount(usize);
    impl Visitor for DataflowBlockCount {
        fn visit_dataflow_block(&mut self, block: &BindingBlock) {
            self.0 += 1;
            self.visit_binding_block(block);
        }
    }
    let mut blocks = DataflowBlockCount(0);
    walk_module(&mut blocks, module);
    blocks.0
}

fn open_dims(module: &IrModule) -> usize {
    struct OpenDims(BTreeSet<ShapeVar>);
    impl Visitor for OpenDims {
        fn visit_shape_var(&mut self, var: &ShapeVar) {
            self.0.insert(var.clone());
        }
        fn visit_struct_info(&mut self, info: &StructInfo) {
            walk_struct_info(self, info);
        }
    }
    let mut dims = OpenDims(BTreeSet::new());
    for (_, func) in &module.funcs {
        if let GlobalFunc::Function(function) = func {
            walk_function(&mut dims, function);
        }
    }
    dims.0.len()
}

fn has_dims(module: &IrModule) -> bool {
    open_dims(module) > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use relax_spec::grammar::{DataType, TensorData};
    use relax_spec::syntax::tvmscript::parse_module;

    fn traits(body: &str) -> BTreeSet<Trait> {
        let text = format!("@R.function\ndef main(x: R.Tensor((2,), \"float32\"), c: R.Tensor((), \"bool\")):\n{body}");
        held(&parse_module(&text).unwrap(), None)
    }

    #[test]
    fn bodies_and_branches_are_not_nested() {
        let choice =
            "    if c:\n        a = R.add(x, x)\n        y = R.add(a, a)\n    else:\n        y = x\n    return y\n";
        assert_eq!(traits(choice), BTreeSet::new());
        let local = "    @R.function\n    def f(z: R.Tensor((2,), \"float32\")):\n        w = R.add(z, z)\n        return w\n    y = f(x)\n    return y\n";
        assert_eq!(traits(local), BTreeSet::new());
        let operand = "    with R.SeqExpr():\n        a = R.add(x, R.const(1.0, \"float32\"))\n        b = a\n    y = R.add(b, R.prim_value(T.float32(1)))\n    return y\n";
        assert_eq!(traits(operand), BTreeSet::from([Trait::Constant, Trait::Scalar, Trait::Nested]));
    }

    #[test]
    fn an_input_may_hold_what_is_no_number() {
        let text = "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    return x\n";
        let module = parse_module(text).unwrap();
        let on = |value: f64| {
            let data = TensorData::from_values(DataType::FLOAT32, &[2], &[1.0, value]).unwrap();
            held(&module, Some(&[ValueSpec::Tensor(data)]))
        };
        assert_eq!((on(2.0), on(f64::NAN)), (BTreeSet::new(), BTreeSet::from([Trait::Nan])));
    }
}
