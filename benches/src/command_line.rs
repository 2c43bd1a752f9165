//! Command line of the drivers: options with a value each, and the outcome of a run.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

use crate::Launch;

/// Reads the options named in `known`, runs the driver with them, and reports errors as `driver`.
pub fn drive(
    driver: &str,
    usage: &str,
    known: &[&str],
    run: impl FnOnce(&Options) -> Result<(), String>,
) -> ExitCode {
    let outcome = match Options::read(env::args_os().skip(1), known) {
        Ok(Some(options)) => run(&options),
        Ok(None) => print(usage),
        Err(what) => Err(format!("{what}\n\n{usage}")),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(what) => {
            eprintln!("{driver}: {what}");
            ExitCode::FAILURE
        }
    }
}

/// Writes to standard output. A closed reader is an error like any other.
pub fn print(text: &str) -> Result<(), String> {
    io::stdout().write_all(text.as_bytes()).map_err(|error| format!("standard output: {error}"))
}

/// The given options, by name.
#[derive(Debug)]
pub struct Options(BTreeMap<String, OsString>);

impl Options {
    /// Reads the arguments. None means that the user asked for help.
    fn read(mut arguments: impl Iterator<Item = OsString>, known: &[&str]) -> Result<Option<Self>, String> {
        let mut given = BTreeMap::new();
        while let Some(name) = arguments.next() {
            let name = name.to_string_lossy().into_owned();
            if matches!(name.as_str(), "-h" | "--help") {
                return Ok(None);
            }
            if !known.contains(&name.as_str()) {
                return Err(format!("«{name}» is not an option"));
            }
            let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
            given.insert(name, value);
        }
        Ok(Some(Self(given)))
    }

    /// How to start `server` in `directory`: the program `beside` the driver, unless `option` names another.
    pub fn launch(
        &self,
        server: &str,
        option: &str,
        beside: &str,
        directory: &Path,
    ) -> Result<Launch, String> {
        let program = match self.0.get(option) {
            Some(path) => path.into(),
            None => env::current_exe()
                .map_err(|error| format!("the path of this program: {error}"))?
                .with_file_name(beside),
        };
        let hint = "scripts/bench builds everything that is needed";
        Launch::new(server, &program, directory).map_err(|failure| format!("{failure}\n{hint}"))
    }

    /// Whether an option was given.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The path in an option.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.0.get(name).map(PathBuf::from)
    }

    /// A number above zero.
    pub fn number(&self, name: &str, default: u32) -> Result<u32, String> {
        let Some(value) = self.0.get(name) else { return Ok(default) };
        let number = value.to_str().and_then(|text| text.parse().ok()).filter(|&number| number > 0);
        number.ok_or_else(|| format!("{name} needs a number above zero"))
    }

    /// Writes `json` to the file that the option `--json` names, if it is given.
    pub fn write_json(&self, json: &Value) -> Result<(), String> {
        let Some(path) = self.path("--json") else { return Ok(()) };
        fs::write(&path, format!("{json:#}\n")).map_err(|error| format!("{}: {error}", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Option<Options>, String> {
        Options::read(arguments.iter().map(OsString::from), &["--rounds", "--json"])
    }

    #[test]
    fn options_have_values_and_known_names() {
        let options = read(&["--rounds", "3"]).unwrap().unwrap();
        assert_eq!(options.number("--rounds", 5), Ok(3));
        assert_eq!(options.number("--tools", 5), Ok(5));
        assert!(read(&["--rounds", "0"]).unwrap().unwrap().number("--rounds", 5).is_err());
        assert!(read(&["--rounds"]).unwrap_err().contains("value"));
        assert!(read(&["--speed", "3"]).unwrap_err().contains("--speed"));
        assert!(read(&["--rounds", "3", "-h"]).unwrap().is_none());
    }
}
