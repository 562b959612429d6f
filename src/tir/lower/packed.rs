//! Calls of the packed functions of TVM's run time that have a meaning here.

use super::super::code::{Int, SortCode, Sorted, TirInstr};
use super::{LowerResult, Lowering};
use crate::grammar::tir::{BufferVar, Expr, Extern};

/// The buffer slot of an array and its shape, and the buffer that it is.
type LoweredArray<'e> = ((usize, Vec<Int>), &'e BufferVar);

impl Lowering {
    /// The code of a call, if it is one of a function that sorts.
    pub(super) fn sorting(&mut self, call: &Extern) -> LowerResult<Option<TirInstr>> {
        let is_packed = matches!(&*call.op, "call_packed" | "call_cpacked" | "tvm_call_packed" | "tvm_call_cpacked");
        let (true, [Expr::Str(name), Expr::Extern(input), rest @ ..]) = (is_packed, call.args.as_slice()) else {
            return Ok(None);
        };
        let (both, values, places) = (&[Sorted::Values, Sorted::Places], &[Sorted::Values], &[Sorted::Places]);
        let (kinds, axis, ascending): (&[Sorted], &Expr, &Expr) = match (&**name, rest) {
            ("tvm.contrib.sort.sort", [_, axis, ascending]) => (values, axis, ascending),
            ("tvm.contrib.sort.argsort", [_, axis, ascending]) => (places, axis, ascending),
            ("tvm.contrib.sort.topk", [_, _, _, axis, Expr::Str(of), ascending]) if **of == *"both" => {
                (both, axis, ascending)
            }
            ("tvm.contrib.sort.topk", [_, _, axis, Expr::Str(of), ascending]) if **of == *"values" => {
                (values, axis, ascending)
            }
            ("tvm.contrib.sort.topk", [_, _, axis, Expr::Str(of), ascending]) if **of == *"indices" => {
                (places, axis, ascending)
            }
            _ => return Ok(None),
        };
        let Some(((slot, shape), data)) = self.array(input)? else { return Ok(None) };
        let mut outputs = Vec::new();
        for (array, kind) in rest.iter().zip(kinds) {
            let Expr::Extern(array) = array else { return Ok(None) };
            let Some(((slot, shape), _)) = self.array(array)? else { return Ok(None) };
            outputs.push((slot, shape, *kind));
        }
        let unsigned = data.dtype.is_uint();
        let (axis, ascending) = (self.int(axis)?, self.int(ascending)?);
        Ok(Some(TirInstr::Sort(Box::new(SortCode { input: (slot, shape), outputs, axis, ascending, unsigned }))))
    }

    /// An array that is a whole buffer: its slot and shape, if it is one.
    fn array<'e>(&mut self, array: &'e Extern) -> LowerResult<Option<LoweredArray<'e>>> {
        let ("tvm_stack_make_array", [Expr::Data(data), Expr::Extern(shape), ..]) = (&*array.op, array.args.as_slice())
        else {
            return Ok(None);
        };
        let (slot, _) = self.buffer_use(data)?;
        let shape = shape.args.iter().map(|size| self.int(size)).collect::<LowerResult<Vec<Int>>>()?;
        Ok(Some(((slot, shape), data)))
    }
}
