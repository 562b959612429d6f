//! Calls of the packed functions of TVM's runtime whose meaning is known here.

use super::super::code::{Int, ScanCode, ScanSums, SortCode, Sorted, TirInstr};
use super::super::scalar::Repr;
use super::{LowerResult, Lowering};
use crate::grammar::DataType;
use crate::grammar::tir::{BufferVar, Expr, Extern};

/// The buffer slot of an array and its shape, and its buffer.
type LoweredArray<'e> = ((usize, Vec<Int>), &'e BufferVar);

impl Lowering {
    /// The code of a call, if it calls a known function of the runtime.
    pub(super) fn packed(&mut self, call: &Extern) -> LowerResult<Option<TirInstr>> {
        let is_packed = matches!(&*call.op, "call_packed" | "call_cpacked" | "tvm_call_packed" | "tvm_call_cpacked");
        let (true, [Expr::Str(name), Expr::Extern(input), rest @ ..]) = (is_packed, call.args.as_slice()) else {
            return Ok(None);
        };
        match (&**name, rest) {
            // The last argument is scratch memory for the function.
            (
                "tvm.contrib.thrust.sum_scan",
                [Expr::Extern(output), exclusive] | [Expr::Extern(output), exclusive, _],
            ) => self.scan(input, output, exclusive),
            (name, rest) => self.sorting(name, input, rest),
        }
    }

    fn sorting(&mut self, name: &str, input: &Extern, rest: &[Expr]) -> LowerResult<Option<TirInstr>> {
        let (both, values, places) = (&[Sorted::Values, Sorted::Places], &[Sorted::Values], &[Sorted::Places]);
        let last = Expr::Int(-1, DataType::INT32);
        let (kinds, axis, ascending): (&[Sorted], &Expr, &Expr) = match (name, rest) {
            ("tvm.contrib.sort.sort", [_, axis, ascending]) => (values, axis, ascending),
            ("tvm.contrib.sort.argsort", [_, axis, ascending]) => (places, axis, ascending),
            ("tvm.contrib.thrust.sort", [_, _, ascending] | [_, _, ascending, _]) => (both, &last, ascending),
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

    fn scan(&mut self, input: &Extern, output: &Extern, exclusive: &Expr) -> LowerResult<Option<TirInstr>> {
        let (Some((input, _)), Some((output, data))) = (self.array(input)?, self.array(output)?) else {
            return Ok(None);
        };
        let sums = match (Repr::of(data.dtype), data.dtype.float_type()) {
            (Some(repr), _) => ScanSums::Int(repr),
            (None, Some(float)) => ScanSums::Float(float),
            (None, None) => return Ok(None),
        };
        let exclusive = self.int(exclusive)?;
        Ok(Some(TirInstr::Scan(Box::new(ScanCode { input, output, sums, exclusive }))))
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
