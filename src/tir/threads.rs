//! The threads of a block that wait for each other (`PRIMFUNC.BARRIER`): at `T.tvm_storage_sync` each of them waits
//! until all have reached it. Threads with barriers take turns: each runs up to the next barrier, with variables of its
//! own. All other code runs in order.

use super::arithmetic::Arithmetic;
use super::code::{ForCode, Int, TirInstr};
use super::error::{TirError, TirResult};
use super::memory::BufferView;
use super::run::{Flow, Machine};
use super::touched::Touched;

/// The threads along one axis.
pub(super) struct Group<'p, N> {
    code: &'p ForCode,
    threads: Vec<Thread<'p, N>>,
}

/// A thread, with its own state while other threads run.
struct Thread<'p, N> {
    number: i64,
    frames: Vec<Frame<'p, N>>,
    ints: Vec<i64>,
    floats: Vec<N>,
    views: Vec<BufferView>,
    touched: Vec<Touched>,
}

/// The construct that a thread is executing.
enum Frame<'p, N> {
    /// Statements, with the number of those that are done.
    Statements(&'p [TirInstr], usize),
    /// A loop, before its next round.
    Loop {
        code: &'p ForCode,
        next: i64,
        stop: i64,
        step: i64,
    },
    While(&'p Int, &'p [TirInstr]),
    /// A block, whose declarations end with it.
    Block,
    /// Threads along another axis.
    Group(Group<'p, N>),
}

/// Where the threads have stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Came {
    ToBarrier,
    ToEnd,
}

impl<'p, N: Arithmetic> Machine<'p, N> {
    /// A loop over threads with barriers.
    pub(super) fn threads(&mut self, code: &'p ForCode) -> TirResult<Flow> {
        let mark = self.memory.len();
        let mut group = self.group(code)?;
        let mut result = self.turn(&mut group);
        while let Ok(Came::ToBarrier) = result {
            result = self.turn(&mut group);
        }
        self.memory.truncate(mark);
        result.map(|_| Flow::Next)
    }

    fn group(&mut self, code: &'p ForCode) -> TirResult<Group<'p, N>> {
        let (start, stop, step) = self.bounds(code)?;
        let (mut threads, mut number) = (Vec::new(), start);
        while number < stop {
            self.burn()?;
            let mut ints = self.ints.clone();
            ints[code.slot] = number;
            let held = (ints.len() + self.floats.len() + self.views.len()) as u128;
            drop(self.pay(held)?);
            threads.push(Thread {
                number,
                frames: vec![Frame::Statements(&code.body, 0)],
                ints,
                floats: self.floats.clone(),
                views: self.views.clone(),
                touched: self.touched.clone(),
            });
            number = number.saturating_add(step);
        }
        Ok(Group { code, threads })
    }

    /// Each thread runs to the next barrier.
    fn turn(&mut self, group: &mut Group<'p, N>) -> TirResult<Came> {
        let (run, mut waiting) = (self.rounds.begin(), 0);
        for thread in &mut group.threads {
            let around = group.code.beside.map(|of| self.rounds.enter(run, thread.number, of));
            self.exchange(thread);
            let came = self.go_on(&mut thread.frames);
            self.exchange(thread);
            if let Some(around) = around {
                self.rounds.leave(around);
            }
            waiting += usize::from(came? == Came::ToBarrier);
        }
        match waiting {
            0 => Ok(Came::ToEnd),
            all if all == group.threads.len() => Ok(Came::ToBarrier),
            _ => Err(Box::new(TirError::Divergent)),
        }
    }

    fn exchange(&mut self, thread: &mut Thread<'p, N>) {
        std::mem::swap(&mut self.ints, &mut thread.ints);
        std::mem::swap(&mut self.floats, &mut thread.floats);
        std::mem::swap(&mut self.views, &mut thread.views);
        std::mem::swap(&mut self.touched, &mut thread.touched);
    }

    fn go_on(&mut self, frames: &mut Vec<Frame<'p, N>>) -> TirResult<Came> {
        loop {
            match frames.last_mut() {
                None => return Ok(Came::ToEnd),
                Some(Frame::Statements(ops, done)) => match ops.get(*done) {
                    None => drop(frames.pop()),
                    Some(op) => {
                        *done += 1;
                        match op {
                            TirInstr::Barrier => {
                                self.burn()?;
                                return Ok(Came::ToBarrier);
                            }
                            TirInstr::Waiting(inner) => self.begin(inner, frames)?,
                            op => match self.op(op)? {
                                Flow::Next => {}
                                Flow::Return => return Err(Box::new(TirError::Unsupported("a thread returns".into()))),
                                Flow::Break => self.leave_loop(frames, true),
                                Flow::Continue => self.leave_loop(frames, false),
                            },
                        }
                    }
                },
                Some(Frame::Loop { code, next, stop, step }) => {
                    self.burn()?;
                    if *next < *stop {
                        self.ints[code.slot] = *next;
                        *next = next.saturating_add(*step);
                        let body = &code.body;
                        frames.push(Frame::Statements(body, 0));
                    } else {
                        frames.pop();
                    }
                }
                Some(Frame::While(condition, body)) => {
                    self.burn()?;
                    if self.int(condition)? != 0 {
                        let body = *body;
                        frames.push(Frame::Statements(body, 0));
                    } else {
                        frames.pop();
                    }
                }
                Some(Frame::Block) => {
                    self.touched.pop();
                    frames.pop();
                }
                Some(Frame::Group(group)) => match self.turn(group)? {
                    Came::ToBarrier => return Ok(Came::ToBarrier),
                    Came::ToEnd => drop(frames.pop()),
                },
            }
        }
    }

    /// Starts a statement that contains barriers.
    fn begin(&mut self, op: &'p TirInstr, frames: &mut Vec<Frame<'p, N>>) -> TirResult<()> {
        self.burn()?;
        match op {
            TirInstr::For(code) if code.is_threads() => frames.push(Frame::Group(self.group(code)?)),
            TirInstr::For(code) => {
                let (next, stop, step) = self.bounds(code)?;
                frames.push(Frame::Loop { code, next, stop, step });
            }
            TirInstr::While(condition, body, _) => frames.push(Frame::While(condition, body)),
            TirInstr::If(branches) => {
                let (condition, then, otherwise) = &**branches;
                let taken = if self.int(condition)? != 0 { then } else { otherwise };
                frames.push(Frame::Statements(taken, 0));
            }
            TirInstr::Block(block) => {
                if self.open_block(block)? {
                    frames.extend([Frame::Block, Frame::Statements(&block.body, 0)]);
                }
            }
            TirInstr::Scope(body) => frames.push(Frame::Statements(body, 0)),
            _ => {
                self.op(op)?;
            }
        }
        Ok(())
    }

    /// Leaves the innermost loop, or starts its next round.
    fn leave_loop(&mut self, frames: &mut Vec<Frame<'p, N>>, ends: bool) {
        while let Some(frame) = frames.last() {
            match frame {
                Frame::Loop { .. } | Frame::While(..) if !ends => return,
                Frame::Loop { .. } | Frame::While(..) => {
                    frames.pop();
                    return;
                }
                Frame::Block => drop(self.touched.pop()),
                Frame::Statements(..) | Frame::Group(_) => {}
            }
            frames.pop();
        }
    }
}
