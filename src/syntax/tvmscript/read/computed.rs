//! Values that Python computes from literals: expressions whose value the text of a file determines.

use std::cell::Cell;

use ruff_python_ast as py;
use rustc_hash::{FxHashMap, FxHashSet};

use super::fault::{dotted, float};
use super::known::{KnownNames, destructure};
use super::python_library::{self, Given};
use super::static_value::{LONGEST, StaticValue, binary, compared, member, sliced, unary};
use crate::judge::with_stack;

/// The maximum number of expressions and parts of values that are computed for one.
const STEPS: usize = 100_000;

/// Names with their values, inside a function or a comprehension.
pub(super) type Locals = FxHashMap<String, StaticValue>;

/// Evaluates expressions.
pub(super) struct Computer<'k> {
    known: &'k KnownNames,
    /// Names of the file that mean something else here.
    shadowed: &'k FxHashSet<String>,
    locals: Locals,
    steps: &'k Cell<usize>,
    /// Whether a value needs more than literals and their arithmetic.
    uses: &'k Cell<bool>,
}

/// The value of an expression, and whether it needs more than literals and their arithmetic.
pub(super) fn computed(
    known: &KnownNames,
    e: &py::Expr,
    shadowed: &FxHashSet<String>,
    locals: Locals,
) -> Option<(StaticValue, bool)> {
    let (steps, uses) = (Cell::new(STEPS), Cell::new(false));
    let value = Computer { known, shadowed, locals, steps: &steps, uses: &uses }.value(e)?;
    Some((value, uses.get()))
}

impl Computer<'_> {
    fn value(&self, e: &py::Expr) -> Option<StaticValue> {
        self.pay(1)?;
        let value = with_stack(|| self.value_inner(e))?;
        self.pay(value.size())?;
        Some(value)
    }

    fn value_inner(&self, e: &py::Expr) -> Option<StaticValue> {
        match e {
            py::Expr::NoneLiteral(_) => Some(StaticValue::None),
            py::Expr::BooleanLiteral(b) => Some(StaticValue::Bool(b.value)),
            py::Expr::StringLiteral(s) => Some(StaticValue::Text(s.value.to_str().to_string())),
            py::Expr::NumberLiteral(n) => match &n.value {
                py::Number::Int(i) => Some(StaticValue::Int(i.as_u64()?.into())),
                py::Number::Float(x) => Some(StaticValue::Float(*x)),
                py::Number::Complex { .. } => None,
            },
            py::Expr::Call(call) => match float(e) {
                Some(float) => Some(StaticValue::Float(float)),
                None => self.used(self.called(call)?),
            },
            py::Expr::FString(text) => self.used(StaticValue::Text(self.formatted(text)?)),
            py::Expr::If(choice) => {
                let test = self.value(&choice.test)?.truth()?;
                self.value(if test { &choice.body } else { &choice.orelse })
            }
            py::Expr::Name(name) => match self.locals.get(name.id.as_str()) {
                Some(value) => self.used(value.clone()),
                None if self.shadowed.contains(name.id.as_str()) => None,
                None => self.used(self.known.constant(name.id.as_str())?.clone()),
            },
            py::Expr::Attribute(attribute) => self.used(self.attribute(e, attribute)?),
            py::Expr::Tuple(tuple) => self.values(&tuple.elts).map(StaticValue::Tuple),
            py::Expr::List(list) => self.values(&list.elts).map(StaticValue::List),
            py::Expr::Dict(dict) => self.dictionary(dict),
            py::Expr::UnaryOp(u) => unary(u.op, self.value(&u.operand)?),
            py::Expr::BinOp(b) => binary(b.op, self.value(&b.left)?, self.value(&b.right)?),
            py::Expr::BoolOp(b) => self.connected(b),
            py::Expr::Compare(compare) => self.compared(compare),
            py::Expr::Subscript(s) => self.subscript(s),
            py::Expr::ListComp(py::ExprListComp { elt, generators, .. })
            | py::Expr::Generator(py::ExprGenerator { elt, generators, .. }) => {
                let mut values = Vec::new();
                self.comprehended(elt, generators, &mut values)?;
                Some(StaticValue::List(values))
            }
            _ => None,
        }
    }

    fn pay(&self, steps: usize) -> Option<()> {
        self.steps.set(self.steps.get().checked_sub(steps)?);
        Some(())
    }

    fn used(&self, value: StaticValue) -> Option<StaticValue> {
        self.uses.set(true);
        Some(value)
    }

    /// The values of items, with the members of `*items` in their place.
    fn values(&self, items: &[py::Expr]) -> Option<Vec<StaticValue>> {
        let mut values = Vec::with_capacity(items.len());
        for item in items {
            match item {
                py::Expr::Starred(starred) => values.extend_from_slice(self.value(&starred.value)?.members()?),
                item => values.push(self.value(item)?),
            }
        }
        (values.len() <= LONGEST).then_some(values)
    }

    fn dictionary(&self, dict: &py::ExprDict) -> Option<StaticValue> {
        let entries = dict.items.iter().map(|item| Some((self.value(item.key.as_ref()?)?, self.value(&item.value)?)));
        Some(StaticValue::Dict(entries.collect::<Option<Vec<_>>>()?))
    }

    /// `a and b`, `a or b`: the first operand that decides.
    fn connected(&self, e: &py::ExprBoolOp) -> Option<StaticValue> {
        let decides = match e.op {
            py::BoolOp::And => false,
            py::BoolOp::Or => true,
        };
        let (last, others) = e.values.split_last()?;
        for other in others {
            let value = self.value(other)?;
            if value.truth()? == decides {
                return Some(value);
            }
        }
        self.value(last)
    }

    /// `a < b <= c`.
    fn compared(&self, e: &py::ExprCompare) -> Option<StaticValue> {
        let mut left = self.value(&e.left)?;
        for (op, right) in e.ops.iter().zip(&e.comparators) {
            let right = self.value(right)?;
            if !compared(*op, &left, &right)? {
                return Some(StaticValue::Bool(false));
            }
            left = right;
        }
        Some(StaticValue::Bool(true))
    }

    fn subscript(&self, e: &py::ExprSubscript) -> Option<StaticValue> {
        let of = self.value(&e.value)?;
        let py::Expr::Slice(slice) = &*e.slice else { return member(of, self.value(&e.slice)?) };
        let bound = |e: &Option<Box<py::Expr>>| match e {
            None => Some(None),
            Some(e) => match self.value(e)? {
                StaticValue::Int(at) => Some(Some(at)),
                StaticValue::None => Some(None),
                _ => None,
            },
        };
        sliced(of, bound(&slice.lower)?, bound(&slice.upper)?, bound(&slice.step)?)
    }

    /// `[f(i) for i in items if i > 0]`, generator by generator.
    fn comprehended(&self, e: &py::Expr, generators: &[py::Comprehension], out: &mut Vec<StaticValue>) -> Option<()> {
        let Some((generator, others)) = generators.split_first() else {
            out.push(self.value(e)?);
            return (out.len() <= LONGEST).then_some(());
        };
        for value in self.value(&generator.iter)?.items()? {
            let inner = self.with(&generator.target, &value)?;
            let mut holds = true;
            for test in &generator.ifs {
                holds = holds && inner.value(test)?.truth()?;
            }
            if holds {
                inner.comprehended(e, others, out)?;
            }
        }
        Some(())
    }

    /// With the names of a target bound to a value.
    fn with(&self, target: &py::Expr, value: &StaticValue) -> Option<Computer<'_>> {
        let (mut named, mut locals) = (Vec::new(), self.locals.clone());
        if !destructure(target, value, &mut named) {
            return None;
        }
        locals.extend(named.into_iter().map(|(name, _, value)| (name, value)));
        let Computer { known, shadowed, steps, uses, .. } = self;
        Some(Computer { known, shadowed, locals, steps, uses })
    }

    /// The full name of a function or value of Python's library: `numpy.zeros` for `np.zeros`, `len` for `len`.
    fn path(&self, e: &py::Expr) -> Option<String> {
        let words = dotted(e)?;
        let (root, rest) = words.split_first()?;
        if self.locals.contains_key(*root) || self.shadowed.contains(*root) {
            return None;
        }
        let root = self.known.imported(root)?;
        Some(rest.iter().fold(root, |path, word| path + "." + word))
    }

    /// `Config.size`, `np.inf`, `array.shape`.
    fn attribute(&self, e: &py::Expr, attribute: &py::ExprAttribute) -> Option<StaticValue> {
        match self.path(e).and_then(|path| python_library::constant(&path)) {
            Some(value) => Some(value),
            None => python_library::attribute(&self.value(&attribute.value)?, attribute.attr.as_str()),
        }
    }

    fn given(&self, arguments: &py::Arguments) -> Option<Given> {
        let named = arguments.keywords.iter().map(|keyword| {
            let name = keyword.arg.as_ref()?.to_string();
            Some((name, self.value(&keyword.value)?))
        });
        Some(Given { named: named.collect::<Option<Vec<_>>>()?, placed: self.values(&arguments.args)? })
    }

    fn called(&self, call: &py::ExprCall) -> Option<StaticValue> {
        if let py::Expr::Name(name) = &*call.func
            && let Some(function) = self.known.map(name.id.as_str(), self.shadowed)
            && !self.locals.contains_key(name.id.as_str())
        {
            return self.applied(function, &call.arguments);
        }
        if let Some(path) = self.path(&call.func) {
            return python_library::called(&path, &self.given(&call.arguments)?);
        }
        match &*call.func {
            py::Expr::Attribute(method) => {
                let of = self.value(&method.value)?;
                python_library::method(of, method.attr.as_str(), &self.given(&call.arguments)?)
            }
            // A class of the file.
            py::Expr::Name(_) => python_library::object(self.value(&call.func)?, &self.given(&call.arguments)?),
            _ => None,
        }
    }

    /// A function of the file that returns an expression of its parameters.
    fn applied(&self, function: &py::ExprLambda, arguments: &py::Arguments) -> Option<StaticValue> {
        let Given { placed, named } = self.given(arguments)?;
        let parameters = function.parameters.as_deref()?;
        if parameters.vararg.is_some() || parameters.kwarg.is_some() {
            return None;
        }
        let by_place = parameters.posonlyargs.len() + parameters.args.len();
        if placed.len() > by_place || named.iter().any(|(name, _)| !parameters.includes(name)) {
            return None;
        }
        let mut locals = Locals::default();
        for (at, parameter) in parameters.iter_non_variadic_params().enumerate() {
            let name = parameter.parameter.name.as_str();
            let placed = placed.get(at).cloned();
            let named = || named.iter().find(|(given, _)| given == name).map(|(_, value)| value.clone());
            let value = match placed.or_else(named) {
                Some(value) => value,
                None => self.value(parameter.default.as_deref()?)?,
            };
            locals.insert(name.to_string(), value);
        }
        let (known, steps, uses) = (self.known, self.steps, self.uses);
        Computer { known, shadowed: &FxHashSet::default(), locals, steps, uses }.value(&function.body)
    }

    /// `f"conv_{N}"`, of texts and integers.
    fn formatted(&self, text: &py::ExprFString) -> Option<String> {
        let mut out = String::new();
        for part in text.value.elements() {
            match part {
                py::InterpolatedStringElement::Literal(literal) => out.push_str(&literal.value),
                py::InterpolatedStringElement::Interpolation(hole) => {
                    if hole.format_spec.is_some() || hole.debug_text.is_some() || !hole.conversion.is_none() {
                        return None;
                    }
                    out.push_str(&self.value(&hole.expression)?.shown()?);
                }
            }
        }
        (out.len() <= LONGEST).then_some(out)
    }
}
