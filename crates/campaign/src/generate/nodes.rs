//! Nodes of programs for the generators: without source positions, and with nothing optional unless given.

use std::sync::Arc;

use relax_spec::grammar::{
    AttrValue, Attrs, Binder, Binding, BindingBlock, BlockKind, Call, DataType, Expr, FuncStructInfo, Function,
    GlobalFunc, GlobalVar, If, MatchCast, PrimExpr, PrimStructInfo, PrimValue, ShapeVar, Span, StringImm, StructInfo,
    TensorData, TensorShape, VarBinding,
};

pub(crate) const F32: DataType = DataType::FLOAT32;

pub(crate) fn bind(var: &Binder, value: Expr) -> Binding {
    Binding::VarBinding(VarBinding { var: var.clone(), value, span: Span::NONE })
}

pub(crate) fn cast(var: Option<Binder>, value: Expr, struct_info: StructInfo) -> Binding {
    Binding::MatchCast(Box::new(MatchCast { var, struct_info, value, span: Span::NONE }))
}

pub(crate) fn block(kind: BlockKind, bindings: Vec<Binding>) -> BindingBlock {
    BindingBlock { kind, bindings, span: Span::NONE }
}

/// A body after an ordinary block with these bindings; the body alone if there are none.
pub(crate) fn sequence(bindings: Vec<Binding>, body: Expr) -> Expr {
    let blocks = if bindings.is_empty() { Vec::new() } else { vec![block(BlockKind::Binding, bindings)] };
    Expr::seq(blocks, body)
}

pub(crate) fn function(params: Vec<Binder>, body: Expr, ret: StructInfo, pure: bool) -> Function {
    let (ret_struct_info, pure) = (Some(ret), Some(pure));
    Function { params, body, ret_struct_info, pure, attrs: Attrs::new(), span: Span::NONE }
}

pub(crate) fn global(name: &str, function: Function) -> (GlobalVar, GlobalFunc) {
    (GlobalVar::new(name), GlobalFunc::Function(Arc::new(function)))
}

pub(crate) fn global_var(name: &str) -> Expr {
    Expr::GlobalVar(GlobalVar::new(name))
}

pub(crate) fn branch(cond: Expr, true_branch: Expr, false_branch: Expr) -> Expr {
    Expr::If(Arc::new(If { cond, true_branch, false_branch, span: Span::NONE }))
}

pub(crate) fn call_with(op: Expr, args: Vec<Expr>, sinfo_args: Vec<StructInfo>, attrs: Attrs) -> Expr {
    Expr::Call(Arc::new(Call { op, args, sinfo_args, attrs, span: Span::NONE }))
}

/// The call of a packed function, which may have side effects.
pub(crate) fn packed(name: &str, args: Vec<Expr>, said: Vec<StructInfo>) -> Expr {
    call_with(Expr::extern_func(name), args, said, Attrs::new())
}

/// The call of a packed function as a pure function.
pub(crate) fn pure_packed(name: &str, args: Vec<Expr>, said: StructInfo) -> Expr {
    let args = std::iter::once(Expr::extern_func(name)).chain(args).collect();
    call_with(Expr::op("relax.call_pure_packed"), args, vec![said], Attrs::new())
}

pub(crate) fn text(value: &str) -> Expr {
    Expr::StringImm(StringImm { value: value.into(), span: Span::NONE })
}

/// A tensor of numbers that its data type can hold.
pub(crate) fn constant(dtype: DataType, sizes: &[u64], values: &[f64]) -> Option<Expr> {
    TensorData::from_values(dtype, sizes, values).ok().map(Expr::constant)
}

/// A Boolean scalar.
pub(crate) fn truth(value: bool) -> Option<Expr> {
    constant(DataType::BOOL, &[], &[f64::from(u8::from(value))])
}

/// The structural information of a condition.
pub(crate) fn truths() -> StructInfo {
    StructInfo::tensor([], DataType::BOOL)
}

/// A boxed scalar, and its structural information.
pub(crate) fn boxed(dtype: DataType, value: PrimExpr) -> (Expr, StructInfo) {
    let info = StructInfo::Prim(PrimStructInfo { dtype, value: Some(value.clone()) });
    (Expr::PrimValue(PrimValue { value, dtype, float: None, span: Span::NONE }), info)
}

/// The attributes of a function that can be started from outside.
pub(crate) fn linked(name: &str) -> Attrs {
    Attrs::from([("global_symbol".into(), AttrValue::Str(name.into()))])
}

pub(crate) fn is_linked(func: &GlobalFunc) -> bool {
    matches!(func, GlobalFunc::Function(function) if function.attrs.contains_key("global_symbol"))
}

/// The same function type with another purity.
pub(crate) fn with_purity(info: &StructInfo, pure: Option<bool>) -> StructInfo {
    match info.as_func() {
        Some(func) => StructInfo::Func(Arc::new(FuncStructInfo { pure, ..(**func).clone() })),
        None => info.clone(),
    }
}

/// The dimensions of a tensor or a shape.
pub(crate) fn dims_of(info: &StructInfo) -> Option<&[PrimExpr]> {
    match info {
        StructInfo::Tensor(tensor) => tensor.shape.as_ref().and_then(TensorShape::as_dims).map(|dims| &**dims),
        StructInfo::Shape(shape) => shape.values.as_deref(),
        StructInfo::Object | StructInfo::Prim(_) | StructInfo::Tuple(_) | StructInfo::Func(_) => None,
    }
}

/// Whether all variables of a dimension are among these.
pub(crate) fn is_over(dim: &PrimExpr, vars: &[ShapeVar]) -> bool {
    let mut all = true;
    dim.for_each_var(|var| all &= vars.contains(var));
    all
}

pub(crate) fn dtype_of(info: &StructInfo) -> Option<DataType> {
    info.as_tensor().map(|tensor| tensor.dtype)
}

/// Whether there is a function in it.
pub(crate) fn holds_function(info: &StructInfo) -> bool {
    matches!(info, StructInfo::Func(_))
        || matches!(info, StructInfo::Tuple(fields) if fields.iter().any(holds_function))
}

pub(crate) fn is_closure(info: &StructInfo) -> bool {
    info.as_func().is_some_and(|func| func.params.is_some())
}
