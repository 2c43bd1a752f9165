//! Test selection: which tests the words on the command line mean.

use crate::cases::case::Case;
use crate::error::TestError;
use crate::external::External;
use mcp_bash_spelling::nearest;
use mcp_bash_terminal::visible;
use serde_json::json;
use std::fmt::Write;

/// The tests that one of the patterns names: the cases of exactly that name if there are any, otherwise all that contain it
/// in their name or their file. All tests without a pattern.
pub(crate) fn select(
    cases: Vec<Case>,
    externals: Vec<External>,
    patterns: &[String],
) -> Result<(Vec<Case>, Vec<External>), TestError> {
    if patterns.is_empty() {
        return Ok((cases, externals));
    }
    for pattern in patterns {
        let is_known = cases.iter().any(|case| is_named(case, pattern, false))
            || externals.iter().any(|external| contains(&external.shown, pattern));
        if !is_known {
            return Err(nothing_matches(pattern, &cases, &externals));
        }
    }
    let exact: Vec<&String> =
        patterns.iter().filter(|pattern| cases.iter().any(|case| case.id() == **pattern)).collect();
    let is_meant =
        |case: &Case| patterns.iter().any(|pattern| is_named(case, pattern, exact.contains(&pattern)));
    let is_meant_program = |external: &External| {
        patterns.iter().any(|pattern| !exact.contains(&pattern) && contains(&external.shown, pattern))
    };
    let kept = cases.iter().filter(|case| is_meant(case)).cloned().collect();
    let programs = externals.iter().filter(|external| is_meant_program(external)).cloned().collect();
    Ok((kept, programs))
}

fn is_named(case: &Case, pattern: &str, exactly: bool) -> bool {
    if exactly {
        return case.id() == pattern;
    }
    contains(&case.id(), pattern) || contains(&case.place.shown, pattern)
}

fn contains(text: &str, pattern: &str) -> bool {
    text.to_lowercase().contains(&pattern.to_lowercase())
}

fn nothing_matches(pattern: &str, cases: &[Case], externals: &[External]) -> TestError {
    let ids: Vec<String> = cases.iter().map(Case::id).collect();
    let known = ids
        .iter()
        .map(String::as_str)
        .chain(cases.iter().map(|case| case.subject().name()))
        .chain(cases.iter().map(|case| case.name.as_str()))
        .chain(externals.iter().map(|external| external.shown.as_str()));
    let remedy = match nearest(pattern, known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`mcp-bash test --list` shows all".to_owned(),
    };
    TestError::NothingMatches { pattern: visible(pattern), remedy }
}

/// The tests, one per line.
pub(crate) fn list(cases: &[Case], externals: &[External], as_json: bool) -> String {
    if as_json {
        let cases: Vec<_> = cases
            .iter()
            .map(|case| {
                json!({
                    "id": case.id(),
                    "kind": case.subject().kind(),
                    "subject": case.subject().name(),
                    "file": case.place.shown,
                    "line": case.place.line,
                })
            })
            .collect();
        let programs: Vec<_> = externals.iter().map(|external| &external.shown).collect();
        return format!("{:#}\n", json!({ "cases": cases, "programs": programs }));
    }
    let mut out = String::new();
    for case in cases {
        let _ = writeln!(out, "{}  {}", visible(&case.id()), case.place);
    }
    for external in externals {
        let _ = writeln!(out, "{}", external.shown);
    }
    out
}
