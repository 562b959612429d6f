//! Programs that break one rule: a well-formed program with a single fault.
//!
//! The code added to `main` is independent: it consists of constants and fresh variables, and the existing code does
//! not use it, so that it breaks no other rule.

use std::sync::Arc;

use super::{Drawn, ProgramSource};
use crate::generate::Tape;
use crate::generate::nodes::{self, F32, bind, block, branch, cast, function, global, packed, sequence, text};
use relax_spec::book::Rule;
use relax_spec::grammar::{
    AttrValue, Binder, Binding, BlockKind, DataType, DeriveFunc, Expr, FuncStructInfo, Function, GlobalFunc, IrModule,
    Ndim, PrimExpr, ShapeStructInfo, ShapeVar, StructInfo, TensorShape, TensorStructInfo, Var,
};
use relax_spec::rule;

/// The broken rule, with its equivalents in other editions, and a function that adds the fault.
type Violation = (&'static [Rule], fn(&mut Broken));

/// A program to which a fault is added.
struct Broken {
    module: IrModule,
    /// Its `main`, which is put back at the end.
    main: Function,
    /// The position in `main` where blocks are inserted.
    at: usize,
}

/// A row for each rule. If later editions judge the same by another rule, that follows it.
const VIOLATIONS: &[Violation] = &[
    (&[rule!("WF.1.BIND")], |b| b.put([bind(&lv(), number())])),
    (&[rule!("WF.1.USE")], |b| {
        b.put_dataflow([bind(&lv(), number())]);
        b.put([bind(&one(), lv().to_expr())]);
    }),
    (&[rule!("WF.2.BOUND")], |b| b.put([bind(&one(), other().to_expr())])),
    (&[rule!("WF.2.BOUND")], |b| {
        b.bound_elsewhere(BlockKind::Binding, &other());
        b.put([bind(&one(), other().to_expr())]);
    }),
    (&[rule!("WF.2.BOUND")], |b| {
        b.bound_elsewhere(BlockKind::Dataflow, &lv());
        b.put([bind(&one(), lv().to_expr())]);
    }),
    (&[rule!("WF.2.ONCE")], |b| b.put([bind(&one(), number()), bind(&one(), number())])),
    (&[rule!("WF.2.SELF")], |b| b.put([bind(&one(), Expr::tuple(vec![one().to_expr()]))])),
    (&[rule!("WF.3.BEFORE")], |b| b.put([bind(&one(), other().to_expr()), bind(&other(), number())])),
    (&[rule!("WF.5.BEFORE")], |b| b.put([bind(&one(), Expr::shape([dim()]))])),
    (&[rule!("WF.6.REC")], |b| {
        // Otherwise another rule would be broken too.
        b.main.ret_struct_info.get_or_insert(StructInfo::Object);
        b.put_dataflow([bind(&one(), b.call_of_main())]);
    }),
    (&[rule!("WF.6.IF")], |b| b.put_dataflow([bind(&one(), choice(truth()))])),
    (&[rule!("WF.7.SELF")], |b| {
        b.put([bind(&one(), b.call_of_main())]);
        b.main.ret_struct_info = None;
    }),
    (&[rule!("WF.8")], |b| b.put([bind(&one(), Expr::op("relax.add"))])),
    (&[rule!("WF.10")], |b| {
        b.put_dataflow([bind(&lv(), number()), local(Vec::new(), lv().to_expr(), scalar(), true)]);
    }),
    (&[rule!("WF.11")], Broken::unlink),
    (&[rule!("WF.12")], |b| {
        b.main.attrs.insert("global_symbol".into(), AttrValue::Str("another".into()));
    }),
    (&[rule!("WF.13.FORM")], |b| {
        b.annotated(tensor(Some(TensorShape::Other(Arc::new(Expr::tuple(Vec::new())))), 0), number())
    }),
    (&[rule!("WF.13.NDIM")], |b| {
        b.cast_to(tensor(Some(TensorShape::Dims(Arc::from([PrimExpr::IntImm(2)]))), 2), number())
    }),
    (&[rule!("WF.14.NDIM")], |b| {
        let info = ShapeStructInfo { values: Some(Arc::from([PrimExpr::IntImm(1)])), ndim: Ndim::from_i64(2) };
        b.cast_to(StructInfo::Shape(info), size());
    }),
    (&[rule!("WF.15.EXCLUSIVE")], |b| {
        b.annotated(func(Some(Arc::from([])), Some(DeriveFunc::DefaultDerive)), Expr::extern_func(LOG))
    }),
    (&[rule!("WF.15.ATLEASTONE")], |b| b.annotated(func(None, None), Expr::extern_func(LOG))),
    (&[rule!("TC.IF.COND"), rule!("SI.DERIVE.IF.COND")], |b| b.put([bind(&one(), choice(number()))])),
    (&[rule!("TC.TGI.BOUND"), rule!("SI.DERIVE.TGI.BOUND")], |b| {
        b.put([bind(&one(), Expr::tuple_get_item(Expr::tuple(vec![number()]), 1))])
    }),
    (&[rule!("TC.TGI.NOTTUPLE"), rule!("SI.DERIVE.TGI.NOTTUPLE")], |b| {
        b.put([bind(&one(), Expr::tuple_get_item(number(), 0))])
    }),
    (&[rule!("TC.CALL.NOTFUNC"), rule!("SI.DERIVE.CALL.NOTFUNC")], |b| {
        let call = Expr::call(one().to_expr(), vec![number()]);
        b.put([bind(&one(), number()), bind(&other(), call)]);
    }),
    (&[rule!("TC.CALL.ARITY"), rule!("SI.DERIVE.CALL.ARITY")], |b| b.called(scalar(), vec![number(), number()])),
    (&[rule!("TC.CALL.ARGS"), rule!("SI.DERIVE.CALL.ARGS.ERR")], |b| b.called(scalar(), vec![size()])),
    (&[rule!("TC.VB.ANNOT.ERR"), rule!("SI.DERIVE.VB.ANNOT.ERR")], |b| {
        b.annotated(StructInfo::shape_ndim(1), number())
    }),
    (&[rule!("TC.FUNC.RET.UNRELATED"), rule!("SI.DERIVE.FUNC.RET.ERR")], |b| {
        b.put([local(Vec::new(), number(), StructInfo::shape_ndim(1), true)]);
    }),
    (&[rule!("TC.FUNC.PURE.ANNOT-ERR"), rule!("SI.DERIVE.CALL.EXTERN.PURITY")], |b| {
        b.put([local(Vec::new(), logged(), StructInfo::Object, true)]);
    }),
    (&[rule!("TC.DF.EXTERN"), rule!("SI.DERIVE.CALL.EXTERN.PURITY")], |b| {
        b.impure();
        b.put_dataflow([bind(&one(), logged())]);
    }),
    (&[rule!("TC.DF.OP"), rule!("SI.DERIVE.CALL.OP.PURITY")], |b| {
        b.impure();
        let print = Expr::call(Expr::op("relax.print"), vec![text(""), number()]);
        b.put_dataflow([bind(&one(), print)]);
    }),
    (&[rule!("TC.DF.FUNC"), rule!("SI.DERIVE.CALL.FUNC.PURITY")], |b| {
        b.impure();
        b.put([local(Vec::new(), number(), scalar(), false)]);
        b.put_dataflow([bind(&other(), Expr::call(one().to_expr(), Vec::new()))]);
    }),
    (&[rule!("SI.DERIVE.VB.ANNOT.ERR")], |b| b.annotated(StructInfo::tensor([PrimExpr::IntImm(2)], F32), vector(3))),
    (&[rule!("SI.DERIVE.CALL.ARGS.ERR")], |b| {
        b.called(StructInfo::tensor([PrimExpr::IntImm(2)], F32), vec![vector(3)])
    }),
];

/// A packed function with a side effect.
const LOG: &str = "relax_spec.log";

/// Distinguishes the tape of violations from that of the program.
const OF_VIOLATIONS: u64 = 0x6272_6b6e;

impl ProgramSource {
    /// The program with this number, with one rule of the edition broken in it, and that rule.
    pub fn violating(&self, seed: u64, number: u64) -> Option<(Drawn, Rule)> {
        let mut tape = Tape::numbered(seed ^ OF_VIOLATIONS, number, 3);
        let standing: Vec<(&Violation, Rule)> = self.violations().filter(|(_, rule)| self.wants(*rule)).collect();
        let ((_, breaks), rule) = *tape.pick(&standing)?;
        Some((broken(self.program(seed, number), *breaks, &mut tape), rule))
    }

    /// The simplest program that breaks this rule, if it is one of these rules.
    pub fn simplest_violating(&self, rule: Rule) -> Option<Drawn> {
        let ((_, breaks), _) = self.violations().find(|(_, broken)| *broken == rule)?;
        let simplest = self.of_tape(Tape::from_choices(Vec::new()));
        Some(broken(simplest, *breaks, &mut Tape::from_choices(Vec::new())))
    }

    /// The rules of the edition that can be broken.
    pub fn violated_rules(&self) -> impl Iterator<Item = Rule> + '_ {
        self.violations().map(|(_, rule)| rule)
    }

    fn violations(&self) -> impl Iterator<Item = (&'static Violation, Rule)> + '_ {
        let edition = self.restriction.edition;
        let rule_of = move |rules: &[Rule]| rules.iter().find_map(|rule| rule.in_edition(edition));
        VIOLATIONS.iter().filter_map(move |violation| Some((violation, rule_of(violation.0)?)))
    }
}

fn broken(drawn: Drawn, breaks: fn(&mut Broken), tape: &mut Tape) -> Drawn {
    let Some(GlobalFunc::Function(main)) = drawn.module.get("main") else { return drawn };
    let blocks = if let Expr::SeqExpr(seq) = &main.body { seq.blocks.len() } else { 0 };
    let (main, at) = ((**main).clone(), tape.choose(blocks + 1));
    let mut broken = Broken { module: drawn.module, main, at };
    breaks(&mut broken);
    Drawn { module: broken.whole(), ..drawn }
}

impl Broken {
    /// Lets the function have side effects; `force_pure` would make it pure.
    fn impure(&mut self) {
        self.main.pure = Some(false);
        self.main.attrs.remove("relax.force_pure");
    }

    /// Inserts a block; the next one follows it.
    fn put_block(&mut self, kind: BlockKind, bindings: Vec<Binding>) {
        let (mut blocks, body) = match &self.main.body {
            Expr::SeqExpr(seq) => (seq.blocks.clone(), seq.body.clone()),
            body => (Vec::new(), body.clone()),
        };
        blocks.insert(self.at.min(blocks.len()), block(kind, bindings));
        self.at += 1;
        self.main.body = Expr::seq(blocks, body);
    }

    fn put<const N: usize>(&mut self, bindings: [Binding; N]) {
        self.put_block(BlockKind::Binding, bindings.into());
    }

    fn put_dataflow<const N: usize>(&mut self, bindings: [Binding; N]) {
        self.put_block(BlockKind::Dataflow, bindings.into());
    }

    /// A binding with this annotation.
    fn annotated(&mut self, info: StructInfo, value: Expr) {
        self.put([bind(&one().annotated(info), value)]);
    }

    /// A cast, for structural information that would break another criterion as an annotation.
    fn cast_to(&mut self, info: StructInfo, value: Expr) {
        self.put([cast(None, value, info)]);
    }

    /// A call of a function with one such parameter.
    fn called(&mut self, takes: StructInfo, args: Vec<Expr>) {
        let param = Binder::var(Var::new("broken_param")).annotated(takes);
        let callee = local(vec![param], number(), scalar(), true);
        self.put([callee, bind(&other(), Expr::call(one().to_expr(), args))]);
    }

    fn call_of_main(&self) -> Expr {
        Expr::call(nodes::global_var("main"), self.main.params.iter().map(Binder::to_expr).collect())
    }

    /// Adds a function that binds the variable.
    fn bound_elsewhere(&mut self, kind: BlockKind, binder: &Binder) {
        let body = Expr::seq(vec![block(kind, vec![bind(binder, number())])], number());
        self.module.funcs.insert(0, global("broken_elsewhere", function(Vec::new(), body, scalar(), true)));
    }

    /// Makes the module one without entry points.
    fn unlink(&mut self) {
        self.main.attrs.remove("global_symbol");
        for (_, func) in &mut self.module.funcs {
            if let GlobalFunc::Function(function) = func {
                Arc::make_mut(function).attrs.remove("global_symbol");
            }
        }
    }

    fn whole(mut self) -> IrModule {
        for (gv, func) in &mut self.module.funcs {
            if &*gv.name == "main" {
                *func = GlobalFunc::Function(Arc::new(self.main.clone()));
            }
        }
        self.module
    }
}

fn one() -> Binder {
    Binder::var(Var::new("broken"))
}

fn other() -> Binder {
    Binder::var(Var::new("broken_too"))
}

fn lv() -> Binder {
    Binder::dataflow(Var::new("broken_lv"))
}

fn dim() -> PrimExpr {
    PrimExpr::Var(ShapeVar::new("broken_n"))
}

fn size() -> Expr {
    Expr::shape([PrimExpr::IntImm(1)])
}

fn constant(dtype: DataType, sizes: &[u64]) -> Expr {
    let zeros = vec![0.0; sizes.iter().product::<u64>() as usize];
    // Every data type can represent zeros.
    nodes::constant(dtype, sizes, &zeros).unwrap_or_else(|| Expr::tuple(Vec::new()))
}

fn number() -> Expr {
    constant(F32, &[])
}

fn vector(size: u64) -> Expr {
    constant(F32, &[size])
}

fn truth() -> Expr {
    constant(DataType::BOOL, &[])
}

fn scalar() -> StructInfo {
    StructInfo::tensor([], F32)
}

fn tensor(shape: Option<TensorShape>, ndim: i64) -> StructInfo {
    StructInfo::Tensor(TensorStructInfo { shape, dtype: F32, ndim: Ndim::from_i64(ndim), vdevice: None })
}

fn func(params: Option<Arc<[StructInfo]>>, derive_func: Option<DeriveFunc>) -> StructInfo {
    StructInfo::Func(Arc::new(FuncStructInfo { params, ret: StructInfo::Object, derive_func, pure: None }))
}

fn choice(cond: Expr) -> Expr {
    branch(cond, sequence(Vec::new(), number()), sequence(Vec::new(), number()))
}

/// A bound function, with its own structural information as the annotation (`TC.VB.FUNC.ANNOT`).
fn local(params: Vec<Binder>, body: Expr, ret: StructInfo, pure: bool) -> Binding {
    let function = function(params, Expr::seq(Vec::new(), body), ret, pure);
    bind(&one().annotated(function.signature()), Expr::Function(Arc::new(function)))
}

/// An impure call.
fn logged() -> Expr {
    packed(LOG, vec![number()], vec![StructInfo::Object])
}
