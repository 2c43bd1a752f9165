//! Login shell: run for its search path, because a desktop client starts us with a minimal one.

use crate::running::process::{Limits, Process};
use crate::running::processes::Processes;
use mcp_bash_project::trust::Start;
use mcp_bash_runner::{Input, ProcessEnding, TimeLimits};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::time::Duration;

/// The timeout of a login shell.
const TIMEOUT: Duration = Duration::from_secs(4);

/// The limit of the output of the shell and the files that it sources, in bytes.
const LONGEST_OUTPUT: usize = 1024 * 1024;

/// Delimits the answer, because the files that a login shell sources may print as well.
const MARK: &str = "<mcp-bash-path>";

impl Processes {
    /// Runs the user's login shell for its `PATH`, and blocks until it has answered. A shell that hangs is killed, with
    /// everything that it started.
    pub(crate) fn ask_login_shell(&self) -> Option<OsString> {
        let shell = std::env::var_os("SHELL").filter(|shell| Path::new(shell).is_absolute());
        self.ask_shell(shell.unwrap_or("/bin/sh".into()), TIMEOUT)
    }

    /// The version of the bash that scripts find. Blocks until bash has answered.
    pub(crate) fn bash_version(&self) -> Option<String> {
        let answer = self.ask(OsString::from("bash"), &["-c"], "$BASH_VERSION", TIMEOUT)?;
        Some(answer.to_string_lossy().into_owned())
    }

    fn ask_shell(&self, shell: OsString, timeout: Duration) -> Option<OsString> {
        self.ask(shell, &["-l", "-c"], "$PATH", timeout)
    }

    /// The value of a variable in a shell.
    fn ask(&self, shell: OsString, options: &[&str], variable: &str, timeout: Duration) -> Option<OsString> {
        let here = std::env::current_dir().unwrap_or_else(|_| "/".into());
        let command = format!("printf '%s%s%s' '{MARK}' \"{variable}\" '{MARK}'");
        let process = Process {
            start: Start { program: shell.into(), arguments: Vec::new() },
            words: options.iter().copied().chain([&*command]).map(Into::into).collect(),
            directory: &here,
            environment: self.own_environment().collect(),
            input: Input::Bytes(&[]),
            limits: Limits {
                patience: TimeLimits::fixed(timeout),
                output: LONGEST_OUTPUT,
                error_tail: 0,
                budget: &self.budget,
            },
            grace: Duration::ZERO,
            talk: None,
            sandbox: None,
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
    use mcp_bash_runner::{Runner, StateDir};
    use mcp_bash_settings::Settings;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::sync::Arc;

    /// The answer of a login shell that is this script, in a folder of its own.
    fn asked(script: &str, timeout: Duration) -> (Option<OsString>, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let shell = folder.path().join("shell");
        fs::write(&shell, format!("#!/bin/sh\ncd \"${{0%/*}}\"\n{script}\n")).unwrap();
        fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).unwrap();
        let state_dir = Arc::new(StateDir::new(folder.path().to_owned(), false));
        let runner = Runner::new(Arc::clone(&state_dir));
        let processes = Processes::new(runner, Settings::read(|_| None).0, state_dir);
        (processes.ask_shell(shell.into(), timeout), folder)
    }

    /// One test, because a script cannot be executed while it is open for writing in a process that another test has just
    /// forked.
    #[test]
    fn a_shell_reports_its_path_and_a_hanging_one_is_killed_with_its_processes() {
        let profile =
            r#"echo noise; echo trouble >&2; PATH=/mine/bin:/bin:/usr/bin; shift; exec /bin/sh "$@""#;
        assert_eq!(asked(profile, TIMEOUT).0, Some("/mine/bin:/bin:/usr/bin".into()));
        assert_eq!(asked("exit 0", TIMEOUT).0, None);
        let hanging = "sleep 600 & echo $! >started; wait";
        let (path, folder) = asked(hanging, Duration::from_millis(500));
        assert_eq!(path, None);
        let started = fs::read_to_string(folder.path().join("started")).unwrap();
        let gone = !fs::exists(format!("/proc/{}", started.trim())).unwrap();
        assert!(gone || !cfg!(all(target_os = "linux", not(mcp_bash_portable))));
    }

    #[test]
    fn output_of_a_profile_is_not_taken_for_the_path() {
        assert_eq!(between_marks(b"hello <mcp-bash-path>/a:/b<mcp-bash-path> bye").unwrap(), "/a:/b");
        assert_eq!(between_marks(b"hello"), None);
    }
}
