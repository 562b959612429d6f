//! The laws of the static judgements. `tests/it/laws.rs` tests them on small universes, and `tests/it/random_laws.rs`
//! on large random inputs.

pub mod later;

use std::collections::BTreeSet;

use relax_spec::book::Erratum::{self, A01, A04, A05, A06, A15, A17, A24, A43, A44, N17, N18, N19, N32, N35};
use relax_spec::book::{Edition, Reading, Rule};
use relax_spec::grammar::{PrimExpr, ShapeVar, StructInfo, TensorShape, Type};
use relax_spec::judge::{Compatibility, Cx, GlbPurity};
use relax_spec::rule;
use relax_spec::struct_info::{self as si, InScope};
use relax_spec::suite::alpha::same_struct_info;
use relax_spec::types::{self, find_glb, find_lub, is_subtype};

/// A law: a property of an instance in a context.
pub struct Law<T> {
    pub name: &'static str,
    /// The rule that states the law or that it depends on. An edition without this rule is not asked.
    pub rests_on: Rule,
    /// The reason why some editions are not asked, if any.
    pub elsewhere: Option<&'static str>,
    /// The number of members of an instance.
    pub arity: usize,
    /// Whether the law applies to this instance.
    pub applies: fn(&[&T]) -> bool,
    pub holds: fn(&mut Cx, &[&T]) -> bool,
    /// The errata that may explain a violation in the literal reading, alone or together.
    pub explained: &'static [Erratum],
}

impl<T> Law<T> {
    pub fn is_asked_in(&self, edition: Edition) -> bool {
        self.rests_on.in_edition(edition).is_some()
    }

    /// The errata that may explain a violation in this edition.
    pub fn explained_in(&self, edition: Edition) -> Vec<Erratum> {
        self.explained.iter().copied().filter(|erratum| erratum.stands_in(edition)).collect()
    }
}

/// The errata that can make a difference to these laws.
const AT_STAKE: &[Erratum] = &[A01, A04, A05, A06, A15, A17, A24, A43, A44, N17, N18, N19, N32, N35];

/// Those whose literal text an edition has.
pub fn at_stake(edition: Edition) -> Vec<Erratum> {
    AT_STAKE.iter().copied().filter(|erratum| erratum.stands_in(edition)).collect()
}

pub fn literal(edition: Edition, errata: &[Erratum]) -> Cx {
    Cx::new().with_edition(edition).with_reading(Reading::literal_only(errata))
}

pub fn always<T>(_: &[&T]) -> bool {
    true
}

/// The reason why later editions are not asked.
const TYPES: &str =
    "in later editions types are for comparison with Relay, and nothing orders or bounds them (TRADTYPE.OPTIONAL)";
const WRAPPING: &str = "in later editions no procedure turns a type into structural information";
const ERASED: &str =
    "in later editions what is erased is not ordered; the order and compatibility are compared with each other (N34)";

/// The reason why the first edition is not asked.
const LEVELS: &str = "in the first edition subtyping has no levels";
const FIELDS: &str = "in the first edition structural information has no such field";

pub fn type_laws() -> Vec<Law<Type>> {
    vec![
        Law {
            name: "SUB.REFL",
            rests_on: rule!("SUB.REFL"),
            elsewhere: Some(TYPES),
            arity: 1,
            applies: always,
            holds: |cx, t| is_subtype(cx, t[0], t[0]),
            explained: &[],
        },
        Law {
            name: "SUB.TRANS",
            rests_on: rule!("SUB.TRANS"),
            elsewhere: Some(TYPES),
            arity: 3,
            applies: always,
            holds: |cx, t| !(is_subtype(cx, t[0], t[1]) && is_subtype(cx, t[1], t[2])) || is_subtype(cx, t[0], t[2]),
            explained: &[],
        },
        Law {
            name: "SUB.ANTISYM",
            rests_on: rule!("SUB.ANTISYM"),
            elsewhere: Some(TYPES),
            arity: 2,
            applies: always,
            holds: |cx, t| t[0] == t[1] || !(is_subtype(cx, t[0], t[1]) && is_subtype(cx, t[1], t[0])),
            explained: &[],
        },
        Law {
            name: "GLB.SOUND a lower bound",
            rests_on: rule!("GLB.SOUND"),
            elsewhere: Some(TYPES),
            arity: 2,
            applies: always,
            holds: |cx, t| {
                find_glb(cx, t[0], t[1]).is_none_or(|g| is_subtype(cx, &g, t[0]) && is_subtype(cx, &g, t[1]))
            },
            explained: &[A06, A17],
        },
        Law {
            name: "GLB.SOUND commutative",
            rests_on: rule!("GLB.SOUND"),
            elsewhere: Some(TYPES),
            arity: 2,
            applies: always,
            holds: |cx, t| find_glb(cx, t[0], t[1]) == find_glb(cx, t[1], t[0]),
            explained: &[A06],
        },
        Law {
            name: "LUB.SOUND an upper bound",
            rests_on: rule!("LUB.SOUND"),
            elsewhere: Some(TYPES),
            arity: 2,
            applies: always,
            holds: |cx, t| {
                let bound = find_lub(cx, t[0], t[1]);
                is_subtype(cx, t[0], &bound) && is_subtype(cx, t[1], &bound)
            },
            explained: &[A06, A17],
        },
        Law {
            name: "LUB.SOUND commutative",
            rests_on: rule!("LUB.SOUND"),
            elsewhere: Some(TYPES),
            arity: 2,
            applies: always,
            holds: |cx, t| find_lub(cx, t[0], t[1]) == find_lub(cx, t[1], t[0]),
            explained: &[A06],
        },
        Law {
            name: "LUB.DEF the least (A27: min)",
            rests_on: rule!("LUB.SOUND"),
            elsewhere: Some(TYPES),
            arity: 3,
            applies: always,
            holds: |cx, t| {
                let bound = find_lub(best_bounds(cx), t[0], t[1]);
                !(is_subtype(cx, t[0], t[2]) && is_subtype(cx, t[1], t[2])) || is_subtype(cx, &bound, t[2])
            },
            // A bound that is too low is not a bound, and is still below every other.
            explained: &[A06],
        },
        Law {
            name: "GLB.DEF the greatest (A27: min)",
            rests_on: rule!("GLB.SOUND"),
            elsewhere: Some(TYPES),
            arity: 3,
            applies: always,
            holds: |cx, t| {
                let bound = find_glb(best_bounds(cx), t[0], t[1]);
                !(is_subtype(cx, t[2], t[0]) && is_subtype(cx, t[2], t[1]))
                    || bound.is_some_and(|bound| is_subtype(cx, t[2], &bound))
            },
            explained: &[A06],
        },
        Law {
            name: "SI.WRAP.ROUNDTRIP of types",
            rests_on: rule!("SI.WRAP.ROUNDTRIP"),
            elsewhere: Some(WRAPPING),
            arity: 1,
            applies: |t| !has_pure(t[0]),
            holds: |cx, t| {
                let wrapped = si::wrap_type(cx, t[0]);
                types::erase_struct_info(cx, &wrapped) == *t[0]
            },
            explained: &[],
        },
    ]
}

/// Sets the purity of bounds to that of the order. Otherwise bounds are not the best ones (A27).
fn best_bounds(cx: &mut Cx) -> &mut Cx {
    cx.glb_purity = GlbPurity::Min;
    cx
}

fn has_pure(t: &Type) -> bool {
    match t {
        Type::Func(f) => f.pure || f.arg_types.iter().any(has_pure) || has_pure(&f.ret_type),
        Type::Tuple(fields) => fields.iter().any(has_pure),
        Type::Object | Type::Tensor(_) | Type::Shape(_) | Type::Prim(_) | Type::PackedFunc => false,
    }
}

pub fn has_function(s: &StructInfo) -> bool {
    match s {
        StructInfo::Func(_) => true,
        StructInfo::Tuple(fields) => fields.iter().any(has_function),
        StructInfo::Object | StructInfo::Tensor(_) | StructInfo::Shape(_) | StructInfo::Prim(_) => false,
    }
}

fn erased_below(cx: &mut Cx, s: &[&StructInfo]) -> bool {
    let (t1, t2) = (types::erase_struct_info(cx, s[0]), types::erase_struct_info(cx, s[1]));
    is_subtype(cx, &t1, &t2)
}

pub fn order(cx: &mut Cx, s1: &StructInfo, s2: &StructInfo) -> bool {
    si::is_more_specific(cx, s1, s2)
}

/// The scope of the law on erasing: `n` is in scope, `m` and `s` are not.
fn only_n() -> InScope {
    InScope { vars: BTreeSet::new(), shape_vars: BTreeSet::from([ShapeVar::new("n")]) }
}

fn mentions_only_n(s: &StructInfo) -> bool {
    let fine = |dim: &PrimExpr| {
        let mut fine = true;
        dim.for_each_var(|v| fine &= *v.name == *"n");
        fine
    };
    match s {
        StructInfo::Object | StructInfo::Func(_) => true,
        StructInfo::Prim(p) => p.value.iter().all(fine),
        StructInfo::Tensor(t) => match &t.shape {
            Some(TensorShape::Dims(dims)) => dims.iter().all(fine),
            Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) => false,
            None => true,
        },
        StructInfo::Shape(s) => s.values.iter().flat_map(|values| values.iter()).all(fine),
        StructInfo::Tuple(fields) => fields.iter().all(mentions_only_n),
    }
}

fn impure(t: &Type) -> Type {
    match t {
        Type::Func(f) => Type::func(f.arg_types.iter().map(impure), impure(&f.ret_type), false),
        Type::Tuple(fields) => Type::tuple(fields.iter().map(impure)),
        Type::Object | Type::Tensor(_) | Type::Shape(_) | Type::Prim(_) | Type::PackedFunc => t.clone(),
    }
}

pub fn info_laws() -> Vec<Law<StructInfo>> {
    let mut laws = order_and_joins();
    laws.extend(later::laws());
    laws
}

fn order_and_joins() -> Vec<Law<StructInfo>> {
    vec![
        Law {
            name: "SI.ORDER.REFL",
            rests_on: rule!("SI.ORDER.REFL"),
            elsewhere: None,
            arity: 1,
            applies: always,
            holds: |cx, s| order(cx, s[0], s[0]),
            explained: &[],
        },
        Law {
            name: "SI.ORDER.TRANS",
            rests_on: rule!("SI.ORDER.TRANS"),
            elsewhere: None,
            arity: 3,
            applies: always,
            holds: |cx, s| !(order(cx, s[0], s[1]) && order(cx, s[1], s[2])) || order(cx, s[0], s[2]),
            explained: &[],
        },
        Law {
            name: "SI.ORDER antisymmetric, without functions",
            rests_on: rule!("SI.ORDER.TRANS"),
            elsewhere: None,
            arity: 2,
            applies: |s| !has_function(s[0]) && !has_function(s[1]),
            // The dimensions may be written differently, as `n` and `n * 1`.
            holds: |cx, s| {
                !(order(cx, s[0], s[1]) && order(cx, s[1], s[0]))
                    || same_struct_info(&mut Cx::new().with_edition(cx.edition()), s[0], s[1])
            },
            explained: &[A15],
        },
        Law {
            name: "SI.ORDER.INVARIANT",
            rests_on: rule!("SI.ORDER.INVARIANT"),
            elsewhere: Some(ERASED),
            arity: 2,
            applies: always,
            holds: |cx, s| !order(cx, s[0], s[1]) || erased_below(cx, s),
            explained: &[A15, A17],
        },
        Law {
            name: "SI.COMPAT.INVARIANT",
            rests_on: rule!("SI.ORDER.INVARIANT"),
            elsewhere: Some(ERASED),
            arity: 2,
            applies: always,
            holds: |cx, s| {
                si::check_compatibility(cx, s[0], s[1]) == Compatibility::Incompatible || erased_below(cx, s)
            },
            explained: &[A17],
        },
        Law {
            name: "SI.UNIFY.LUB an upper bound",
            rests_on: rule!("SI.UNIFY.LUB"),
            elsewhere: None,
            arity: 2,
            applies: always,
            holds: |cx, s| {
                let join = si::unify_struct_info(cx, s[0], s[1]);
                order(cx, s[0], &join) && order(cx, s[1], &join)
            },
            explained: &[A01, A04, A05, A15, A43, N32],
        },
        Law {
            // Functions are joined more cautiously than the order requires (A42).
            name: "SI.UNIFY.LUB the least, without functions",
            rests_on: rule!("SI.UNIFY.LUB"),
            elsewhere: None,
            arity: 3,
            applies: |s| !s.iter().any(|s| has_function(s)),
            holds: |cx, s| {
                let join = si::unify_struct_info(cx, s[0], s[1]);
                !(order(cx, s[0], s[2]) && order(cx, s[1], s[2])) || order(cx, &join, s[2])
            },
            explained: &[A15, N32],
        },
        Law {
            name: "SI.UNIFY commutative, up to the order",
            rests_on: rule!("SI.UNIFY.LUB"),
            elsewhere: None,
            arity: 2,
            applies: always,
            holds: |cx, s| {
                let (join1, join2) = (si::unify_struct_info(cx, s[0], s[1]), si::unify_struct_info(cx, s[1], s[0]));
                order(cx, &join1, &join2) && order(cx, &join2, &join1)
            },
            explained: &[A01, A04, A05, N32],
        },
        Law {
            name: "SI.UNIFY.VS-LUB",
            rests_on: rule!("SI.UNIFY.VS-LUB"),
            elsewhere: Some(ERASED),
            arity: 2,
            applies: always,
            holds: |cx, s| {
                let (t1, t2) = (types::erase_struct_info(cx, s[0]), types::erase_struct_info(cx, s[1]));
                let join = si::unify_struct_info(cx, s[0], s[1]);
                let erased = types::erase_struct_info(cx, &join);
                let bound = find_lub(cx, &impure(&t1), &impure(&t2));
                is_subtype(cx, &bound, &impure(&erased))
            },
            explained: &[A01, A04, A05, A06, A15],
        },
        Law {
            name: "SI.WRAP.ROUNDTRIP of infos, without functions",
            rests_on: rule!("SI.WRAP.ROUNDTRIP"),
            elsewhere: Some(WRAPPING),
            arity: 1,
            applies: |s| !has_function(s[0]) && !matches!(s[0], StructInfo::Prim(_)),
            holds: |cx, s| {
                let t = types::erase_struct_info(cx, s[0]);
                let wrapped = si::wrap_type(cx, &t);
                order(cx, s[0], &wrapped)
            },
            explained: &[],
        },
        Law {
            name: "SI.ERASE_WD.WEAKER, without functions",
            rests_on: rule!("SI.ERASE_WD.WEAKER"),
            elsewhere: None,
            arity: 1,
            applies: |s| !has_function(s[0]),
            holds: |cx, s| {
                let erased = si::erase_to_well_defined(cx, s[0], &only_n());
                order(cx, s[0], &erased) && mentions_only_n(&erased)
            },
            explained: &[N17],
        },
        Law {
            name: "SI.ERASE_WD keeps what is in scope",
            rests_on: rule!("SI.ERASE_WD.WEAKER"),
            elsewhere: None,
            arity: 1,
            applies: |s| mentions_only_n(s[0]) && !has_function(s[0]),
            holds: |cx, s| si::erase_to_well_defined(cx, s[0], &only_n()) == *s[0],
            explained: &[A24],
        },
    ]
}
