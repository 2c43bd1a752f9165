//! The search path that a login shell has. A desktop client starts us with a bare one.

use crate::process::{Limits, Process};
use crate::scripts::Scripts;
use mcp_bash_project::environment_without_secret;
use mcp_bash_project::trust::Start;
use mcp_bash_runner::{Input, Patience, ProcessEnding};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::time::Duration;

/// How long a login shell may take to tell.
const TIMEOUT: Duration = Duration::from_secs(5);

/// How much the shell and the files that it reads may print, in bytes.
const LONGEST_OUTPUT: usize = 1024 * 1024;

/// What stands before and after the answer, since the files a login shell reads may print as well.
const MARK: &str = "<mcp-bash-path>";

impl Scripts {
    /// Asks the login shell of this user for its `PATH`, and blocks until it has answered. A shell that hangs is not
    /// waited for, and what it started goes with it.
    pub fn ask_login_shell(&self) -> Option<OsString> {
        let shell = std::env::var_os("SHELL").filter(|shell| Path::new(shell).is_absolute());
        let here = std::env::current_dir().unwrap_or_else(|_| "/".into());
        let command = format!("printf '%s%s%s' '{MARK}' \"$PATH\" '{MARK}'");
        let process = Process {
            start: Start { program: shell.unwrap_or("/bin/sh".into()).into(), arguments: Vec::new() },
            words: ["-l", "-c", &command].map(Into::into).into(),
            directory: &here,
            environment: environment_without_secret().collect(),
            input: Input::Bytes(&[]),
            limits: Limits {
                patience: Patience::fixed(TIMEOUT),
                output: LONGEST_OUTPUT,
                error_tail: 0,
                budget: self.budget(),
            },
            grace: Duration::ZERO,
            talk: None,
        };
        let outcome = self.run_blocking(process).ok()?;
        match outcome.ending {
            ProcessEnding::TimedOut(_) => None,
            _ => between_marks(&outcome.stdout),
        }
    }
}

fn between_marks(bytes: &[u8]) -> Option<OsString> {
    let text = OsStr::from_bytes(bytes).to_string_lossy();
    let start = text.find(MARK)? + MARK.len();
    let path = text[start..].split(MARK).next().filter(|path| !path.is_empty())?;
    Some(OsString::from_vec(path.as_bytes().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_profile_prints_is_not_taken_for_the_path() {
        assert_eq!(between_marks(b"hello <mcp-bash-path>/a:/b<mcp-bash-path> bye").unwrap(), "/a:/b");
        assert_eq!(between_marks(b"hello"), None);
    }
}
