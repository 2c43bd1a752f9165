//! Text report, for people.

use super::{Report, Totals};
use crate::diff::{DiffLine, Sign};
use crate::expect::Mismatch;
use crate::external::{ExternalReport, Outcome};
use crate::options::{Loudness, Options};
use crate::run::{CaseReport, Status};
use mcp_bash_harmless::shell_word;
use mcp_bash_terminal::words::counted;
use mcp_bash_terminal::{Terminal, harmless_lines, visible};
use std::collections::HashSet;
use std::fmt::Write;

/// How many lines of a failed program's output are shown.
const LAST_LINES: usize = 20;

const RED: &str = "31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const CYAN: &str = "36";
const BOLD: &str = "1";

pub(crate) fn text(report: &Report, options: &Options, terminal: Terminal) -> String {
    let (mut out, loudness) = (String::new(), options.loudness);
    match loudness {
        Loudness::Quiet => {}
        Loudness::Usual => groups(&mut out, report, terminal),
        Loudness::Each => each(&mut out, report, terminal),
    }
    for case in &report.cases {
        failed_case(&mut out, case, options, terminal);
    }
    for external in &report.externals {
        failed_external(&mut out, external, options, terminal);
    }
    if loudness == Loudness::Quiet {
        missing(&mut out, report, terminal);
    }
    let is_of_interest = report.lacks_tests() || loudness != Loudness::Quiet && report.is_whole;
    if is_of_interest && !report.untested.is_empty() {
        let names: Vec<String> = report.untested.iter().map(|name| visible(name)).collect();
        let _ = write!(out, "\nTools without a test: {}\n", names.join(", "));
    }
    if loudness != Loudness::Quiet {
        let _ = write!(out, "\n{}\n", summary(report, terminal));
    }
    // Each part begins with an empty line; the first one of all needs none.
    out.trim_start_matches('\n').to_owned()
}

/// The files that could not be run, if that makes the run fail.
fn missing(out: &mut String, report: &Report, terminal: Terminal) {
    let reports = report.externals.iter().filter(|external| matches!(external.outcome, Outcome::NotRun(_)));
    for external in reports.filter(|_| !report.allows_missing) {
        external_line(out, external, terminal);
    }
}

fn groups(out: &mut String, report: &Report, terminal: Terminal) {
    for (name, cases) in report.by_subject() {
        let failed = cases.iter().filter(|case| matches!(case.status, Status::Failed(_))).count();
        let skipped = cases.iter().filter(|case| matches!(case.status, Status::Skipped(_))).count();
        let totals = Totals { failed, skipped, passed: cases.len() - failed - skipped, not_run: 0 };
        let _ = writeln!(
            out,
            "{}  {}  {}",
            verdict(failed > 0, terminal),
            visible(name),
            in_words(totals, "case")
        );
    }
    for report in &report.externals {
        external_line(out, report, terminal);
    }
}

fn each(out: &mut String, report: &Report, terminal: Terminal) {
    for case in &report.cases {
        let id = visible(&case.case.id());
        let _ = match &case.status {
            Status::Skipped(why) => {
                writeln!(out, "{}  {id}: {}", terminal.painted(YELLOW, "skip"), visible(why))
            }
            status => {
                let verdict = verdict(matches!(status, Status::Failed(_)), terminal);
                writeln!(out, "{verdict}  {id} ({} ms)", case.duration.as_millis())
            }
        };
    }
    for report in &report.externals {
        external_line(out, report, terminal);
    }
}

fn external_line(out: &mut String, report: &ExternalReport, terminal: Terminal) {
    let shown = &report.external.shown;
    let _ = match &report.outcome {
        Outcome::NotRun(why) => writeln!(out, "{}  {shown}: {why}", terminal.painted(YELLOW, "miss")),
        Outcome::Ran { passed, failed, skipped, problem } => {
            let failed = (*failed).max(usize::from(problem.is_some()));
            let totals = Totals { passed: *passed, failed, skipped: *skipped, not_run: 0 };
            writeln!(out, "{}  {shown}  {}", verdict(failed > 0, terminal), in_words(totals, "test"))
        }
    };
}

fn verdict(has_failed: bool, terminal: Terminal) -> String {
    if has_failed { terminal.painted(RED, "FAIL") } else { terminal.painted(GREEN, "ok  ") }
}

/// `3 cases, 1 failed`.
fn in_words(totals: Totals, noun: &str) -> String {
    let mut words = counted(totals.passed + totals.failed + totals.skipped, noun);
    for (number, word) in [(totals.failed, "failed"), (totals.skipped, "skipped")] {
        if number > 0 {
            let _ = write!(words, ", {number} {word}");
        }
    }
    words
}

fn failed_case(out: &mut String, report: &CaseReport, options: &Options, terminal: Terminal) {
    let Status::Failed(mismatches) = &report.status else { return };
    let id = report.case.id();
    let _ = write!(
        out,
        "\n{} {}\n  {}\n",
        terminal.painted(RED, "FAIL"),
        terminal.painted(BOLD, &visible(&id)),
        report.case.place
    );
    for mismatch in mismatches {
        told(out, mismatch, terminal);
    }
    if !report.stderr.trim().is_empty() && !is_told(&report.stderr, mismatches) {
        let _ = writeln!(out, "  standard error:");
        last_lines(out, &report.stderr, LAST_LINES);
    }
    again(out, &id, options);
}

/// Whether each line of a text is in one of the problems already.
fn is_told(text: &str, mismatches: &[Mismatch]) -> bool {
    let problems: HashSet<&str> =
        mismatches.iter().flat_map(|mismatch| mismatch.problem.lines()).map(str::trim).collect();
    let is_in = |line: &str| problems.iter().any(|problem| problem.ends_with(line.trim()));
    text.lines().count() <= LAST_LINES && text.lines().all(is_in)
}

fn told(out: &mut String, mismatch: &Mismatch, terminal: Terminal) {
    for line in harmless_lines(&mismatch.problem).lines() {
        let _ = writeln!(out, "  {line}");
    }
    for line in &mismatch.diff {
        let _ = writeln!(out, "    {}", diff_line(line, terminal));
    }
}

pub(crate) fn diff_line(line: &DiffLine, terminal: Terminal) -> String {
    let text = harmless_lines(&line.text);
    match line.sign {
        Sign::Place => terminal.painted(CYAN, &text),
        Sign::Expected => terminal.painted(RED, &text),
        Sign::Got => terminal.painted(GREEN, &text),
        Sign::Same | Sign::Note => text,
    }
}

fn failed_external(out: &mut String, report: &ExternalReport, options: &Options, terminal: Terminal) {
    let Outcome::Ran { problem, .. } = &report.outcome else { return };
    if !report.has_failed() {
        return;
    }
    let shown = &report.external.shown;
    let _ = write!(out, "\n{} {}\n", terminal.painted(RED, "FAIL"), terminal.painted(BOLD, shown));
    if let Some(problem) = problem {
        let _ = writeln!(out, "  {problem}");
    }
    if !report.output.trim().is_empty() {
        let _ = writeln!(out, "  it printed:");
        last_lines(out, &report.output, LAST_LINES);
    }
    again(out, shown, options);
}

/// The command that runs one test again, with the same server.
fn again(out: &mut String, test: &str, options: &Options) {
    let words = [test].into_iter().chain(options.server_flags.iter().map(String::as_str));
    let words: Vec<String> = words.map(|word| shell_word(&visible(word))).collect();
    let _ = writeln!(out, "  again: mcp-bash test {}", words.join(" "));
}

fn last_lines(out: &mut String, text: &str, most: usize) {
    let text = harmless_lines(text.trim_end());
    let lines: Vec<&str> = text.lines().collect();
    let left_out = lines.len().saturating_sub(most);
    if left_out > 0 {
        let _ = writeln!(out, "    … {} before these", counted(left_out, "line"));
    }
    for line in &lines[left_out..] {
        let _ = writeln!(out, "    {}", crate::diff::cut(line));
    }
}

fn summary(report: &Report, terminal: Terminal) -> String {
    let Totals { passed, failed, skipped, not_run } = report.totals();
    if passed + failed + skipped + not_run == 0 {
        return "No tests yet. A case is a few lines in `tools/NAME/tests/NAME.yaml`: see docs/testing.md"
            .to_owned();
    }
    let mut words = format!("{passed} passed, {failed} failed");
    if skipped > 0 {
        let _ = write!(words, ", {skipped} skipped");
    }
    if not_run > 0 {
        let _ = write!(words, ", {} not run", counted(not_run, "file"));
    }
    if report.recorded > 0 {
        let _ = write!(words, ", {} recorded", counted(report.recorded, "snapshot"));
    }
    let colour = if failed > 0 { RED } else { GREEN };
    format!("{} in {:.1} s", terminal.painted(colour, &words), report.duration.as_secs_f64())
}
