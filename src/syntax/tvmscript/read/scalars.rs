//! Scalars of 0.27: `n: T.int64` is one variable for expressions and dimensions. Here it becomes two variables, and the
//! second is the value of the first: `n: R.Prim(value=n)`.

use ruff_python_ast as py;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};

use super::ModuleReader;
use super::fault::{ReadFault, ReadResult, integer, members, relax_name, tir_name};
use super::signature::{PythonParam, signature};
use crate::grammar::{
    Binder, Binding, DataType, Expr, MatchCast, PrimExpr, PrimStructInfo, Span, StructInfo, Var, VarBinding, VarKind,
};

/// The datatype of `T.int64` as an annotation.
pub(super) fn scalar_type(annotation: &py::Expr) -> Option<DataType> {
    match annotation {
        py::Expr::Attribute(_) => tir_name(annotation)?.parse().ok(),
        _ => None,
    }
}

impl ModuleReader<'_> {
    /// The annotation of a scalar: its datatype, and its value if the function uses it as a dimension.
    pub(super) fn scalar_info(&mut self, name: &str, dtype: DataType, span: Span) -> ReadResult<StructInfo> {
        if !self.dim_names.contains(name) && self.scope.dim(name).is_none() {
            return Ok(StructInfo::prim(dtype));
        }
        if dtype != DataType::INT64 {
            // It may be used in arithmetic. As a dimension it is reported where it is used.
            return Ok(StructInfo::prim(dtype));
        }
        let value = PrimExpr::Var(self.scope.declare_dim(name, span));
        Ok(StructInfo::Prim(PrimStructInfo { dtype, value: Some(value) }))
    }

    /// Records the kind of a variable that `scalar_info` annotates.
    pub(super) fn note_scalar(&mut self, var: &Var, info: &StructInfo) {
        let is_dim = matches!(info, StructInfo::Prim(PrimStructInfo { value: Some(_), .. }));
        self.scalars.insert(var.clone(), is_dim);
    }

    /// `a: T.int64 = n + 1`. If it is used as a dimension, matching the value binds the dimension too.
    pub(super) fn bind_scalar(
        &mut self,
        var: Var,
        dtype: DataType,
        kind: VarKind,
        value: Expr,
        span: Span,
    ) -> ReadResult<Binding> {
        let info = if self.dim_names.contains(&*var.name) && dtype == DataType::INT64 {
            let dim = self.scope.fresh_dim(&var.name, span);
            StructInfo::Prim(PrimStructInfo { dtype, value: Some(PrimExpr::Var(dim)) })
        } else {
            StructInfo::prim(dtype)
        };
        self.note_scalar(&var, &info);
        self.bring(&var, kind, false);
        Ok(match &info {
            StructInfo::Prim(PrimStructInfo { value: Some(_), .. }) => {
                let var = Some(Binder { var, kind, annotation: None });
                Binding::MatchCast(Box::new(MatchCast { var, struct_info: info, value, span }))
            }
            _ => {
                let var = Binder { var, kind, annotation: Some(info) };
                Binding::VarBinding(VarBinding { var, value, span })
            }
        })
    }

    /// Whether a name in scope is a scalar that is also a dimension.
    pub(super) fn is_scalar_dim(&self, name: &str) -> bool {
        self.scope.var(name).is_some_and(|(var, _)| self.scalars.get(&var) == Some(&true))
    }

    /// A name is one variable: a scalar in scope cannot be a different variable in a dimension.
    pub(super) fn not_another_scalar(&self, name: &str, span: Span) -> ReadResult<()> {
        match self.scope.var(name) {
            Some((var, _)) if self.scalars.get(&var) == Some(&false) => {
                let message = format!("`{name}` is a variable here, and cannot be another one in a dimension");
                Err(ReadFault::at(span, message))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// The names in places where only dimensions can be: in shapes, and beside operators.
pub(super) fn dim_names(def: &py::StmtFunctionDef) -> rustc_hash::FxHashSet<String> {
    let mut names = ScalarNames { inside: false, found: Default::default() };
    for parameter in def.parameters.iter_non_variadic_params() {
        if let Some(annotation) = &parameter.parameter.annotation {
            names.visit_expr(annotation);
        }
    }
    if let Some(returns) = &def.returns {
        names.visit_expr(returns);
    }
    for statement in &def.body {
        crate::judge::with_stack(|| names.visit_stmt(statement));
    }
    names.found
}

struct ScalarNames {
    /// Whether the position is inside a shape or an operator.
    inside: bool,
    found: rustc_hash::FxHashSet<String>,
}

impl<'a> Visitor<'a> for ScalarNames {
    fn visit_stmt(&mut self, statement: &'a py::Stmt) {
        crate::judge::with_stack(|| walk_stmt(self, statement));
    }

    fn visit_expr(&mut self, e: &'a py::Expr) {
        if let (py::Expr::Name(name), true) = (e, self.inside) {
            self.found.insert(name.id.to_string());
        }
        let outer = self.inside;
        self.inside |= is_arithmetic(e);
        crate::judge::with_stack(|| match e {
            py::Expr::Call(call) => self.call(call),
            e => walk_expr(self, e),
        });
        self.inside = outer;
    }
}

impl ScalarNames {
    /// Visits each argument once, as a shape or not.
    fn call(&mut self, call: &py::ExprCall) {
        self.visit_expr(&call.func);
        let (around, shapes) = (self.inside, shapes_among(call));
        for argument in call.arguments.iter_source_order() {
            let value = argument.value();
            self.inside = around || shapes.iter().any(|shape| std::ptr::eq(*shape, value));
            self.visit_expr(value);
        }
        self.inside = around;
    }
}

/// The tuples and lists that are shapes because of their position: `R.reshape(x, (n,))`.
fn shapes_among(call: &py::ExprCall) -> Vec<&py::Expr> {
    let Some(op) = relax_name(&call.func) else { return Vec::new() };
    let at = |i: usize, param: PythonParam| match param {
        PythonParam::Shape(name) => call.arguments.find_argument_value(name, i),
        PythonParam::Input(_) | PythonParam::Flag(..) | PythonParam::Dtype(_) | PythonParam::Attr(_) => None,
    };
    let found = signature(&op).enumerate().filter_map(|(i, param)| at(i, param)).collect::<Vec<_>>();
    found.into_iter().filter(|e| members(e).is_some()).collect()
}

fn is_arithmetic(e: &py::Expr) -> bool {
    match e {
        py::Expr::BinOp(_) | py::Expr::UnaryOp(_) | py::Expr::Compare(_) | py::Expr::BoolOp(_) => true,
        py::Expr::Tuple(_) | py::Expr::List(_) => {
            members(e).is_some_and(|members| members.iter().any(|member| integer(member).is_some()))
        }
        py::Expr::Call(call) => match relax_name(&call.func).as_deref() {
            Some("Tensor" | "Shape" | "shape" | "ShapeExpr" | "Prim" | "prim_value") => true,
            Some(_) => false,
            None => tir_name(&call.func).is_some(),
        },
        _ => false,
    }
}
