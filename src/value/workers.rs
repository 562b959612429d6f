//! Workers that run one program together, each by itself, and meet in collectives.
//!
//! Every worker contributes to a collective, and receives all contributions. The program must make all workers reach
//! the same collectives in the same order. A run has no specified outcome if a worker waits for one that has ended or
//! has reached a different collective.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::stop::Stop;
use super::tensor::Tensor;
use crate::grammar::TensorData;

/// The worker that runs a program, and the number of workers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seat {
    /// Its number, from 0.
    pub worker: usize,
    /// The number of workers.
    pub of: usize,
}

impl Seat {
    /// The seat of a worker that runs alone.
    pub const ALONE: Seat = Seat { worker: 0, of: 1 };
}

/// The meeting place of the workers of one run.
#[derive(Debug)]
struct World {
    board: Mutex<Board>,
    turned: Condvar,
}

#[derive(Debug)]
struct Board {
    /// The number of finished collectives.
    round: u64,
    /// The contribution of each worker to the next collective.
    brought: Vec<Option<(String, TensorData)>>,
    /// The result of the last collective.
    last: Arc<Result<Vec<TensorData>, String>>,
    /// The workers that have ended.
    gone: Vec<bool>,
}

/// A worker's place in the world. Dropping it ends the worker.
#[derive(Debug)]
pub struct Worker {
    world: Arc<World>,
    seat: Seat,
}

/// This many workers that can meet.
pub fn workers(count: usize) -> Vec<Worker> {
    let board =
        Board { round: 0, brought: vec![None; count], last: Arc::new(Ok(Vec::new())), gone: vec![false; count] };
    let world = Arc::new(World { board: Mutex::new(board), turned: Condvar::new() });
    (0..count).map(|worker| Worker { world: world.clone(), seat: Seat { worker, of: count } }).collect()
}

impl World {
    /// The shared board. The state that a failed worker left behind is valid.
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worker {
    /// The number of this worker, and of all workers.
    pub fn seat(&self) -> Seat {
        self.seat
    }

    /// Contributes a tensor to a collective and waits for the other workers. Returns all contributions in the order of
    /// the workers.
    ///
    /// # Errors
    ///
    /// The outcome is unspecified if a worker does not take part.
    pub fn exchange(&self, what: &str, mine: &Tensor) -> Result<Vec<Tensor>, Stop> {
        let mut board = self.world.board();
        let round = board.round;
        if let Some(slot) = board.brought.get_mut(self.seat.worker) {
            *slot = Some((what.to_string(), mine.to_data()));
        }
        if board.brought.iter().all(Option::is_some) {
            board.turn();
            self.world.turned.notify_all();
        }
        while board.round == round {
            if let Some(absent) = board.absent() {
                return Err(Stop::unspecified(format!("worker {absent} has ended, and others wait for it in {what}")));
            }
            board = self.world.turned.wait(board).unwrap_or_else(PoisonError::into_inner);
        }
        let last = board.last.clone();
        drop(board);
        match last.as_ref() {
            Ok(all) => all.iter().map(of_data).collect(),
            Err(message) => Err(Stop::unspecified(message.clone())),
        }
    }
}

fn of_data(data: &TensorData) -> Result<Tensor, Stop> {
    Tensor::from_data(data).map_err(|error| Stop::unspecified(error.to_string()))
}

impl Board {
    /// Starts the next collective, because all workers have contributed.
    fn turn(&mut self) {
        let brought: Vec<(String, TensorData)> = self.brought.iter_mut().filter_map(Option::take).collect();
        let first = brought.first().map(|(what, _)| what.clone()).unwrap_or_default();
        let other = brought.iter().find(|(what, _)| *what != first).map(|(what, _)| what.clone());
        self.last = Arc::new(match other {
            Some(other) => Err(format!("one worker is at {first}, another at {other}")),
            None => Ok(brought.into_iter().map(|(_, tensor)| tensor).collect()),
        });
        self.round += 1;
    }

    /// A worker that has ended without contributing.
    fn absent(&self) -> Option<usize> {
        self.gone.iter().zip(&self.brought).position(|(gone, brought)| *gone && brought.is_none())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let mut board = self.world.board();
        if let Some(gone) = board.gone.get_mut(self.seat.worker) {
            *gone = true;
        }
        drop(board);
        self.world.turned.notify_all();
    }
}
