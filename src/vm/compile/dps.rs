//! Destination passing: a `call_tir` whose form is known becomes the allocation of its results and a call that writes them.

use super::emit::{Emitter, Place};
use super::shapes::{Code, operands};
use super::{Global, Stage};
use crate::grammar::{Call, DataType, Expr, Name, Ndim, PrimExpr, StructInfo, TensorShape};
use crate::vm::executable::{Builtin, Callee, Context, Operand, PrimFuncCall};

/// What a result is allocated as.
type Output<'a> = (&'a [PrimExpr], DataType);

/// What a call gives (C14).
struct Form<'a> {
    inputs: &'a [Expr],
    outputs: Vec<Output<'a>>,
    /// Whether the results come as a tuple.
    tuple: bool,
    /// What the sizes are computed for.
    context: Context,
}

impl Emitter<'_, '_> {
    /// OP.CALLTIR.ARG-ORDER: the arguments are evaluated, then the results are allocated, then the function is called.
    ///
    /// `None` for a call whose form only the values show (C14), or that is no call of a function of the module: the operator itself finds
    /// out.
    pub(super) fn destination_passing(&mut self, name: &Name, call: &Call, dst: Option<u32>) -> Option<Place> {
        let is_plain = matches!(&**name, "relax.call_tir" | "call_tir") && call.attrs.is_empty();
        if !is_plain || self.last < Stage::Allocated {
            return None;
        }
        let [Expr::GlobalVar(gv), rest @ ..] = call.args.as_slice() else { return None };
        let Some(Global::PrimFunc(index)) = self.globals.get(&gv.name).cloned() else { return None };
        let form = self.flat(rest, &call.sinfo_args).or_else(|| self.tupled(rest, &call.sinfo_args))?;
        let mut args = self.operands(form.inputs);
        let made = self.allocate(&form.outputs, form.context);
        args.extend(made.iter().copied());
        let written = PrimFuncCall { index, outputs: made.len() as u32 };
        self.effect(Callee::PrimFunc(written), args);
        Some(match made.as_slice() {
            [single] if !form.tuple => self.placed(Place::tensor(*single), dst),
            [] | [_, ..] => Place::of(self.builtin(Builtin::MakeTuple, made, dst)),
        })
    }

    /// OP.CALLTIR.ARGS: the inputs one by one, then the shape. One input alone may be a tuple that holds them all (C14), unless it is
    /// certain to be a tensor.
    fn flat<'a>(&self, rest: &'a [Expr], sinfo_args: &'a [StructInfo]) -> Option<Form<'a>> {
        let [inputs @ .., shape] = rest else { return None };
        let [target] = sinfo_args else { return None };
        if matches!(inputs, [single] if !self.is_tensor(single)) {
            return None;
        }
        let (outputs, tuple) = match (shape, target) {
            (Expr::Tuple(shapes), StructInfo::Tuple(targets)) if shapes.fields.len() == targets.len() => {
                let fields = shapes.fields.iter().zip(targets.iter());
                (fields.map(|(shape, target)| of_shape(shape, target)).collect::<Option<Vec<_>>>()?, true)
            }
            (shape, target) => (vec![of_shape(shape, target)?], false),
        };
        (!outputs.is_empty()).then_some(Form { inputs, outputs, tuple, context: Context::Shape })
    }

    /// R89.CALLTIR.TUPLE: the inputs as one tuple, with the shapes in the structural information. One that might hold nothing but shapes
    /// could be those of the results.
    fn tupled<'a>(&self, rest: &'a [Expr], sinfo_args: &'a [StructInfo]) -> Option<Form<'a>> {
        let [Expr::Tuple(inputs)] = rest else { return None };
        let (outputs, tuple) = outputs(sinfo_args)?;
        let is_known = inputs.fields.is_empty() || inputs.fields.iter().any(|input| self.is_tensor(input));
        is_known.then_some(Form { inputs: &inputs.fields, outputs, tuple, context: Context::Plain })
    }

    fn is_tensor(&self, e: &Expr) -> bool {
        let var = if let Expr::Var(v) | Expr::DataflowVar(v) = e { self.vars.get(v) } else { None };
        var.copied().flatten().is_some_and(|place| place.tensor)
    }

    /// OP.CALLTIR.ALLOC: all sizes first, then a new tensor for each result.
    fn allocate(&mut self, outputs: &[Output<'_>], context: Context) -> Vec<Operand> {
        let codes: Vec<_> = outputs.iter().map(|(dims, _)| self.sizes_of(dims, context)).collect();
        let made = outputs.iter().zip(codes).map(|((_, dtype), codes)| {
            let mut args = vec![self.heap_for(&codes), self.dtype(*dtype)];
            args.extend(operands(&codes));
            self.builtin(Builtin::AllocTensor, args, None)
        });
        made.collect()
    }

    /// SI.DIM.SHAPEEXPR-ERR: a shape that is an argument is made where its dimensions may be no sizes, for what that says.
    fn sizes_of(&mut self, dims: &[PrimExpr], context: Context) -> Vec<Code> {
        let codes = self.codes(dims, context);
        if context == Context::Shape && !dims.iter().all(|dim| self.is_certain_size(dim)) {
            let mut args = vec![self.heap_for(&codes)];
            args.extend(operands(&codes));
            self.builtin(Builtin::MakeShape, args, None);
        }
        codes
    }
}

/// What a result is to be in the flat form: of a literal shape, and of a type that says no sizes and no other rank (OP.CALLTIR.NDIM).
fn of_shape<'a>(shape: &'a Expr, target: &StructInfo) -> Option<Output<'a>> {
    let (Expr::ShapeExpr(shape), StructInfo::Tensor(t)) = (shape, target) else { return None };
    let fits = t.shape.is_none() && (t.ndim == Ndim::Unknown || t.ndim == Ndim::of_len(shape.values.len()));
    fits.then_some((&*shape.values, t.dtype))
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
    let StructInfo::Tensor(t) = info else { return None };
    let Some(TensorShape::Dims(dims)) = &t.shape else { return None };
    (t.ndim == Ndim::of_len(dims.len())).then_some((dims, t.dtype))
}
