//! The first phase of a call, from edition 2023-12 on. Variables that stand alone in the signature take their values
//! from the arguments before any dimension is compared (`SI.BOUNDARY.PHASE1`).

use super::boundary::at_boundary;
use super::machine::Machine;
use super::match_cast::{Twice, lone};
use crate::book::{Erratum, Rule};
use crate::grammar::{DataType, Function, PrimExpr, ShapeStructInfo, StructInfo, TensorShape, TensorStructInfo};
use crate::judge::with_stack;
use crate::struct_info::introduced_shape_vars;
use crate::value::{Stop, Value};

impl Machine<'_> {
    /// WF23-12.6.TWO-PHASE, SI.BOUNDARY.PHASE1: each variable that stands alone takes its value, whichever parameter it
    /// occurs in.
    ///
    /// SI.BOUNDARY.PARAM.BIND: the variables remain bound in the body.
    pub(super) fn first_phase(&mut self, func: &Function, args: &[Value]) -> Result<(), Stop> {
        if self.cx.fire(rule!("WF23-12.6.TWO-PHASE")) && self.cx.fire(rule!("SI.BOUNDARY.PHASE1")) {
            self.take_sizes_of_all(func, args)?;
        }
        Ok(())
    }

    fn take_sizes_of_all(&mut self, func: &Function, args: &[Value]) -> Result<(), Stop> {
        let before = self.activation.shape_vars.push();
        for (param, arg) in func.params.iter().zip(args) {
            if let Some(annotation) = &param.annotation {
                self.take_sizes(arg, annotation, &mut Twice::default())
                    .map_err(|stop| at_boundary(stop, &format!("parameter {}", param.var)))?;
            }
        }
        self.keep_bindings(before);
        Ok(())
    }

    /// Takes the sizes of an argument, or of a part of it. The variables of a function type belong to that type alone
    /// (N27).
    fn take_sizes(&mut self, value: &Value, info: &StructInfo, twice: &mut Twice) -> Result<(), Stop> {
        if introduced_shape_vars(info).is_empty() {
            return Ok(());
        }
        with_stack(|| match info {
            StructInfo::Object | StructInfo::Func(_) => Ok(()),
            StructInfo::Tensor(t) => self.sizes_of_tensor(value, t),
            StructInfo::Shape(s) => self.sizes_of_shape(value, s),
            StructInfo::Prim(p) => {
                self.has_form(value, |m| m.prim_of(value, p))?;
                let number = value.as_prim().and_then(|prim| prim.value.to_dim());
                number.into_iter().zip(&p.value).for_each(|(number, value)| {
                    self.take(rule!("SI.BOUNDARY.PHASE1.PRIM"), value, number);
                });
                Ok(())
            }
            // SI.BOUNDARY.PHASE1.NESTED
            StructInfo::Tuple(fields) if twice.had(value, fields) => Ok(()),
            StructInfo::Tuple(fields) => {
                self.has_form(value, |m| m.tuple_of(value, fields).map(|_| ()))?;
                let parts = value.as_tuple().map(|tuple| tuple.fields()).unwrap_or_default();
                if self.cx.fire(rule!("SI.BOUNDARY.PHASE1.NESTED")) {
                    let mut pairs = parts.iter().zip(fields.iter());
                    pairs.try_for_each(|(part, field)| self.take_sizes(part, field, twice))?;
                }
                twice.note(value, fields);
                Ok(())
            }
        })
    }

    fn sizes_of_tensor(&mut self, value: &Value, info: &TensorStructInfo) -> Result<(), Stop> {
        let of_any =
            StructInfo::Tensor(TensorStructInfo { shape: None, dtype: DataType::VOID, ndim: info.ndim, vdevice: None });
        self.has_form(value, |m| m.match_value(value, &of_any))?;
        if let (Some(TensorShape::Dims(dims)), Some(tensor)) = (&info.shape, value.as_tensor()) {
            let sizes = tensor.shape().to_vec();
            self.take_each(rule!("SI.BOUNDARY.PHASE1.TENSOR"), dims, &sizes);
        }
        Ok(())
    }

    fn sizes_of_shape(&mut self, value: &Value, info: &ShapeStructInfo) -> Result<(), Stop> {
        let of_any = StructInfo::Shape(ShapeStructInfo { values: None, ndim: info.ndim });
        self.has_form(value, |m| m.match_value(value, &of_any))?;
        if let (Some(dims), Some(sizes)) = (&info.values, value.as_shape()) {
            self.take_each(rule!("SI.BOUNDARY.PHASE1.SHAPE"), dims, sizes);
        }
        Ok(())
    }

    /// Checks that the value has the kind and the rank of its annotation.
    ///
    /// Errata: N26. Read literally, the size is read before any check, and the text does not say what a missing size
    /// is.
    fn has_form(&mut self, value: &Value, check: impl FnOnce(&mut Self) -> Result<(), Stop>) -> Result<(), Stop> {
        match check(self) {
            Err(Stop::Error(error)) if self.cx.literal(Erratum::N26) => {
                Err(Stop::unspecified(format!("a size of {} is read: {}", value.category(), error.message)))
            }
            result => result,
        }
    }

    fn take_each(&mut self, by: Rule, dims: &[PrimExpr], sizes: &[i64]) {
        dims.iter().zip(sizes).for_each(|(dim, size)| self.take(by, dim, *size));
    }

    /// SI.BOUNDARY.PHASE1.FIRST: the leftmost occurrence counts. SI.BOUNDARY.SCOPE-OUTER: a variable of an enclosing
    /// function already has a value.
    fn take(&mut self, by: Rule, dim: &PrimExpr, size: i64) {
        let Some(var) = lone(dim) else { return };
        let own = self.activation.shape_vars.get(var).is_some();
        let outer = !own && self.activation.shape_var(var).is_some();
        let has_value = self
            .cx
            .by_cases(&[(rule!("SI.BOUNDARY.PHASE1.FIRST"), own, ()), (rule!("SI.BOUNDARY.SCOPE-OUTER"), outer, ())]);
        if has_value.is_none() {
            let size = self.cx.conclude(by, size);
            self.bind_shape_var(var.clone(), size);
        }
    }
}
