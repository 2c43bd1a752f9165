//! Start failures: the precise reason why a script could not be started. If the interpreter is missing, the system reports "no
//! such file" for a script that exists.

use mcp_bash_runner::StartError;
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The messages name the fix.
#[derive(Debug, Error)]
pub enum StartFailure {
    #[error("{} is not there any more", .0.display())]
    Missing(PathBuf),
    #[error(
        "the first line of {} ends in a carriage return, as files of Windows do, so that `{interpreter}` is not found; \
         save it with Unix line endings (LF), for example with `sed -i 's/\\r$//'`",
        script.display()
    )]
    CarriageReturn { script: PathBuf, interpreter: String },
    #[error(
        "{} begins with a byte order mark, so that its `#!` line is not seen; save it as UTF-8 without BOM",
        .0.display()
    )]
    ByteOrderMark(PathBuf),
    #[error(
        "its interpreter `{interpreter}`, which the first line of {} names, is not there; install it, or correct the line",
        script.display()
    )]
    InterpreterMissing { script: PathBuf, interpreter: String },
    #[error(
        "its interpreter `{interpreter}`, which the first line of {} names, may not be executed; correct the line",
        script.display()
    )]
    InterpreterNotExecutable { script: PathBuf, interpreter: String },
    #[error(
        "{} is not executable and has no `#!` line that says what runs it; run `chmod +x` on it, and let a script \
         begin with a line such as `#!/usr/bin/env bash`",
        .0.display()
    )]
    NotExecutable(PathBuf),
    #[error(
        "{} has no `#!` line, so that the system does not know what runs it; let it begin with a line such as \
         `#!/usr/bin/env bash`",
        .0.display()
    )]
    NoFirstLine(PathBuf),
    #[error(
        "cannot execute binary file {}: it is a program for another system or processor; build it for this one",
        .0.display()
    )]
    ForeignBinary(PathBuf),
    #[error(transparent)]
    Other(StartError),
}

/// How much of a script is read: as much as Linux reads to find its interpreter.
const LOOKED_AT: u64 = 256;

impl StartFailure {
    /// Why `script` was not started, according to the script itself.
    pub(crate) fn explain(script: &Path, error: StartError) -> Self {
        let StartError::Spawn { source, .. } = &error else { return Self::Other(error) };
        let start = match start_of(script) {
            Ok(start) => start,
            Err(missing) if missing.kind() == ErrorKind::NotFound => return Self::Missing(script.to_owned()),
            Err(_) => return Self::Other(error),
        };
        let is_known = |errno: Errno| source.raw_os_error() == Some(errno.raw_os_error());
        let script = script.to_owned();
        let interpreter = interpreter_in(&start);
        if is_known(Errno::NOENT) {
            return match interpreter {
                Some(interpreter) if interpreter.ends_with('\r') => {
                    Self::carriage_return(script, &interpreter)
                }
                Some(interpreter) if !Path::new(&interpreter).exists() => {
                    Self::InterpreterMissing { script, interpreter }
                }
                // The loader that its ELF header names is missing.
                None if start.starts_with(BINARY) => Self::ForeignBinary(script),
                _ => Self::Other(error),
            };
        }
        if is_known(Errno::ACCESS) {
            return match interpreter {
                Some(interpreter) if !is_executable(Path::new(&interpreter)) => {
                    Self::InterpreterNotExecutable { script, interpreter }
                }
                None if !is_executable(&script) => Self::NotExecutable(script),
                _ => Self::Other(error),
            };
        }
        if is_known(Errno::NOEXEC) {
            return match start {
                start if start.starts_with(BYTE_ORDER_MARK) => Self::ByteOrderMark(script),
                start if start.contains(&0) => Self::ForeignBinary(script),
                _ => Self::NoFirstLine(script),
            };
        }
        Self::Other(error)
    }

    fn carriage_return(script: PathBuf, interpreter: &str) -> Self {
        Self::CarriageReturn { script, interpreter: interpreter.escape_default().to_string() }
    }
}

/// The problem with the first line of a script that exited with 126 or 127, as if its interpreter had found no program to run:
/// `env` exists, but `bash` with a trailing carriage return does not.
pub fn interpreter_problem(script: &Path, exit_code: i32) -> Option<StartFailure> {
    if !matches!(exit_code, 126 | 127) {
        return None;
    }
    let start = start_of(script).ok()?;
    let line = first_line(&start)?;
    let program = line.rsplit([' ', '\t']).next().filter(|word| word.ends_with('\r'))?;
    Some(StartFailure::carriage_return(script.to_owned(), program))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The first bytes of an ELF program.
const BINARY: &[u8] = b"\x7fELF";

fn start_of(script: &Path) -> io::Result<Vec<u8>> {
    let file: File = mcp_bash_files::open(script)?;
    let mut start = Vec::new();
    file.take(LOOKED_AT).read_to_end(&mut start)?;
    Ok(start)
}

/// The first line of a script, without its `#!`.
fn first_line(start: &[u8]) -> Option<String> {
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    line.strip_prefix(b"#!").map(|line| String::from_utf8_lossy(line).into_owned())
}

/// The program that the first line names, with a trailing carriage return if there is one.
fn interpreter_in(start: &[u8]) -> Option<String> {
    let line = first_line(start)?;
    let program = line.trim_start_matches([' ', '\t']).split([' ', '\t']).next().unwrap_or_default();
    Some(program.to_owned())
}
