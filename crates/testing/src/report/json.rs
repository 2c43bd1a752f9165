//! JSON report: one document.

use super::{Report, Totals};
use crate::expect::Mismatch;
use crate::external::{ExternalReport, Outcome};
use crate::run::{CaseReport, Status};
use serde_json::{Value, json};

pub(crate) fn json(report: &Report) -> Value {
    let Totals { passed, failed, skipped, not_run } = report.totals();
    json!({
        "passed": passed,
        "failed": failed,
        "skipped": skipped,
        "notRun": not_run,
        "recorded": report.recorded,
        "durationMs": milliseconds(report.duration),
        "cases": report.cases.iter().map(case).collect::<Vec<_>>(),
        "programs": report.externals.iter().map(external).collect::<Vec<_>>(),
        "toolsWithoutTest": report.untested,
    })
}

fn case(report: &CaseReport) -> Value {
    let case = &report.case;
    let mut written = json!({
        "id": case.id(),
        "name": case.name,
        "kind": case.subject().kind(),
        "subject": case.subject().name(),
        "file": case.place.shown,
        "line": case.place.line,
        "status": status(&report.status),
        "durationMs": milliseconds(report.duration),
    });
    match &report.status {
        Status::Passed => {}
        Status::Skipped(why) => written["reason"] = json!(why),
        Status::Failed(mismatches) => {
            written["problems"] = mismatches.iter().map(problem).collect();
            written["stderr"] = json!(report.stderr);
        }
    }
    written
}

fn status(status: &Status) -> &'static str {
    match status {
        Status::Passed => "passed",
        Status::Failed(_) => "failed",
        Status::Skipped(_) => "skipped",
    }
}

fn problem(mismatch: &Mismatch) -> Value {
    let diff: Vec<&str> = mismatch.diff.iter().map(|line| line.text.as_str()).collect();
    if diff.is_empty() {
        return json!({ "problem": mismatch.problem });
    }
    json!({ "problem": mismatch.problem, "diff": diff.join("\n") })
}

fn external(report: &ExternalReport) -> Value {
    let file = &report.external.shown;
    let duration = milliseconds(report.duration);
    match &report.outcome {
        Outcome::NotRun(why) => json!({ "file": file, "status": "not run", "reason": why }),
        Outcome::Ran { passed, failed, skipped, problem } => json!({
            "file": file,
            "status": if report.has_failed() { "failed" } else { "passed" },
            "passed": passed,
            "failed": failed,
            "skipped": skipped,
            "problem": problem,
            "output": report.output,
            "durationMs": duration,
        }),
    }
}

fn milliseconds(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
