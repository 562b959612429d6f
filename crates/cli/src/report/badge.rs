//! A badge: the JSON from which services for badges draw one, in the form of shields (`schemaVersion` 1).

use serde_json::json;

use super::ReportError;
use super::runs::KeptRun;
use relax_spec::grammar::visible;
use relax_spec::suite::compare::CaseVerdict;

/// The badge of a run: how many of the answered cases agree, or how many results are unexpected.
///
/// # Errors
///
/// There are several runs, or none.
pub fn badge(runs: &[KeptRun]) -> Result<String, ReportError> {
    let [run] = runs else { return Err(ReportError::Runs(runs.len())) };
    let totals = run.totals();
    let count = |verdict: CaseVerdict| totals.iter().find(|(name, _)| *name == verdict.name()).map_or(0, |(_, n)| *n);
    let answered = run.cases.len() - count(CaseVerdict::Unsupported);
    let (message, color) = match (run.is_cut(), run.unexpected()) {
        (true, _) => ("stopped early".to_string(), "lightgrey"),
        (false, 0) => (format!("{} of {answered} agree", count(CaseVerdict::Agree)), "green"),
        (false, unexpected) => (format!("{unexpected} unexpected"), "red"),
    };
    drawn(&format!("Relax {}", run.edition()), &message, color)
}

/// A badge with two texts and a color.
pub(super) fn drawn(label: &str, message: &str, color: &str) -> Result<String, ReportError> {
    let badge = json!({"schemaVersion": 1, "label": visible(label), "message": visible(message), "color": color});
    Ok(serde_json::to_string(&badge)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::runs::read;

    #[test]
    fn a_badge_is_green_only_for_a_whole_run_without_surprise() {
        let of = |verdict: &str, unexpected: bool, end: &str| {
            let case = |verdict: &str| {
                format!(
                    "{{\"type\":\"case\",\"case\":\"{verdict}\",\"verdict\":\"{verdict}\",\"unexpected\":{unexpected}}}\n"
                )
            };
            let text =
                "{\"type\":\"header\",\"edition\":\"2024-04\"}\n".to_string() + &case("agree") + &case(verdict) + end;
            badge(&read(&text).unwrap()).unwrap()
        };
        let end = "{\"type\":\"summary\",\"stopped\":false}\n";
        assert!(of("unsupported", false, end).contains("\"1 of 1 agree\""));
        assert!(of("diverge", false, end).contains("\"1 of 2 agree\""));
        assert!(of("diverge", true, end).contains("\"color\":\"red\""));
        assert!(of("diverge", true, "").contains("stopped early"));
        assert!(badge(&[]).is_err());
    }
}
