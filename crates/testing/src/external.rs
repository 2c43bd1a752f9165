//! External tests: executables in `test/` of a project, and its `*.bats` files, which `bats` runs.

use crate::folder::TemporaryFolder;
use crate::server::Setting;
use mcp_bash_terminal::visible;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// Their folder in a project.
pub(crate) const FOLDER: &str = "test";

/// The timeout of one of them.
const LIMIT: Duration = Duration::from_secs(600);

/// How often we check whether one has exited.
const LOOK: Duration = Duration::from_millis(5);

/// How much of its output is read, from the end, in bytes.
const LONGEST_OUTPUT: u64 = 1024 * 1024;

/// Set for every program that a test run starts: a run inside a run starts no programs again.
const INSIDE: &str = "MCP_TEST_RUN";

/// A program that tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct External {
    pub(crate) path: PathBuf,
    /// Its path in the project.
    pub(crate) shown: String,
    pub(crate) is_bats: bool,
}

/// How one ended.
#[derive(Debug, Clone)]
pub(crate) struct ExternalReport {
    pub(crate) external: External,
    pub(crate) outcome: Outcome,
    pub(crate) duration: Duration,
    /// Its output, both streams.
    pub(crate) output: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It ran: the numbers of its tests, and why it failed as a whole.
    Ran { passed: usize, failed: usize, skipped: usize, problem: Option<String> },
    /// It was not run, and why.
    NotRun(String),
}

impl ExternalReport {
    pub(crate) fn has_failed(&self) -> bool {
        matches!(&self.outcome, Outcome::Ran { failed, problem, .. } if *failed > 0 || problem.is_some())
    }
}

/// All of them, sorted by name.
pub(crate) fn find(project: &Path) -> Vec<External> {
    if std::env::var_os(INSIDE).is_some() {
        return Vec::new();
    }
    let entries = std::fs::read_dir(project.join(FOLDER)).into_iter().flatten().flatten();
    let mut found: Vec<External> = entries
        .filter_map(|entry| {
            let (path, name) = (entry.path(), entry.file_name());
            let is_bats = path.extension().is_some_and(|ending| ending == "bats");
            let shown = format!("{FOLDER}/{}", visible(&name.to_string_lossy()));
            let is_one = path.is_file() && !is_helper(&name) && (is_bats || is_program(&path));
            is_one.then_some(External { path, shown, is_bats })
        })
        .collect();
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

/// A file that other tests read: `test_helper.bash`, `_common.sh`.
fn is_helper(name: &OsStr) -> bool {
    let is_bash = Path::new(name).extension().is_some_and(|ending| ending == "bash");
    let name = name.to_string_lossy().to_ascii_lowercase();
    name.starts_with(['.', '_']) || is_bash || name.contains("helper")
}

/// Whether a file is meant to be run: it is executable, and begins like a program.
fn is_program(path: &Path) -> bool {
    let is_executable = path.metadata().is_ok_and(|looks| looks.permissions().mode() & 0o111 != 0);
    let mut start = [0; 4];
    let read = mcp_bash_files::open(path).and_then(|mut file| file.read(&mut start));
    is_executable && read.is_ok() && (start.starts_with(b"#!") || start == *b"\x7fELF")
}

/// Runs one. `None` if `stop` is set meanwhile.
pub(crate) async fn run(
    external: &External,
    setting: &Setting,
    folder: &TemporaryFolder,
    mut stop: watch::Receiver<bool>,
) -> Option<ExternalReport> {
    let (start, output) = (Instant::now(), folder.path().join("output"));
    let report = |outcome, text| ExternalReport {
        external: external.clone(),
        outcome,
        duration: start.elapsed(),
        output: text,
    };
    let mut child = match started(external, setting, folder, &output) {
        Ok(leader) => Group { leader, is_reaped: false },
        Err(error) if external.is_bats && error.kind() == io::ErrorKind::NotFound => {
            let why = "`bats` is not installed; install it, or pass `--allow-missing`";
            return Some(report(Outcome::NotRun(why.to_owned()), String::new()));
        }
        Err(error) => {
            let problem = Some(format!("it cannot be started: {error}"));
            return Some(report(Outcome::Ran { passed: 0, failed: 1, skipped: 0, problem }, String::new()));
        }
    };
    let status = tokio::select! {
        biased;
        _ = stop.wait_for(|stopped| *stopped) => return None,
        status = child.ended() => status,
    };
    let text = mcp_bash_files::read_end(&output, LONGEST_OUTPUT).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let outcome = match status {
        None => {
            let problem = Some(format!("it took longer than {} s, and was ended", LIMIT.as_secs()));
            Outcome::Ran { passed: 0, failed: 1, skipped: 0, problem }
        }
        Some(status) if external.is_bats => of_tap(&text, status),
        Some(status) => {
            let problem = (!status.success()).then(|| format!("it ended with {status}"));
            let failed = usize::from(problem.is_some());
            Outcome::Ran { passed: 1 - failed, failed, skipped: 0, problem }
        }
    };
    Some(report(outcome, text))
}

fn started(
    external: &External,
    setting: &Setting,
    folder: &TemporaryFolder,
    output: &Path,
) -> io::Result<Child> {
    // The output of the one before was read.
    let _ = std::fs::remove_file(output);
    let output = mcp_bash_files::append(output)?;
    let mut command = if external.is_bats {
        let mut bats = Command::new("bats");
        bats.arg("--tap").arg(&external.path);
        bats
    } else {
        Command::new(&external.path)
    };
    command
        .current_dir(&setting.project)
        .env("MCPBASH_PROJECT_ROOT", &setting.project)
        .env("PATH", path_with_us(&setting.program, folder)?)
        .env(INSIDE, "1")
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0)
        .spawn()
}

/// The search path with a folder in front that holds only this program.
fn path_with_us(program: &Path, folder: &TemporaryFolder) -> io::Result<OsString> {
    let bin = folder.path().join("bin");
    if !bin.is_dir() {
        std::fs::create_dir(&bin)?;
        symlink(program, bin.join("mcp-bash"))?;
    }
    let mut path = bin.into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    Ok(path)
}

/// A process and its group. Dropping this value kills all of it.
struct Group {
    leader: Child,
    is_reaped: bool,
}

impl Group {
    /// Its exit status; `None` after the timeout. Nothing of its group is left then.
    async fn ended(&mut self) -> Option<ExitStatus> {
        let start = Instant::now();
        while !self.has_exited() {
            if start.elapsed() > LIMIT {
                return None;
            }
            tokio::time::sleep(LOOK).await;
        }
        self.reap()
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.leader.id()).ok().and_then(Pid::from_raw)
    }

    /// Whether the leader has exited. It stays a zombie, so that its id is still that of its group.
    fn has_exited(&self) -> bool {
        let looking = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        self.pid().is_none_or(|pid| !matches!(waitid(WaitId::Pid(pid), looking), Ok(None)))
    }

    fn reap(&mut self) -> Option<ExitStatus> {
        if let Some(group) = self.pid() {
            let _ = kill_process_group(group, Signal::KILL);
        }
        self.is_reaped = true;
        self.leader.wait().ok()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_reaped {
            self.reap();
        }
    }
}

/// Counts the results in TAP output.
fn of_tap(text: &str, status: ExitStatus) -> Outcome {
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for line in text.lines() {
        if line.starts_with("not ok ") {
            failed += 1;
        } else if line.starts_with("ok ") {
            if line.to_ascii_lowercase().contains("# skip") { skipped += 1 } else { passed += 1 }
        }
    }
    let problem = (!status.success() && failed == 0).then(|| format!("it ended with {status}"));
    Outcome::Ran { passed, failed, skipped, problem }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    #[test]
    fn tap_is_counted() {
        let text = "1..4\nok 1 adds\nnot ok 2 takes away\n# (in test file x.bats, line 3)\nok 3 later # skip not yet\nok 4 # SKIP\n";
        assert_eq!(
            of_tap(text, ExitStatus::from_raw(256)),
            Outcome::Ran { passed: 1, failed: 1, skipped: 2, problem: None }
        );
        assert_eq!(
            of_tap("bats: syntax error\n", ExitStatus::from_raw(256)),
            Outcome::Ran {
                passed: 0,
                failed: 0,
                skipped: 0,
                problem: Some("it ended with exit status: 1".into())
            }
        );
    }

    #[test]
    fn helpers_are_not_run() {
        for name in ["test_helper.bash", "_lib.sh", ".hidden", "helpers.sh", "setup_suite.bash"] {
            assert!(is_helper(OsStr::new(name)), "{name}");
        }
        assert!(!is_helper(OsStr::new("run.sh")) && !is_helper(OsStr::new("api.bats")));
    }
}
