//! Modules and Relax functions.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use super::graph::{Graph, GraphError, GraphResult, Id, NodeFields, float_of};
use super::tir::printable;
use crate::grammar::width::is_mostly_repeated;
use crate::grammar::{
    AttrValue, Attrs, BinaryOp, Binder, Binding, BindingBlock, BlockKind, Call, Constant, DataType, DataTypeImm,
    DeriveFunc, Expr, ExternFunc, FloatBits, FuncStructInfo, Function, GlobalFunc, GlobalVar, If, IndexMap, IrModule,
    MatchCast, Name, Ndim, ObjectCall, Op, PrimExpr, PrimStructInfo, PrimValue, ShapeExpr, ShapeStructInfo, ShapeVar,
    Span, StringImm, StructInfo, TensorShape, TensorStructInfo, Tuple, TupleGetItem, VDevice, Var, VarBinding, VarKind,
};
use crate::judge::with_stack;
use crate::syntax::tvmscript::{PythonParam, Silent, dps_output, names_dtype, say_pure, signature, whole_output};

/// Reads a module.
///
/// # Errors
///
/// The text is not the output of `tvm.ir.save_json` for a module, or contains something that programs cannot express.
pub fn read_module(text: &str) -> GraphResult<IrModule> {
    let graph = Graph::parse(text)?;
    let mut builder = Builder::new(&graph);
    let mut module = match graph.short(graph.root()) {
        "IRModule" => builder.module(graph.root())?,
        "Function" | "PrimFunc" => {
            let mut module = IrModule::default();
            builder.global("main".into(), graph.root(), &mut module)?;
            module
        }
        _ => return graph.wrong(graph.root(), "expected a module or a function"),
    };
    say_pure(&mut module, &builder.silent);
    Ok(module)
}

/// The variables of one global function, by their nodes.
#[derive(Default)]
struct FunctionVars {
    vars: FxHashMap<Id, Var>,
    dims: FxHashMap<Id, ShapeVar>,
    /// Nodes in dimensions. Those of 0.27 may also be Relax variables.
    dim_nodes: FxHashSet<Id>,
    /// Nodes that parameters and bindings have bound.
    bound: FxHashSet<Id>,
    /// The tuples of structural information read so far, so that shared nodes stay shared.
    tuples: FxHashMap<Id, StructInfo>,
}

struct Builder<'g, 't> {
    graph: &'g Graph<'t>,
    scope: FunctionVars,
    /// The nodes that are known to be dimensions from an earlier reading of the function.
    known_dims: FxHashSet<Id>,
    /// The number of variables of each name.
    var_count: FxHashMap<Name, u32>,
    dim_count: FxHashMap<Name, u32>,
    /// The virtual devices of the module.
    devices: Vec<Id>,
    /// The pure functions, about which the text would state nothing.
    silent: Silent,
}

fn next(count: &mut FxHashMap<Name, u32>, name: &Name) -> u32 {
    let count = count.entry(name.clone()).or_insert(0);
    *count += 1;
    *count - 1
}

impl<'g, 't> Builder<'g, 't> {
    fn new(graph: &'g Graph<'t>) -> Builder<'g, 't> {
        Builder {
            graph,
            scope: FunctionVars::default(),
            known_dims: FxHashSet::default(),
            var_count: FxHashMap::default(),
            dim_count: FxHashMap::default(),
            devices: Vec::new(),
            silent: Silent::default(),
        }
    }

    fn module(&mut self, id: Id) -> GraphResult<IrModule> {
        let fields = self.graph.fields(id)?;
        let mut module = IrModule::default();
        if let Some(infos) = fields.optional("global_infos") {
            for (name, list) in self.graph.dict(infos)? {
                let members = self.graph.list(list)?;
                if &*name == "vdevice" {
                    self.devices = members.to_vec();
                }
                let infos = members.into_iter().map(|info| self.attr("", info)).collect::<GraphResult<Vec<_>>>()?;
                module.global_infos.insert(name, AttrValue::List(infos));
            }
        }
        if let Some(attrs) = fields.optional("attrs") {
            module.attrs = self.dict_attrs(attrs)?;
        }
        for (gv, function) in self.graph.map(fields.node("functions")?)? {
            let name = global_name(self.graph.fields(gv)?.text("name_hint")?);
            self.global(name, function, &mut module)?;
        }
        // The map has no order. TVM prints it in the order of the names.
        module.funcs.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
        Ok(module)
    }

    fn global(&mut self, name: Name, id: Id, module: &mut IrModule) -> GraphResult<()> {
        let function = match self.graph.short(id) {
            "PrimFunc" => GlobalFunc::PrimFunc(super::tir::prim_func(self.graph, id, &name)?.into()),
            "ExternFunc" => GlobalFunc::ExternFunc(self.extern_func(id)?),
            "Function" => {
                let function = self.function_with_scalars(id)?;
                if function.pure.is_none() {
                    self.silent.globals.insert(name.clone());
                }
                GlobalFunc::Function(function.into())
            }
            _ => return self.graph.wrong(id, "expected a function"),
        };
        module.funcs.push((GlobalVar { name, span: Span::NONE }, function));
        Ok(())
    }

    /// A function in which variables may also be dimensions. Which ones are is known after the first reading.
    fn function_with_scalars(&mut self, id: Id) -> GraphResult<Function> {
        let (vars, dims) = (self.var_count.clone(), self.dim_count.clone());
        self.known_dims.clear();
        self.scope = FunctionVars::default();
        let function = self.function(id)?;
        let both = |scope: &FunctionVars| scope.vars.keys().any(|node| scope.dim_nodes.contains(node));
        if !both(&self.scope) {
            return Ok(function);
        }
        (self.var_count, self.dim_count) = (vars, dims);
        self.known_dims = std::mem::take(&mut self.scope).dim_nodes;
        self.function(id)
    }

    fn function(&mut self, id: Id) -> GraphResult<Function> {
        let fields = self.graph.fields(id)?;
        let params = fields.list("params")?;
        let params = params.into_iter().map(|param| self.param(param)).collect::<GraphResult<Vec<_>>>()?;
        for (param, node) in params.iter().zip(fields.list("params")?) {
            self.to_be_written(node, param.annotation.as_ref())?;
        }
        let body = with_stack(|| self.expr(fields.node("body")?))?;
        let body = match body {
            seq @ Expr::SeqExpr(_) => seq,
            body => Expr::seq(Vec::new(), body),
        };
        let ret = fields.either(&["ret_struct_info", "ret_ty"])?;
        let ret_struct_info = (!self.graph.is_none(ret)).then(|| self.info(ret)).transpose()?;
        // A result that is too repetitive is inferred again.
        let ret_struct_info = ret_struct_info.filter(|info| !is_mostly_repeated(info));
        let attrs = fields.optional("attrs").map_or(Ok(Attrs::new()), |attrs| self.dict_attrs(attrs))?;
        // The text only states that a function is impure.
        let pure = if fields.bool("is_pure")? { None } else { Some(false) };
        Ok(Function { params, body, ret_struct_info, pure, attrs, span: Span::NONE })
    }

    /// Fails if the information is too repetitive, because a written program shares no parts.
    fn to_be_written(&self, id: Id, info: Option<&StructInfo>) -> GraphResult<()> {
        match info.is_some_and(is_mostly_repeated) {
            true => {
                self.graph.wrong(id, "what is known of it repeats itself so often that the program would be too large")
            }
            false => Ok(()),
        }
    }

    fn param(&mut self, id: Id) -> GraphResult<Binder> {
        let info = self.info_of(id)?;
        let (mut var, kind) = self.bind(id)?;
        var.span = Span::NONE;
        let annotation = info.map(|info| self.with_value(id, info)).transpose()?;
        Ok(Binder { var, kind, annotation })
    }

    /// The information of a scalar includes its value if that is a dimension.
    fn with_value(&mut self, id: Id, info: StructInfo) -> GraphResult<StructInfo> {
        match info {
            StructInfo::Prim(PrimStructInfo { dtype: DataType::INT64, value: None })
                if self.known_dims.contains(&id) =>
            {
                let value = Some(PrimExpr::Var(self.dim_var(id)?));
                Ok(StructInfo::Prim(PrimStructInfo { dtype: DataType::INT64, value }))
            }
            info => Ok(info),
        }
    }

    /// The structural information of an expression.
    fn info_of(&mut self, id: Id) -> GraphResult<Option<StructInfo>> {
        let fields = self.graph.fields(id)?;
        let info = fields.optional("struct_info_").or_else(|| fields.optional("ty"));
        info.map(|info| self.info(info)).transpose()
    }

    /// A Relax variable. In the older releases its identity is a separate node.
    fn var(&mut self, id: Id) -> GraphResult<(Var, VarKind)> {
        let kind = if self.graph.short(id) == "DataflowVar" { VarKind::DataflowVar } else { VarKind::Var };
        let fields = self.graph.fields(id)?;
        let identity = fields.node("vid").unwrap_or(id);
        if let Some(known) = self.scope.vars.get(&identity) {
            return Ok((known.clone(), kind));
        }
        let name = match fields.has("vid") {
            true => self.graph.fields(identity)?.text("name_hint")?,
            false => fields.text("name")?,
        };
        let name = printable(&name);
        let var = Var::numbered(name.clone(), next(&mut self.var_count, &name));
        self.scope.vars.insert(identity, var.clone());
        Ok((var, kind))
    }

    /// A variable that is bound here.
    fn bind(&mut self, id: Id) -> GraphResult<(Var, VarKind)> {
        self.scope.bound.insert(id);
        self.var(id)
    }

    fn dim_var(&mut self, id: Id) -> GraphResult<ShapeVar> {
        self.scope.dim_nodes.insert(id);
        if let Some(known) = self.scope.dims.get(&id) {
            return Ok(known.clone());
        }
        let name = printable(&self.graph.fields(id)?.text("name")?);
        let var = ShapeVar::numbered(name.clone(), next(&mut self.dim_count, &name));
        self.scope.dims.insert(id, var.clone());
        Ok(var)
    }

    fn expr(&mut self, id: Id) -> GraphResult<Expr> {
        with_stack(|| self.expr_inner(id))
    }

    fn exprs(&mut self, ids: &[Id]) -> GraphResult<Vec<Expr>> {
        ids.iter().map(|id| self.expr(*id)).collect()
    }

    fn expr_inner(&mut self, id: Id) -> GraphResult<Expr> {
        let span = Span::NONE;
        if self.graph.kind(id) == "ir.Op" {
            return Ok(Expr::Op(Op { op_name: self.graph.text(id)?, span }));
        }
        let fields = self.graph.fields(id)?;
        match self.graph.short(id) {
            // A dimension that is not also a Relax variable.
            "Var" if self.known_dims.contains(&id) && !self.scope.bound.contains(&id) => self.prim_value(id),
            "Var" | "DataflowVar" if self.graph.kind(id) != "tirx.Var" && self.graph.kind(id) != "tir.Var" => {
                Ok(match self.var(id)? {
                    (var, VarKind::Var) => Expr::Var(var),
                    (var, VarKind::DataflowVar) => Expr::DataflowVar(var),
                })
            }
            "Constant" => Ok(Expr::Constant(Constant { data: self.graph.tensor(fields.node("data")?)?, span })),
            "GenericConst" => self.generic(fields.node("value")?),
            "GlobalVar" => Ok(Expr::GlobalVar(GlobalVar { name: global_name(fields.text("name_hint")?), span })),
            "Tuple" => Ok(Expr::Tuple(Tuple { fields: self.exprs(&fields.list("fields")?)?, span }.into())),
            "SeqExpr" => self.seq_expr(&fields),
            "PrimValue" => self.prim_value(fields.node("value")?),
            "StringImm" => Ok(Expr::StringImm(StringImm { value: fields.text("value")?, span })),
            "DataTypeImm" => Ok(Expr::DataTypeImm(DataTypeImm { value: fields.dtype("value")?, span })),
            "Function" => Ok(Expr::Function(self.function(id)?.into())),
            "If" => {
                let cond = self.expr(fields.node("cond")?)?;
                let true_branch = self.expr(fields.node("true_branch")?)?;
                let false_branch = self.expr(fields.node("false_branch")?)?;
                Ok(Expr::If(If { cond, true_branch, false_branch, span }.into()))
            }
            "ExternFunc" => Ok(Expr::ExternFunc(self.extern_func(id)?)),
            "Call" if self.is_relax_call(&fields) => self.call(&fields),
            "ShapeExpr" => {
                let values = self.dims(&fields.list("values")?)?.into();
                Ok(Expr::ShapeExpr(ShapeExpr { values, span }))
            }
            "TupleGetItem" => {
                let tuple_value = self.expr(fields.node("tuple_value")?)?;
                Ok(Expr::TupleGetItem(TupleGetItem { tuple_value, index: fields.int("index")?, span }.into()))
            }
            _ => self.prim_value(id),
        }
    }

    fn extern_func(&self, id: Id) -> GraphResult<ExternFunc> {
        Ok(ExternFunc { global_symbol: self.graph.fields(id)?.text("global_symbol")?, span: Span::NONE })
    }

    /// A constant of 0.27, which may have any kind.
    fn generic(&mut self, id: Id) -> GraphResult<Expr> {
        let span = Span::NONE;
        match self.graph.kind(id) {
            "ffi.Tensor" => Ok(Expr::Constant(Constant { data: self.graph.tensor(id)?, span })),
            "ffi.String" => Ok(Expr::StringImm(StringImm { value: self.graph.text(id)?, span })),
            "DataType" | "PrimType" | "ir.PrimType" => {
                Ok(Expr::DataTypeImm(DataTypeImm { value: self.data_type(id)?, span }))
            }
            _ => self.graph.wrong(id, "expected a tensor, a string or a data type"),
        }
    }

    fn seq_expr(&mut self, fields: &NodeFields<'_, '_>) -> GraphResult<Expr> {
        let mut blocks: Vec<BindingBlock> = Vec::new();
        for id in fields.list("blocks")? {
            let kind = match self.graph.short(id) {
                "DataflowBlock" => BlockKind::Dataflow,
                _ => BlockKind::Binding,
            };
            let bindings = self.graph.fields(id)?.list("bindings")?;
            let bindings =
                bindings.into_iter().map(|binding| self.binding(binding)).collect::<GraphResult<Vec<_>>>()?;
            match (blocks.last_mut(), kind) {
                // As in text, which cannot distinguish them.
                (_, BlockKind::Binding) if bindings.is_empty() => {}
                (Some(last), BlockKind::Binding) if last.kind == kind => last.bindings.extend(bindings),
                (_, kind) => blocks.push(BindingBlock { kind, bindings, span: Span::NONE }),
            }
        }
        let body = self.expr(fields.node("body")?)?;
        Ok(Expr::seq(blocks, body))
    }

    fn binding(&mut self, id: Id) -> GraphResult<Binding> {
        let fields = self.graph.fields(id)?;
        let bound = fields.node("var")?;
        let span = Span::NONE;
        if self.graph.short(id) == "MatchCast" {
            let value = self.expr(fields.node("value")?)?;
            let struct_info = self.info(fields.either(&["struct_info", "ty"])?)?;
            self.to_be_written(id, Some(&struct_info))?;
            let mut var = if self.graph.is_none(bound) { None } else { Some(self.param(bound)?) };
            var.iter_mut()
                .for_each(|var| var.annotation = var.annotation.take().filter(|info| !is_mostly_repeated(info)));
            return Ok(Binding::MatchCast(Box::new(MatchCast { var, struct_info, value, span })));
        }
        let value_id = fields.node("value")?;
        if self.graph.short(value_id) == "Function" {
            // Its own body may use it.
            let (var, kind) = self.bind(bound)?;
            let function = self.function(value_id)?;
            if function.pure.is_none() {
                self.silent.locals.insert(var.clone());
            }
            let annotation = Some(function.signature()).filter(|info| !is_mostly_repeated(info));
            let value = Expr::Function(function.into());
            return Ok(Binding::VarBinding(VarBinding { var: Binder { var, kind, annotation }, value, span }));
        }
        let value = self.expr(value_id)?;
        let mut var = self.param(bound)?;
        if let (Some(StructInfo::Prim(PrimStructInfo { value: Some(_), .. })), true) =
            (&var.annotation, self.known_dims.contains(&bound))
        {
            // A scalar that is also a dimension: matching the value binds both.
            let struct_info = var.annotation.take().unwrap_or(StructInfo::Object);
            return Ok(Binding::MatchCast(Box::new(MatchCast { var: Some(var), struct_info, value, span })));
        }
        // A call without a result is a statement in the text, which has no place for an annotation.
        let is_statement = matches!(value, Expr::Call(_)) && var.annotation == Some(StructInfo::tuple([]));
        let repeats = var.annotation.as_ref().is_some_and(is_mostly_repeated);
        if is_statement || repeats || self.says_its_result(value_id)? {
            var.annotation = None;
        }
        Ok(Binding::VarBinding(VarBinding { var, value, span }))
    }

    /// Whether a value is a call with its result in the text. Then the text does not repeat it at the variable.
    fn says_its_result(&self, id: Id) -> GraphResult<bool> {
        if self.graph.short(id) != "Call" {
            return Ok(false);
        }
        let op = self.graph.fields(id)?.node("op")?;
        if self.graph.kind(op) != "ir.Op" {
            return Ok(false);
        }
        Ok(matches!(&*self.graph.text(op)?, "relax.call_tir" | "relax.call_dps_packed"))
    }

    /// Whether a call is a Relax call, as opposed to an expression over scalars.
    fn is_relax_call(&self, fields: &NodeFields<'_, '_>) -> bool {
        let Ok(op) = fields.node("op") else { return false };
        if self.graph.kind(op) != "ir.Op" {
            return true;
        }
        let name = self.graph.text(op).unwrap_or_else(|_| "".into());
        !(name.starts_with("tirx.") || name.starts_with("tir.") || name.starts_with("prim."))
    }

    fn call(&mut self, fields: &NodeFields<'_, '_>) -> GraphResult<Expr> {
        let op = self.expr(fields.node("op")?)?;
        let mut attrs = match fields.optional("attrs") {
            Some(attrs) => self.op_attrs(attrs)?,
            None => Attrs::new(),
        };
        let infos = fields.list(if fields.has("ty_args") { "ty_args" } else { "sinfo_args" })?;
        let mut sinfo_args = infos.into_iter().map(|info| self.info(info)).collect::<GraphResult<Vec<_>>>()?;
        sinfo_args.iter().try_for_each(|info| self.to_be_written(fields.id, Some(info)))?;
        let ids = fields.list("args")?;
        let name: Name = match &op {
            Expr::Op(op) => op.op_name.strip_prefix("relax.").unwrap_or(&op.op_name).into(),
            _ => "".into(),
        };
        let args = match &*name {
            "call_tir" | "call_tir_inplace" | "call_tir_with_grad" | "dist.call_tir_local_view" | "call_dps_packed" => {
                self.dps(fields.id, &ids, &mut sinfo_args, &mut attrs)?
            }
            name => self.operands(name, &ids, &mut attrs)?,
        };
        Ok(Expr::Call(Call { op, args, sinfo_args, attrs, span: Span::NONE }.into()))
    }

    /// The parameters of the operator determine which arguments there are attributes here.
    fn operands(&mut self, name: &str, ids: &[Id], attrs: &mut Attrs) -> GraphResult<Vec<Expr>> {
        let params = signature(name);
        let mut args = Vec::new();
        let mut ids = ids.iter().copied();
        for param in params {
            match param {
                PythonParam::Attr(keyword) if !attrs.contains_key(keyword) => {
                    if let Some(id) = ids.next() {
                        let value = self.operand_attr(id)?;
                        attrs.insert(keyword.into(), value);
                    }
                }
                PythonParam::Attr(_) => {}
                PythonParam::Input(_) | PythonParam::Flag(..) | PythonParam::Shape(_) | PythonParam::Dtype(_) => {
                    if let Some(id) = ids.next() {
                        args.push(self.expr(id)?);
                    }
                }
            }
        }
        for id in ids {
            args.push(self.expr(id)?);
        }
        Ok(args)
    }

    /// An argument as an attribute.
    fn operand_attr(&mut self, id: Id) -> GraphResult<AttrValue> {
        let fields = self.graph.fields(id)?;
        match self.graph.short(id) {
            "Tuple" => {
                let members = fields.list("fields")?;
                members
                    .into_iter()
                    .map(|id| with_stack(|| self.operand_attr(id)))
                    .collect::<GraphResult<_>>()
                    .map(AttrValue::List)
            }
            "ShapeExpr" => {
                let dims = self.dims(&fields.list("values")?)?;
                Ok(AttrValue::List(dims.into_iter().map(AttrValue::Prim).collect()))
            }
            "DataTypeImm" => fields.dtype("value").map(AttrValue::DataType),
            "StringImm" => fields.text("value").map(AttrValue::Str),
            "GenericConst" => match self.generic(fields.node("value")?)? {
                Expr::DataTypeImm(imm) => Ok(AttrValue::DataType(imm.value)),
                Expr::StringImm(imm) => Ok(AttrValue::Str(imm.value)),
                _ => self.graph.wrong(id, "expected an attribute"),
            },
            "PrimValue" => self.scalar_attr(fields.node("value")?),
            _ => self.scalar_attr(id),
        }
    }

    fn scalar_attr(&mut self, id: Id) -> GraphResult<AttrValue> {
        match self.prim_value(id)? {
            Expr::PrimValue(PrimValue { float: Some(bits), .. }) => Ok(AttrValue::Float(bits)),
            Expr::PrimValue(PrimValue { value: PrimExpr::IntImm(b), dtype: DataType::BOOL, .. }) => {
                Ok(AttrValue::Bool(b != 0))
            }
            Expr::PrimValue(value) => Ok(AttrValue::Prim(value.value)),
            _ => self.graph.wrong(id, "expected a scalar"),
        }
    }

    /// C14: flat inputs, and the shapes of the outputs as an argument.
    fn dps(&mut self, id: Id, ids: &[Id], infos: &mut Vec<StructInfo>, attrs: &mut Attrs) -> GraphResult<Vec<Expr>> {
        let Some((callee, rest)) = ids.split_first() else { return self.graph.wrong(id, "expected what to call") };
        let mut args = vec![self.expr(*callee)?];
        let mut in_one = false;
        if let Some(inputs) = rest.first() {
            match self.graph.short(*inputs) {
                "Tuple" => args.extend(self.exprs(&self.graph.fields(*inputs)?.list("fields")?)?),
                // TVM puts anything but a tuple into a tuple with one field. This one holds all inputs.
                _ => {
                    args.push(self.expr(*inputs)?);
                    in_one = true;
                }
            }
        }
        if let Some(vars) = rest.get(1) {
            let vars = self.dims(&self.graph.fields(*vars)?.list("values")?)?;
            attrs.insert("tir_vars".into(), AttrValue::List(vars.into_iter().map(AttrValue::Prim).collect()));
        }
        let [info] = infos.as_slice() else { return self.graph.wrong(id, "expected one type of the outputs") };
        let Some((shape, rest)) = dps_output(info) else {
            return self.graph.wrong(id, "expected outputs with shapes");
        };
        if in_one && let Some(whole) = whole_output(&shape, &rest) {
            *infos = vec![whole];
            return Ok(args);
        }
        args.push(shape);
        *infos = vec![rest];
        Ok(args)
    }

    fn dims(&mut self, ids: &[Id]) -> GraphResult<Vec<PrimExpr>> {
        ids.iter().map(|id| self.dim(*id)).collect()
    }

    fn dim(&mut self, id: Id) -> GraphResult<PrimExpr> {
        with_stack(|| self.dim_inner(id))
    }

    fn dim_inner(&mut self, id: Id) -> GraphResult<PrimExpr> {
        let fields = self.graph.fields(id)?;
        let kind = self.graph.short(id);
        let binary = BinaryOp::from_name(kind).filter(|_| fields.has("b"));
        if let Some(op) = binary {
            return Ok(PrimExpr::binary(op, self.dim(fields.node("a")?)?, self.dim(fields.node("b")?)?));
        }
        match kind {
            "IntImm" => self.graph.int_imm(&fields).map(PrimExpr::IntImm),
            "Var" | "SizeVar" => self.dim_var(id).map(PrimExpr::Var),
            "Not" => Ok(PrimExpr::Not(self.dim(fields.node("a")?)?.into())),
            "Select" => Ok(PrimExpr::Select(
                self.dim(fields.node("condition")?)?.into(),
                self.dim(fields.node("true_value")?)?.into(),
                self.dim(fields.node("false_value")?)?.into(),
            )),
            "Cast" if self.graph.dtype_of(&fields)? == DataType::INT64 => self.dim(fields.node("value")?),
            "PrimValue" => self.dim(fields.node("value")?),
            "Call" => {
                let op = self.graph.text(fields.node("op")?)?;
                match (op.rsplit('.').next(), &*fields.list("args")?) {
                    (Some("if_then_else"), [c, t, f]) => {
                        Ok(PrimExpr::Select(self.dim(*c)?.into(), self.dim(*t)?.into(), self.dim(*f)?.into()))
                    }
                    (_, _) => self.graph.wrong(id, &format!("`{op}` is not part of a dimension")),
                }
            }
            _ => self.graph.wrong(id, "expected a dimension"),
        }
    }

    /// A scalar with its datatype.
    fn prim_value(&mut self, id: Id) -> GraphResult<Expr> {
        let fields = self.graph.fields(id)?;
        let dtype = self.graph.dtype_of(&fields)?;
        let span = Span::NONE;
        if self.graph.short(id) == "FloatImm" {
            let value =
                fields.get("value").and_then(float_of).ok_or_else(|| self.graph.error(id, "expected a number"))?;
            let float = Some(FloatBits::new(value));
            return Ok(Expr::PrimValue(PrimValue { value: PrimExpr::IntImm(0), dtype, float, span }));
        }
        let value = self.dim(id)?;
        Ok(Expr::PrimValue(PrimValue { value, dtype, float: None, span }))
    }

    fn info(&mut self, id: Id) -> GraphResult<StructInfo> {
        with_stack(|| self.info_inner(id))
    }

    fn info_inner(&mut self, id: Id) -> GraphResult<StructInfo> {
        if let Some(tuple) = self.scope.tuples.get(&id) {
            return Ok(tuple.clone());
        }
        let fields = self.graph.fields(id)?;
        match self.graph.short(id) {
            "ObjectStructInfo" | "AnyType" | "StringType" | "Type" | "ObjectType" => Ok(StructInfo::Object),
            "TensorStructInfo" | "TensorType" => {
                let shape = match fields.optional("shape") {
                    Some(shape) => Some(self.tensor_shape(shape)?),
                    None => None,
                };
                let dtype = self.dtype_field(&fields, "dtype")?;
                // The rank of a shape in a variable comes from the variable, as in text.
                let ndim = match shape {
                    Some(TensorShape::Var(_) | TensorShape::DataflowVar(_)) => Ndim::Unknown,
                    Some(TensorShape::Dims(_) | TensorShape::Other(_)) | None => ndim(&fields)?,
                };
                let vdevice = match fields.optional("vdevice") {
                    Some(device) => VDevice::made_by(&self.attr("", device)?).map(Arc::new),
                    None => None,
                };
                Ok(StructInfo::Tensor(TensorStructInfo { shape, dtype, ndim, vdevice }))
            }
            "ShapeStructInfo" | "ShapeType" => {
                let values = match fields.optional("values") {
                    Some(values) => Some(self.dims(&self.graph.list(values)?)?.into()),
                    None => None,
                };
                Ok(StructInfo::Shape(ShapeStructInfo { values, ndim: ndim(&fields)? }))
            }
            "PrimStructInfo" => {
                let dtype = fields.dtype("dtype")?;
                // As in text, a value that is not int64 states no more than its datatype.
                let value = fields.optional("value").filter(|_| dtype == DataType::INT64);
                let value = value.map(|value| self.dim(value)).transpose()?;
                Ok(StructInfo::Prim(PrimStructInfo { dtype, value }))
            }
            "PrimType" => Ok(StructInfo::prim(fields.dtype("dtype")?)),
            "TupleStructInfo" | "TupleType" => {
                let members = fields.list("fields")?;
                let tuple =
                    StructInfo::tuple(members.into_iter().map(|f| self.info(f)).collect::<GraphResult<Vec<_>>>()?);
                self.scope.tuples.insert(id, tuple.clone());
                Ok(tuple)
            }
            "FuncStructInfo" | "FuncType" => self.func_info(&fields),
            _ => self.graph.wrong(id, "expected structural information"),
        }
    }

    fn func_info(&mut self, fields: &NodeFields<'_, '_>) -> GraphResult<StructInfo> {
        let params = match fields.optional("params") {
            Some(params) => {
                let params = self.graph.list(params)?;
                Some(params.into_iter().map(|param| self.info(param)).collect::<GraphResult<Vec<_>>>()?.into())
            }
            None => None,
        };
        let ret = fields.optional("ret").map_or(Ok(StructInfo::Object), |ret| self.info(ret))?;
        let derive_func = match fields.optional("derive_func") {
            Some(id) => Some(match &*self.graph.text(id)? {
                "tvm.relax.struct_info.infer_by_sinfo_args" | "tvm.relax.type.infer_by_ty_args" => {
                    DeriveFunc::DefaultDerive
                }
                name => DeriveFunc::Named(name.into()),
            }),
            None => None,
        };
        let purity = fields.bool("purity")?;
        let pure = if params.is_some() || purity { Some(purity) } else { None };
        Ok(StructInfo::Func(FuncStructInfo { params, ret, derive_func, pure }.into()))
    }

    fn tensor_shape(&mut self, id: Id) -> GraphResult<TensorShape> {
        Ok(match self.expr(id)? {
            Expr::Var(var) => TensorShape::Var(var.into()),
            Expr::DataflowVar(var) => TensorShape::DataflowVar(var.into()),
            Expr::ShapeExpr(shape) => TensorShape::Dims(shape.values),
            other => TensorShape::Other(other.into()),
        })
    }

    /// A datatype in a field, as a word or as a node. Without one it is unknown.
    fn dtype_field(&self, fields: &NodeFields<'_, '_>, name: &str) -> GraphResult<DataType> {
        match fields.get(name) {
            Some(Value::String(_)) => fields.dtype(name),
            Some(_) | None => match fields.optional(name) {
                Some(id) => self.data_type(id),
                None => Ok(DataType::VOID),
            },
        }
    }

    fn data_type(&self, id: Id) -> GraphResult<DataType> {
        self.graph.data_type(id)
    }

    fn dict_attrs(&mut self, id: Id) -> GraphResult<Attrs> {
        let entries = match self.graph.short(id) {
            "DictAttrs" => self.graph.fields(id)?.node("__dict__")?,
            _ => id,
        };
        self.graph.dict(entries)?.into_iter().map(|(name, id)| Ok((name.clone(), self.attr(&name, id)?))).collect()
    }

    /// The attributes of an operator, which are the fields of a separate object.
    fn op_attrs(&mut self, id: Id) -> GraphResult<Attrs> {
        if self.graph.short(id) == "DictAttrs" {
            return self.dict_attrs(id);
        }
        let fields = self.graph.fields(id)?;
        let plain = super::schema::plain_integers(self.graph.short(id));
        let mut attrs = Attrs::new();
        for name in fields.names() {
            let value = match fields.get(name) {
                Some(Value::Number(number)) if number.is_f64() => {
                    AttrValue::Float(FloatBits::new(number.as_f64().unwrap_or_default()))
                }
                Some(Value::Number(number)) if plain.contains(&name) => {
                    AttrValue::Int(number.as_i64().ok_or_else(|| self.graph.error(id, "expected an int64"))?)
                }
                Some(Value::Number(_)) => self.attr(name, fields.node(name)?)?,
                Some(Value::Bool(value)) => AttrValue::Bool(*value),
                Some(value @ Value::String(text)) => match (float_of(value), names_dtype(name)) {
                    (_, true) => word(name, text),
                    (Some(value), false) => AttrValue::Float(FloatBits::new(value)),
                    (None, false) => word(name, text),
                },
                Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => AttrValue::None,
            };
            attrs.insert(name.into(), value);
        }
        Ok(attrs)
    }

    /// The value of an attribute.
    fn attr(&mut self, name: &str, id: Id) -> GraphResult<AttrValue> {
        with_stack(|| self.attr_inner(name, id))
    }

    fn attr_inner(&mut self, name: &str, id: Id) -> GraphResult<AttrValue> {
        let graph = self.graph;
        if let Some(plain) = graph.plain_attr(id)? {
            return Ok(plain);
        }
        match graph.kind(id) {
            "ffi.String" => return graph.text(id).map(|text| word(name, &text)),
            "ffi.Array" => {
                let members = graph.list(id)?;
                return members
                    .into_iter()
                    .map(|id| self.attr("", id))
                    .collect::<GraphResult<_>>()
                    .map(AttrValue::List);
            }
            "ffi.Map" | "ir.DictAttrs" => return self.dict_attrs(id).map(AttrValue::Dict),
            "ir.EnvFunc" | "ir.Op" => return graph.text(id).map(AttrValue::Str),
            _ => {}
        }
        let fields = graph.fields(id)?;
        match graph.short(id) {
            "StringImm" => fields.text("value").map(|text| word(name, &text)),
            "IndexMap" => self.index_map(id).map(|map| AttrValue::IndexMap(map.into())),
            "Target" => self.target(&fields).map(|target| made("T.target", vec![target])),
            "VDevice" if name == "dst_vdevice" => self.device_name(id).map(|name| AttrValue::Str(name.into())),
            "VDevice" => {
                let target = self.target(&graph.fields(fields.node("target")?)?)?;
                let scope = AttrValue::Str(fields.text("memory_scope")?);
                Ok(made("I.vdevice", vec![target, AttrValue::Int(fields.int("vdevice_id")?), scope]))
            }
            "DummyGlobalInfo" => Ok(made("I.dummy_global_info", Vec::new())),
            kind if kind.ends_with("StructInfo") || matches!(kind, "AnyType" | "TensorType" | "ShapeType") => {
                self.info(id).map(AttrValue::StructInfo)
            }
            "PrimValue" | "Tuple" | "ShapeExpr" | "DataTypeImm" | "GenericConst" => self.operand_attr(id),
            _ => self.scalar_attr(id),
        }
    }

    fn index_map(&mut self, id: Id) -> GraphResult<IndexMap> {
        let fields = self.graph.fields(id)?;
        // Its variables are local.
        let mut inner = Builder::new(self.graph);
        let params = fields.list("initial_indices")?;
        let params = params.into_iter().map(|param| inner.dim_var(param)).collect::<GraphResult<Vec<_>>>()?;
        let results = inner.dims(&fields.list("final_indices")?)?;
        let inverse =
            fields.optional("inverse_index_map").map(|back| with_stack(|| self.index_map(back))).transpose()?;
        Ok(IndexMap { params, results, inverse: inverse.map(Into::into) })
    }

    fn target(&mut self, fields: &NodeFields<'_, '_>) -> GraphResult<AttrValue> {
        let mut attrs = match fields.optional("attrs") {
            Some(attrs) => self.dict_attrs(attrs)?,
            None => Attrs::new(),
        };
        attrs.insert("kind".into(), AttrValue::Str(fields.text("kind")?));
        attrs.insert("tag".into(), AttrValue::Str(fields.text("tag")?));
        let keys = fields.list("keys")?.into_iter().map(|key| self.attr("", key)).collect::<GraphResult<_>>()?;
        attrs.insert("keys".into(), AttrValue::List(keys));
        if let Some(host) = fields.optional("host") {
            let host = with_stack(|| self.target(&self.graph.fields(host)?))?;
            attrs.insert("host".into(), host);
        }
        Ok(AttrValue::Dict(attrs))
    }

    /// `llvm:0:global`: the kind, the number within the kind, and the memory.
    fn device_name(&self, id: Id) -> GraphResult<String> {
        let kind = |id: Id| {
            let target = self.graph.fields(id)?.node("target")?;
            self.graph.fields(target)?.text("kind")
        };
        let own = kind(id)?;
        let mut number = 0;
        for device in self.devices.iter().take_while(|device| **device != id) {
            number += usize::from(kind(*device)? == own);
        }
        Ok(format!("{own}:{number}:{}", self.graph.fields(id)?.text("memory_scope")?))
    }
}

/// The name of a function as in text. A function made from a lambda is called `<lambda>`.
fn global_name(name: Name) -> Name {
    if name.starts_with('<') { printable(&name) } else { name }
}

/// A string, which is a datatype if the name indicates it.
fn word(name: &str, text: &str) -> AttrValue {
    match text.parse::<DataType>() {
        Ok(dtype) if names_dtype(name) => AttrValue::DataType(dtype),
        Ok(_) | Err(_) => AttrValue::Str(text.into()),
    }
}

fn made(name: &str, args: Vec<AttrValue>) -> AttrValue {
    AttrValue::Made(ObjectCall { name: name.into(), args, named: Attrs::new() }.into())
}

fn ndim(fields: &NodeFields<'_, '_>) -> GraphResult<Ndim> {
    Ok(u32::try_from(fields.int("ndim")?).map_or(Ndim::Unknown, Ndim::Known))
}

impl Graph<'_> {
    /// The value of an integer constant, which is a separate node in 0.27.
    pub(super) fn int_imm(&self, fields: &NodeFields<'_, '_>) -> GraphResult<i64> {
        if fields.has("dtype") || self.plain_constants { fields.int("value") } else { self.int(fields.node("value")?) }
    }

    /// The datatype of an expression over scalars.
    pub(super) fn dtype_of(&self, fields: &NodeFields<'_, '_>) -> GraphResult<DataType> {
        match fields.get("dtype") {
            Some(Value::String(_)) => fields.dtype("dtype"),
            Some(_) | None => self.data_type(fields.node("ty")?),
        }
    }

    /// A datatype, as a word or as the type of a scalar.
    pub(super) fn data_type(&self, id: Id) -> GraphResult<DataType> {
        match self.short(id) {
            "DataType" => {
                let word = self.text(id)?;
                word.parse().map_err(|_| self.error(id, "expected a data type"))
            }
            "PrimType" => self.fields(id)?.dtype("dtype"),
            "PointerType" | "StringType" | "BufferType" => Ok(DataType::HANDLE),
            "TupleType" => Ok(DataType::VOID),
            "None" => Ok(DataType::VOID),
            _ => Err(GraphError::new(format!("node {id} ({}): expected a data type", self.kind(id)))),
        }
    }
}
