//! The memory that a run may hold.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::object::{TupleObj, Value};
use super::stop::Stop;
use super::storage::ProgramPoint;
use super::tensor::{AllocError, Tensor};
use crate::grammar::{DataType, Name, TensorData};
use crate::number::real::Reading;

/// How many bytes a run may hold at once, and holds. What is accounted for are the tensors and tuples that it makes,
/// and what operators and `PrimFunc`s keep beside them while they run.
#[derive(Debug)]
pub struct Account {
    limit: u64,
    used: Cell<u64>,
    refused: Cell<bool>,
    /// How constants are read, in a run that computes in the ring.
    ring: Option<Reading>,
    /// Where the run is, which storages note when they are written.
    place: RefCell<ProgramPoint>,
}

/// Bytes that are held as long as this lives.
#[derive(Debug)]
pub struct Held {
    account: Rc<Account>,
    bytes: u64,
}

impl Account {
    /// An account on which nothing is held yet.
    pub fn new(limit: u64) -> Rc<Account> {
        Account::computing(limit, None)
    }

    /// The same, of a run that computes in the ring, if it is said how that reads constants.
    pub fn computing(limit: u64, ring: Option<Reading>) -> Rc<Account> {
        let (used, refused, place) = (Cell::new(0), Cell::new(false), RefCell::default());
        Rc::new(Account { limit, used, refused, ring, place })
    }

    /// How constants are read, in a run that computes in the ring.
    pub fn ring(&self) -> Option<Reading> {
        self.ring
    }

    /// What happens from now on happens here; where it was before.
    pub fn go_to(&self, place: ProgramPoint) -> ProgramPoint {
        self.place.replace(place)
    }

    /// What happens from now on happens in this instruction of a function of the machine: as a rule the next one of the same function.
    pub fn go_to_instruction(&self, function: &Name, number: usize) {
        match &mut self.place.borrow_mut().instruction {
            Some((name, at)) if Arc::ptr_eq(name, function) => *at = number,
            other => *other = Some((function.clone(), number)),
        }
    }

    /// Where the run is.
    pub fn place(&self) -> ProgramPoint {
        self.place.borrow().clone()
    }

    /// Takes bytes before they are allocated.
    ///
    /// # Errors
    ///
    /// They are more than are left.
    pub fn hold(self: &Rc<Account>, bytes: u64) -> Result<Held, Stop> {
        match self.used.get().checked_add(bytes).filter(|used| *used <= self.limit) {
            Some(used) => {
                self.used.set(used);
                Ok(Held { account: self.clone(), bytes })
            }
            None => {
                self.refused.set(true);
                Err(Stop::OutOfFuel)
            }
        }
    }

    /// Takes what a tuple of so many fields takes up, with what the system needs beside it.
    ///
    /// # Errors
    ///
    /// There is not enough left for it.
    pub fn hold_tuple(self: &Rc<Account>, fields: usize) -> Result<Held, Stop> {
        let bytes = size_of::<TupleObj>() + 2 * size_of::<usize>() + fields * size_of::<Value>();
        self.hold(bytes as u64)
    }

    /// A new tuple, whose bytes are held as long as it lives.
    ///
    /// # Errors
    ///
    /// There is not enough left for it.
    pub fn tuple(self: &Rc<Account>, fields: Vec<Value>) -> Result<Value, Stop> {
        let held = self.hold_tuple(fields.len())?;
        Ok(Value::Tuple(Rc::new(TupleObj::holding(fields, held))))
    }

    /// A new tensor of zeros, whose bytes are held as long as it lives.
    ///
    /// # Errors
    ///
    /// There is not enough left for it, or no such tensor.
    pub fn zeros(self: &Rc<Account>, dtype: DataType, shape: &[i64]) -> Result<Result<Tensor, AllocError>, Stop> {
        let held = self.hold(count(shape).saturating_mul(dtype.bytes() as u64))?;
        let zeros = if self.ring.is_some() { Tensor::zeros_of_ring } else { Tensor::zeros };
        match zeros(dtype, shape) {
            Err(AllocError::TooLarge(_)) => {
                self.refused.set(true);
                Err(Stop::OutOfFuel)
            }
            made => Ok(made.map(|tensor| tensor.holding(held))),
        }
    }

    /// A new tensor with the contents of a literal, whose bytes are held as long as it lives.
    ///
    /// # Errors
    ///
    /// There is not enough left for it, or no such tensor.
    pub fn tensor(self: &Rc<Account>, data: &TensorData) -> Result<Result<Tensor, AllocError>, Stop> {
        let held = self.hold(data.bytes.len() as u64)?;
        let tensor = match self.ring {
            Some(reading) => Tensor::of_ring(data, reading),
            None => Tensor::from_data(data),
        };
        Ok(tensor.map(|tensor| tensor.holding(held)))
    }

    /// Whether more was asked for than there was left.
    pub fn has_refused(&self) -> bool {
        self.refused.get()
    }
}

impl Held {
    /// Whose bytes they are.
    pub(super) fn account(&self) -> &Account {
        &self.account
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.account.used.set(self.account.used.get().saturating_sub(self.bytes));
    }
}

/// How many bytes the tensors in some values take up. What is shared is there once.
pub fn bytes_of(values: &[Value]) -> u64 {
    let (mut todo, mut seen, mut bytes) = (values.iter().collect::<Vec<&Value>>(), FxHashSet::default(), 0u64);
    while let Some(value) = todo.pop() {
        if let Value::Tensor(tensor) = value
            && seen.insert(tensor.address())
        {
            bytes = bytes.saturating_add(count(tensor.shape()).saturating_mul(tensor.dtype().bytes() as u64));
        } else if let Value::Tuple(tuple) = value
            && seen.insert(Rc::as_ptr(tuple).cast())
        {
            todo.extend(tuple.fields());
        }
    }
    bytes
}

/// The number of elements of a shape; that of one with a negative size, which no tensor has, is of no interest.
pub fn count(shape: &[i64]) -> u64 {
    if shape.contains(&0) {
        return 0;
    }
    shape.iter().fold(1, |count, size| count.saturating_mul(u64::try_from(*size).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_is_given_back() {
        let account = Account::new(100);
        let tensor = account.zeros(DataType::FLOAT32, &[5, 5]).unwrap().unwrap();
        let alias = tensor.clone();
        drop(tensor);
        assert!(account.hold(1).is_err() && account.has_refused());
        drop(alias);
        assert!(account.hold(100).is_ok());
    }

    /// A tuple of pairs of pairs holds one tensor, and is gone through once.
    #[test]
    fn what_is_shared_is_counted_once() {
        let tensor = Tensor::zeros(DataType::FLOAT32, &[5]).unwrap();
        let pair = |value: Value| Value::tuple(vec![value.clone(), value]);
        let value = (0..60).fold(Value::Tensor(tensor), |value, _| pair(value));
        assert_eq!(bytes_of(&[value.clone(), value]), 20);
    }
}
