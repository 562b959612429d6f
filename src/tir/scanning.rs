//! The packed function of TVM's runtime that computes prefix sums, `tvm.contrib.thrust.sum_scan`, for the lines of a
//! buffer along the last axis.

use super::arithmetic::Arithmetic;
use super::code::{ScanCode, ScanSums};
use super::error::TirResult;
use super::run::Machine;
use super::sorting::{SortKey, start_of, unfit, with};

impl<'p, N: Arithmetic> Machine<'p, N> {
    /// The sums of the first elements of each line, including or excluding the last of them.
    pub(super) fn scan(&mut self, code: &'p ScanCode) -> TirResult<()> {
        let ((input, of_input), (output, of_output)) = (&code.input, &code.output);
        let before = self.in_shape([(*input, of_input), (*output, of_output)].into_iter())?;
        self.scan_lines(code)?;
        self.views = before;
        Ok(())
    }

    fn scan_lines(&mut self, code: &'p ScanCode) -> TirResult<()> {
        let (input, output) = (&code.input.0, &code.output.0);
        let shape = self.views[*input].shape();
        let Some((along, lines)) = shape.split_last() else { return Err(unfit("an array without axes")) };
        let (along, lines, axis) = (*along, lines.iter().product::<i64>(), lines.len());
        let exclusive = self.int(&code.exclusive)? != 0;
        for line in 0..lines {
            drop(self.pay(along.unsigned_abs().into())?);
            let start = start_of(line, &shape, axis);
            let mut sum = None;
            for at in 0..along {
                let index = with(&start, axis, at);
                let element = self.key(*input, &index)?;
                let with_element = self.scanned(code.sums, sum, element)?;
                let before = sum.unwrap_or(match code.sums {
                    ScanSums::Int(_) => SortKey::Int(0),
                    ScanSums::Float(_) => SortKey::Float(N::default()),
                });
                self.set(*output, &index, Some(if exclusive { before } else { with_element }))?;
                sum = Some(with_element);
            }
        }
        Ok(())
    }

    /// The sum with one more element added.
    fn scanned(&self, sums: ScanSums, sum: Option<SortKey<N>>, element: SortKey<N>) -> TirResult<SortKey<N>> {
        match (sums, sum, element) {
            (ScanSums::Int(repr), None, SortKey::Int(x)) => Ok(SortKey::Int(repr.wrap(x))),
            (ScanSums::Int(repr), Some(SortKey::Int(sum)), SortKey::Int(x)) => {
                Ok(SortKey::Int(repr.wrap(sum.wrapping_add(x))))
            }
            (ScanSums::Float(_), None, SortKey::Float(x)) => Ok(SortKey::Float(x)),
            (ScanSums::Float(float), Some(SortKey::Float(sum)), SortKey::Float(x)) => {
                Ok(SortKey::Float(self.sum(float, sum, x)))
            }
            (ScanSums::Int(_) | ScanSums::Float(_), _, SortKey::Int(_) | SortKey::Float(_)) => {
                Err(unfit("an array of another data type"))
            }
        }
    }
}
