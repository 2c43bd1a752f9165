//! `JUnit` report: XML, which CI services read.

use super::{Report, Totals};
use crate::external::{ExternalReport, Outcome};
use crate::run::{CaseReport, Status};
use std::fmt::Write;
use std::time::Duration;

pub(crate) fn junit(report: &Report) -> String {
    let Totals { passed, failed, skipped, not_run } = report.totals();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let skipped = skipped + not_run;
    let tests = passed + failed + skipped;
    let _ = writeln!(
        out,
        r#"<testsuites name="mcp-bash" tests="{tests}" failures="{failed}" skipped="{skipped}" time="{}">"#,
        seconds(report.duration)
    );
    for (name, cases) in report.by_subject() {
        suite(&mut out, name, &cases);
    }
    for report in &report.externals {
        external(&mut out, report);
    }
    out.push_str("</testsuites>\n");
    out
}

fn suite(out: &mut String, name: &str, cases: &[&CaseReport]) {
    let failed = cases.iter().filter(|case| matches!(case.status, Status::Failed(_))).count();
    let skipped = cases.iter().filter(|case| matches!(case.status, Status::Skipped(_))).count();
    let time: Duration = cases.iter().map(|case| case.duration).sum();
    let (name, tests) = (escaped(name), cases.len());
    let _ = writeln!(
        out,
        r#"  <testsuite name="{name}" tests="{tests}" failures="{failed}" skipped="{skipped}" time="{}">"#,
        seconds(time)
    );
    for report in cases {
        let (case, place) = (escaped(&report.case.name), &report.case.place);
        let _ = write!(
            out,
            r#"    <testcase name="{case}" classname="{name}" file="{}" line="{}" time="{}""#,
            escaped(&place.shown),
            place.line,
            seconds(report.duration)
        );
        match &report.status {
            Status::Passed => out.push_str("/>\n"),
            Status::Skipped(why) => {
                let _ = writeln!(out, r#"><skipped message="{}"/></testcase>"#, escaped(why));
            }
            Status::Failed(mismatches) => {
                let problems: Vec<&str> =
                    mismatches.iter().map(|mismatch| mismatch.problem.as_str()).collect();
                let mut body = String::new();
                for mismatch in mismatches {
                    let _ = writeln!(body, "{}", mismatch.problem);
                    for line in &mismatch.diff {
                        let _ = writeln!(body, "{}", line.text);
                    }
                }
                let first = problems.first().and_then(|problem| problem.lines().next()).unwrap_or_default();
                let _ = write!(
                    out,
                    ">\n      <failure message=\"{}\">{}</failure>\n",
                    escaped(first),
                    escaped(&body)
                );
                if !report.stderr.is_empty() {
                    let _ = writeln!(out, "      <system-err>{}</system-err>", escaped(&report.stderr));
                }
                out.push_str("    </testcase>\n");
            }
        }
    }
    out.push_str("  </testsuite>\n");
}

/// A program is one suite with one test: only the program knows the names of its own tests.
fn external(out: &mut String, report: &ExternalReport) {
    let (name, time) = (escaped(&report.external.shown), seconds(report.duration));
    let (tests, failed, skipped, body) = match &report.outcome {
        Outcome::NotRun(why) => (1, 0, 1, format!(r#"<skipped message="{}"/>"#, escaped(why))),
        Outcome::Ran { passed, failed, skipped, problem } => {
            let failures = (*failed).max(usize::from(problem.is_some()));
            let message = problem.clone().unwrap_or_else(|| format!("{failures} failed"));
            let body = if failures > 0 {
                format!(r#"<failure message="{}">{}</failure>"#, escaped(&message), escaped(&report.output))
            } else {
                String::new()
            };
            (passed + failures + skipped, failures, *skipped, body)
        }
    };
    let _ = writeln!(
        out,
        r#"  <testsuite name="{name}" tests="{tests}" failures="{failed}" skipped="{skipped}" time="{time}">"#
    );
    let _ = writeln!(out, r#"    <testcase name="{name}" classname="test" time="{time}">{body}</testcase>"#);
    out.push_str("  </testsuite>\n");
}

fn seconds(duration: Duration) -> String {
    format!("{:.3}", duration.as_secs_f64())
}

/// A text escaped for XML: characters that XML cannot hold at all are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            c if c < ' ' || matches!(c, '\u{fffe}' | '\u{ffff}' | '\u{7f}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_replaced() {
        assert_eq!(escaped("a\u{1b}[31m<b>&\"\n\0"), "a\u{fffd}[31m&lt;b&gt;&amp;&quot;&#10;\u{fffd}");
    }
}
