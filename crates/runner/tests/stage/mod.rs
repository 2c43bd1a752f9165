//! Test stage: a folder with scripts, a runner for them, and a view of the process table.
//!
//! Scripts start `$LINGER`, a `sleep` of the stage's own: a process that runs under its path, or is a script of the
//! stage, belongs to the test and to no other.

#![allow(dead_code, reason = "no test uses everything")]

#[path = "../../../../tests/harness/process_table.rs"]
pub(crate) mod process_table;

use mcp_bash_budget::Budget;
use mcp_bash_runner::{Input, Invocation, Outcome, ProcessEnding, Runner, StateDir, TimeLimits, Variables};
use mcp_bash_sandbox::Confinement;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

pub(crate) struct Stage {
    pub(crate) runner: Arc<Runner>,
    folder: PathBuf,
    _folder: Option<TempDir>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/bin/sleep", folder.path().join("linger")).unwrap();
        Self { runner: runner(folder.path()), folder: folder.path().to_owned(), _folder: Some(folder) }
    }

    /// A stage that another process has set up.
    pub(crate) fn at(folder: &Path) -> Self {
        Self { runner: runner(folder), folder: folder.to_owned(), _folder: None }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Writes a shell script for `sh` to read: a file that has just been written cannot always be executed, because a
    /// process that another test is starting at that moment may have it open.
    pub(crate) fn script(&self, name: &str, body: &str) -> PathBuf {
        fs::write(self.path(name), body).unwrap();
        self.path(name)
    }

    /// The invocation of a shell script.
    pub(crate) fn shell(&self, name: &str, body: &str) -> Invocation<'static> {
        shell(&self.script(name, body))
    }

    pub(crate) async fn run(&self, invocation: Invocation<'_>) -> Outcome {
        self.runner.run(invocation, std::future::pending(), |_| (), drop).await.unwrap()
    }

    /// Runs a shell script to its end.
    pub(crate) async fn call(&self, name: &str, body: &str) -> Outcome {
        self.run(self.shell(name, body)).await
    }

    /// The processes of this stage, as command lines.
    pub(crate) fn processes(&self) -> Vec<(u32, String)> {
        processes_of(&self.folder)
    }

    /// The processes that run a script or `linger` with this word in their command line.
    pub(crate) fn processes_with(&self, word: &str) -> usize {
        self.processes().iter().filter(|(_, line)| line.contains(word)).count()
    }

    #[track_caller]
    pub(crate) fn assert_empty(&self) {
        let left = self.processes();
        assert!(left.is_empty(), "{} are left: {:?}", left.len(), &left[..left.len().min(5)]);
    }

    pub(crate) async fn wait_for_file(&self, name: &str) {
        let path = self.path(name);
        wait_for(&format!("{name} to be written"), || path.exists()).await;
    }
}

/// Takes the mark in the environment away, where a process has another one. Without subreapers nothing else shows to which
/// call an orphan belongs that nobody has seen before.
pub(crate) const SHEDDING: &str =
    if cfg!(any(not(target_os = "linux"), mcp_bash_portable)) { "" } else { "env -i " };

/// The variable that makes a test run without control groups, so that escaped processes have to be found.
pub(crate) const WITHOUT_GROUPS: &str = "WITHOUT_CONTROL_GROUPS";

/// Runs all tests of this program once more, without control groups.
pub(crate) fn again_without_groups() {
    if std::env::var_os(WITHOUT_GROUPS).is_some() {
        return;
    }
    let program = std::env::current_exe().unwrap();
    let output = std::process::Command::new(program).env(WITHOUT_GROUPS, "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

fn runner(folder: &Path) -> Arc<Runner> {
    if std::env::var_os(WITHOUT_GROUPS).is_some() {
        mcp_bash_runner::do_without_control_groups();
    }
    Arc::new(Runner::new(Arc::new(StateDir::new(folder.to_owned(), false))))
}

pub(crate) fn shell(script: &Path) -> Invocation<'static> {
    let folder = script.parent().unwrap();
    Invocation {
        program: "/bin/sh".into(),
        arguments: vec![script.into()],
        directory: folder.to_owned(),
        environment: Variables::from_iter([
            ("PATH".into(), path()),
            ("LINGER".into(), folder.join("linger").into()),
        ]),
        input: Input::Bytes(&[]),
        patience: TimeLimits::fixed(Duration::from_secs(60)),
        grace: Duration::from_millis(200),
        output_limit: 1 << 20,
        budget: Budget::new(1 << 30, "NOTHING"),
        error_tail: 1 << 16,
        talk: None,
        confinement: Confinement::default(),
    }
}

pub(crate) fn processes_of(folder: &Path) -> Vec<(u32, String)> {
    let folder = folder.to_str().unwrap();
    let processes = process_table::all().into_iter().map(|process| (process.pid, process.command));
    processes.filter(|(_, line)| line.contains(folder)).collect()
}

/// The children of this process that are dead and not reaped.
pub(crate) fn zombies() -> Vec<u32> {
    let us = std::process::id();
    let processes = process_table::all().into_iter();
    processes
        .filter(|process| process.is_zombie() && process.parent == us)
        .map(|process| process.pid)
        .collect()
}

/// The places of programs. Systems without `setsid` use ours; the code for other systems is tested with it.
fn path() -> OsString {
    let theirs = std::env::var_os("PATH").unwrap();
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stage/programs");
    let mut folders: Vec<_> = std::env::split_paths(&theirs).collect();
    folders.insert(if cfg!(mcp_bash_portable) { 0 } else { folders.len() }, ours);
    std::env::join_paths(folders).unwrap()
}

pub(crate) async fn wait_for(what: &str, happened: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !happened() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[track_caller]
pub(crate) fn assert_said_hi(outcome: &Outcome) {
    let stderr = String::from_utf8_lossy(&outcome.stderr);
    assert_eq!(outcome.ending, ProcessEnding::Exited(0), "{stderr}");
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), "hi\n", "{stderr}");
}
