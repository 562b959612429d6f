//! Modules: a class with functions, or only functions.

use ruff_python_ast as py;

use super::ModuleReader;
use super::fault::{Prefix, ReadFault, ReadResult, dotted, qualified, relax_name, span_of, string};
use super::function::Decorator;
use crate::grammar::{EDITION_ATTR, ExternFunc, GlobalFunc, GlobalVar, IrModule, Name, stated_edition};
use crate::syntax::tvmscript::{metadata, tir_parse};

impl<'t> ModuleReader<'t> {
    /// The only class that is decorated as a module, or else all functions. `around` has metadata and type variables.
    pub(super) fn module(&mut self, around: &'t [py::Stmt], statements: &'t [py::Stmt]) -> ReadResult<IrModule> {
        let mut class = None;
        self.by(rule!("R89.API.INPUT"), crate::grammar::Span::NONE);
        around.iter().for_each(|statement| self.around_module(statement));
        for statement in statements {
            match statement {
                py::Stmt::ClassDef(def) if class.is_none() => class = Some(def),
                py::Stmt::ClassDef(def) => self.fault(ReadFault::new(&def.name, "expected one module, found a second")),
                py::Stmt::FunctionDef(_) => {}
                other => self.around_module(other),
            }
        }
        let members = match class {
            Some(class) => {
                self.check_class(class);
                self.by(rule!("R89.SYN.MODULE"), span_of(&class.name));
                self.aliases.insert(class.name.to_string());
                &class.body[..]
            }
            None => statements,
        };
        let mut module = IrModule::default();
        self.declare(members, class.is_some());
        let derived = class.is_some_and(|class| class.arguments.as_ref().is_some_and(|bases| !bases.args.is_empty()));
        // A class derived from another one, such as `BasePyModule`, may have Python methods beside its functions.
        for member in members.iter().filter(|member| !is_python(member, derived)) {
            if let Err(fault) = self.module_member(member, class.is_some(), &mut module) {
                self.fault(fault);
            }
        }
        if module.funcs.is_empty() && class.is_none() && self.faults.is_empty() {
            let message = "expected a module: a class with @I.ir_module, or a function with @R.function";
            return Err(ReadFault::at(crate::grammar::Span::NONE, message));
        }
        Ok(module)
    }

    /// Statements beside the module have no meaning (`R89.SYN.COMMENTS`), as long as they are imports, type variables
    /// and similar.
    fn around_module(&mut self, statement: &'t py::Stmt) {
        match statement {
            py::Stmt::Import(_) | py::Stmt::ImportFrom(_) | py::Stmt::Pass(_) => {}
            py::Stmt::Expr(e) if matches!(&*e.value, py::Expr::StringLiteral(_)) => {}
            py::Stmt::Assign(assign) if self.is_type_var(&assign.value) => {}
            py::Stmt::Assign(assign) if metadata::definition(assign).is_some() => {
                let text = metadata::definition(assign).unwrap_or_default();
                let text = self.apart.filter(|_| text.trim_matches('\n').is_empty()).unwrap_or(text);
                match metadata::Metadata::parse(text) {
                    Ok(metadata) => self.metadata = Some(metadata),
                    Err(error) => self.fault(ReadFault::new(assign, format!("the metadata is unreadable: {error}"))),
                }
            }
            other => self.fault(ReadFault::expected(self.text, other, "a module: a class with @I.ir_module")),
        }
    }

    pub(super) fn is_type_var(&self, value: &py::Expr) -> bool {
        let is_one = |e: &py::Expr| self.declares_dim(e).unwrap_or(false);
        match super::fault::members(value) {
            Some(values) => values.iter().all(is_one),
            None => is_one(value),
        }
    }

    fn check_class(&mut self, class: &py::StmtClassDef) {
        let is_module = |decorator: &py::Decorator| {
            let e = match &decorator.expression {
                py::Expr::Call(call) => &*call.func,
                other => other,
            };
            let word = match e {
                py::Expr::Name(name) => name.id.as_str(),
                py::Expr::Attribute(attribute) => attribute.attr.as_str(),
                _ => "",
            };
            matches!(word, "ir_module" | "rewriter")
        };
        if !class.decorator_list.iter().any(is_module) {
            self.fault(ReadFault::new(&class.name, "expected the decorator @I.ir_module on the class"));
        }
    }

    /// Declares the functions, which may call each other in any order.
    fn declare(&mut self, members: &[py::Stmt], in_class: bool) {
        for member in members {
            match member {
                py::Stmt::FunctionDef(def) => {
                    self.globals.insert(def.name.to_string());
                    let symbol = super::file::stated_symbol(member).filter(|_| !in_class);
                    if let Some(symbol) = symbol.filter(|symbol| *symbol != def.name.as_str()) {
                        self.symbols.insert(def.name.as_str().into(), symbol.into());
                    }
                    if def.returns.as_deref().is_some_and(is_tuple_annotation) {
                        self.give_tuples.insert(def.name.as_str().into());
                    }
                    if is_pyfunc(def) {
                        self.pyfuncs.insert(def.name.to_string());
                    }
                }
                py::Stmt::Assign(assign) => {
                    if let Some((name, _)) = extern_func(assign) {
                        self.globals.insert(name.id.to_string());
                    }
                }
                _ => {}
            }
        }
    }

    fn module_member(&mut self, member: &py::Stmt, in_class: bool, module: &mut IrModule) -> ReadResult<()> {
        match member {
            py::Stmt::FunctionDef(def) => {
                self.scope.next_function();
                self.shapes.clear();
                self.tuples.clear();
                self.infos.clear();
                self.literals.clear();
                let function = self.global_func(def)?;
                let own: Name = def.name.as_str().into();
                let name = self.symbols.get(&own).cloned().unwrap_or(own);
                module.funcs.push((GlobalVar { name, span: span_of(&def.name) }, function));
                Ok(())
            }
            py::Stmt::Expr(e) if in_class => self.module_directive(&e.value, module),
            py::Stmt::Pass(_) => Ok(()),
            py::Stmt::Assign(assign) if self.is_type_var(&assign.value) => Ok(()),
            py::Stmt::Assign(assign) if extern_func(assign).is_some() => {
                if let Some((name, symbol)) = extern_func(assign) {
                    let gv = GlobalVar { name: name.id.as_str().into(), span: span_of(name) };
                    let span = span_of(&*assign.value);
                    let named = ExternFunc { global_symbol: symbol.into(), span };
                    module.funcs.push((gv, GlobalFunc::ExternFunc(named)));
                }
                Ok(())
            }
            _ if !in_class => Ok(()),
            other => Err(ReadFault::expected(self.text, other, "a function with @R.function or @T.prim_func")),
        }
    }

    fn global_func(&mut self, def: &py::StmtFunctionDef) -> ReadResult<GlobalFunc> {
        let decoration = self.decoration(def)?;
        match decoration.kind {
            Decorator::Relax => Ok(GlobalFunc::Function(self.global_function(def, &decoration)?.into())),
            Decorator::PrimFunc => match tir_parse::parse_with(def, self.text, self.metadata.as_ref()) {
                Ok(function) => Ok(GlobalFunc::PrimFunc(function.into())),
                Err(error) => Err(self.tir_fault(def, error)),
            },
        }
    }

    /// The position of an error that already has a line and a column.
    fn tir_fault(&self, def: &py::StmtFunctionDef, error: crate::grammar::source::SyntaxError) -> ReadFault {
        let mut at = 0;
        for (number, line) in self.text.split_inclusive('\n').enumerate() {
            if number + 1 == error.line {
                at += line.char_indices().nth(error.column.saturating_sub(1)).map_or(0, |(at, _)| at);
                let at = u32::try_from(at).unwrap_or(u32::MAX);
                return ReadFault::at(crate::grammar::Span::new(at, at + 1), error.message);
            }
            at += line.len();
        }
        ReadFault::new(&def.name, error.message)
    }

    /// `I.module_attrs({..})`.
    fn module_directive(&mut self, e: &py::Expr, module: &mut IrModule) -> ReadResult<()> {
        if let py::Expr::StringLiteral(_) | py::Expr::EllipsisLiteral(_) = e {
            return Ok(());
        }
        if let py::Expr::Call(call) = e
            && let Some((Prefix::Module, name)) = qualified(&call.func)
        {
            match (&*name, &*call.arguments.args) {
                ("module_attrs", [attrs]) => {
                    let stated = self.attrs(attrs)?;
                    stated_edition(&stated).map_err(|error| ReadFault::new(edition_in(attrs), error.to_string()))?;
                    module.attrs.extend(stated);
                    return Ok(());
                }
                ("module_global_infos", [infos]) => {
                    module.global_infos.extend(self.attrs(infos)?);
                    self.devices = module.vdevices();
                    return Ok(());
                }
                _ => {}
            }
        }
        Err(ReadFault::expected(self.text, e, "a function or I.module_attrs({..})"))
    }
}

/// Whether an annotation is a tuple.
fn is_tuple_annotation(e: &py::Expr) -> bool {
    let e = e.as_call_expr().map_or(e, |call| &*call.func);
    relax_name(e).as_deref() == Some("Tuple")
}

/// Whether a function is a Python function, which a module calls as a packed function: `@I.pyfunc`.
fn is_pyfunc(def: &py::StmtFunctionDef) -> bool {
    def.decorator_list.iter().any(|decorator| {
        let e = decorator.expression.as_call_expr().map_or(&decorator.expression, |call| &*call.func);
        dotted(e).is_some_and(|words| words.last() == Some(&"pyfunc"))
    })
}

/// Whether a member does not belong to a dialect. A method without a decorator is a Python method if the class is
/// `derived` from another one.
fn is_python(member: &py::Stmt, derived: bool) -> bool {
    let py::Stmt::FunctionDef(def) = member else { return false };
    is_pyfunc(def) || derived && def.decorator_list.is_empty()
}

/// The position of the edition in a dictionary of attributes.
fn edition_in(attrs: &py::Expr) -> &py::Expr {
    let py::Expr::Dict(dict) = attrs else { return attrs };
    let stated = dict.items.iter().find(|item| item.key.as_ref().and_then(string) == Some(EDITION_ATTR));
    stated.map_or(attrs, |item| &item.value)
}

/// `f = R.ExternFunc("symbol")`: a packed function under a name of the module. Its annotation is ignored, because the
/// function itself determines its information.
fn extern_func(assign: &py::StmtAssign) -> Option<(&py::ExprName, &str)> {
    let ([py::Expr::Name(name)], py::Expr::Call(call)) = (assign.targets.as_slice(), &*assign.value) else {
        return None;
    };
    match (relax_name(&call.func).as_deref(), call.arguments.args.first().and_then(string)) {
        (Some("ExternFunc"), Some(symbol)) => Some((name, symbol)),
        _ => None,
    }
}
