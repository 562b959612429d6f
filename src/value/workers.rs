//! Workers that run one program together, each on its own, and meet in collectives.
//!
//! A collective is given something by every worker, and gives all of it to each of them. That all of them come to the same collectives in
//! the same order is the program's affair: of one that waits for a worker that has ended, or that has come to another, nothing is said.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::stop::Stop;
use super::tensor::Tensor;
use crate::grammar::TensorData;

/// Which of how many workers runs a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seat {
    /// Its number, from 0.
    pub worker: usize,
    /// How many there are.
    pub of: usize,
}

impl Seat {
    /// Of one that runs alone.
    pub const ALONE: Seat = Seat { worker: 0, of: 1 };
}

/// Where the workers of one run meet.
#[derive(Debug)]
struct World {
    board: Mutex<Board>,
    turned: Condvar,
}

#[derive(Debug)]
struct Board {
    /// How many collectives have taken place.
    round: u64,
    /// What each worker has brought to the next one.
    brought: Vec<Option<(String, TensorData)>>,
    /// What the last one came to.
    last: Arc<Result<Vec<TensorData>, String>>,
    /// The workers that have ended.
    gone: Vec<bool>,
}

/// A worker's place in the world; when it is dropped the worker has ended.
#[derive(Debug)]
pub struct Worker {
    world: Arc<World>,
    seat: Seat,
}

/// So many workers that can meet.
pub fn workers(count: usize) -> Vec<Worker> {
    let board =
        Board { round: 0, brought: vec![None; count], last: Arc::new(Ok(Vec::new())), gone: vec![false; count] };
    let world = Arc::new(World { board: Mutex::new(board), turned: Condvar::new() });
    (0..count).map(|worker| Worker { world: world.clone(), seat: Seat { worker, of: count } }).collect()
}

impl World {
    /// The board; what a worker that has failed left behind is as good as what another one did.
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worker {
    /// Which of how many it is.
    pub fn seat(&self) -> Seat {
        self.seat
    }

    /// Brings a tensor to a collective and waits for the others; what all of them have brought, in their order.
    ///
    /// # Errors
    ///
    /// Nothing is said of a collective to which not all workers come.
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
    /// All have come: the next collective begins.
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

    /// A worker that has ended without coming.
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
