//! Proposals: texts that were put forward and never became part of an edition. Each extends one edition, and is off
//! unless it is asked for.

use std::fmt;
use std::str::FromStr;

use super::Edition;

/// A proposal.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Proposal {
    /// Purity that may be unknown, and is inferred: a side branch of the text of 2024-04.
    UnknownPurity,
}

impl Proposal {
    /// Every proposal.
    pub const ALL: [Proposal; 1] = [Proposal::UnknownPurity];

    /// The name as it is written after `--proposal`, in cases, and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Proposal::UnknownPurity => "unknown-purity",
        }
    }

    /// The edition that the proposal extends. It has no meaning without that edition.
    pub fn base(self) -> Edition {
        match self {
            Proposal::UnknownPurity => Edition::E2024_04,
        }
    }

    /// The names of all proposals, for messages.
    fn names() -> String {
        Proposal::ALL.map(Proposal::name).join(", ")
    }
}

impl fmt::Display for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no proposal has.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no proposal `{0}` (there is {names})", names = Proposal::names())]
pub struct UnknownProposal(pub String);

impl FromStr for Proposal {
    type Err = UnknownProposal;

    fn from_str(name: &str) -> Result<Proposal, UnknownProposal> {
        let named = Proposal::ALL.into_iter().find(|proposal| proposal.name() == name);
        named.ok_or_else(|| UnknownProposal(name.to_string()))
    }
}

/// The text that judgements follow: an edition, with or without a proposal that extends it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Basis {
    edition: Edition,
    proposal: Option<Proposal>,
}

/// A proposal was asked for together with an edition that it does not extend.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the proposal {proposal} is made to edition {}, and not to {edition}", proposal.base())]
pub struct WrongBase {
    /// The proposal.
    pub proposal: Proposal,
    /// The edition that was requested.
    pub edition: Edition,
}

impl Basis {
    /// Combines an edition with an optional proposal.
    ///
    /// # Errors
    ///
    /// The proposal extends another edition.
    pub fn new(edition: Edition, proposal: Option<Proposal>) -> Result<Basis, WrongBase> {
        match proposal {
            Some(proposal) if proposal.base() != edition => Err(WrongBase { proposal, edition }),
            Some(_) | None => Ok(Basis { edition, proposal }),
        }
    }

    /// The edition, with or without a proposal.
    #[inline]
    pub fn edition(self) -> Edition {
        self.edition
    }

    /// The proposal, if there is one.
    #[inline]
    pub fn proposal(self) -> Option<Proposal> {
        self.proposal
    }

    /// The index into the tables that the build script makes: editions first, then proposals.
    #[inline]
    pub(super) fn index(self) -> usize {
        match self.proposal {
            None => self.edition as usize,
            Some(proposal) => Edition::ALL.len() + proposal as usize,
        }
    }
}

impl From<Edition> for Basis {
    #[inline]
    fn from(edition: Edition) -> Basis {
        Basis { edition, proposal: None }
    }
}

impl From<Proposal> for Basis {
    /// The proposal together with the edition that it extends.
    fn from(proposal: Proposal) -> Basis {
        Basis { edition: proposal.base(), proposal: Some(proposal) }
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.proposal {
            None => self.edition.fmt(f),
            Some(proposal) => write!(f, "{}+{proposal}", self.edition),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::book::Rule;

    #[test]
    fn a_proposal_goes_with_its_edition_only() {
        for proposal in Proposal::ALL {
            assert_eq!(proposal.name().parse(), Ok(proposal));
            for edition in Edition::ALL {
                let text = Basis::new(edition, Some(proposal));
                assert_eq!(text.is_ok(), edition == proposal.base());
            }
        }
        assert!("unknown".parse::<Proposal>().is_err());
    }

    #[test]
    fn a_rule_of_a_proposal_stands_where_it_is_on_and_what_it_replaces_where_it_is_off() {
        for rule in Rule::ALL.iter().filter(|rule| rule.info().proposal.is_some()) {
            let proposal: Proposal = rule.info().proposal.unwrap().parse().unwrap();
            assert!(rule.is_stated_by(proposal) && Edition::ALL.iter().all(|edition| !rule.is_stated_by(*edition)));
            for replaced in rule.info().over {
                let replaced: Rule = replaced.parse().unwrap();
                assert!(replaced.is_stated_by(proposal.base()) && !replaced.is_stated_by(proposal), "{replaced}");
            }
        }
    }
}
