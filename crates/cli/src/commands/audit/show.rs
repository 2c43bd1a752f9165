//! `mcp-bash audit show`: prints the records that are asked for.

use super::log::{Log, failed};
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::terminal::print::print;
use mcp_bash_audit::reading::{Entry, Selection, entries, entries_by_time};
use mcp_bash_audit::{AuditError, Outcome};
use mcp_bash_terminal::{for_stdout, harmless_line};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Arguments {
    /// The log, or `store` [default: `MCPBASH_AUDIT`]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// Only calls of this tool
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,

    /// Only what this caller did
    #[arg(long, value_name = "NAME")]
    caller: Option<String>,

    /// Only from this time on: `2026-01-31`, `2026-01-31T12:00Z`, or `30m`, `2h`, `7d` ago
    #[arg(long, value_name = "TIME", value_parser = time)]
    since: Option<SystemTime>,

    /// Only up to this time
    #[arg(long, value_name = "TIME", value_parser = time)]
    until: Option<SystemTime>,

    /// Only with this outcome
    #[arg(long, value_name = "OUTCOME", value_parser = Outcome::ALL.map(Outcome::name))]
    outcome: Option<String>,

    /// Print the lines as they are
    #[arg(long)]
    json: bool,
}

/// A text that is no time.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected a time in UTC such as `2026-01-31` or `2026-01-31T12:00Z`, or `30m`, `2h`, `7d` for one ago"
)]
struct NoTime;

pub(super) fn run(arguments: &Arguments) -> Result<ExitCode, Error> {
    let Arguments { tool, caller, since, until, outcome, .. } = arguments.clone();
    let selection = Selection { tool, caller, outcome, since, until };
    match Log::named(arguments.file.as_ref())? {
        Log::Files(files) => show(entries(&files), &selection, arguments.json)?,
        Log::Store(store) => show(entries_by_time(&*store, since, until), &selection, arguments.json)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn show(
    entries: impl Iterator<Item = Result<Entry, AuditError>>,
    selection: &Selection,
    is_json: bool,
) -> Result<(), Error> {
    for entry in entries {
        let entry = entry.map_err(failed)?;
        // `verify` reports lines that are no records.
        let Ok(record) = serde_json::from_slice::<Map<String, Value>>(&entry.text) else { continue };
        if !selection.has(&record) {
            continue;
        }
        let line = if is_json { String::from_utf8_lossy(&entry.text).into_owned() } else { row(&record) };
        match print(&for_stdout(format!("{line}\n"))) {
            Err(Error::Command { exit: Exit::Failed, error }) if is_closed(&*error) => break,
            printed => printed?,
        }
    }
    Ok(())
}

/// Whether the reader of standard output has read enough.
fn is_closed(error: &(dyn std::error::Error + 'static)) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// A record in a line of text.
fn row(record: &Map<String, Value>) -> String {
    let text = |name: &str| record.get(name).and_then(Value::as_str).unwrap_or_default();
    let subject = ["gen_ai.tool.name", "gen_ai.prompt.name", "mcp.resource.uri", "mcp.method.name"];
    let subject = subject.into_iter().map(text).find(|text| !text.is_empty()).unwrap_or_default();
    let duration = record.get("duration_ms").and_then(Value::as_f64);
    let duration = duration.map(|duration| format!("{duration:.1} ms")).unwrap_or_default();
    let count = record.get("event.count").and_then(Value::as_u64);
    let count = count.map(|count| format!("{count} more")).unwrap_or_default();
    let caller = if text("caller.name").is_empty() { text("client.address") } else { text("caller.name") };
    let (outcome, error) = (text("outcome"), text("error.type"));
    let parts = [text("time"), text("event.name"), subject, caller, outcome, error, &count, &duration];
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.map(harmless_line).collect::<Vec<_>>().join("  ")
}

fn time(text: &str) -> Result<SystemTime, NoTime> {
    let ago = |unit: char, seconds: u64| {
        let count: u64 = text.strip_suffix(unit)?.parse().ok()?;
        SystemTime::now().checked_sub(Duration::from_secs(count.checked_mul(seconds)?))
    };
    let ago = [('s', 1), ('m', 60), ('h', 3600), ('d', 86_400)]
        .iter()
        .find_map(|(unit, seconds)| ago(*unit, *seconds));
    ago.or_else(|| mcp_bash_utc::parse(text)).ok_or(NoTime)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_date_or_a_while_ago() {
        assert_eq!(time("2026-01-31").unwrap(), mcp_bash_utc::parse("2026-01-31T00:00:00Z").unwrap());
        let then = time("2h").unwrap();
        assert!(SystemTime::now().duration_since(then).unwrap() >= Duration::from_secs(7200));
        for wrong in ["", "h", "2x", "-2h", "99999999999999999999d", "yesterday"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_row_is_one_harmless_line() {
        let record = serde_json::json!({
            "time": "T", "event.name": "mcp.tools.call", "gen_ai.tool.name": "a\nb\u{1b}[2J", "caller.name": "ann",
            "outcome": "failure", "error.type": "tool_error", "duration_ms": 1.26,
        });
        let row = row(record.as_object().unwrap());
        assert_eq!(row, "T  mcp.tools.call  a b\\u{1b}[2J  ann  failure  tool_error  1.3 ms");
    }

    #[test]
    fn a_row_says_how_many_refusals_it_counts() {
        let record = serde_json::json!({
            "time": "T", "event.name": "mcp.login.failed", "client.address": "10.0.0.1", "outcome": "refused",
            "error.type": "throttled", "event.count": 490,
        });
        let row = row(record.as_object().unwrap());
        assert_eq!(row, "T  mcp.login.failed  10.0.0.1  refused  throttled  490 more");
    }
}
