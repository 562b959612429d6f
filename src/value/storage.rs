//! Storages (chapter Memory): bytes that hold tensors, with the last writer of each byte.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use super::account::{Account, Held};
use super::stop::Stop;
use crate::grammar::{Name, Span};
use crate::judge::Cx;

/// A point in a run: the binding of a variable, or an instruction of the machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProgramPoint {
    /// The site in the program.
    pub site: Site,
    /// The position of the site in the text.
    pub span: Span,
    /// On the machine: the function, and the number of the instruction in it.
    pub instruction: Option<(Name, usize)>,
}

/// The site that a run has reached.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Site {
    /// The run has not reached any site yet.
    #[default]
    Start,
    /// The binding of a variable; `None` if a match binds no variable.
    Binding(Option<Name>),
    /// The body of a sequence.
    Body,
    /// The run has ended, and its caller inspects the result.
    End,
}

/// A piece of memory. The tensors in it share its bytes (`MEM.STORAGE`).
#[derive(Debug)]
pub struct Storage {
    /// The place of its allocation.
    place: ProgramPoint,
    bytes: RefCell<Vec<u8>>,
    written: RefCell<LastWriters>,
    /// The number of writes to it.
    version: Cell<u64>,
    /// The number of families of tensors made in it.
    families: Cell<u64>,
    /// The place of its release, if it was released.
    released: OnceCell<ProgramPoint>,
    /// The bytes count in the run as long as the storage is referenced.
    held: Held,
}

/// Tensors that are views of one another. A write by one of them is a write by all (`MEM.VIEW`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Family(u64);

/// The position of a tensor in a storage.
#[derive(Clone, Debug)]
pub(super) struct Lodging {
    pub storage: Rc<Storage>,
    /// The offset of its first byte.
    pub offset: u64,
    /// Its size in bytes.
    pub size: u64,
    pub family: Family,
    /// The place where it was made.
    place: ProgramPoint,
    /// The version of the storage that its elements reflect.
    seen: Cell<u64>,
}

/// The reasons why a tensor cannot be read, if any.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Poison {
    /// It was released.
    pub released: Option<String>,
    /// A byte was never written; the first such byte.
    pub unwritten: Option<String>,
    /// A byte was overwritten by another tensor; the first such byte.
    pub overwritten: Option<String>,
    /// It is the result of a call that was supposed to write it, but did not. Its contents are unspecified.
    pub open: Option<String>,
}

/// The last writer of each byte, as disjoint runs of bytes by their start.
#[derive(Debug, Default)]
struct LastWriters(BTreeMap<u64, ByteRun>);

#[derive(Clone, Debug)]
struct ByteRun {
    end: u64,
    by: Family,
    /// The tensor that was written through, and the place of the write.
    tensor: ProgramPoint,
    place: ProgramPoint,
}

impl fmt::Display for ProgramPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((function, at)) = &self.instruction {
            return write!(f, "{}, instruction {at}", function.escape_debug());
        }
        match &self.site {
            Site::Start => f.write_str("the start of the run")?,
            Site::Binding(Some(name)) => write!(f, "`{name}`")?,
            Site::Binding(None) => f.write_str("a match")?,
            Site::Body => f.write_str("a result")?,
            Site::End => f.write_str("the end of the run")?,
        }
        if self.span == Span::NONE { Ok(()) } else { write!(f, " (character {})", self.span.start) }
    }
}

impl Storage {
    /// MEM.STORAGE: allocates memory. None of its bytes counts as written.
    ///
    /// # Errors
    ///
    /// There is not enough memory left.
    pub fn allocate(account: &Rc<Account>, size: u64) -> Result<Rc<Storage>, Stop> {
        let held = account.hold(size)?;
        let bytes = usize::try_from(size).map_err(|_| Stop::OutOfFuel)?;
        Ok(Rc::new(Storage {
            place: account.place(),
            bytes: RefCell::new(vec![0; bytes]),
            written: RefCell::default(),
            version: Cell::new(0),
            families: Cell::new(0),
            released: OnceCell::new(),
            held,
        }))
    }

    /// Its size in bytes.
    pub fn size(&self) -> u64 {
        self.bytes.borrow().len() as u64
    }

    /// The place of its allocation.
    pub fn place(&self) -> &ProgramPoint {
        &self.place
    }

    /// MEM.RELEASED: releases the storage. No tensor may be made in it afterwards.
    pub fn release(&self) {
        // A second release has no effect.
        let _ = self.released.set(self.held.account().place());
    }

    /// The reason why it can no longer be used, if it was released.
    pub fn why_released(&self) -> Option<String> {
        let at = self.released.get()?;
        Some(format!(
            "the storage of {} is used at {}, and was released at {at}",
            self.place,
            self.held.account().place()
        ))
    }

    /// A new family without members.
    fn new_family(&self) -> Family {
        let family = Family(self.families.get());
        self.families.set(family.0 + 1);
        family
    }
}

impl Lodging {
    /// A position of a new family with this many bytes, `offset` bytes from the start. `None` if the storage is too
    /// small (`MEM.BOUNDS`).
    pub fn of_its_own(storage: &Rc<Storage>, offset: u64, size: u64) -> Option<Lodging> {
        let family = storage.new_family();
        Lodging::within(storage.clone(), family, 0..storage.size(), offset, size)
    }

    /// MEM.VIEW: a position inside this one, for tensors of the same family.
    pub fn view(&self, offset: u64, size: u64) -> Option<Lodging> {
        let own = self.offset..self.offset + self.size;
        Lodging::within(self.storage.clone(), self.family, own, offset, size)
    }

    fn within(storage: Rc<Storage>, family: Family, around: Range<u64>, offset: u64, size: u64) -> Option<Lodging> {
        let offset = around.start.checked_add(offset)?;
        let end = offset.checked_add(size)?;
        let place = storage.held.account().place();
        (end <= around.end).then(|| Lodging { storage, offset, size, family, place, seen: Cell::new(u64::MAX) })
    }

    /// The bytes, if they changed since the last call.
    pub fn changed(&self) -> Option<Vec<u8>> {
        if self.seen.replace(self.storage.version.get()) == self.storage.version.get() {
            return None;
        }
        let bytes = self.storage.bytes.borrow();
        let (start, end) = (usize::try_from(self.offset).ok()?, usize::try_from(self.offset + self.size).ok()?);
        bytes.get(start..end).map(<[u8]>::to_vec)
    }

    /// Writes bytes, `at` bytes from the start of the tensor.
    pub fn write(&self, at: u64, new: &[u8]) {
        let (storage, start) = (&self.storage, self.offset + at);
        if let Ok(first) = usize::try_from(start)
            && let Some(bytes) = storage.bytes.borrow_mut().get_mut(first..first + new.len())
        {
            bytes.copy_from_slice(new);
        }
        let place = storage.held.account().place();
        let run = ByteRun { end: start + new.len() as u64, by: self.family, tensor: self.place.clone(), place };
        storage.written.borrow_mut().note(start, run);
        let version = storage.version.get().wrapping_add(1);
        storage.version.set(version);
        self.seen.set(version);
    }

    /// The reasons why the bytes `at` of the tensor cannot be read, if any.
    pub fn poison(&self, at: Range<u64>) -> Poison {
        let range = self.offset + at.start..self.offset + at.end;
        let written = self.storage.written.borrow();
        let (whose, now) = (self.told(), self.now());
        let unwritten = written
            .gap(&range)
            .map(|byte| format!("{whose} is read at {now}, and byte {byte} of the storage was never written"));
        let overwritten = written.foreign(&range, self.family).map(|(byte, run)| {
            let (other, place) = (&run.tensor, &run.place);
            format!("{whose} is read at {now}, and byte {byte} of the storage was written through the tensor of {other} at {place}")
        });
        Poison { unwritten, overwritten, ..Poison::default() }
    }

    /// For each element of this size, whether it can be read.
    pub fn readable(&self, element: u64) -> Vec<bool> {
        let count = self.size.checked_div(element).unwrap_or(0);
        let (start, end) = (self.offset, self.offset + count * element);
        let written = self.storage.written.borrow();
        let is_whole = |(from, run): (u64, &ByteRun)| from <= start && end <= run.end && run.by == self.family;
        if written.touching(&(start..end)).any(is_whole) {
            return vec![true; usize::try_from(count).unwrap_or(0)];
        }
        // How many bytes of each element are its own.
        let mut own = vec![0; usize::try_from(count).unwrap_or(0)];
        for (from, run) in written.touching(&(start..end)).filter(|(_, run)| run.by == self.family) {
            let (mut at, last) = (from.max(start) - start, run.end.min(end) - start);
            while at < last {
                let (nth, next) = (at / element, (at / element + 1) * element);
                let part = next.min(last) - at;
                own.get_mut(nth as usize).into_iter().for_each(|own| *own += part);
                at += part;
            }
        }
        own.into_iter().map(|own| own == element).collect()
    }

    /// Whether both have a byte in common.
    pub fn overlaps(&self, other: &Lodging) -> bool {
        Rc::ptr_eq(&self.storage, &other.storage)
            && self.offset < other.offset + other.size
            && other.offset < self.offset + self.size
    }

    /// The tensor at this position, in words.
    pub fn told(&self) -> String {
        format!("the tensor of {} in the storage of {}", self.place, self.storage.place)
    }

    fn now(&self) -> ProgramPoint {
        self.storage.held.account().place()
    }
}

impl ByteRun {
    /// Whether both were written through the same tensor at the same place.
    fn is_as(&self, other: &ByteRun) -> bool {
        self.by == other.by && self.place == other.place && self.tensor == other.tensor
    }
}

impl Poison {
    /// Whether all can be read.
    pub fn is_none(&self) -> bool {
        self.released.is_none() && self.unwritten.is_none() && self.overwritten.is_none() && self.open.is_none()
    }

    /// MEM.RELEASED, MEM.UNWRITTEN, MEM.OVERWRITTEN: checks that the bytes still exist, were written, and were not
    /// overwritten.
    ///
    /// # Errors
    ///
    /// The bytes cannot be read, or their contents are unspecified.
    pub fn check(&self, cx: &mut Cx) -> Result<(), Stop> {
        let told = |why: &Option<String>| why.clone().unwrap_or_default();
        let checked = cx.holds(&[
            (rule!("MEM.RELEASED"), 1, self.released.is_none(), &self.released),
            (rule!("MEM.UNWRITTEN"), 1, self.unwritten.is_none(), &self.unwritten),
            (rule!("MEM.OVERWRITTEN"), 1, self.overwritten.is_none(), &self.overwritten),
        ]);
        checked.map_err(|(rule, why)| Stop::error(rule, told(why)))?;
        // OP.CALLTIR.ALLOC: the contents of unwritten elements are unspecified.
        self.open.clone().map_or(Ok(()), |why| Err(Stop::Unspecified(why)))
    }
}

impl LastWriters {
    /// Records a write from `start` on, which replaces the previous writers of these bytes.
    fn note(&mut self, start: u64, run: ByteRun) {
        let end = run.end;
        if start == end {
            return;
        }
        let is_free = self.0.range(start..end).next().is_none();
        if let Some((_, previous)) = self.0.range_mut(..start).next_back().filter(|_| is_free)
            && previous.end == start
            && previous.is_as(&run)
        {
            previous.end = end;
            return;
        }
        let before: Vec<u64> = self.touching(&(start..end)).map(|(from, _)| from).collect();
        for from in before {
            let Some(old) = self.0.remove(&from) else { continue };
            if from < start {
                self.0.insert(from, ByteRun { end: start, ..old.clone() });
            }
            if end < old.end {
                self.0.insert(end, old);
            }
        }
        self.0.insert(start, run);
    }

    /// The runs that overlap a range, in order.
    fn touching(&self, range: &Range<u64>) -> impl Iterator<Item = (u64, &ByteRun)> {
        let first = self.0.range(..range.start).next_back().map(|(from, _)| *from).unwrap_or(range.start);
        let start = range.start;
        self.0
            .range(first..range.end.max(first))
            .map(|(from, run)| (*from, run))
            .filter(move |(_, run)| run.end > start)
    }

    /// The first byte of a range that was never written.
    fn gap(&self, range: &Range<u64>) -> Option<u64> {
        let mut next = range.start;
        for (from, run) in self.touching(range) {
            if from > next {
                break;
            }
            next = run.end;
        }
        (next < range.end).then_some(next)
    }

    /// The first byte of a range that another family wrote last.
    fn foreign(&self, range: &Range<u64>, family: Family) -> Option<(u64, &ByteRun)> {
        let found = self.touching(range).find(|(_, run)| run.by != family);
        found.map(|(from, run)| (from.max(range.start), run))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(end: u64, by: u64) -> ByteRun {
        ByteRun { end, by: Family(by), tensor: ProgramPoint::default(), place: ProgramPoint::default() }
    }

    #[test]
    fn the_last_writer_of_a_byte_counts() {
        let mut written = LastWriters::default();
        assert_eq!(written.gap(&(0..4)), Some(0));
        written.note(0, run(8, 0));
        assert_eq!((written.gap(&(0..8)), written.gap(&(0..9))), (None, Some(8)));
        written.note(2, run(4, 1));
        let foreign = |range, by| written.foreign(&range, Family(by)).map(|(byte, _)| byte);
        assert_eq!(
            (foreign(0..8, 0), foreign(0..2, 0), foreign(4..8, 0), foreign(3..8, 0)),
            (Some(2), None, None, Some(3))
        );
        assert_eq!(foreign(0..8, 1), Some(0));
        assert_eq!(written.gap(&(0..8)), None);
        written.note(12, run(16, 1));
        assert_eq!(written.gap(&(0..16)), Some(8));
        assert_eq!((written.gap(&(5..5)), written.gap(&(20..20))), (None, None));
    }

    #[test]
    fn a_view_stays_within_its_tensor() {
        let storage = Storage::allocate(&Account::new(100), 16).unwrap();
        let lodging = Lodging::of_its_own(&storage, 4, 8).unwrap();
        assert!(Lodging::of_its_own(&storage, 12, 8).is_none() && Lodging::of_its_own(&storage, u64::MAX, 8).is_none());
        assert!(lodging.view(4, 4).is_some() && lodging.view(4, 8).is_none());
        lodging.write(0, &[1; 8]);
        assert!(lodging.view(4, 4).unwrap().poison(0..4).is_none());
        let other = Lodging::of_its_own(&storage, 0, 6).unwrap();
        assert!(other.overlaps(&lodging) && other.poison(0..4).unwritten.is_some());
        other.write(0, &[2; 6]);
        assert!(lodging.poison(0..8).overwritten.is_some() && lodging.poison(2..8).is_none());
        assert_eq!(lodging.readable(4), [false, true]);
    }
}
