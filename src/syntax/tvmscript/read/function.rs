//! Function definitions.

use ruff_python_ast as py;

use super::ModuleReader;
use super::block::Placement;
use super::dims::Unbound;
use super::fault::{ReadFault, ReadResult, qualified, relax_name, span_of};
use super::scalars;
use crate::grammar::visit::{Visitor, walk_function};
use crate::grammar::{AttrValue, Attrs, Binder, Binding, Expr, Function, Name, StructInfo, Var, VarBinding, VarKind};

/// The contents of the decorator.
pub(super) struct Decoration {
    pub kind: Decorator,
    private: bool,
    pure: Option<bool>,
    /// Whether it states no purity, not even `None`.
    silent: bool,
    /// The annotation of the variable of a local function.
    annotation: Option<StructInfo>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Decorator {
    Relax,
    PrimFunc,
}

/// The annotation of a local function's variable, which is the function's signature. Without a stated result the
/// signature would be `R.Object`, which the text does not contain. So the information derived from the body counts
/// instead (SI.DERIVE.FUNC.RESULT.NOANNOT). Only a recursive function needs a result before its body is known, and gets
/// that of TVM.
pub(in crate::syntax::tvmscript) fn implied_annotation(var: &Var, function: &Function) -> Option<StructInfo> {
    (function.ret_struct_info.is_some() || mentions(function, var)).then(|| function.signature())
}

/// Whether a function's body uses a variable.
fn mentions(function: &Function, var: &Var) -> bool {
    struct Uses<'v>(&'v Var, bool);
    impl Visitor for Uses<'_> {
        fn visit_var(&mut self, var: &Var, _: VarKind) {
            self.1 |= var == self.0;
        }
    }
    let mut uses = Uses(var, false);
    walk_function(&mut uses, function);
    uses.1
}

impl ModuleReader<'_> {
    pub(super) fn decoration(&mut self, def: &py::StmtFunctionDef) -> ReadResult<Decoration> {
        let unknown = || ReadFault::new(&def.name, "expected the decorator @R.function or @T.prim_func");
        let decorator = def.decorator_list.last().ok_or_else(unknown)?;
        let (name, keywords) = match &decorator.expression {
            py::Expr::Call(call) => (qualified(&call.func), &call.arguments.keywords[..]),
            other => (qualified(other), &[][..]),
        };
        let kind = match name.as_ref().map(|(_, name)| &**name) {
            Some("function") => Decorator::Relax,
            Some("func") => {
                self.by(rule!("AST22.SYN.F32"), span_of(decorator));
                Decorator::Relax
            }
            Some("prim_func" | "func.prim_func") => Decorator::PrimFunc,
            Some(_) | None => return Err(unknown()),
        };
        match kind {
            Decorator::Relax => self.by(rule!("R89.SYN.FUNC"), span_of(decorator)),
            Decorator::PrimFunc => self.by(rule!("R89.SYN.PRIMFUNC"), span_of(decorator)),
        }
        let mut decoration = Decoration { kind, private: false, pure: None, silent: true, annotation: None };
        for before in def.decorator_list.iter().rev().skip(1) {
            decoration.annotation = Some(self.annotation_of(before)?);
        }
        for keyword in keywords {
            let value = |reader: &ModuleReader<'_>| reader.optional_bool(&keyword.value);
            match (kind, keyword.arg.as_ref().map(|arg| arg.as_str())) {
                (Decorator::PrimFunc, _) => {}
                (Decorator::Relax, Some("private")) => decoration.private = value(self)?.unwrap_or(false),
                (Decorator::Relax, Some("pure")) => {
                    decoration.pure = value(self)?;
                    decoration.silent = false;
                }
                (Decorator::Relax, Some("check_well_formed")) => {}
                (Decorator::Relax, _) => return Err(ReadFault::new(keyword, "expected `pure=..` or `private=..`")),
            }
        }
        Ok(decoration)
    }

    /// `@R.annotation(R.Callable(..))`, for the variable of a local function.
    fn annotation_of(&mut self, decorator: &py::Decorator) -> ReadResult<StructInfo> {
        if let py::Expr::Call(call) = &decorator.expression
            && relax_name(&call.func).as_deref() == Some("annotation")
            && let [info] = &*call.arguments.args
        {
            return self.struct_info(info, Unbound::Leave);
        }
        Err(ReadFault::new(decorator, "expected one decorator, @R.function or @T.prim_func"))
    }

    /// A function of the module.
    pub(super) fn global_function(
        &mut self,
        def: &py::StmtFunctionDef,
        decoration: &Decoration,
    ) -> ReadResult<Function> {
        let mut function = self.function(def, decoration)?;
        if decoration.silent {
            self.silent.globals.insert(def.name.as_str().into());
        }
        if !decoration.private {
            let symbol = AttrValue::Str(def.name.as_str().into());
            function.attrs.entry(Name::from("global_symbol")).or_insert(symbol);
        }
        Ok(function)
    }

    /// A function inside a function: it binds its name, which its own body may use.
    pub(super) fn local_function(&mut self, def: &py::StmtFunctionDef, place: Placement<'_>) -> ReadResult<Binding> {
        let decoration = self.decoration(def)?;
        if decoration.kind == Decorator::PrimFunc {
            return Err(ReadFault::new(&def.name, "a @T.prim_func stands in the module, not inside a function"));
        }
        let kind = place.kind_of(def.name.as_str());
        let var = self.scope.fresh(def.name.as_str(), kind, span_of(&def.name));
        self.bring(&var, kind, false);
        let function = self.nested(span_of(def), |reader| reader.function(def, &decoration))?;
        if decoration.silent && decoration.annotation.is_none() {
            self.silent.locals.insert(var.clone());
        }
        let annotation = decoration.annotation.or_else(|| implied_annotation(&var, &function));
        let value = Expr::Function(function.into());
        let var = Binder { var, kind, annotation };
        Ok(Binding::VarBinding(VarBinding { var, value, span: span_of(def) }))
    }

    fn function(&mut self, def: &py::StmtFunctionDef, decoration: &Decoration) -> ReadResult<Function> {
        let outer_attrs = std::mem::take(&mut self.function_attrs);
        let outer_ret = self.function_ret.take();
        let names = if self.may_have_scalars() { scalars::dim_names(def) } else { Default::default() };
        let outer_names = std::mem::replace(&mut self.dim_names, names);
        self.scope.enter();
        let function = self.signature_and_body(def, decoration);
        self.scope.leave();
        self.dim_names = outer_names;
        self.function_attrs = outer_attrs;
        self.function_ret = outer_ret;
        function
    }

    fn signature_and_body(&mut self, def: &py::StmtFunctionDef, decoration: &Decoration) -> ReadResult<Function> {
        let params = self.params(&def.parameters)?;
        let ret = match &def.returns {
            Some(ret) => Some(self.struct_info(ret, Unbound::Leave)?),
            None => None,
        };
        let body = self.body(&def.body, span_of(def))?;
        let attrs: Attrs = std::mem::take(&mut self.function_attrs);
        let ret_struct_info: Option<StructInfo> = self.function_ret.take().or(ret);
        Ok(Function {
            params,
            body: Expr::SeqExpr(body.into()),
            ret_struct_info,
            pure: decoration.pure,
            attrs,
            span: span_of(def),
        })
    }

    fn params(&mut self, parameters: &py::Parameters) -> ReadResult<Vec<Binder>> {
        if let Some(other) = parameters.vararg.as_ref().or(parameters.kwarg.as_ref()) {
            return Err(ReadFault::new(&**other, "expected a parameter with a name and an annotation"));
        }
        let mut params = Vec::new();
        for parameter in parameters.posonlyargs.iter().chain(&parameters.args).chain(&parameters.kwonlyargs) {
            if let Some(default) = &parameter.default {
                let fault = ReadFault::new(&**default, "a parameter is a variable and nothing more");
                return Err(fault.under(rule!("GRAM.EXPR.FUNCTION")));
            }
            let name = &parameter.parameter.name;
            let scalar = parameter.parameter.annotation.as_deref().and_then(scalars::scalar_type);
            let annotation = match (&parameter.parameter.annotation, scalar) {
                (_, Some(dtype)) => Some(self.scalar_info(name.as_str(), dtype, span_of(name))?),
                (Some(annotation), None) => Some(self.struct_info(annotation, Unbound::Sign)?),
                (None, None) => None,
            };
            let var = self.scope.fresh(name.as_str(), VarKind::Var, span_of(name));
            if let (Some(info), Some(_)) = (&annotation, scalar) {
                self.note_scalar(&var, info);
            }
            let is_shape = matches!(annotation, Some(StructInfo::Shape(_)));
            self.bring(&var, VarKind::Var, is_shape);
            self.note_tuple(&var, annotation.as_ref().is_some_and(super::block::is_tuple));
            self.note_info(&var, annotation.as_ref());
            params.push(Binder { var, kind: VarKind::Var, annotation });
        }
        Ok(params)
    }
}
