//! The memory of a run, and its limit.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::object::{TupleObj, Value};
use super::stop::Stop;
use super::storage::ProgramPoint;
use super::tensor::{AllocError, Tensor};
use crate::grammar::{DataType, Name, TensorData};
use crate::number::real::ConstantReading;

/// The number of bytes that a run may hold at once, and does hold. It counts the tensors and tuples that the run makes,
/// and the temporary memory of operators and `PrimFunc`s.
#[derive(Debug)]
pub struct Account {
    limit: u64,
    used: Cell<u64>,
    refused: Cell<bool>,
    /// How constants are read, in a run that computes in the ring.
    ring: Option<ConstantReading>,
    /// The current point of the run. Storages record it with each write.
    place: RefCell<ProgramPoint>,
}

/// Bytes that count in the account until this is dropped.
#[derive(Debug)]
pub struct Held {
    account: Rc<Account>,
    bytes: u64,
}

impl Account {
    /// An account that holds nothing.
    pub fn new(limit: u64) -> Rc<Account> {
        Account::computing(limit, None)
    }

    /// The same, for a run that computes in the ring if `ring` says how it reads constants.
    pub fn computing(limit: u64, ring: Option<ConstantReading>) -> Rc<Account> {
        let (used, refused, place) = (Cell::new(0), Cell::new(false), RefCell::default());
        Rc::new(Account { limit, used, refused, ring, place })
    }

    /// How constants are read, in a run that computes in the ring.
    pub fn ring(&self) -> Option<ConstantReading> {
        self.ring
    }

    /// Sets the current point of the run, and returns the previous one.
    pub fn go_to(&self, place: ProgramPoint) -> ProgramPoint {
        self.place.replace(place)
    }

    /// Sets the current point to an instruction of a function of the machine. It is usually the next one of the same
    /// function.
    pub fn go_to_instruction(&self, function: &Name, number: usize) {
        match &mut self.place.borrow_mut().instruction {
            Some((name, at)) if Arc::ptr_eq(name, function) => *at = number,
            other => *other = Some((function.clone(), number)),
        }
    }

    /// The current point of the run.
    pub fn place(&self) -> ProgramPoint {
        self.place.borrow().clone()
    }

    /// Reserves bytes before they are allocated.
    ///
    /// # Errors
    ///
    /// There are not enough bytes left.
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

    /// Reserves the memory of a tuple with this many fields, with the overhead of the system.
    ///
    /// # Errors
    ///
    /// There is not enough memory left.
    pub fn hold_tuple(self: &Rc<Account>, fields: usize) -> Result<Held, Stop> {
        let bytes = size_of::<TupleObj>() + 2 * size_of::<usize>() + fields * size_of::<Value>();
        self.hold(bytes as u64)
    }

    /// A new tuple. Its bytes are reserved as long as it lives.
    ///
    /// # Errors
    ///
    /// There is not enough memory left.
    pub fn tuple(self: &Rc<Account>, fields: Vec<Value>) -> Result<Value, Stop> {
        let held = self.hold_tuple(fields.len())?;
        // A tuple holds its fields itself.
        let fields = fields.into_iter().map(Value::held_anew).collect();
        Ok(Value::Tuple(Rc::new(TupleObj::holding(fields, held))))
    }

    /// A new tensor of zeros. Its bytes are reserved as long as it lives.
    ///
    /// # Errors
    ///
    /// There is not enough memory left, or no such tensor exists.
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

    /// A new tensor with the contents of a literal. Its bytes are reserved as long as it lives.
    ///
    /// # Errors
    ///
    /// There is not enough memory left, or no such tensor exists.
    pub fn tensor(self: &Rc<Account>, data: &TensorData) -> Result<Result<Tensor, AllocError>, Stop> {
        let held = self.hold(data.bytes.len() as u64)?;
        let tensor = match self.ring {
            Some(reading) => Tensor::of_ring(data, reading),
            None => Tensor::from_data(data),
        };
        Ok(tensor.map(|tensor| tensor.holding(held)))
    }

    /// Whether a request for memory was refused.
    pub fn has_refused(&self) -> bool {
        self.refused.get()
    }
}

impl Held {
    /// The account of the bytes.
    pub(super) fn account(&self) -> &Account {
        &self.account
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.account.used.set(self.account.used.get().saturating_sub(self.bytes));
    }
}

/// The size in bytes of the tensors in some values. Shared tensors count once.
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

/// The number of elements of a shape. The result for a negative size is unimportant, because no tensor has one.
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

    /// A tuple of pairs of pairs contains one tensor, and is traversed once.
    #[test]
    fn what_is_shared_is_counted_once() {
        let tensor = Tensor::zeros(DataType::FLOAT32, &[5]).unwrap();
        let pair = |value: Value| Value::tuple(vec![value.clone(), value]);
        let value = (0..60).fold(Value::Tensor(tensor), |value, _| pair(value));
        assert_eq!(bytes_of(&[value.clone(), value]), 20);
    }
}
