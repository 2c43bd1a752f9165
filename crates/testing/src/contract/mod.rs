//! `mcp-bash test --contract`: compares what clients see of the project with the record in `tests/contract.json`. A
//! breaking change fails.

mod change;
mod compare;
mod schema;
mod surface;

use crate::cases::find;
use crate::error::TestError;
use crate::options::{Loudness, Options};
use crate::printing::print;
use crate::review::Review;
use crate::session::TestSession;
use crate::snapshot;
use crate::verdict::Verdict;
use change::{Change, Class};
use mcp_bash_terminal::words::counted;
use mcp_bash_terminal::{Terminal, visible};
use serde_json::{Value, json};
use std::fmt::Write;
use std::io;
use std::path::Path;

const FILE: &str = "contract.json";

/// The largest contract that is read, in bytes.
const LONGEST: u64 = 64 * 1024 * 1024;

/// The version of the file format.
const FORMAT: u64 = 1;

pub(crate) fn run(session: &TestSession<'_>, options: &Options) -> Result<Verdict, TestError> {
    let (as_json, update) = (options.json, options.update);
    let quiet = options.loudness == Loudness::Quiet;
    let path = session.paths.root.join(find::FOLDER).join(FILE);
    let shown = format!("{}/{FILE}", find::FOLDER);
    let recorded = match recorded(&path) {
        // A contract that is recorded again need not be usable.
        Err(_) if update => None,
        Err(problem) => return Err(TestError::BadContract { file: shown, problem }),
        Ok(recorded) => recorded,
    };
    let now = read_now(session)?;
    let Some(recorded) = recorded else {
        if !update {
            return Err(TestError::NoContract { file: shown });
        }
        write(&path, &now)?;
        let words =
            format!("Recorded {} in {shown}. Commit it: it is what clients rely on.\n", entries_of(&now));
        tell(&[], true, as_json, quiet, &words)?;
        return Ok(Verdict::Passed);
    };
    let changes = compare::compare(&recorded, &now);
    if !update {
        let is_broken = changes.iter().any(|change| change.class == Class::Breaking);
        tell(&changes, false, as_json, quiet, &advice(&changes, &shown, &now))?;
        return Ok(Verdict::of(!is_broken));
    }
    let is_recorded =
        recorded == now || Review::new(options.yes)?.accepts(&shown, &written(&recorded), &written(&now))?;
    if is_recorded && recorded != now {
        write(&path, &now)?;
    }
    let words = match (recorded == now, is_recorded) {
        (true, _) => format!("Nothing has changed: {shown} is what clients see.\n"),
        (false, true) => format!("\nRecorded {} in {shown}.\n", entries_of(&now)),
        (false, false) => format!("\n{shown} is as it was.\n"),
    };
    tell(&changes, is_recorded && recorded != now, as_json, quiet, &words)?;
    Ok(Verdict::of(is_recorded))
}

/// The record; `None` if there is no file.
fn recorded(path: &Path) -> Result<Option<Value>, String> {
    let text = match mcp_bash_files::read_text(path, LONGEST) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut contract: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    if contract["format"] != FORMAT {
        return Err(format!("its `format` is {}, and must be {FORMAT}", contract["format"]));
    }
    if let Value::Object(members) = &mut contract {
        members.shift_remove("format");
    }
    Ok(Some(contract))
}

fn read_now(session: &TestSession<'_>) -> Result<Value, TestError> {
    let mut stop = session.stop();
    session.runtime().block_on(async {
        tokio::select! {
            biased;
            _ = stop.wait_for(|stopped| *stopped) => Err(TestError::Interrupted),
            now = surface::read(&session.setting, &session.folder) => now.map_err(TestError::NoServer),
        }
    })
}

fn written(surface: &Value) -> String {
    let mut contract = serde_json::Map::new();
    contract.insert("format".to_owned(), json!(FORMAT));
    contract.extend(surface.as_object().cloned().unwrap_or_default());
    format!("{:#}\n", Value::Object(contract))
}

fn write(path: &Path, surface: &Value) -> Result<(), TestError> {
    snapshot::record(path, &written(surface))
        .map_err(|source| TestError::Write { path: path.to_owned(), source })
}

/// `2 tools, 1 prompt, 0 resources, 0 resource templates`.
fn entries_of(surface: &Value) -> String {
    let counts = surface::KINDS
        .iter()
        .map(|kind| counted(surface[kind.member].as_object().map_or(0, serde_json::Map::len), kind.word));
    counts.collect::<Vec<_>>().join(", ")
}

fn advice(changes: &[Change], file: &str, now: &Value) -> String {
    let of = |class: Class| changes.iter().filter(|change| change.class == class).count();
    let breaking = of(Class::Breaking);
    if changes.is_empty() {
        return format!("Nothing has changed: {} as in {file}\n", entries_of(now));
    }
    let parts =
        [(breaking, "breaking"), (of(Class::Wording), "of wording"), (of(Class::Compatible), "compatible")];
    let parts: Vec<String> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let verdict = format!("\n{}: {}\n", counted(changes.len(), "change"), parts.join(", "));
    let next = if breaking > 0 {
        "What clients rely on would stop working. If that is meant, `mcp-bash test --contract --update` records it.\n"
    } else {
        "Nothing breaks. `mcp-bash test --contract --update` records what clients see now.\n"
    };
    verdict + next
}

fn tell(
    changes: &[Change],
    recorded: bool,
    as_json: bool,
    quiet: bool,
    words: &str,
) -> Result<(), TestError> {
    if as_json {
        let of = |class: Class| changes.iter().filter(|change| change.class == class).count();
        let report = json!({
            "breaking": of(Class::Breaking),
            "wording": of(Class::Wording),
            "compatible": of(Class::Compatible),
            "recorded": recorded,
            "changes": changes.iter().map(Change::json).collect::<Vec<_>>(),
        });
        return print(&format!("{report:#}\n"));
    }
    let terminal = Terminal::of_stdout();
    let mut out = String::new();
    for change in changes {
        let (colour, word) = match change.class {
            Class::Breaking => ("31", "BREAKING  "),
            Class::Wording => ("33", "wording   "),
            Class::Compatible => ("32", "compatible"),
        };
        if quiet && change.class != Class::Breaking {
            continue;
        }
        let place = if change.place.is_empty() { String::new() } else { format!(" ({})", change.place) };
        let separator = if change.place.is_empty() { "" } else { ":" };
        let line = format!("{} `{}`{separator} {}{place}", change.kind, change.name, change.words);
        let _ = writeln!(out, "{}  {}", terminal.painted(colour, word), visible(&line));
    }
    if !quiet {
        out.push_str(words);
    }
    print(&out)
}
