//! Final report.

use crate::resident::Comparison;
use crate::run::Run;
use crate::tally::{Counts, Outcome};
use std::fmt::Write as _;

pub(crate) fn report(run: &Run, seconds: f64, comparisons: &[Comparison]) -> String {
    let counts = run.tally.counts();
    let mut text = String::new();
    requests(&mut text, &counts);
    let total = counts.total();
    #[expect(clippy::cast_precision_loss, reason = "nobody sends as many requests")]
    let rate = total as f64 / seconds;
    let _ = writeln!(text, "\n{total} requests in {seconds:.0} s: {rate:.0} each second");
    table(&mut text, "servers ended by", counts.servers.iter());
    table(&mut text, "servers by revision", counts.revisions.iter());
    table(&mut text, "questions by what the client did", counts.questions.iter());
    table(&mut text, "notifications", counts.notifications.iter());
    let others = [
        ("cancellations, of which some came too late", counts.cancellations),
        ("messages without an id that were refused", counts.refusals),
        ("changes of a project", counts.changes),
        ("pauses of a client", counts.pauses),
        ("records of requests in the audit logs", counts.records as u64),
        ("files that were searched for the planted secret", counts.searched_files as u64),
        ("texts of commands that were searched for it", counts.searched_texts as u64),
    ];
    table(&mut text, "besides", others.iter().map(|(name, count)| (name, count)));
    usage(&mut text, comparisons);
    let violations = run.violations.counts();
    if violations.is_empty() {
        let _ = writeln!(text, "\nno violation");
    } else {
        table(&mut text, "VIOLATIONS", violations.iter().map(|(kind, count)| (kind.describe(), count)));
    }
    text
}

fn requests(text: &mut String, counts: &Counts) {
    let _ = write!(text, "\n{:<26}", "requests");
    for (_, name) in Outcome::ALL {
        let _ = write!(text, "{name:>12}");
    }
    for (method, outcomes) in &counts.requests {
        let _ = write!(text, "\n  {method:<24}");
        for (outcome, _) in Outcome::ALL {
            let count = outcomes.get(&outcome).map(u64::to_string).unwrap_or_default();
            let _ = write!(text, "{count:>12}");
        }
    }
    text.push('\n');
}

fn table<N: std::fmt::Display, C: std::fmt::Display>(
    text: &mut String,
    title: &str,
    rows: impl Iterator<Item = (N, C)>,
) {
    let _ = writeln!(text, "\n{title}");
    for (name, count) in rows {
        let _ = writeln!(text, "  {:<60} {count:>9}", name.to_string());
    }
}

fn usage(text: &mut String, comparisons: &[Comparison]) {
    let _ = writeln!(text, "\nservers that stayed, when all was quiet: after the warm-up → at the end");
    for comparison in comparisons {
        let (before, after) = (comparison.before, comparison.after);
        let _ = writeln!(
            text,
            "  server {} ({}): memory {} → {} KiB, descriptors {} → {}, threads {} → {}, files {} → {}",
            comparison.server,
            comparison.revision.name(),
            before.memory / 1024,
            after.memory / 1024,
            known(before.descriptors),
            known(after.descriptors),
            before.threads,
            after.threads,
            before.files,
            after.files,
        );
    }
}

fn known(count: Option<u64>) -> String {
    count.map_or_else(|| "?".to_owned(), |count| count.to_string())
}
