//! Import errors.

use crate::base::error::Error;
use crate::base::exit::Exit;
use mcp_bash_importing::{LeftOut, Unreadable};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// The messages complete "mcp-bash: ...".
#[derive(Debug, Error)]
pub(super) enum ImportError {
    #[error(
        "`{}` is neither a file nor a program on PATH{}{}", from.display(), if_builtin(from), instead(meant.as_deref())
    )]
    NoSuch { from: PathBuf, meant: Option<String> },
    #[error(
        "{} is no program, and its name does not say what it is; say it with `--as`: \
         justfile, makefile, package-json, taskfile or scripts", .0.display()
    )]
    UnknownFile(PathBuf),
    #[error("{} has nothing that can be imported; name the file", .0.display())]
    NothingInFolder(PathBuf),
    #[error("{} has several files that can be imported: {}; name one of them", folder.display(), files.join(", "))]
    Several { folder: PathBuf, files: Vec<String> },
    #[error("failed to read {}: {source}", file.display())]
    Read { file: PathBuf, source: io::Error },
    #[error("failed to read standard input: {0}")]
    Stdin(io::Error),
    #[error("{} cannot stand in metadata, which is UTF-8", .0.display())]
    NotUtf8(PathBuf),
    #[error("{} is a file, and has no command `{command}`; use `--only {command}` for one of its tools", file.display())]
    CommandOfFile { file: PathBuf, command: String },
    #[error(
        "{script} is a script, which is only read; `--run-help` or `--help-from FILE` makes a tool of its command `{command}`"
    )]
    CommandOfScript { script: String, command: String },
    #[error("{} is no program that can be run for its help", .0.display())]
    NoProgram(PathBuf),
    #[error("{what} {why}{}", next_step(why))]
    Unreadable { what: String, why: Unreadable },
    #[error("{what} {why}; its standard error ends with `{end}`{}", next_step(why))]
    NoHelp { what: String, why: Unreadable, end: String },
    #[error(
        "`{0}` was not run: `import` runs nothing unless you say so; `--run-help` runs exactly this command, \
         `--help-from FILE` reads a help text that you saved"
    )]
    NotConfirmed(String),
    #[error("failed to run {program}: {why}")]
    NotRun { program: String, why: String },
    #[error(
        "`{0}` did not end within {1} s; save its help to a file and use `--help-from FILE`, which runs nothing"
    )]
    TimedOut(String, u64),
    #[error(
        "`{0}` printed more than {1} bytes, which is no help; use `--help-from FILE` with the right part"
    )]
    TooLong(String, usize),
    #[error("there is nothing in {from} to import{}", reasons(left_out))]
    Nothing { from: String, left_out: Vec<LeftOut> },
    #[error("there is no `{name}` to import; there are {}", names.join(", "))]
    NoSuchName { name: String, names: Vec<String> },
    #[error("failed to try the tools out in a folder of our own: {0}")]
    Rehearsal(io::Error),
    #[error("failed to write {}: {source}", file.display())]
    Write { file: PathBuf, source: io::Error },
}

impl ImportError {
    /// Why a help text cannot be imported, with what the program complained about.
    pub(super) fn of_help(what: String, why: Unreadable, end: String) -> Self {
        match why {
            Unreadable::NoHelp if !end.is_empty() => Self::NoHelp { what, why, end },
            why => Self::Unreadable { what, why },
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::NoSuch { .. } | Self::NoSuchName { .. } => Exit::NotFound,
            Self::UnknownFile(_)
            | Self::NothingInFolder(_)
            | Self::Several { .. }
            | Self::NotUtf8(_)
            | Self::NotConfirmed(_)
            | Self::CommandOfScript { .. }
            | Self::NoProgram(_)
            | Self::CommandOfFile { .. } => Exit::Usage,
            Self::TimedOut(..) => Exit::TimedOut,
            Self::Read { .. }
            | Self::Stdin(_)
            | Self::Unreadable { .. }
            | Self::NoHelp { .. }
            | Self::NotRun { .. }
            | Self::TooLong(..)
            | Self::Nothing { .. }
            | Self::Rehearsal(_)
            | Self::Write { .. } => Exit::Failed,
        }
    }
}

impl From<ImportError> for Error {
    fn from(error: ImportError) -> Self {
        Self::of_command(error.exit(), error)
    }
}

fn instead(meant: Option<&str>) -> String {
    match meant {
        Some(meant) => format!("; did you mean `{meant}`?"),
        None => "; name a script, a justfile, a Makefile, a package.json, a Taskfile, a folder or a program"
            .to_owned(),
    }
}

fn if_builtin(from: &std::path::Path) -> &'static str {
    const BUILTINS: [&str; 14] = [
        "alias", "bg", "cd", "declare", "eval", "exec", "export", "fg", "jobs", "read", "set", "source",
        "type", "ulimit",
    ];
    let is_builtin = from.to_str().is_some_and(|from| BUILTINS.contains(&from));
    if is_builtin { " (only a shell knows it)" } else { "" }
}

fn next_step(why: &Unreadable) -> &'static str {
    match why {
        Unreadable::OtherProgram { .. } => "; import that program by its name, or use `--help-from FILE`",
        Unreadable::OnlyCommands(_) => "; name one of them behind the program",
        Unreadable::NoHelp | Unreadable::NoText => "; `--help-from FILE` reads a help text from a file",
        _ => "",
    }
}

fn reasons(left_out: &[LeftOut]) -> String {
    let reason = |left: &LeftOut| format!("\n  {} is left out: {}", left.what, left.why);
    left_out.iter().take(20).map(reason).collect::<Vec<_>>().concat()
}
