//! Invariance: statements of the text about variables concern their identity (A03). So the answers of all judgements
//! depend neither on the names of bound variables nor on the order of global functions.
//!
//! The long run: `INVARIANCE_PAIRS=200000 INVARIANCE_PROGRAMS=20000 cargo test --release --test it invariance`.
//! `INVARIANCE_FROM` sets the first seed of a part.

mod alike;
mod infos;
mod messages;
mod order;
mod programs;
mod shared;
mod spelling;

use std::fs;
use std::ops::Range;
use std::path::Path;

use relax_spec::book::{Edition, Erratum, Reading};
use relax_spec::judge::Cx;

/// Errata whose literal reading changes the meaning of a program if two bound variables have the same name. This
/// reading knows only names, so no law holds.
const BY_NAME: [(Erratum, &str); 8] = [
    (Erratum::A03, "there are only names"),
    (Erratum::A14, "functions are taken in the order of the module, which is changed here"),
    (Erratum::A58, "the parameters of functions are joined by the names of their variables"),
    (Erratum::E55, "a name in a function type that is a parameter means what it means in the one around it"),
    (Erratum::E56, "a callee's variables count as bound where a variable of the same name is in scope"),
    (Erratum::E57, "a variable of the callee is taken for the one of its name that is in scope"),
    (Erratum::E80, "a function type inside captures what is spelt like its own variables"),
    (Erratum::N31, "of two function types the variables are compared as they are spelt"),
];

/// The number of inputs, unless a long run is requested.
fn scale(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|scale| scale.parse().ok()).unwrap_or(otherwise)
}

/// The seeds of a run.
fn seeds(variable: &str, otherwise: u64) -> Range<u64> {
    let from = scale("INVARIANCE_FROM", 0);
    from..from + scale(variable, otherwise)
}

/// Every erratum that the code in these places consults, literally and alone; all of them together; and none. Of those
/// that go by names only the ones in `by_letter` are included.
fn readings(places: &[&str], by_letter: &[Erratum]) -> Vec<(String, Reading)> {
    let mut code = String::new();
    places.iter().for_each(|place| {
        read(&Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("src").join(place), &mut code)
    });
    let by_name = |erratum: &Erratum| !by_letter.contains(erratum) && BY_NAME.iter().any(|(named, _)| named == erratum);
    let asked = |erratum: &Erratum| code.contains(&format!("Erratum::{erratum})"));
    let errata: Vec<Erratum> =
        Erratum::ALL.iter().copied().filter(|erratum| asked(erratum) && !by_name(erratum)).collect();
    let together: Vec<Erratum> =
        errata.iter().copied().filter(|erratum| !Reading::ONLY_BY_NAME.contains(erratum)).collect();
    let single = errata.iter().map(|erratum| (erratum.to_string(), Reading::literal_only(&[*erratum])));
    let all = ("all".to_string(), Reading::literal_only(&together));
    [("none".to_string(), Reading::corrected())].into_iter().chain(single).chain([all]).collect()
}

/// Like [`readings`]. For later editions, only errata about their own text, and none; the others were tested with the
/// first edition.
fn readings_of(edition: Edition, places: &[&str], by_letter: &[Erratum]) -> Vec<(String, Reading)> {
    let all = readings(places, by_letter);
    let is_first = edition == Edition::E2023_02;
    all.into_iter().filter(|(name, _)| is_first || name == "none" || name.starts_with(['N', 'M'])).collect()
}

fn read(path: &Path, code: &mut String) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| read(&entry.unwrap().path(), code));
    } else {
        code.push_str(&fs::read_to_string(path).unwrap());
    }
}

fn cx(edition: Edition, reading: &Reading) -> Cx {
    Cx::new().with_edition(edition).with_reading(reading.clone())
}
