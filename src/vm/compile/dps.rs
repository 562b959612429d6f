//! Destination passing: a `call_tir` of known form becomes the allocation of its results and a call that writes them.
//!
//! Some stay calls of the operator. A variable may hold a value that is not a shape, or a shape of a different rank.
//! Structural information with sizes is compared with a given shape. In these cases the operator reports the error by
//! its own rules. Attributes ask for more than destination-passing style. The last argument may be the shape or a tuple
//! of inputs, and only the values show which (C14).

use super::emit::{Code, Emitter, ValueFact, ValueLocation};
use super::shapes::operands;
use super::{CompileStage, Global};
use crate::grammar::{Call, DataType, Expr, Name, Ndim, PrimExpr, StructInfo, TensorShape, Var};
use crate::vm::executable::{Builtin, Callee, DimensionUse, Operand, PrimFuncCall};

/// The source of the sizes of a result.
enum SizeOrigin<'a> {
    /// Structural information.
    Said(&'a [PrimExpr]),
    /// A shape that is an argument.
    Given(&'a [PrimExpr]),
    /// A shape that has been made, with the locations of its sizes.
    Made(Vec<Code>),
}

/// The sizes and the datatype for the allocation of a result.
type Output<'a> = (SizeOrigin<'a>, DataType);

/// The form of a call (C14).
struct DpsForm<'a> {
    inputs: &'a [Expr],
    outputs: Vec<Output<'a>>,
    /// Whether the result is a tuple.
    tuple: bool,
}

impl Emitter<'_, '_> {
    /// OP.CALLTIR.ARG-ORDER: evaluates the arguments, then allocates the results, then calls the function.
    ///
    /// `None` for a call whose form only the operator itself can determine.
    pub(super) fn destination_passing(&mut self, name: &Name, call: &Call, dst: Option<u32>) -> Option<ValueLocation> {
        let is_plain = matches!(&**name, "relax.call_tir" | "call_tir") && call.attrs.is_empty();
        if !is_plain || self.last < CompileStage::Allocated {
            return None;
        }
        let [Expr::GlobalVar(gv), rest @ ..] = call.args.as_slice() else { return None };
        let Some(Global::PrimFunc(index)) = self.globals.get(&gv.name).cloned() else { return None };
        let form = self.flat(rest, &call.sinfo_args).or_else(|| self.tupled(rest, &call.sinfo_args))?;
        let mut args = self.operands(form.inputs);
        let made = self.allocate(form.outputs);
        args.extend(made.iter().copied());
        let written = PrimFuncCall { index, outputs: made.len() as u32 };
        self.effect(Callee::PrimFunc(written), args);
        Some(match made.as_slice() {
            [single] if !form.tuple => self.placed(ValueLocation::tensor(*single), dst),
            [] | [_, ..] => {
                ValueLocation { operand: self.builtin(Builtin::MakeTuple, made, dst), known: ValueFact::Inputs }
            }
        })
    }

    /// OP.CALLTIR.ARGS: the inputs one by one, then the shape or a tuple of shapes.
    fn flat<'a>(&self, rest: &'a [Expr], sinfo_args: &'a [StructInfo]) -> Option<DpsForm<'a>> {
        let [inputs @ .., shape] = rest else { return None };
        let [target] = sinfo_args else { return None };
        let (outputs, tuple) = match (shape, target) {
            (Expr::Tuple(shapes), StructInfo::Tuple(targets)) if shapes.fields.len() == targets.len() => {
                let fields = shapes.fields.iter().zip(targets.iter());
                (fields.map(|(shape, target)| self.of_shape(shape, target)).collect::<Option<Vec<_>>>()?, true)
            }
            (shape, target) => (vec![self.of_shape(shape, target)?], false),
        };
        // A call without results could also have the other form.
        (!outputs.is_empty()).then_some(DpsForm { inputs, outputs, tuple })
    }

    /// The allocation of a result in the flat form. The locations of its sizes are known, and its type states no sizes
    /// and no different rank (OP.CALLTIR.NDIM).
    fn of_shape<'a>(&self, shape: &'a Expr, target: &StructInfo) -> Option<Output<'a>> {
        let t = target.as_tensor()?;
        let (sizes, rank) = self.given(shape)?;
        let fits = t.shape.is_none() && (t.ndim == Ndim::Unknown || t.ndim == Ndim::of_len(rank));
        fits.then_some((sizes, t.dtype))
    }

    /// The sizes and the rank that an argument gives, if it is certainly a shape.
    fn given<'a>(&self, shape: &'a Expr) -> Option<(SizeOrigin<'a>, usize)> {
        if let Expr::ShapeExpr(shape) = shape {
            return Some((SizeOrigin::Given(&shape.values), shape.values.len()));
        }
        let ValueFact::Shape(index) = self.known(shape) else { return None };
        let codes = self.shapes.get(index as usize)?;
        Some((SizeOrigin::Made(codes.clone()), codes.len()))
    }

    /// R89.CALLTIR.TUPLE: the inputs as one tuple, with the shapes in the structural information. A tuple that might
    /// contain only shapes could be the shapes of the results instead. A tuple in a variable is expanded at the call of
    /// the function.
    fn tupled<'a>(&self, rest: &'a [Expr], sinfo_args: &'a [StructInfo]) -> Option<DpsForm<'a>> {
        let [arg] = rest else { return None };
        let (outputs, tuple) = outputs(sinfo_args)?;
        let inputs = if let Expr::Tuple(inputs) = arg { inputs.fields.as_slice() } else { rest };
        (self.known(arg) == ValueFact::Inputs).then_some(DpsForm { inputs, outputs, tuple })
    }

    /// The fact about an argument.
    fn known(&self, e: &Expr) -> ValueFact {
        if matches!(e, Expr::Constant(_)) {
            ValueFact::Tensor
        } else if let Expr::Tuple(tuple) = e {
            ValueFact::by_fields(&tuple.fields, |field| self.is_tensor(field))
        } else if let Expr::Var(v) | Expr::DataflowVar(v) = e {
            self.known_of_var(v)
        } else {
            ValueFact::Nothing
        }
    }

    fn known_of_var(&self, v: &Var) -> ValueFact {
        self.vars.get(v).copied().flatten().map_or(ValueFact::Nothing, |place| place.known)
    }

    /// Whether a field is certainly a tensor. Nested tuples are not examined.
    fn is_tensor(&self, e: &Expr) -> bool {
        let var = if let Expr::Var(v) | Expr::DataflowVar(v) = e { Some(v) } else { None };
        matches!(e, Expr::Constant(_)) || var.is_some_and(|v| self.known_of_var(v) == ValueFact::Tensor)
    }

    /// OP.CALLTIR.ALLOC: computes all sizes first, then makes a new tensor for each result.
    fn allocate(&mut self, outputs: Vec<Output<'_>>) -> Vec<Operand> {
        let sized: Vec<_> = outputs.into_iter().map(|(sizes, dtype)| (self.sizes(sizes), dtype)).collect();
        let made = sized.into_iter().map(|(codes, dtype)| {
            let mut args = vec![self.heap_for(&codes), self.dtype(dtype)];
            args.extend(operands(&codes));
            self.builtin(Builtin::AllocTensor, args, None)
        });
        made.collect()
    }

    fn sizes(&mut self, sizes: SizeOrigin<'_>) -> Vec<Code> {
        match sizes {
            SizeOrigin::Said(dims) => self.codes(dims, DimensionUse::Plain),
            SizeOrigin::Given(dims) => self.sizes_of_shape(dims),
            SizeOrigin::Made(codes) => codes,
        }
    }

    /// SI.DIM.SHAPEEXPR-ERR: the sizes of a shape argument. If a dimension may be negative, the shape is made as well,
    /// so that the error is reported.
    fn sizes_of_shape(&mut self, dims: &[PrimExpr]) -> Vec<Code> {
        let codes = self.codes(dims, DimensionUse::Shape);
        if !dims.iter().all(|dim| self.is_certain_size(dim)) {
            let args = self.sizes_as_args(&codes);
            self.effect(Callee::Builtin(Builtin::MakeShape), args);
        }
        codes
    }
}

/// The results, with whether they form a tuple.
fn outputs(sinfo_args: &[StructInfo]) -> Option<(Vec<Output<'_>>, bool)> {
    let (infos, tuple) = match sinfo_args {
        [StructInfo::Tuple(fields)] => (&**fields, true),
        single @ [_] => (single, false),
        several => (several, true),
    };
    Some((infos.iter().map(output).collect::<Option<Vec<_>>>()?, tuple))
}

fn output(info: &StructInfo) -> Option<Output<'_>> {
    let t = info.as_tensor()?;
    let Some(TensorShape::Dims(dims)) = &t.shape else { return None };
    (t.ndim == Ndim::of_len(dims.len())).then_some((SizeOrigin::Said(dims), t.dtype))
}
