//! Smaller programs that show the same property as a given program.

use std::collections::{BTreeMap, BTreeSet};

use crate::shrink::{Program, Shows, passes, shrink};
use relax_spec::book::{Edition, Rule};
use relax_spec::grammar::{IrModule, Name};
use relax_spec::syntax::tvmscript::{Dialect, print_module};

/// The smallest program found for which `shows` is true, with a budget of questions. It breaks the same rules as the
/// given program, and no others.
///
/// # Errors
///
/// If `shows` fails.
pub fn smaller<E>(
    edition: Edition,
    module: &IrModule,
    entry: &Name,
    questions: usize,
    mut shows: impl FnMut(&IrModule) -> Result<bool, E>,
) -> Result<IrModule, E> {
    let mut best = Program { edition, module: module.clone(), entry: entry.clone(), sizes: BTreeMap::new() };
    let broken = best.broken();
    let mut asker = Asker { shows: &mut shows, left: questions, tried: BTreeSet::new(), broken };
    shrink(&mut best, &passes(), &mut asker)?;
    Ok(best.module)
}

struct Asker<'a, E> {
    shows: &'a mut dyn FnMut(&IrModule) -> Result<bool, E>,
    left: usize,
    /// The candidates so far; each is asked about once.
    tried: BTreeSet<String>,
    broken: Vec<Rule>,
}

impl<E> Shows<Program> for Asker<'_, E> {
    type Error = E;
    type Size = (usize, usize, usize);

    fn size(&self, of: &Program) -> Self::Size {
        of.size()
    }

    fn left(&self) -> usize {
        self.left
    }

    fn shows(&mut self, _best: &Program, candidate: Program) -> Result<Option<Program>, E> {
        let is_new = self.tried.insert(print_module(&candidate.module, Dialect::default()));
        if !is_new || candidate.broken() != self.broken {
            return Ok(None);
        }
        self.left = self.left.saturating_sub(1);
        Ok((self.shows)(&candidate.module)?.then_some(candidate))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::shrink::bindings;
    use relax_spec::syntax::tvmscript::parse_module;

    #[test]
    fn what_shows_it_is_left() {
        let text = "@R.function\ndef main(x: R.Tensor((2,), \"float32\")):\n    a = R.exp(x)\n    b = R.add(a, x)\n    \
                    c = R.sqrt(b)\n    return c\n";
        let module = parse_module(text).unwrap();
        let shows =
            |module: &IrModule| Ok::<bool, Infallible>(print_module(module, Dialect::default()).contains("add"));
        let small = smaller(Edition::E2024_04, &module, &"main".into(), 100, shows).unwrap_or_default();
        assert_eq!(bindings(&small), 1, "{}", print_module(&small, Dialect::default()));
    }
}
