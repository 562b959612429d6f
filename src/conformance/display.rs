//! Questions and answers in one line, as reports show them.

use std::collections::BTreeMap;
use std::fmt;

use super::case::{Answer, Ask, Derived, DimAnswer, MatchAnswer, Program, ReadAnswer, RunAnswer};
use crate::grammar::{GlobalFunc, IrModule};
use crate::syntax::decode::Profile;

/// Items separated by `, `.
struct List<'a, T>(&'a [T]);

/// A map as `{k: v, ..}`.
struct Map<'a, K, V>(&'a BTreeMap<K, V>);

/// A module by its functions.
struct Functions<'a>(&'a IrModule);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, item) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{item}")?;
        }
        Ok(())
    }
}

impl<K: fmt::Display, V: fmt::Display> fmt::Display for Map<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> = self.0.iter().map(|(k, v)| format!("{k}: {v}")).collect();
        write!(f, "{{{}}}", List(&pairs))
    }
}

impl fmt::Display for Functions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self
            .0
            .funcs
            .iter()
            .map(|(gv, func)| match func {
                GlobalFunc::Function(_) => gv.name.to_string(),
                GlobalFunc::PrimFunc(_) => format!("{} (PrimFunc)", gv.name),
            })
            .collect();
        write!(f, "module of {}", List(&names))
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Program::Script(text) => {
                let lines = text.trim().lines().count();
                write!(f, "script of {lines} lines")
            }
            Program::Module(module) => Functions(module).fmt(f),
        }
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.op())?;
        match self {
            Ask::Subtype(a, b) | Ask::Glb(a, b) | Ask::Lub(a, b) => write!(f, "{a}, {b}")?,
            Ask::Erase(s) => write!(f, "{s}")?,
            Ask::Wrap(t) => write!(f, "{t}")?,
            Ask::EraseToWellDefined(s, gamma, delta) => write!(f, "{s}, [{}], [{}]", List(gamma), List(delta))?,
            Ask::ShapeVarMapping(a, b)
            | Ask::Compatibility(a, b)
            | Ask::MoreSpecific(a, b)
            | Ask::PossiblyMoreSpecific(a, b)
            | Ask::Unify(a, b) => write!(f, "{a}, {b}")?,
            Ask::ProveEqual(a, b) => write!(f, "{a}, {b}")?,
            Ask::EvalDim(e, sigma) => write!(f, "{e}, {}", Map(sigma))?,
            Ask::MatchValue(v, s, sigma) => write!(f, "{v}, {s}, {}", Map(sigma))?,
            Ask::Parse(text) | Ask::Decode(text, Profile::Merged) => {
                write!(f, "text of {} lines", text.trim().lines().count())?
            }
            Ask::Decode(text, Profile::Pr14148) => {
                write!(f, "text of {} lines, later revision", text.trim().lines().count())?
            }
            Ask::WellFormed(p) | Ask::NormalForm(p) | Ask::Normalize(p) | Ask::TypeCheck(p) | Ask::Check(p) => {
                write!(f, "{p}")?;
            }
            Ask::DeriveFunction(p, name) => write!(f, "{p}, {name}")?,
            Ask::DeriveVar(p, name, var) => write!(f, "{p}, {name}, {var}")?,
            Ask::DeriveCall(callee, args, sinfo_args) => {
                write!(f, "{callee}, [{}], [{}]", List(args), List(sinfo_args))?;
            }
            Ask::Evaluate(p, name, args) => write!(f, "{p}, {name}, [{}]", List(args))?,
            Ask::Refine(source, target, name, inputs) => {
                write!(f, "{source}, {target}, {name}, {} inputs", inputs.len())?;
            }
        }
        f.write_str(")")
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Bool(x) => write!(f, "{x}"),
            Answer::Type(x) => write!(f, "{x}"),
            Answer::OptionType(Some(x)) => write!(f, "{x}"),
            Answer::OptionType(None) => f.write_str("none"),
            Answer::StructInfo(x) => write!(f, "{x}"),
            Answer::Mapping(x) => write!(f, "{}", Map(x)),
            Answer::Compatibility(x) => write!(f, "{x}"),
            Answer::Proof(x) => write!(f, "{x}"),
            Answer::Dim(x) => write!(f, "{x}"),
            Answer::Match(x) => write!(f, "{x}"),
            Answer::Program(x) => write!(f, "{}", Functions(x)),
            Answer::Read(ReadAnswer::Module(x)) => write!(f, "{}", Functions(x)),
            Answer::Read(ReadAnswer::Rejected(rules)) => {
                let ids: Vec<&str> = rules.iter().map(|rule| rule.id()).collect();
                write!(f, "rejected by {}", if ids.is_empty() { "the grammar".to_string() } else { ids.join(", ") })
            }
            Answer::Verdict(x) => write!(f, "{x}"),
            Answer::Derived(Derived::Is(x)) => write!(f, "{x}"),
            Answer::Derived(Derived::Rejected(rule)) => write!(f, "rejected by {rule}"),
            Answer::Run(x) => write!(f, "{x}"),
        }
    }
}

impl fmt::Display for DimAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DimAnswer::Is(value) => write!(f, "{value}"),
            DimAnswer::Fails(rule) => write!(f, "fails by {rule}"),
        }
    }
}

impl fmt::Display for MatchAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MatchAnswer::Matches(sigma) => write!(f, "matches {}", Map(sigma)),
            MatchAnswer::Fails(rule) => write!(f, "fails by {rule}"),
        }
    }
}

impl fmt::Display for RunAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunAnswer::Returns(value, effects) => write!(f, "returns {value}, effects [{}]", List(effects)),
            RunAnswer::Fails(rule, effects) => write!(f, "fails by {rule}, effects [{}]", List(effects)),
            RunAnswer::OutOfFuel => f.write_str("runs out of fuel"),
            RunAnswer::Unspecified => f.write_str("unspecified"),
        }
    }
}
