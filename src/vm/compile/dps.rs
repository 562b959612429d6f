//! Destination passing: a `call_tir` whose form is known becomes the allocation of its results and a call that writes them.
//!
//! Some go on as calls of the operator. What a variable holds may be no shape, or one of another rank, and structural information that says
//! sizes, beside a shape, is compared with them: of each the operator tells what is wrong, by its own rules. Attributes ask for more than
//! a call in destination-passing style. And where the last argument may be the shape or a tuple of inputs, only the values show it (C14).

use super::emit::{Code, Emitter, ValueFact, ValueLocation};
use super::shapes::operands;
use super::{CompileStage, Global};
use crate::grammar::{Call, DataType, Expr, Name, Ndim, PrimExpr, StructInfo, TensorShape, Var};
use crate::vm::executable::{Builtin, Callee, DimensionUse, Operand, PrimFuncCall};

/// Where the sizes of a result come from.
enum SizeOrigin<'a> {
    /// Structural information says them.
    Said(&'a [PrimExpr]),
    /// A shape that is an argument.
    Given(&'a [PrimExpr]),
    /// A shape that has been made: where its sizes are.
    Made(Vec<Code>),
}

/// What a result is allocated as.
type Output<'a> = (SizeOrigin<'a>, DataType);

/// What a call gives (C14).
struct DpsForm<'a> {
    inputs: &'a [Expr],
    outputs: Vec<Output<'a>>,
    /// Whether the results come as a tuple.
    tuple: bool,
}

impl Emitter<'_, '_> {
    /// OP.CALLTIR.ARG-ORDER: the arguments are evaluated, then the results are allocated, then the function is called.
    ///
    /// `None` for a call of which the operator itself has to find out what it is.
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

    /// OP.CALLTIR.ARGS: the inputs one by one, then the shape, or a tuple of shapes.
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
        // No results at all could be those of the other form.
        (!outputs.is_empty()).then_some(DpsForm { inputs, outputs, tuple })
    }

    /// What a result is to be in the flat form: of a shape with known places, and of a type that says no sizes and no other rank
    /// (OP.CALLTIR.NDIM).
    fn of_shape<'a>(&self, shape: &'a Expr, target: &StructInfo) -> Option<Output<'a>> {
        let t = target.as_tensor()?;
        let (sizes, rank) = self.given(shape)?;
        let fits = t.shape.is_none() && (t.ndim == Ndim::Unknown || t.ndim == Ndim::of_len(rank));
        fits.then_some((sizes, t.dtype))
    }

    /// The sizes that an argument gives, and how many, if it is certain to be a shape.
    fn given<'a>(&self, shape: &'a Expr) -> Option<(SizeOrigin<'a>, usize)> {
        if let Expr::ShapeExpr(shape) = shape {
            return Some((SizeOrigin::Given(&shape.values), shape.values.len()));
        }
        let ValueFact::Shape(index) = self.known(shape) else { return None };
        let codes = self.shapes.get(index as usize)?;
        Some((SizeOrigin::Made(codes.clone()), codes.len()))
    }

    /// R89.CALLTIR.TUPLE: the inputs as one tuple, with the shapes in the structural information. A tuple that might hold nothing but shapes
    /// could be those of the results. One that a variable holds is taken apart when the function is called.
    fn tupled<'a>(&self, rest: &'a [Expr], sinfo_args: &'a [StructInfo]) -> Option<DpsForm<'a>> {
        let [arg] = rest else { return None };
        let (outputs, tuple) = outputs(sinfo_args)?;
        let inputs = if let Expr::Tuple(inputs) = arg { inputs.fields.as_slice() } else { rest };
        (self.known(arg) == ValueFact::Inputs).then_some(DpsForm { inputs, outputs, tuple })
    }

    /// What is certain of an argument.
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

    /// Whether a field is certain to be a tensor; of tuples in tuples that is not asked.
    fn is_tensor(&self, e: &Expr) -> bool {
        let var = if let Expr::Var(v) | Expr::DataflowVar(v) = e { Some(v) } else { None };
        matches!(e, Expr::Constant(_)) || var.is_some_and(|v| self.known_of_var(v) == ValueFact::Tensor)
    }

    /// OP.CALLTIR.ALLOC: all sizes first, then a new tensor for each result.
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

    /// SI.DIM.SHAPEEXPR-ERR: a shape that is an argument is made where its dimensions may be no sizes, for what that says.
    fn sizes_of_shape(&mut self, dims: &[PrimExpr]) -> Vec<Code> {
        let codes = self.codes(dims, DimensionUse::Shape);
        if !dims.iter().all(|dim| self.is_certain_size(dim)) {
            let args = self.sizes_as_args(&codes);
            self.effect(Callee::Builtin(Builtin::MakeShape), args);
        }
        codes
    }
}

/// The results, and whether they come as a tuple.
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
