//! Programs that break one rule: a program that is well-formed, and in it one thing that is not.
//!
//! What is added to `main` stands by itself: it is made of constants and fresh variables, and nothing that was there uses it, so that
//! nothing else is broken with it.

use relax_spec::rule;
use std::sync::Arc;

use super::{Drawn, ProgramSource, tape_of};
use crate::generate::Tape;
use relax_spec::book::{Edition, Rule};
use relax_spec::grammar::{
    AttrValue, Attrs, Binder, Binding, BindingBlock, BlockKind, Call, DataType, DeriveFunc, Expr, FuncStructInfo,
    Function, GlobalFunc, GlobalVar, If, IrModule, MatchCast, Ndim, PrimExpr, ShapeStructInfo, ShapeVar, Span,
    StructInfo, TensorData, TensorShape, TensorStructInfo, Var, VarBinding,
};

/// What is wrong, and how it is written.
struct Violation {
    /// The rule that is broken, and what other editions have in its place.
    rules: &'static [Rule],
    breaks: fn(&mut Broken),
}

impl Violation {
    /// The rule that is broken in an edition, if it has one.
    fn rule(&self, edition: Edition) -> Option<Rule> {
        self.rules.iter().find_map(|rule| rule.in_edition(edition))
    }
}

/// A program that is being broken.
struct Broken {
    module: IrModule,
    /// Its `main`, which is put back at the end.
    main: Function,
    /// Where in `main` blocks are put.
    at: usize,
}

const F32: DataType = DataType::FLOAT32;

/// A row for each rule; where later editions judge the same by another rule, that is named behind it.
const VIOLATIONS: &[Violation] = &[
    Violation { rules: &[rule!("WF.1.BIND")], breaks: |b| b.put(BlockKind::Binding, vec![bind(&lv(), number())]) },
    Violation {
        rules: &[rule!("WF.1.USE")],
        breaks: |b| {
            b.put(BlockKind::Dataflow, vec![bind(&lv(), number())]);
            b.put(BlockKind::Binding, vec![bind(&one(), lv().to_expr())]);
        },
    },
    Violation {
        rules: &[rule!("WF.2.BOUND")],
        breaks: |b| b.put(BlockKind::Binding, vec![bind(&one(), other().to_expr())]),
    },
    Violation {
        rules: &[rule!("WF.2.BOUND")],
        breaks: |b| {
            b.bound_elsewhere(BlockKind::Binding, &other());
            b.put(BlockKind::Binding, vec![bind(&one(), other().to_expr())]);
        },
    },
    Violation {
        rules: &[rule!("WF.2.BOUND")],
        breaks: |b| {
            b.bound_elsewhere(BlockKind::Dataflow, &lv());
            b.put(BlockKind::Binding, vec![bind(&one(), lv().to_expr())]);
        },
    },
    Violation {
        rules: &[rule!("WF.2.ONCE")],
        breaks: |b| b.put(BlockKind::Binding, vec![bind(&one(), number()), bind(&one(), number())]),
    },
    Violation {
        rules: &[rule!("WF.2.SELF")],
        breaks: |b| b.put(BlockKind::Binding, vec![bind(&one(), Expr::tuple(vec![one().to_expr()]))]),
    },
    Violation {
        rules: &[rule!("WF.3.BEFORE")],
        breaks: |b| b.put(BlockKind::Binding, vec![bind(&one(), other().to_expr()), bind(&other(), number())]),
    },
    Violation {
        rules: &[rule!("WF.5.BEFORE")],
        breaks: |b| b.put(BlockKind::Binding, vec![bind(&one(), Expr::shape([dim()]))]),
    },
    Violation {
        rules: &[rule!("WF.6.REC")],
        breaks: |b| {
            // Without it another rule were broken as well.
            b.main.ret_struct_info.get_or_insert(StructInfo::Object);
            b.put(BlockKind::Dataflow, vec![bind(&one(), b.call_of_main())]);
        },
    },
    Violation {
        rules: &[rule!("WF.6.IF")],
        breaks: |b| b.put(BlockKind::Dataflow, vec![bind(&one(), choice(truth()))]),
    },
    Violation {
        rules: &[rule!("WF.7.SELF")],
        breaks: |b| {
            b.put(BlockKind::Binding, vec![bind(&one(), b.call_of_main())]);
            b.main.ret_struct_info = None;
        },
    },
    Violation {
        rules: &[rule!("WF.8")],
        breaks: |b| b.put(BlockKind::Binding, vec![bind(&one(), Expr::op("relax.add"))]),
    },
    Violation {
        rules: &[rule!("WF.10")],
        breaks: |b| {
            b.put(BlockKind::Dataflow, vec![bind(&lv(), number()), local(Vec::new(), lv().to_expr(), scalar(), true)]);
        },
    },
    Violation { rules: &[rule!("WF.11")], breaks: Broken::unlink },
    Violation {
        rules: &[rule!("WF.12")],
        breaks: |b| {
            b.main.attrs.insert("global_symbol".into(), AttrValue::Str("another".into()));
        },
    },
    Violation {
        rules: &[rule!("WF.13.FORM")],
        breaks: |b| b.annotated(tensor(Some(TensorShape::Other(Arc::new(Expr::tuple(Vec::new())))), 0), number()),
    },
    Violation {
        rules: &[rule!("WF.13.NDIM")],
        breaks: |b| b.cast_to(tensor(Some(TensorShape::Dims(Arc::from([PrimExpr::IntImm(2)]))), 2), number()),
    },
    Violation {
        rules: &[rule!("WF.14.NDIM")],
        breaks: |b| {
            let info = ShapeStructInfo { values: Some(Arc::from([PrimExpr::IntImm(1)])), ndim: Ndim::from_i64(2) };
            b.cast_to(StructInfo::Shape(info), size());
        },
    },
    Violation {
        rules: &[rule!("WF.15.EXCLUSIVE")],
        breaks: |b| b.annotated(func(Some(Arc::from([])), Some(DeriveFunc::DefaultDerive)), Expr::extern_func(LOG)),
    },
    Violation {
        rules: &[rule!("WF.15.ATLEASTONE")],
        breaks: |b| b.annotated(func(None, None), Expr::extern_func(LOG)),
    },
    Violation {
        rules: &[rule!("TC.IF.COND"), rule!("SI.DERIVE.IF.COND")],
        breaks: |b| b.put(BlockKind::Binding, vec![bind(&one(), choice(number()))]),
    },
    Violation {
        rules: &[rule!("TC.TGI.BOUND"), rule!("SI.DERIVE.TGI.BOUND")],
        breaks: |b| b.put(BlockKind::Binding, vec![bind(&one(), Expr::tuple_get_item(Expr::tuple(vec![number()]), 1))]),
    },
    Violation {
        rules: &[rule!("TC.TGI.NOTTUPLE"), rule!("SI.DERIVE.TGI.NOTTUPLE")],
        breaks: |b| b.put(BlockKind::Binding, vec![bind(&one(), Expr::tuple_get_item(number(), 0))]),
    },
    Violation {
        rules: &[rule!("TC.CALL.NOTFUNC"), rule!("SI.DERIVE.CALL.NOTFUNC")],
        breaks: |b| {
            let call = Expr::call(one().to_expr(), vec![number()]);
            b.put(BlockKind::Binding, vec![bind(&one(), number()), bind(&other(), call)]);
        },
    },
    Violation {
        rules: &[rule!("TC.CALL.ARITY"), rule!("SI.DERIVE.CALL.ARITY")],
        breaks: |b| b.called(scalar(), vec![number(), number()]),
    },
    Violation {
        rules: &[rule!("TC.CALL.ARGS"), rule!("SI.DERIVE.CALL.ARGS.ERR")],
        breaks: |b| b.called(scalar(), vec![size()]),
    },
    Violation {
        rules: &[rule!("TC.VB.ANNOT.ERR"), rule!("SI.DERIVE.VB.ANNOT.ERR")],
        breaks: |b| b.annotated(StructInfo::shape_ndim(1), number()),
    },
    Violation {
        rules: &[rule!("TC.FUNC.RET.UNRELATED"), rule!("SI.DERIVE.FUNC.RET.ERR")],
        breaks: |b| {
            b.put(BlockKind::Binding, vec![local(Vec::new(), number(), StructInfo::shape_ndim(1), true)]);
        },
    },
    Violation {
        rules: &[rule!("TC.FUNC.PURE.ANNOT-ERR"), rule!("SI.DERIVE.CALL.EXTERN.PURITY")],
        breaks: |b| {
            b.put(BlockKind::Binding, vec![local(Vec::new(), logged(), StructInfo::Object, true)]);
        },
    },
    Violation {
        rules: &[rule!("TC.DF.EXTERN"), rule!("SI.DERIVE.CALL.EXTERN.PURITY")],
        breaks: |b| {
            b.impure();
            b.put(BlockKind::Dataflow, vec![bind(&one(), logged())]);
        },
    },
    Violation {
        rules: &[rule!("TC.DF.OP"), rule!("SI.DERIVE.CALL.OP.PURITY")],
        breaks: |b| {
            b.impure();
            let text = relax_spec::grammar::StringImm { value: "".into(), span: Span::NONE };
            let print = Expr::call(Expr::op("relax.print"), vec![Expr::StringImm(text), number()]);
            b.put(BlockKind::Dataflow, vec![bind(&one(), print)]);
        },
    },
    Violation {
        rules: &[rule!("TC.DF.FUNC"), rule!("SI.DERIVE.CALL.FUNC.PURITY")],
        breaks: |b| {
            b.impure();
            b.put(BlockKind::Binding, vec![local(Vec::new(), number(), scalar(), false)]);
            b.put(BlockKind::Dataflow, vec![bind(&other(), Expr::call(one().to_expr(), Vec::new()))]);
        },
    },
    Violation {
        rules: &[rule!("SI.DERIVE.VB.ANNOT.ERR")],
        breaks: |b| b.annotated(StructInfo::tensor([PrimExpr::IntImm(2)], F32), vector(3)),
    },
    Violation {
        rules: &[rule!("SI.DERIVE.CALL.ARGS.ERR")],
        breaks: |b| b.called(StructInfo::tensor([PrimExpr::IntImm(2)], F32), vec![vector(3)]),
    },
];

/// A packed function that has an effect.
const LOG: &str = "relax_spec.log";

/// Tells the tape of violations from that of the program.
const OF_VIOLATIONS: u64 = 0x6272_6b6e;

impl ProgramSource {
    /// The program with a number, with one rule of the edition broken in it, and that rule.
    pub fn violating(&self, seed: u64, number: u64) -> Option<(Drawn, Rule)> {
        let mut tape = tape_of(seed ^ OF_VIOLATIONS, number, 3);
        let standing: Vec<(&Violation, Rule)> = self.violations().filter(|(_, rule)| self.wants(*rule)).collect();
        let (violation, rule) = *tape.pick(&standing)?;
        Some((broken(self.program(seed, number), violation, &mut tape), rule))
    }

    /// The simplest program in which this rule is broken, if it is one of those that can be.
    pub fn simplest_violating(&self, rule: Rule) -> Option<Drawn> {
        let (violation, _) = self.violations().find(|(_, broken)| *broken == rule)?;
        let simplest = self.of_tape(Tape::from_choices(Vec::new()));
        Some(broken(simplest, violation, &mut Tape::from_choices(Vec::new())))
    }

    /// The rules of the edition that are broken.
    pub fn violated_rules(&self) -> impl Iterator<Item = Rule> + '_ {
        self.violations().map(|(_, rule)| rule)
    }

    fn violations(&self) -> impl Iterator<Item = (&'static Violation, Rule)> + '_ {
        let edition = self.restriction.edition;
        VIOLATIONS.iter().filter_map(move |violation| Some((violation, violation.rule(edition)?)))
    }
}

fn broken(drawn: Drawn, violation: &Violation, tape: &mut Tape) -> Drawn {
    let Some(GlobalFunc::Function(main)) = drawn.module.get("main") else { return drawn };
    let blocks = if let Expr::SeqExpr(seq) = &main.body { seq.blocks.len() } else { 0 };
    let (main, at) = ((**main).clone(), tape.choose(blocks + 1));
    let mut broken = Broken { module: drawn.module, main, at };
    (violation.breaks)(&mut broken);
    Drawn { module: broken.whole(), ..drawn }
}

impl Broken {
    /// Lets the function have effects; by force it would be pure.
    fn impure(&mut self) {
        self.main.pure = Some(false);
        self.main.attrs.remove("relax.force_pure");
    }

    /// A block more; the next one stands behind it.
    fn put(&mut self, kind: BlockKind, bindings: Vec<Binding>) {
        let (mut blocks, body) = match &self.main.body {
            Expr::SeqExpr(seq) => (seq.blocks.clone(), seq.body.clone()),
            body => (Vec::new(), body.clone()),
        };
        blocks.insert(self.at.min(blocks.len()), BindingBlock { kind, bindings, span: Span::NONE });
        self.at += 1;
        self.main.body = Expr::seq(blocks, body);
    }

    /// A binding with this annotation.
    fn annotated(&mut self, info: StructInfo, value: Expr) {
        self.put(BlockKind::Binding, vec![bind(&one().annotated(info), value)]);
    }

    /// A cast, for what in the annotation of a variable would break a criterion more.
    fn cast_to(&mut self, struct_info: StructInfo, value: Expr) {
        self.put(
            BlockKind::Binding,
            vec![Binding::MatchCast(MatchCast { var: None, struct_info, value, span: Span::NONE })],
        );
    }

    /// A call of a function that takes one such argument.
    fn called(&mut self, takes: StructInfo, args: Vec<Expr>) {
        let param = Binder::var(Var::new("broken_param"));
        let callee = local(vec![param.annotated(takes)], number(), scalar(), true);
        let call = Expr::call(one().to_expr(), args);
        self.put(BlockKind::Binding, vec![callee, bind(&other(), call)]);
    }

    fn call_of_main(&self) -> Expr {
        let args = self.main.params.iter().map(Binder::to_expr).collect();
        Expr::call(Expr::GlobalVar(GlobalVar::new("main")), args)
    }

    /// A function more, which binds the variable.
    fn bound_elsewhere(&mut self, kind: BlockKind, binder: &Binder) {
        let block = BindingBlock { kind, bindings: vec![bind(binder, number())], span: Span::NONE };
        let body = Expr::seq(vec![block], number());
        let (params, ret_struct_info, attrs, span) = (Vec::new(), Some(scalar()), Attrs::new(), Span::NONE);
        let function = Function { params, body, ret_struct_info, pure: Some(true), attrs, span };
        let function = GlobalFunc::Function(Arc::new(function));
        self.module.funcs.insert(0, (GlobalVar::new("broken_elsewhere"), function));
    }

    /// Nothing can be started.
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
    // Zeros can be written in every data type.
    TensorData::from_values(dtype, sizes, &zeros).map_or_else(|_| Expr::tuple(Vec::new()), Expr::constant)
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

fn bind(binder: &Binder, value: Expr) -> Binding {
    Binding::VarBinding(VarBinding { var: binder.clone(), value, span: Span::NONE })
}

fn choice(cond: Expr) -> Expr {
    let branch = || Expr::seq(Vec::new(), number());
    Expr::If(Arc::new(If { cond, true_branch: branch(), false_branch: branch(), span: Span::NONE }))
}

/// A function that is bound, with what it says of itself as the annotation (`TC.VB.FUNC.ANNOT`).
fn local(params: Vec<Binder>, body: Expr, ret: StructInfo, pure: bool) -> Binding {
    let taken: Vec<StructInfo> = params.iter().filter_map(|param| param.annotation.clone()).collect();
    let (params_info, derive_func) = (Some(Arc::from(taken)), None);
    let info = FuncStructInfo { params: params_info, ret: ret.clone(), derive_func, pure: Some(pure) };
    let (body, attrs, span) = (Expr::seq(Vec::new(), body), Attrs::new(), Span::NONE);
    let function = Function { params, body, ret_struct_info: Some(ret), pure: Some(pure), attrs, span };
    bind(&one().annotated(StructInfo::Func(Arc::new(info))), Expr::Function(Arc::new(function)))
}

/// An impure call.
fn logged() -> Expr {
    let call = Call {
        op: Expr::extern_func(LOG),
        args: vec![number()],
        sinfo_args: vec![StructInfo::Object],
        attrs: Attrs::new(),
        span: Span::NONE,
    };
    Expr::Call(call.into())
}
