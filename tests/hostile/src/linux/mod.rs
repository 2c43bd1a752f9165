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

use attack::{Attack, line};
use std::io::Write;
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
    let words: Vec<String> = std::env::args().skip(1).map(|word| in_temporary_folder(&word)).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let found = words.split_first().and_then(|(name, parameters)| {
        let attack = SUBJECTS.iter().flat_map(|attacks| attacks.iter()).find(|known| known.name == *name)?;
        attack.takes(parameters.len()).then_some((attack, parameters))
    });
    let Some((attack, parameters)) = found else {
        let usage = SUBJECTS.iter().flat_map(|attacks| attacks.iter());
        for known in usage {
            let _ = writeln!(std::io::stderr(), "hostile {} {}", known.name, known.usage);
        }
        return ExitCode::from(2);
    };
    let report = line(attack.name, &(attack.run)(parameters));
    match std::io::stdout().write_all(report.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// A parameter with the temporary folder of the process for `%TMP`: only the process knows it.
fn in_temporary_folder(parameter: &str) -> String {
    parameter.replace("%TMP", &std::env::temp_dir().to_string_lossy())
}
