//! Packed functions that are not available. The result of such a function depends on its name, its arguments and the
//! declared result of the call; the call is an effect, unless it is assumed to be pure.
//!
//! Its floats depend continuously on the floats of the arguments, like those of ordinary programs. So an argument that
//! differs by rounding counts as the same.

use std::collections::{BTreeMap, BTreeSet};

use crate::book::Edition;
use crate::grammar::visit::{Visitor, walk_call, walk_expr, walk_module};
use crate::grammar::{
    AttrValue, Call, DataType, Expr, GlobalFunc, IrModule, Name, Ndim, StructInfo, TensorShape, TensorStructInfo,
};
use crate::judge::with_stack;
use crate::ops;
use crate::value::{
    AllocError, Effect, Host, Prim, Reads, Registry, ResultContract, Returned, Scalar, Stop, Tensor, Value, readable,
    snapshot,
};

const CALL_DPS_PACKED: &str = "relax.call_dps_packed";

/// The assumptions about a packed function that is not available.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Assumption {
    /// Whether its calls are not effects.
    pub pure: bool,
    /// Which of its arguments it mutates.
    pub mutates: BTreeSet<usize>,
    /// Which of its arguments it returns.
    pub returns: Option<usize>,
    /// How many of its last arguments it writes and does not read, whatever a call says of them. `None` if it may be
    /// called otherwise than in destination-passing style.
    pub outputs: Option<usize>,
}

/// The packed functions that the programs name and that are not available.
pub fn missing(registry: &Registry, modules: &[&IrModule]) -> BTreeSet<Name> {
    let mut named = ExternSymbols::default();
    for module in modules {
        walk_module(&mut named, module);
        for (_, func) in &module.funcs {
            match func {
                GlobalFunc::ExternFunc(func) => named.0.extend([func.global_symbol.clone()]),
                GlobalFunc::Function(_) | GlobalFunc::PrimFunc(_) => {}
            }
        }
    }
    named.0.retain(|name| registry.get(name).is_none() && !modules.iter().any(|module| is_prim_func(module, name)));
    named.0
}

/// EVAL.EXTERNFUNC.PRIMFUNC: whether the name is the global symbol of a `PrimFunc`.
fn is_prim_func(module: &IrModule, symbol: &Name) -> bool {
    module.funcs.iter().any(|(_, func)| match func {
        GlobalFunc::PrimFunc(func) => func.attrs.get("global_symbol") == Some(&AttrValue::Str(symbol.clone())),
        GlobalFunc::Function(_) | GlobalFunc::ExternFunc(_) => false,
    })
}

#[derive(Default)]
struct ExternSymbols(BTreeSet<Name>);

impl Visitor for ExternSymbols {
    fn visit_expr(&mut self, expr: &Expr) {
        if let Expr::ExternFunc(func) = expr {
            self.0.insert(func.global_symbol.clone());
        }
        walk_expr(self, expr);
    }

    fn visit_call(&mut self, call: &Call) {
        if let (Expr::Op(op), Some(Expr::StringImm(symbol))) = (&call.op, call.args.first())
            && *op.op_name == *CALL_DPS_PACKED
        {
            self.0.insert(symbol.value.clone());
        }
        walk_call(self, call);
    }
}

/// What the calls of packed functions in a program say of them.
#[derive(Default)]
struct CalledFunctions {
    /// Whether `call_dps_packed` says that a function is pure (OP.CALLDPS.IMPURE).
    dps_is_pure: bool,
    /// In destination-passing style: how many outputs they have.
    outputs: BTreeMap<Name, BTreeSet<usize>>,
    /// By these operators, and thereby said to be pure (OP.CALLPURE.PURE, OP.CALLINPLACEPACKED.INTENT).
    pure: BTreeSet<Name>,
    /// In destination-passing style, in an edition that takes such calls for impure.
    impure: BTreeSet<Name>,
    /// In any other way.
    others: BTreeSet<Name>,
    /// With a declared result that is not just an object.
    declared: BTreeSet<Name>,
}

impl CalledFunctions {
    fn of(edition: Edition, module: &IrModule) -> CalledFunctions {
        let dps_is_pure = ops::lookup(CALL_DPS_PACKED).is_some_and(|op| op.is_pure_in(edition));
        let mut called = CalledFunctions { dps_is_pure, ..CalledFunctions::default() };
        walk_module(&mut called, module);
        called
    }

    /// Whether there is a call of a function.
    fn names(&self, name: &Name) -> bool {
        [&self.pure, &self.impure, &self.others].iter().any(|names| names.contains(name))
    }

    /// What is assumed of a function by default.
    fn assumption(&self, name: &Name) -> Assumption {
        let is_alone = !self.others.contains(name);
        let outputs = self.outputs.get(name).filter(|counts| is_alone && counts.len() == 1);
        Assumption {
            pure: is_alone && self.pure.contains(name) && !self.impure.contains(name),
            outputs: outputs.and_then(|counts| counts.first().copied()),
            ..Assumption::default()
        }
    }

    /// OP.CALLDPS: a call in destination-passing style.
    fn note_outputs(&mut self, symbol: &Name, call: &Call) {
        let outputs = if let [StructInfo::Tuple(fields)] = call.sinfo_args.as_slice() { fields.len() } else { 1 };
        self.outputs.entry(symbol.clone()).or_default().insert(outputs);
        let said = if self.dps_is_pure { &mut self.pure } else { &mut self.impure };
        said.insert(symbol.clone());
    }

    fn note_declared(&mut self, symbol: &Name, call: &Call) {
        if !matches!(call.sinfo_args.as_slice(), [] | [StructInfo::Object]) {
            self.declared.insert(symbol.clone());
        }
    }
}

impl Visitor for CalledFunctions {
    fn visit_expr(&mut self, expr: &Expr) {
        if let Expr::ExternFunc(func) = expr {
            self.others.insert(func.global_symbol.clone());
        }
        walk_expr(self, expr);
    }

    fn visit_call(&mut self, call: &Call) {
        match (&call.op, call.args.split_first()) {
            (Expr::Op(op), Some((Expr::ExternFunc(func), args))) if is_of_pure_functions(&op.op_name) => {
                self.note_declared(&func.global_symbol, call);
                self.pure.insert(func.global_symbol.clone());
                args.iter().for_each(|arg| self.visit_expr(arg));
            }
            (Expr::Op(op), Some((Expr::ExternFunc(func), args))) if *op.op_name == *CALL_DPS_PACKED => {
                self.note_outputs(&func.global_symbol, call);
                args.iter().for_each(|arg| self.visit_expr(arg));
            }
            (Expr::Op(op), Some((Expr::StringImm(symbol), args))) if *op.op_name == *CALL_DPS_PACKED => {
                self.note_outputs(&symbol.value, call);
                args.iter().for_each(|arg| self.visit_expr(arg));
            }
            (Expr::ExternFunc(func), _) => {
                self.note_declared(&func.global_symbol, call);
                walk_call(self, call);
            }
            _ => walk_call(self, call),
        }
    }
}

fn is_of_pure_functions(operator: &str) -> bool {
    matches!(operator, "relax.call_pure_packed" | "relax.call_inplace_packed")
}

/// Registers the replacements of these functions. The first of the programs that calls one says what it is: if it is
/// pure there, or writes its last arguments, it does so in the target, however it is called there, unless something
/// else is assumed of it.
pub(super) fn register(
    registry: &mut Registry,
    names: impl Iterator<Item = Name>,
    assumed: &BTreeMap<Name, Assumption>,
    edition: Edition,
    programs: &[&IrModule],
) {
    let said: Vec<CalledFunctions> = programs.iter().map(|program| CalledFunctions::of(edition, program)).collect();
    for name in names {
        let Some(said) = said.iter().find(|said| said.names(&name)).or(said.last()) else { continue };
        let by_default = said.assumption(&name);
        let given = assumed.get(&name).cloned();
        let assumption = given.map(|given| Assumption { outputs: by_default.outputs, ..given }).unwrap_or(by_default);
        let (symbol, declared) = (name.clone(), said.declared.contains(&name));
        // Its effects are recorded here, where the declared result of the call is known.
        registry.register_reading(&name, true, Reads::Nothing, move |m, args| match (&m.asked().wanted, declared) {
            // An executable does not say it.
            (ResultContract::Anything, true) => {
                Err(Stop::unknown(format!("a call of {symbol} that does not say what the function returns")))
            }
            _ => call(m, &symbol, &assumption, args),
        });
    }
}

fn call(m: &mut dyn Host, name: &Name, assumption: &Assumption, args: &[Value]) -> Result<Returned, Stop> {
    let asked = m.asked().clone();
    let written = match asked.wanted {
        ResultContract::Outputs(outputs) => outputs,
        ResultContract::Anything | ResultContract::Result(_) => assumption.outputs.unwrap_or_default(),
    };
    let (inputs, outputs) = args.split_at(args.len().saturating_sub(written));
    readable(m, inputs)?;
    if !assumption.pure && !asked.pure {
        let inputs = snapshot(inputs)?;
        m.effect(Effect::Call(name.clone(), inputs));
    }
    let mut given = ArgumentDigest::of(m, name, inputs)?;
    let mutated = assumption.mutates.iter().filter_map(|i| inputs.get(*i)).chain(outputs);
    mutated.into_iter().try_for_each(|value| given.mutate(m, value))?;
    if let Some(returned) = assumption.returns {
        let missing = || Stop::unknown(format!("{name} is assumed to return argument {returned}, and has none"));
        return args.get(returned).cloned().map(Returned::Value).ok_or_else(missing);
    }
    match asked.wanted {
        ResultContract::Outputs(_) => Ok(Returned::Nothing),
        ResultContract::Anything | ResultContract::Result(_) if written > 0 => Ok(Returned::Nothing),
        ResultContract::Anything => given.value(m, &StructInfo::Object).map(Returned::Value),
        ResultContract::Result(info) => given.value(m, &info).map(Returned::Value),
    }
}

/// How many sums of its floating-point arguments a function depends on.
const SUMS: usize = 8;

/// A digest of the arguments of a function.
struct ArgumentDigest {
    /// Everything but the finite floats.
    hash: u64,
    /// Sums of the finite floats, each with different weights.
    sums: [f64; SUMS],
    /// How many floats there were.
    floats: u64,
    /// The shapes of the tensors.
    shapes: Vec<Vec<i64>>,
    /// How many elements were generated so far.
    made: u64,
}

impl ArgumentDigest {
    fn of(m: &mut dyn Host, name: &Name, args: &[Value]) -> Result<ArgumentDigest, Stop> {
        let hash = name.bytes().fold(0, |hash, byte| mixed(hash, u64::from(byte)));
        let mut given = ArgumentDigest { hash, sums: [0.0; SUMS], floats: 0, shapes: Vec::new(), made: 0 };
        args.iter().try_for_each(|value| given.see(m, value))?;
        Ok(given)
    }

    fn note(&mut self, what: u64) {
        self.hash = mixed(self.hash, what);
    }

    fn note_text(&mut self, kind: u64, text: &str) {
        self.note(kind);
        text.bytes().for_each(|byte| self.note(u64::from(byte)));
    }

    fn see(&mut self, m: &mut dyn Host, value: &Value) -> Result<(), Stop> {
        match value {
            Value::Tensor(tensor) => self.see_tensor(m, tensor)?,
            Value::Tuple(tuple) => {
                // A tuple that shares its parts has far more fields than it occupies memory.
                m.spend(tuple.len() as u64)?;
                self.note(1 + tuple.len() as u64);
                with_stack(|| tuple.fields().iter().try_for_each(|field| self.see(m, field)))?;
            }
            Value::Shape(dims) => {
                self.note(dims.len() as u64);
                dims.iter().for_each(|dim| self.note(*dim as u64));
            }
            Value::Prim(prim) => self.see_scalar(prim.value),
            Value::Str(text) => self.note_text(2, text),
            Value::DataType(dtype) => self.note_text(3, &dtype.to_string()),
            Value::PackedFunc(func) => self.note_text(4, func.name()),
            Value::PrimFunc(func) => self.note_text(5, &func.name),
            Value::Closure(_) | Value::Object(_) => {
                return Err(Stop::unknown("a closure or an opaque object is given to a function that is not known"));
            }
        }
        Ok(())
    }

    fn see_tensor(&mut self, m: &mut dyn Host, tensor: &Tensor) -> Result<(), Stop> {
        m.spend((tensor.len() as u64).saturating_mul(SUMS as u64))?;
        self.note_text(6, &tensor.dtype().to_string());
        tensor.shape().iter().for_each(|dim| self.note(*dim as u64));
        self.shapes.push(tensor.shape().to_vec());
        (0..tensor.len()).filter_map(|i| tensor.get(i)).for_each(|scalar| self.see_scalar(scalar));
        Ok(())
    }

    fn see_scalar(&mut self, scalar: Scalar) {
        match scalar {
            Scalar::Bool(x) => self.note(u64::from(x)),
            Scalar::Int(x) => self.note(x as u64),
            Scalar::UInt(x) => self.note(x),
            Scalar::Float(x) if x.is_finite() => {
                self.floats += 1;
                for (k, sum) in self.sums.iter_mut().enumerate() {
                    *sum += x * weight(k as u64, self.floats);
                }
            }
            // The order of operations decides whether infinities give an infinity or NaN.
            Scalar::Float(_) => self.note(7),
            Scalar::Ring(x) => {
                x.bytes().chunks(8).for_each(|part| self.note(part.iter().fold(0, |n, b| n << 8 | u64::from(*b))))
            }
        }
    }

    /// The next float.
    fn float(&mut self) -> f64 {
        self.made += 1;
        let own = weight(self.hash, self.made);
        // Not linear, because few real functions are.
        let from_sums = |(k, sum): (usize, &f64)| (sum + sum.sin()) * weight(mixed(self.hash, k as u64), self.made);
        own + self.sums.iter().enumerate().map(from_sums).sum::<f64>()
            / (SUMS as f64 * self.floats.max(1) as f64).sqrt()
    }

    /// The next integer, which is small: it may be an index.
    fn integer(&mut self) -> u64 {
        self.made += 1;
        // Only as many digits of the floats as no order of rounding changes.
        let rough = |sum: &f64| f64::from_bits((sum.to_bits() + (1 << 37)) & !((1 << 38) - 1)).to_bits();
        self.sums.iter().map(rough).fold(mixed(self.hash, self.made), mixed) % 5
    }

    fn scalar(&mut self, dtype: DataType) -> Scalar {
        match dtype.float_type() {
            Some(float) => Scalar::Float(float.round(self.float())),
            None if dtype.is_bool() => Scalar::Bool(self.integer() % 2 == 1),
            None if dtype.is_int() => Scalar::Int(self.integer() as i64),
            None => Scalar::UInt(self.integer()),
        }
    }

    /// Other contents for all tensors in a value.
    fn mutate(&mut self, m: &mut dyn Host, value: &Value) -> Result<(), Stop> {
        if let Value::Tensor(tensor) = value {
            m.spend((tensor.len() as u64).saturating_mul(SUMS as u64))?;
            tensor.fill(|_| Ok(self.scalar(tensor.dtype())))
        } else if let Value::Tuple(tuple) = value {
            m.spend(tuple.len() as u64)?;
            with_stack(|| tuple.fields().iter().try_for_each(|field| self.mutate(m, field)))
        } else {
            Ok(())
        }
    }

    /// A value of the structural information.
    fn value(&mut self, m: &mut dyn Host, info: &StructInfo) -> Result<Value, Stop> {
        match info {
            // Its contents become visible when it is passed to another function.
            StructInfo::Object => self.tensor(m, DataType::FLOAT64, &[SUMS as i64]),
            StructInfo::Tensor(t) => {
                let shape = self.shape(m, t)?;
                self.tensor(m, if t.dtype.is_void() { DataType::FLOAT32 } else { t.dtype }, &shape)
            }
            StructInfo::Shape(s) => {
                let dims = match &s.values {
                    Some(dims) => dims.iter().map(|dim| m.eval_dim(dim)).collect::<Result<Vec<i64>, Stop>>()?,
                    None => self.sizes(s.ndim),
                };
                Ok(Value::shape(&dims))
            }
            StructInfo::Prim(p) => Ok(Value::Prim(match &p.value {
                Some(value) => Prim::integer(p.dtype, m.eval_dim(value)?),
                None => Prim { dtype: p.dtype, value: self.scalar(p.dtype) },
            })),
            StructInfo::Tuple(fields) => {
                let fields: Result<Vec<Value>, Stop> =
                    with_stack(|| fields.iter().map(|field| self.value(m, field)).collect());
                fields.map(Value::tuple)
            }
            StructInfo::Func(_) => Err(Stop::unknown("a function that is not known returns a function")),
        }
    }

    fn tensor(&mut self, m: &mut dyn Host, dtype: DataType, shape: &[i64]) -> Result<Value, Stop> {
        let cannot = |error: AllocError| Stop::unknown(error.to_string());
        let tensor = Tensor::zeros(dtype, shape).map_err(cannot)?;
        let value = Value::Tensor(tensor);
        self.mutate(m, &value)?;
        Ok(value)
    }

    fn shape(&mut self, m: &mut dyn Host, t: &TensorStructInfo) -> Result<Vec<i64>, Stop> {
        match &t.shape {
            Some(TensorShape::Dims(dims)) => dims.iter().map(|dim| m.eval_dim(dim)).collect(),
            Some(TensorShape::Var(_) | TensorShape::DataflowVar(_) | TensorShape::Other(_)) | None => {
                Ok(self.sizes(t.ndim))
            }
        }
    }

    /// Sizes for a known rank: those of a tensor argument with this rank, if there is one.
    fn sizes(&mut self, ndim: Ndim) -> Vec<i64> {
        let fits = |shape: &&Vec<i64>| match ndim {
            Ndim::Known(rank) => shape.len() == rank as usize,
            Ndim::Unknown => true,
        };
        if let Some(shape) = self.shapes.iter().find(fits) {
            return shape.clone();
        }
        let rank = match ndim {
            Ndim::Known(rank) => rank,
            Ndim::Unknown => 1,
        };
        (0..rank).map(|_| 1 + self.integer() as i64).collect()
    }
}

/// Mixes a number into a hash (SplitMix64).
fn mixed(hash: u64, what: u64) -> u64 {
    let x = (hash ^ what).wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// A number whose magnitude is between a quarter and 1.
fn weight(kind: u64, nth: u64) -> f64 {
    let bits = mixed(mixed(kind, 0x5eed), nth);
    let magnitude = 0.25 + 0.75 * ((bits >> 11) as f64 / (1u64 << 53) as f64);
    if bits & 1 == 0 { magnitude } else { -magnitude }
}
