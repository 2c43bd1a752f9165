//! The command line, and one file for each subject of attacks.

#![allow(clippy::disallowed_methods, reason = "the files of tests")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "arguments of system calls are registers"
)]

mod attack;
mod bombs;
mod disguises;
mod files;
mod kernel;
mod metadata;
mod namespaces;
mod privileges;
mod processes;
mod sockets;
mod system_call;
mod undoing;

use attack::{Attack, Attempt, line};
use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;

const SUBJECTS: [&[Attack]; 10] = [
    files::ATTACKS,
    metadata::ATTACKS,
    processes::ATTACKS,
    sockets::ATTACKS,
    namespaces::ATTACKS,
    privileges::ATTACKS,
    kernel::ATTACKS,
    undoing::ATTACKS,
    bombs::ATTACKS,
    disguises::ATTACKS,
];

pub(crate) fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let name = words.first().map_or("", String::as_str);
    let attack = SUBJECTS.iter().flat_map(|attacks| attacks.iter()).find(|known| known.name == name);
    let Some(attack) = attack.filter(|attack| attack.takes(words.len() - 1)) else {
        return usage();
    };
    match with_own_folder(&words[1..], |parameters| (attack.run)(parameters)) {
        Ok(attempt) => print(&line(attack.name, &attempt)),
        Err(error) => {
            let _ = writeln!(io::stderr(), "no folder for the attack: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    for known in SUBJECTS.iter().flat_map(|attacks| attacks.iter()) {
        let _ = writeln!(io::stderr(), "hostile {} {}", known.name, known.usage);
    }
    ExitCode::from(2)
}

fn print(report: &str) -> ExitCode {
    let is_printed = io::stdout().write_all(report.as_bytes()).is_ok();
    if is_printed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs an attack with a folder of its own for `%TMP` in its parameters. The folder is in the temporary folder of
/// the process, which only the process knows, and is removed afterwards.
fn with_own_folder(words: &[String], attack: impl FnOnce(&[&str]) -> Attempt) -> io::Result<Attempt> {
    let folder = std::env::temp_dir().join(format!("hostile-{}", std::process::id()));
    let needs_folder = words.iter().any(|word| word.contains("%TMP"));
    if needs_folder {
        fs::create_dir(&folder)?;
    }
    let words: Vec<String> =
        words.iter().map(|word| word.replace("%TMP", &folder.to_string_lossy())).collect();
    let attempt = attack(&words.iter().map(String::as_str).collect::<Vec<_>>());
    if needs_folder {
        let _ = fs::remove_dir_all(&folder);
    }
    Ok(attempt)
}
