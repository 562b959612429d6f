//! The loops of a nest in the order of its schedule.

use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use relax_spec::value::{LoopFold, LoopFoldOp, LoopInstr, LoopPlace};

use super::classes::{Class, result};
use super::emit::{Emitter, First, Spot};
use super::schedule::{Registers, Schedule, Varying};
use super::values::{Lanes, Values, type_of};

/// How many registers have elements at once.
const REGISTERS: usize = 4;

/// Emits a nest. `table` is the address of the addresses of all memory.
pub fn emitted(emitter: &mut Emitter<'_, '_>, schedule: &Schedule, table: Value) -> Option<()> {
    let nest = emitter.nest;
    let instrs = || [&nest.prelude, &nest.init, &nest.body].into_iter().flatten();
    let places = instrs().filter_map(|instr| match instr {
        LoopInstr::LoadInt { from: place, .. }
        | LoopInstr::LoadFloat { from: place, .. }
        | LoopInstr::StoreInt { to: place, .. }
        | LoopInstr::StoreFloat { to: place, .. } => Some(*place),
        _ => None,
    });
    let places: Vec<LoopPlace> = places.chain(nest.fold.map(|fold| fold.place)).collect();
    let indices = instrs().filter_map(|instr| match instr {
        LoopInstr::Index { index, .. } => Some(*index),
        _ => None,
    });
    let spot = emitter.begin(table, &places, &indices.collect::<Vec<usize>>())?;
    match schedule {
        Schedule::InOrder(levels) => {
            let varying = Varying::of(nest, None);
            emitter.nested(levels, &spot, &[], &mut |emitter, spot, _| round(emitter, spot, &varying))?;
        }
        Schedule::InRegisters(registers) => {
            let fold = nest.fold?;
            let varying = Varying::of(nest, registers.across);
            emitter.nested(&registers.outer, &spot, &[], &mut |emitter, spot, _| {
                elements(emitter, spot, registers, &fold, &varying)
            })?;
        }
    }
    Some(())
}

/// A round in order.
fn round(emitter: &mut Emitter<'_, '_>, spot: &Spot, varying: &Varying) -> Option<Vec<Value>> {
    let nest = emitter.nest;
    let lanes = Lanes { level: None, registers: 1, wide: None };
    let mut values = Values::new(lanes, varying);
    values.compute(emitter, spot, &nest.prelude)?;
    let Some(fold) = nest.fold else {
        when_first(emitter, spot, &values)?;
        values.compute(emitter, spot, &nest.body)?;
        return Some(Vec::new());
    };
    // Nothing is stored there, and nothing fails.
    values.compute(emitter, spot, &nest.init)?;
    values.compute(emitter, spot, &nest.body)?;
    let ty = if fold.is_of_floats() { types::F64 } else { types::I64 };
    let mut element = emitter.load(ty, spot, fold.place, 0)?;
    if let Some(start) = fold.start {
        let start = match fold.is_of_floats() {
            true => values.float(emitter, start, 0, Class::Long)?,
            false => values.int(emitter, start, 0)?,
        };
        element = match spot.first {
            First::Yes => start,
            First::No => element,
            First::If(holds) => emitter.builder.ins().select(holds, start, element),
        };
    }
    let element = combined(emitter, &mut values, &fold, (element, Class::Long), 0)?;
    emitter.store(element, spot, fold.place, 0)?;
    Some(Vec::new())
}

/// What runs when a reduction starts.
fn when_first(emitter: &mut Emitter<'_, '_>, spot: &Spot, values: &Values<'_>) -> Option<()> {
    let init = &emitter.nest.init;
    match spot.first {
        First::No => Some(()),
        First::Yes => values.clone().compute(emitter, spot, init),
        First::If(holds) => {
            let (inside, after) = (emitter.builder.create_block(), emitter.builder.create_block());
            let none: [BlockArg; 0] = [];
            emitter.builder.ins().brif(holds, inside, &none, after, &none);
            emitter.builder.switch_to_block(inside);
            values.clone().compute(emitter, spot, init)?;
            emitter.builder.ins().jump(after, &none);
            emitter.builder.switch_to_block(after);
            Some(())
        }
    }
}

/// An element combined with a value; of the class that the element had.
fn combined(
    emitter: &mut Emitter<'_, '_>,
    values: &mut Values<'_>,
    fold: &LoopFold,
    (element, class): (Value, Class),
    register: usize,
) -> Option<Value> {
    let ordered = |element, value| if fold.left { (element, value) } else { (value, element) };
    match fold.op {
        LoopFoldOp::Int(op, ints) => {
            let value = values.int(emitter, fold.value, register)?;
            let (a, b) = ordered(element, value);
            Some(emitter.int_op(op, a, b, ints))
        }
        LoopFoldOp::Float(op, float) => {
            let held = emitter.classes.value(fold.value);
            let value = values.float(emitter, fold.value, register, held)?;
            let (a, b) = if fold.left { ((element, class), (value, held)) } else { ((value, held), (element, class)) };
            let (value, of_result) = emitter.float(op, float, a, b);
            debug_assert_eq!(of_result, result(op, float, a.1, b.1));
            Some(emitter.as_class(value, of_result, class))
        }
    }
}

/// All elements along the loop of which several rounds run at once.
fn elements(
    emitter: &mut Emitter<'_, '_>,
    spot: &Spot,
    registers: &Registers,
    fold: &LoopFold,
    varying: &Varying,
) -> Option<Vec<Value>> {
    let one = Lanes { level: registers.across, registers: 1, wide: None };
    let Some(level) = registers.across else {
        reduced(emitter, spot, registers, fold, (one, varying))?;
        return Some(Vec::new());
    };
    let wide = registers.wide.then_some(registers.class);
    let mut shapes = vec![Lanes { registers: REGISTERS, wide, ..one }];
    if wide.is_some() {
        shapes.push(Lanes { wide, ..one });
    }
    shapes.push(one);
    let mut done = 0;
    for lanes in shapes {
        let blocks = (emitter.count(level) - done) / lanes.rounds();
        if blocks == 0 {
            continue;
        }
        let spot = emitter.further(spot, level, done)?;
        emitter.rounds(level, (blocks, lanes.rounds()), false, &spot, &[], &mut |emitter, spot, _| {
            reduced(emitter, spot, registers, fold, (lanes, varying))?;
            Some(Vec::new())
        })?;
        done += blocks * lanes.rounds();
    }
    Some(Vec::new())
}

/// The elements of the rounds that run at once: read or started, combined with all their values, and stored.
fn reduced(
    emitter: &mut Emitter<'_, '_>,
    spot: &Spot,
    registers: &Registers,
    fold: &LoopFold,
    (lanes, varying): (Lanes, &Varying),
) -> Option<()> {
    let nest = emitter.nest;
    let mut values = Values::new(lanes, varying);
    if registers.starts {
        values.compute(emitter, spot, &nest.prelude)?;
        values.compute(emitter, spot, &nest.init)?;
    }
    let mut begun = Vec::new();
    for register in 0..lanes.registers {
        begun.push(match fold.start.filter(|_| registers.starts) {
            Some(start) => started(emitter, &mut values, start, register, (lanes, registers, fold))?,
            None => read(emitter, spot, &values, register, (lanes, registers, fold))?,
        });
    }
    let ended = emitter.nested(&registers.inner, spot, &begun, &mut |emitter, spot, elements| {
        let mut values = Values::new(lanes, varying);
        values.compute(emitter, spot, &nest.prelude)?;
        values.compute(emitter, spot, &nest.body)?;
        let mut next = Vec::new();
        for (register, element) in elements.iter().enumerate() {
            next.push(match (lanes.wide, fold.op) {
                (Some(class), LoopFoldOp::Float(op, _)) => {
                    let value = values.wide(emitter, fold.value, register, class)?;
                    let (a, b) = if fold.left { (*element, value) } else { (value, *element) };
                    emitter.float_op(op, a, b)
                }
                _ => combined(emitter, &mut values, fold, (*element, registers.class), register)?,
            });
        }
        Some(next)
    })?;
    for (register, element) in ended.into_iter().enumerate() {
        written(emitter, spot, element, register, (lanes, registers, fold))?;
    }
    Some(())
}

type Elements<'a> = (Lanes, &'a Registers, &'a LoopFold);

fn started(
    emitter: &mut Emitter<'_, '_>,
    values: &mut Values<'_>,
    start: usize,
    register: usize,
    (lanes, registers, fold): Elements<'_>,
) -> Option<Value> {
    match lanes.wide {
        Some(class) => values.wide(emitter, start, register, class),
        None if fold.is_of_floats() => values.float(emitter, start, register, registers.class),
        None => values.int(emitter, start, register),
    }
}

/// How far the element of a register, and of the lanes in it, is from that of the first round.
fn distance(emitter: &Emitter<'_, '_>, lanes: Lanes, fold: &LoopFold, round: usize) -> Option<i64> {
    let Some(level) = lanes.level else { return Some(0) };
    emitter.nest.indices.get(fold.place.index)?.steps.get(level)?.checked_mul(round as i64)
}

fn read(
    emitter: &mut Emitter<'_, '_>,
    spot: &Spot,
    values: &Values<'_>,
    register: usize,
    (lanes, registers, fold): Elements<'_>,
) -> Option<Value> {
    if let Some(class) = lanes.wide {
        return values.gathered(emitter, spot, fold.place, (register, class));
    }
    let distance = distance(emitter, lanes, fold, register)?;
    if !fold.is_of_floats() {
        return emitter.load(types::I64, spot, fold.place, distance);
    }
    let value = emitter.load(types::F64, spot, fold.place, distance)?;
    Some(emitter.as_class(value, Class::Long, registers.class))
}

fn written(
    emitter: &mut Emitter<'_, '_>,
    spot: &Spot,
    element: Value,
    register: usize,
    (lanes, registers, fold): Elements<'_>,
) -> Option<()> {
    for lane in 0..lanes.width() {
        let mut value = element;
        if lanes.wide.is_some() {
            value = emitter.builder.ins().extractlane(element, lane as u8);
        }
        if fold.is_of_floats() {
            debug_assert!(emitter.builder.func.dfg.value_type(value) == type_of(registers.class));
            value = emitter.as_class(value, registers.class, Class::Long);
        }
        let distance = distance(emitter, lanes, fold, register * lanes.width() + lane)?;
        emitter.store(value, spot, fold.place, distance)?;
    }
    Some(())
}
