//! What occurs in programs, counted.

use std::collections::BTreeMap;

use super::ProgramSource;
use relax_spec::grammar::visit::{Visitor, walk_expr, walk_match_cast, walk_module, walk_var_binding};
use relax_spec::grammar::{
    Binding, BindingBlock, Expr, Function, GlobalFunc, IrModule, MatchCast, StructInfo, VarBinding,
};

/// In how many programs each construct and each operator occurs.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct ConstructCensus {
    /// How many programs were counted.
    pub programs: u64,
    /// How many bindings they have together.
    pub bindings: u64,
    /// By construct.
    pub constructs: BTreeMap<&'static str, u64>,
    /// By operator.
    pub operators: BTreeMap<String, u64>,
}

impl ConstructCensus {
    /// Every construct that can occur.
    pub const CONSTRUCTS: &'static [&'static str] = &[
        "Call of a closure",
        "Call of a global function",
        "Call of a packed function",
        "Call of an operator",
        "Call of one written there",
        "Constant",
        "DataflowBlock",
        "DataflowVar",
        "ExternFunc",
        "Function as an operand",
        "Function without a result annotation",
        "Function, forced to be pure",
        "Function, impure",
        "Function, local",
        "Function, of several entry points",
        "Function, private",
        "If",
        "MatchCast",
        "MatchCast in a branch",
        "MatchCast in a DataflowBlock",
        "MatchCast of a function",
        "MatchCast of a tuple",
        "PrimFunc",
        "PrimFunc in place",
        "PrimValue",
        "SeqExpr as an operand",
        "SeqExpr as a value",
        "ShapeExpr",
        "StringImm",
        "Tuple",
        "TupleGetItem",
        "attribute of a function",
        "binding with an annotation",
        "block without bindings",
        "call as an operand",
        "parameter of a function type",
        "recursion",
        "shape variable",
        "shape variable in arithmetic",
        "tuple as an operand",
        "variables of one name",
    ];

    /// Counts a program.
    pub fn count(&mut self, module: &IrModule) {
        let mut seen = ProgramConstructs::default();
        let linked = module.funcs.iter().filter(|(_, func)| is_linked(func)).count();
        if linked > 1 {
            seen.construct("Function, of several entry points");
        }
        for (gv, func) in &module.funcs {
            match func {
                GlobalFunc::Function(function) => {
                    seen.own = gv.name.to_string();
                    if !function.attrs.contains_key("global_symbol") {
                        seen.construct("Function, private");
                    }
                    if function.attrs.len() > 1 {
                        seen.construct("attribute of a function");
                    }
                }
                GlobalFunc::PrimFunc(_) => seen.construct("PrimFunc"),
                GlobalFunc::ExternFunc(_) => {}
            }
            let one = IrModule { funcs: vec![(gv.clone(), func.clone())], ..IrModule::default() };
            walk_module(&mut seen, &one);
        }
        self.programs += 1;
        self.bindings += seen.bindings;
        for construct in seen.constructs.keys() {
            *self.constructs.entry(construct).or_default() += 1;
        }
        for operator in seen.operators.keys() {
            *self.operators.entry(operator.clone()).or_default() += 1;
        }
    }

    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: &ConstructCensus) {
        self.programs += other.programs;
        self.bindings += other.bindings;
        for (construct, count) in &other.constructs {
            *self.constructs.entry(construct).or_default() += count;
        }
        for (operator, count) in &other.operators {
            *self.operators.entry(operator.clone()).or_default() += count;
        }
    }

    /// What does not occur of what could.
    pub fn missing(&self, source: &ProgramSource) -> Vec<String> {
        let constructs = ConstructCensus::CONSTRUCTS.iter().filter(|name| !self.constructs.contains_key(*name));
        let operators = source.operators().filter(|name| !self.operators.contains_key(*name));
        constructs.map(ToString::to_string).chain(operators.map(ToString::to_string)).collect()
    }
}

fn is_linked(func: &GlobalFunc) -> bool {
    match func {
        GlobalFunc::Function(function) => function.attrs.contains_key("global_symbol"),
        GlobalFunc::PrimFunc(_) | GlobalFunc::ExternFunc(_) => false,
    }
}

#[derive(Default)]
struct ProgramConstructs {
    constructs: BTreeMap<&'static str, ()>,
    operators: BTreeMap<String, ()>,
    names: BTreeMap<String, u32>,
    own: String,
    bindings: u64,
    branches: usize,
    dataflow: bool,
    functions: usize,
}

impl ProgramConstructs {
    fn construct(&mut self, name: &'static str) {
        self.constructs.insert(name, ());
    }

    fn call(&mut self, call: &relax_spec::grammar::Call) {
        match &call.op {
            Expr::Op(op) => {
                self.construct("Call of an operator");
                if &*op.op_name == "relax.call_tir_inplace" {
                    self.construct("PrimFunc in place");
                }
                self.operators.insert(op.op_name.to_string(), ());
            }
            Expr::GlobalVar(gv) => {
                self.construct(if *gv.name == *self.own { "recursion" } else { "Call of a global function" });
            }
            Expr::ExternFunc(_) => self.construct("Call of a packed function"),
            Expr::Var(_) | Expr::DataflowVar(_) => self.construct("Call of a closure"),
            Expr::Function(_) => self.construct("Call of one written there"),
            Expr::Constant(_)
            | Expr::Tuple(_)
            | Expr::SeqExpr(_)
            | Expr::PrimValue(_)
            | Expr::StringImm(_)
            | Expr::DataTypeImm(_)
            | Expr::If(_)
            | Expr::Call(_)
            | Expr::ShapeExpr(_)
            | Expr::TupleGetItem(_) => {}
        }
        for arg in &call.args {
            match arg {
                Expr::Call(_) => self.construct("call as an operand"),
                Expr::Tuple(_) => self.construct("tuple as an operand"),
                Expr::SeqExpr(_) => self.construct("SeqExpr as an operand"),
                Expr::Function(_) => self.construct("Function as an operand"),
                Expr::Constant(_)
                | Expr::Var(_)
                | Expr::DataflowVar(_)
                | Expr::GlobalVar(_)
                | Expr::PrimValue(_)
                | Expr::StringImm(_)
                | Expr::DataTypeImm(_)
                | Expr::If(_)
                | Expr::ExternFunc(_)
                | Expr::ShapeExpr(_)
                | Expr::TupleGetItem(_)
                | Expr::Op(_) => {}
            }
        }
    }
}

impl Visitor for ProgramConstructs {
    fn visit_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Call(call) => self.call(call),
            Expr::Constant(_)
            | Expr::DataflowVar(_)
            | Expr::Tuple(_)
            | Expr::PrimValue(_)
            | Expr::StringImm(_)
            | Expr::If(_)
            | Expr::ExternFunc(_)
            | Expr::ShapeExpr(_)
            | Expr::TupleGetItem(_) => self.construct(expr.node_name()),
            Expr::Var(_)
            | Expr::GlobalVar(_)
            | Expr::SeqExpr(_)
            | Expr::DataTypeImm(_)
            | Expr::Function(_)
            | Expr::Op(_) => {}
        }
        let branch = matches!(expr, Expr::If(_));
        self.branches += usize::from(branch);
        walk_expr(self, expr);
        self.branches -= usize::from(branch);
    }

    fn visit_function(&mut self, function: &Function) {
        if self.functions > 0 {
            self.construct("Function, local");
        }
        if function.pure == Some(false) {
            self.construct("Function, impure");
        }
        if function.force_pure() {
            self.construct("Function, forced to be pure");
        }
        if function.ret_struct_info.is_none() {
            self.construct("Function without a result annotation");
        }
        for info in function.params.iter().filter_map(|param| param.annotation.as_ref()) {
            if matches!(info, StructInfo::Func(_)) {
                self.construct("parameter of a function type");
            }
            for dim in super::frame::dims_of(info).unwrap_or_default() {
                let mut open = false;
                dim.for_each_var(|_| open = true);
                match dim {
                    relax_spec::grammar::PrimExpr::Var(_) => self.construct("shape variable"),
                    _ if open => self.construct("shape variable in arithmetic"),
                    _ => {}
                }
            }
        }
        self.functions += 1;
        relax_spec::grammar::visit::walk_function(self, function);
        self.functions -= 1;
    }

    fn visit_binding_block(&mut self, block: &BindingBlock) {
        if block.bindings.is_empty() {
            self.construct("block without bindings");
        }
        self.bindings += block.bindings.len() as u64;
        for binder in block.bindings.iter().filter_map(Binding::binder) {
            let count = self.names.entry(binder.var.name.to_string()).or_default();
            *count += 1;
            if *count == 2 {
                self.construct("variables of one name");
            }
        }
        relax_spec::grammar::visit::walk_block(self, block);
    }

    fn visit_dataflow_block(&mut self, block: &BindingBlock) {
        self.construct("DataflowBlock");
        self.dataflow = true;
        self.visit_binding_block(block);
        self.dataflow = false;
    }

    fn visit_var_binding(&mut self, binding: &VarBinding) {
        if binding.var.annotation.is_some() {
            self.construct("binding with an annotation");
        }
        if matches!(binding.value, Expr::SeqExpr(_)) {
            self.construct("SeqExpr as a value");
        }
        walk_var_binding(self, binding);
    }

    fn visit_match_cast(&mut self, cast: &MatchCast) {
        self.construct("MatchCast");
        if self.branches > 0 {
            self.construct("MatchCast in a branch");
        }
        if self.dataflow {
            self.construct("MatchCast in a DataflowBlock");
        }
        match &cast.struct_info {
            StructInfo::Func(_) => self.construct("MatchCast of a function"),
            StructInfo::Tuple(_) => self.construct("MatchCast of a tuple"),
            StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => {}
        }
        walk_match_cast(self, cast);
    }
}
