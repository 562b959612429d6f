//! Damaged executables: lines exchanged, digits and characters replaced, random bytes. Everything that can still be
//! read is verified and run within small limits, to test that all of this terminates.

use fastrand::Rng;
use relax_spec::data::from_json;
use relax_spec::eval::prelude;
use relax_spec::judge::Cx;
use relax_spec::value::{ValueSpec, from_specs};
use relax_spec::vm::{self, Executable, TvmExecutable};

/// The result for a damaged executable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damaged {
    /// It cannot be read.
    Refused,
    /// It was read, the verifier found a fault, and it was run in spite of that.
    Faulty,
    /// It was read, verified without a fault, and run.
    Whole,
}

/// A number below a limit; 0 if the limit is 0.
fn below(random: &mut Rng, limit: usize) -> usize {
    random.usize(..limit.max(1))
}

/// Damages the text that [`print`](vm::print()) writes.
pub fn try_text(text: &str, seed: u64) -> Damaged {
    let damaged = damaged(text, &mut Rng::with_seed(seed));
    vm::read(&damaged).map_or(Damaged::Refused, |executable| ended(&executable))
}

/// Damages an adapter's dump of an executable of TVM: its JSON, or the text in it.
pub fn try_tvm(said: &str, seed: u64) -> Damaged {
    let mut random = Rng::with_seed(seed);
    if below(&mut random, 4) == 0 {
        let made = from_json::<TvmExecutable>(&characters(said, &mut random));
        return made.map_or(Damaged::Refused, |made| imported(&made));
    }
    match from_json::<TvmExecutable>(said) {
        Ok(mut made) => {
            made.text = damaged(&made.text, &mut random);
            imported(&made)
        }
        Err(_) => Damaged::Refused,
    }
}

/// Reads random bytes in every format of executables.
pub fn try_bytes(seed: u64) -> Damaged {
    let mut random = Rng::with_seed(seed);
    let bytes: Vec<u8> = (0..below(&mut random, 400)).map(|_| below(&mut random, 256) as u8).collect();
    let text = String::from_utf8_lossy(&bytes);
    let forms =
        [vm::read(&text).ok(), vm::read(&format!("relax-spec executable 1\n{text}")).ok(), from_json(&text).ok()];
    let made = TvmExecutable {
        text: text.to_string(),
        functions: Vec::new(),
        constants: Vec::new(),
        prim_funcs: if below(&mut random, 2) == 0 { text.to_string() } else { String::new() },
    };
    let read = forms.into_iter().flatten().chain(vm::import(&made).ok());
    read.map(|executable| ended(&executable)).last().unwrap_or(Damaged::Refused)
}

fn imported(made: &TvmExecutable) -> Damaged {
    vm::import(made).map_or(Damaged::Refused, |executable| ended(&executable))
}

/// Verifies an executable, and runs each function that can be started.
fn ended(executable: &Executable) -> Damaged {
    let faults = vm::verify(executable);
    let options = vm::VmOptions { fuel: 2_000, max_depth: 20, memory: 1 << 20, ..vm::VmOptions::new(prelude()) };
    for function in executable.functions.iter().take(FUNCTIONS) {
        let Some(entry) = &function.symbol else { continue };
        let given = [ValueSpec::Shape(vec![2]), ValueSpec::Int(2)];
        for value in given {
            let specs = vec![value; function.params.min(PARAMS) as usize];
            if let Ok(args) = from_specs(&specs, &options.registry) {
                vm::run(&mut Cx::new(), executable, entry, args, &options);
            }
        }
    }
    if faults.is_empty() { Damaged::Whole } else { Damaged::Faulty }
}

/// How many functions are started, and with how many arguments at most.
const FUNCTIONS: usize = 3;
const PARAMS: u32 = 8;

/// The text with some lines exchanged, left out, repeated or changed.
fn damaged(text: &str, random: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for _ in 0..=below(random, 3) {
        if lines.is_empty() {
            break;
        }
        let (at, other) = (below(random, lines.len()), below(random, lines.len()));
        match below(random, 5) {
            0 => lines.swap(at, other),
            1 => drop(lines.remove(at)),
            2 => {
                let again = lines.get(other).cloned().unwrap_or_default();
                lines.insert(at, again);
            }
            _ => {
                if let Some(line) = lines.get_mut(at) {
                    *line = characters(line, random);
                }
            }
        }
    }
    lines.join("\n")
}

/// The line with one digit or character replaced.
fn characters(line: &str, random: &mut Rng) -> String {
    let mut chars: Vec<char> = line.chars().collect();
    let digits: Vec<usize> = (0..chars.len()).filter(|at| chars.get(*at).is_some_and(char::is_ascii_digit)).collect();
    let digit = digits.get(below(random, digits.len())).filter(|_| below(random, 3) > 0);
    let (at, new) = match digit {
        Some(at) => (*at, char::from(b'0' + below(random, 10) as u8)),
        None => (below(random, chars.len()), char::from(b' ' + below(random, 95) as u8)),
    };
    if let Some(place) = chars.get_mut(at) {
        *place = new;
    }
    chars.into_iter().collect()
}
