//! Policy check: whether `server.d/policy.sh` defines the required function. If it does not, every call is refused.

use super::beginning;
use crate::{Diagnostic, Paths};

/// The function that decides whether a tool may run.
const FUNCTION: &str = "mcp_tools_policy_check";

/// How much of the policy is read, in bytes.
const LONGEST: u64 = 1024 * 1024;

pub(super) fn check(paths: &Paths, found: &mut Vec<Diagnostic>) {
    let file = paths.policy();
    if !file.is_file() {
        return;
    }
    let text = beginning(&file, LONGEST);
    let lines = || text.lines().map(str::trim_start).zip(1..).filter(|(line, _)| !line.starts_with('#'));
    // A policy that sources another file may define it there.
    let may_define =
        |line: &str| line.contains(FUNCTION) || line.starts_with(". ") || line.starts_with("source ");
    if lines().any(|(line, _)| may_define(line)) {
        return;
    }
    let defined: Vec<(&str, u64)> =
        lines().filter_map(|(line, number)| Some((defined_by(line)?, number))).collect();
    let nearest = mcp_bash_spelling::nearest(FUNCTION, defined.iter().map(|(name, _)| *name));
    let meant = nearest.and_then(|name| defined.iter().find(|(defined, _)| *defined == name));
    let problem = format!("does not define the function `{FUNCTION}`, so that every call is refused");
    found.push(match meant {
        Some((name, line)) => {
            Diagnostic::error(file, problem, &format!("call the function `{name}` so")).at_line(*line)
        }
        None => Diagnostic::error(file, problem, "define it, or remove the file to allow every call"),
    });
}

/// The name of the function that a line begins to define.
fn defined_by(line: &str) -> Option<&str> {
    let (line, has_keyword) =
        line.strip_prefix("function ").map_or((line, false), |rest| (rest.trim_start(), true));
    let end = line.find(|c: char| c.is_whitespace() || "(){}".contains(c)).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let is_defined = has_keyword || rest.trim_start().starts_with("()");
    (is_defined && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_found_by_their_names() {
        for (line, name) in [
            ("check() {", Some("check")),
            ("check () { return 0; }", Some("check")),
            ("function check {", Some("check")),
            ("function check() {", Some("check")),
            ("check \"$1\"", None),
            ("( check )", None),
            ("", None),
        ] {
            assert_eq!(defined_by(line), name, "{line}");
        }
    }
}
