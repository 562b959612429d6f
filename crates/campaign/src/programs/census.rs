//! Counts the constructs in programs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde::{Deserialize, Deserializer, Serialize};

use super::{ProgramSource, Restriction};
use crate::generate::nodes::{dims_of, is_linked};
use relax_spec::book::Edition;
use relax_spec::grammar::visit::{
    Visitor, walk_block, walk_expr, walk_function, walk_match_cast, walk_module, walk_var_binding,
};
use relax_spec::grammar::{
    Binding, BindingBlock, Call, Expr, Function, GlobalFunc, IrModule, MatchCast, PrimExpr, StructInfo, VarBinding,
};

/// In how many programs each construct and each operator occurs.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct ConstructCensus {
    /// How many programs were counted.
    pub programs: u64,
    /// How many bindings they have together.
    pub bindings: u64,
    /// By construct.
    #[serde(deserialize_with = "constructs")]
    pub constructs: BTreeMap<&'static str, u64>,
    /// By operator.
    pub operators: BTreeMap<String, u64>,
}

/// How many programs of each kind are counted for the book.
const COUNTED: u64 = 500;

impl ConstructCensus {
    /// Every construct that can occur in the programs of campaigns.
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

    /// Constructs that occur only in the programs of laws.
    pub const FURTHER: &'static [&'static str] = &[
        "Call of a PrimFunc",
        "DataTypeImm",
        "If on a scalar in a box",
        "parameter that is a scalar",
        "tensor on a device",
    ];

    /// Counts a program.
    pub fn count(&mut self, module: &IrModule) {
        let mut seen = ProgramConstructs::default();
        for (gv, func) in &module.funcs {
            if let GlobalFunc::PrimFunc(_) = func {
                seen.construct("PrimFunc");
                seen.prim_funcs.insert(gv.name.to_string());
            }
        }
        if module.funcs.iter().filter(|(_, func)| is_linked(func)).count() > 1 {
            seen.construct("Function, of several entry points");
        }
        if !module.global_infos.is_empty() {
            seen.construct("tensor on a device");
        }
        for (gv, func) in &module.funcs {
            if let GlobalFunc::Function(function) = func {
                seen.own = gv.name.to_string();
                if !is_linked(func) {
                    seen.construct("Function, private");
                }
                if function.attrs.len() > 1 {
                    seen.construct("attribute of a function");
                }
            }
            walk_module(&mut seen, &IrModule { funcs: vec![(gv.clone(), func.clone())], ..IrModule::default() });
        }
        let ProgramConstructs { constructs, operators, bindings, .. } = seen;
        self.add(&ConstructCensus {
            programs: 1,
            bindings,
            constructs: constructs.into_iter().map(|construct| (construct, 1)).collect(),
            operators: operators.into_iter().map(|operator| (operator, 1)).collect(),
        });
    }

    /// Adds the counts of another census.
    pub fn add(&mut self, other: &ConstructCensus) {
        self.programs += other.programs;
        self.bindings += other.bindings;
        add_counts(&mut self.constructs, other.constructs.clone());
        add_counts(&mut self.operators, other.operators.clone());
    }

    /// The possible constructs that do not occur.
    pub fn missing(&self, source: &ProgramSource) -> Vec<String> {
        let constructs = ConstructCensus::CONSTRUCTS.iter().filter(|name| !self.constructs.contains_key(*name));
        let operators = source.operators().filter(|name| !self.operators.contains_key(*name));
        constructs.map(ToString::to_string).chain(operators.map(ToString::to_string)).collect()
    }

    /// The census of the first programs drawn without calls from the suite.
    fn without_calls(restriction: Restriction) -> ConstructCensus {
        let source = ProgramSource::of(&[], restriction);
        let mut census = ConstructCensus::default();
        (0..COUNTED).for_each(|number| census.count(&source.program(0, number).module));
        census
    }

    /// `spec/src/generator.md`.
    pub fn page() -> String {
        let by_edition = |of: fn(Edition) -> Restriction| Edition::ALL.map(|edition| (edition, of(edition)));
        let kinds = [
            ("campaigns", by_edition(|edition| Restriction { edition, ..Restriction::default() })),
            ("laws", by_edition(Restriction::of_laws)),
        ];
        let columns = kinds.map(|(kind, rows)| rows.map(|(edition, restriction)| (kind, edition, restriction)));
        let columns: Vec<(&str, Edition, Restriction)> = columns.into_iter().flatten().collect();
        let heads: Vec<String> = columns.iter().map(|(kind, edition, _)| format!(" {kind}, {edition} |")).collect();
        let counted: Vec<ConstructCensus> =
            columns.into_iter().map(|(.., restriction)| ConstructCensus::without_calls(restriction)).collect();
        let rules = " ---: |".repeat(counted.len());
        let mut page = format!("{PAGE}\n| construct |{}\n| --- |{rules}\n", heads.concat());
        let mut constructs = [ConstructCensus::CONSTRUCTS, ConstructCensus::FURTHER].concat();
        constructs.sort_unstable_by_key(|construct| construct.to_lowercase());
        for construct in constructs {
            let count = |census: &ConstructCensus| match census.constructs.get(construct) {
                Some(count) => format!(" {count} |"),
                None => " – |".to_string(),
            };
            // Writing to a string does not fail.
            let _ = writeln!(page, "| {construct} |{}", counted.iter().map(count).collect::<String>());
        }
        page
    }
}

/// Counts by construct; what is no construct is an error.
fn constructs<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<&'static str, u64>, D::Error> {
    let counts: BTreeMap<String, u64> = BTreeMap::deserialize(from)?;
    let known = || ConstructCensus::CONSTRUCTS.iter().chain(ConstructCensus::FURTHER);
    let construct = |(name, count): (String, u64)| {
        let found = known().find(|known| **known == name).map(|known| (*known, count));
        found.ok_or_else(|| serde::de::Error::custom(format!("there is no construct `{name}`")))
    };
    counts.into_iter().map(construct).collect()
}

/// Adds the counts of another census.
pub(crate) fn add_counts<T: Ord>(counts: &mut BTreeMap<T, u64>, others: BTreeMap<T, u64>) {
    others.into_iter().for_each(|(of, count)| *counts.entry(of).or_default() += count);
}

/// The text above the table.
const PAGE: &str = "# What programs are drawn

Written by `cargo xtask regenerate`. One generator draws the programs that campaigns ask implementations about, and \
those that laws are tried on. Each column counts in how many of 500 programs a construct occurs; a dash says that none \
of them has it. The programs are drawn without the calls of operators that the suite knows, so that the table depends \
on the generator alone.
";

/// The nodes that are in every program, or counted by their position.
const UNCOUNTED: [&str; 6] = ["Call", "Function", "GlobalVar", "Op", "SeqExpr", "Var"];

#[derive(Default)]
struct ProgramConstructs {
    constructs: BTreeSet<&'static str>,
    operators: BTreeSet<String>,
    prim_funcs: BTreeSet<String>,
    names: BTreeSet<String>,
    own: String,
    bindings: u64,
    branches: usize,
    dataflow: bool,
    functions: usize,
}

impl ProgramConstructs {
    fn construct(&mut self, name: &'static str) {
        self.constructs.insert(name);
    }

    fn call(&mut self, call: &Call) {
        if let Expr::Op(op) = &call.op {
            if &*op.op_name == "relax.call_tir_inplace" {
                self.construct("PrimFunc in place");
            }
            self.operators.insert(op.op_name.to_string());
        }
        let called = match &call.op {
            Expr::Op(_) => Some("Call of an operator"),
            Expr::GlobalVar(gv) if *gv.name == *self.own => Some("recursion"),
            Expr::GlobalVar(gv) if self.prim_funcs.contains(&*gv.name) => Some("Call of a PrimFunc"),
            Expr::GlobalVar(_) => Some("Call of a global function"),
            Expr::ExternFunc(_) => Some("Call of a packed function"),
            Expr::Function(_) => Some("Call of one written there"),
            callee => matches!(callee, Expr::Var(_) | Expr::DataflowVar(_)).then_some("Call of a closure"),
        };
        self.constructs.extend(called);
        let operands = call.args.iter().filter_map(|arg| match arg.node_name() {
            "Call" => Some("call as an operand"),
            "Tuple" => Some("tuple as an operand"),
            "SeqExpr" => Some("SeqExpr as an operand"),
            "Function" => Some("Function as an operand"),
            _ => None,
        });
        self.constructs.extend(operands);
    }

    fn parameter(&mut self, info: &StructInfo) {
        let kind = match info {
            StructInfo::Func(_) => Some("parameter of a function type"),
            info => info.as_prim().map(|_| "parameter that is a scalar"),
        };
        self.constructs.extend(kind);
        for dim in dims_of(info).unwrap_or_default() {
            let mut open = false;
            dim.for_each_var(|_| open = true);
            match dim {
                PrimExpr::Var(_) => self.construct("shape variable"),
                _ if open => self.construct("shape variable in arithmetic"),
                _ => {}
            }
        }
    }
}

impl Visitor for ProgramConstructs {
    fn visit_expr(&mut self, expr: &Expr) {
        if let Expr::Call(call) = expr {
            self.call(call);
        }
        let name = expr.node_name();
        self.constructs.extend((!UNCOUNTED.contains(&name)).then_some(name));
        let branch = if let Expr::If(branch) = expr { Some(branch) } else { None };
        if branch.is_some_and(|branch| branch.cond.is_over_shape_vars()) {
            self.construct("If on a scalar in a box");
        }
        self.branches += usize::from(branch.is_some());
        walk_expr(self, expr);
        self.branches -= usize::from(branch.is_some());
    }

    fn visit_function(&mut self, function: &Function) {
        for (is_so, construct) in [
            (self.functions > 0, "Function, local"),
            (function.pure == Some(false), "Function, impure"),
            (function.force_pure(), "Function, forced to be pure"),
            (function.ret_struct_info.is_none(), "Function without a result annotation"),
        ] {
            self.constructs.extend(is_so.then_some(construct));
        }
        function.params.iter().filter_map(|param| param.annotation.as_ref()).for_each(|info| self.parameter(info));
        self.functions += 1;
        walk_function(self, function);
        self.functions -= 1;
    }

    fn visit_binding_block(&mut self, block: &BindingBlock) {
        if block.bindings.is_empty() {
            self.construct("block without bindings");
        }
        self.bindings += block.bindings.len() as u64;
        for binder in block.bindings.iter().filter_map(Binding::binder) {
            if !self.names.insert(binder.var.name.to_string()) {
                self.construct("variables of one name");
            }
        }
        walk_block(self, block);
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
        for (is_so, construct) in [
            (true, "MatchCast"),
            (self.branches > 0, "MatchCast in a branch"),
            (self.dataflow, "MatchCast in a DataflowBlock"),
            (matches!(cast.struct_info, StructInfo::Func(_)), "MatchCast of a function"),
            (matches!(cast.struct_info, StructInfo::Tuple(_)), "MatchCast of a tuple"),
        ] {
            self.constructs.extend(is_so.then_some(construct));
        }
        walk_match_cast(self, cast);
    }
}
