//! Short constructors for the programs of unit tests.

use crate::grammar::*;

pub const F32: DataType = DataType::FLOAT32;

pub fn v(name: &str) -> Binder {
    Binder::var(Var::new(name))
}

pub fn d(name: &str) -> Binder {
    Binder::dataflow(Var::new(name))
}

pub fn x(name: &str) -> Expr {
    Expr::var(name)
}

pub fn dx(name: &str) -> Expr {
    Expr::DataflowVar(Var::new(name))
}

pub fn n(name: &str) -> PrimExpr {
    PrimExpr::var(name)
}

pub fn twice(name: &str) -> PrimExpr {
    PrimExpr::binary(BinaryOp::Mul, PrimExpr::IntImm(2), n(name))
}

pub fn tensor(dims: impl IntoIterator<Item = PrimExpr>) -> StructInfo {
    StructInfo::tensor(dims, F32)
}

pub fn bind(var: Binder, value: Expr) -> Binding {
    Binding::VarBinding(VarBinding { var, value, span: Span::NONE })
}

pub fn cast(var: Option<Binder>, value: Expr, struct_info: StructInfo) -> Binding {
    Binding::MatchCast(Box::new(MatchCast { var, struct_info, value, span: Span::NONE }))
}

pub fn bb(bindings: impl IntoIterator<Item = Binding>) -> BindingBlock {
    BindingBlock { kind: BlockKind::Binding, bindings: bindings.into_iter().collect(), span: Span::NONE }
}

pub fn df(bindings: impl IntoIterator<Item = Binding>) -> BindingBlock {
    BindingBlock { kind: BlockKind::Dataflow, ..bb(bindings) }
}

pub fn op(name: &str, args: impl IntoIterator<Item = Expr>) -> Expr {
    Expr::call(Expr::op(name), args.into_iter().collect())
}

pub fn branch(cond: Expr, true_branch: Expr, false_branch: Expr) -> Expr {
    Expr::If(If { cond, true_branch, false_branch, span: Span::NONE }.into())
}

pub fn gv(name: &str) -> Expr {
    Expr::GlobalVar(GlobalVar::new(name))
}

pub fn func(params: impl IntoIterator<Item = Binder>, body: Expr) -> Function {
    let params = params.into_iter().collect();
    Function { params, body, ret_struct_info: None, pure: None, attrs: Attrs::new(), span: Span::NONE }
}

pub fn lambda(params: impl IntoIterator<Item = Binder>, body: Expr) -> Expr {
    Expr::Function(func(params, body).into())
}

pub fn returns(mut function: Function, info: StructInfo) -> Function {
    function.ret_struct_info = Some(info);
    function
}

pub fn module(funcs: impl IntoIterator<Item = (&'static str, Function)>) -> IrModule {
    let mut funcs: Vec<_> = funcs.into_iter().collect();
    if let Some((name, main)) = funcs.first_mut() {
        main.attrs.insert("global_symbol".into(), AttrValue::Str((*name).into()));
    }
    let funcs = funcs.into_iter().map(|(name, f)| (GlobalVar::new(name), GlobalFunc::Function(f.into()))).collect();
    IrModule { funcs, ..IrModule::default() }
}

/// A module with the function `f(p: Tensor([n]))` that has these blocks and this body.
pub fn program(blocks: impl IntoIterator<Item = BindingBlock>, body: Expr) -> IrModule {
    let body = Expr::seq(blocks.into_iter().collect(), body);
    module([("f", func([v("p").annotated(tensor([n("n")]))], body))])
}
