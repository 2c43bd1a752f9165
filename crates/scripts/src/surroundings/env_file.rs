//! Environment file (`server.d/env.sh`): variables that a project sets for its scripts. Bash sources it once, and again when
//! its stamp changes; scripts receive what it exports, changes or unsets. Checking the stamp takes one `stat`.

use crate::running::error::{NoEnvironment, NotSourced};
use crate::running::outcome::Outcome;
use crate::running::process::{Limits, Process};
use crate::running::processes::Processes;
use mcp_bash_budget::Budget;
use mcp_bash_project::trust::{self, Start};
use mcp_bash_project::{Paths, excerpt};
use mcp_bash_runner::{Input, ProcessEnding, Runner, TimeLimits, Variables, signal_name};
use mcp_bash_sandbox::Confinement;
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The timeout of the file.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How long a failure is kept: its reason may disappear although the file itself has not changed.
const REMEMBERED: Duration = Duration::from_secs(5);

/// The largest file that is sourced, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// The largest environment that it may produce, in bytes.
const LARGEST_ENVIRONMENT: usize = 1024 * 1024;

/// No process can receive a longer variable, its name included.
const LONGEST_VARIABLE: usize = 128 * 1024 - 2;

/// How much of a failing file's error output is reported, in bytes.
const LONGEST_COMPLAINT: usize = 1024;

/// Sources the file, and prints the exported variables. The file's own output is discarded.
const SOURCE: &str = r#"
exec 3>&1 1>&2 </dev/null
. "$0"
_mcp_status=$?
[ "$_mcp_status" = 0 ] || exit "$_mcp_status"
set +eux
unset -f builtin printf compgen
IFS=$'\n'
for _mcp_name in $(builtin compgen -e); do
	builtin printf '%s=%s\0' "$_mcp_name" "${!_mcp_name}" >&3
done
"#;

/// Variables that every shell sets for itself.
const OF_THE_SHELL: [&str; 5] = ["_", "SHLVL", "PWD", "OLDPWD", "BASHOPTS"];

/// The changes that the file made to the environment.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) set: BTreeMap<OsString, OsString>,
    pub(crate) unset: BTreeSet<OsString>,
}

/// The file of a project, and its changes when it was last sourced.
#[derive(Default)]
pub(crate) struct EnvFile {
    /// The changes of a project without such a file.
    nothing: Arc<Changes>,
    last: Arc<Mutex<Option<Sourced>>>,
    /// Held while the file is sourced, so that concurrent callers wait for the result.
    sourcing: Arc<tokio::sync::Mutex<()>>,
}

struct Sourced {
    stamp: Stamp,
    /// The search path that it received.
    search_path: OsString,
    at: Instant,
    outcome: Result<Arc<Changes>, NoEnvironment>,
}

/// The stamp of a file. It differs when the file was changed, replaced or given other permissions.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    size: u64,
    changed: (i64, i64),
}

impl Stamp {
    /// `None` if there is no file. Other errors are reported when it is read.
    fn of(path: &Path) -> Option<Self> {
        match path.symlink_metadata() {
            Ok(file) => Some(Self {
                file: (file.dev(), file.ino()),
                size: file.size(),
                changed: (file.ctime(), file.ctime_nsec()),
            }),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
            Err(_) => Some(Self { file: (0, 0), size: 0, changed: (0, 0) }),
        }
    }
}

impl EnvFile {
    /// The changes of the file to the environment of scripts. `given` builds the environment in which the file is sourced; it
    /// is called only if that is necessary.
    pub(crate) async fn changes(
        &self,
        processes: &Processes,
        search_path: OsString,
        paths: &Paths,
        given: impl Fn() -> Result<Variables, NoEnvironment>,
    ) -> Result<Arc<Changes>, NoEnvironment> {
        let path = paths.server.join("env.sh");
        let Some(stamp) = Stamp::of(&path) else {
            // The file may be absent only if no other user could have removed it.
            trust::judge_absence(&path, &paths.root)
                .map_err(|distrust| NoEnvironment::File(Arc::new(NotSourced::Removed(distrust))))?;
            return Ok(Arc::clone(&self.nothing));
        };
        if let Some(known) = self.known(stamp, &search_path) {
            return known;
        }
        let turn = Arc::clone(&self.sourcing).lock_owned().await;
        if let Some(known) = self.known(stamp, &search_path) {
            return known;
        }
        let sourcing = Sourcing {
            runner: Arc::clone(&processes.runner),
            budget: Arc::clone(&processes.budget),
            root: paths.root.clone(),
            path,
            given: given()?,
        };
        let last = Arc::clone(&self.last);
        // In a task, so that it continues when the call that waits for it times out: the next call finds the result.
        let sourced = tokio::spawn(async move {
            let outcome =
                sourcing.run().await.map(Arc::new).map_err(|why| NoEnvironment::File(Arc::new(why)));
            *last.lock() = Some(Sourced { stamp, search_path, at: Instant::now(), outcome: outcome.clone() });
            drop(turn);
            outcome
        });
        sourced.await.unwrap_or_else(|_| Err(NoEnvironment::File(Arc::new(NotSourced::Unfinished))))
    }

    fn known(&self, stamp: Stamp, search_path: &OsStr) -> Option<Result<Arc<Changes>, NoEnvironment>> {
        let last = self.last.lock();
        let last = last.as_ref().filter(|last| last.stamp == stamp && last.search_path == search_path)?;
        let counts = last.outcome.is_ok() || last.at.elapsed() < REMEMBERED;
        counts.then(|| last.outcome.clone())
    }
}

/// One run of sourcing the file, with everything it needs.
struct Sourcing {
    runner: Arc<Runner>,
    budget: Arc<Budget>,
    root: PathBuf,
    path: PathBuf,
    given: Variables,
}

impl Sourcing {
    async fn run(&self) -> Result<Changes, NotSourced> {
        // The file is checked, and then sourced by its path, since it may source other files beside it. Only its owner can
        // replace it meanwhile.
        trust::read(&self.path, &self.root, LONGEST)?;
        let process = Process {
            start: Start { program: "bash".into(), arguments: ["-c", SOURCE].map(Into::into).into() },
            words: vec![self.path.clone().into()],
            directory: &self.root,
            environment: self.given.clone(),
            input: Input::Bytes(&[]),
            limits: Limits {
                patience: TimeLimits::fixed(TIMEOUT),
                output: LARGEST_ENVIRONMENT,
                error_tail: LONGEST_COMPLAINT,
                budget: &self.budget,
            },
            grace: Duration::ZERO,
            talk: None,
            sandbox: None,
        };
        let outcome = self
            .runner
            .run(process.invocation(Confinement::default()), std::future::pending(), |_| {}, drop)
            .await;
        let outcome = outcome?.into();
        judge(&outcome)?;
        let changes = changes(&self.given, &outcome.stdout);
        let too_long = |(name, value): &(&OsString, &OsString)| name.len() + value.len() > LONGEST_VARIABLE;
        match changes.set.iter().find(too_long) {
            Some((name, _)) => Err(NotSourced::LongVariable(name.to_string_lossy().into_owned())),
            None => Ok(changes),
        }
    }
}

/// The reason why this outcome yields no environment.
fn judge(outcome: &Outcome) -> Result<(), NotSourced> {
    let said = match outcome.errors().trim() {
        "" => ", and wrote nothing on standard error".to_owned(),
        said => format!(": {}", excerpt(said)),
    };
    Err(match outcome.ending {
        ProcessEnding::Exited(0) if outcome.stdout.is_empty() => NotSourced::Exits,
        ProcessEnding::Exited(0) => return Ok(()),
        ProcessEnding::Exited(code) => NotSourced::Failed { code, said },
        ProcessEnding::TimedOut(_) => NotSourced::TimedOut { limit: TIMEOUT, said },
        ProcessEnding::OutputTooLarge => NotSourced::TooLarge,
        ProcessEnding::Signalled(signal) => NotSourced::Signalled { signal: signal_name(signal), said },
        ProcessEnding::NoRoom(why) => NotSourced::NoRoom(why),
        ProcessEnding::Cancelled => NotSourced::Unfinished,
        ProcessEnding::Shutdown => NotSourced::Shutdown,
    })
}

/// The difference between the environment that bash received and what it exports.
fn changes(given: &Variables, exported: &[u8]) -> Changes {
    let mut now = BTreeMap::new();
    for variable in exported.split(|byte| *byte == 0) {
        let Some(end) = variable.iter().position(|byte| *byte == b'=') else { continue };
        let owned = |bytes: &[u8]| OsString::from_vec(bytes.to_owned());
        now.insert(owned(&variable[..end]), owned(&variable[end + 1..]));
    }
    // A shell does not list variables with names that are invalid in a shell.
    let is_listed = |name: &OsStr| {
        let name = name.as_bytes();
        !name.first().is_none_or(u8::is_ascii_digit)
            && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    let unset = given.names().filter(|name| is_listed(name) && !now.contains_key(*name));
    let unset = unset.map(OsStr::to_owned).collect();
    now.retain(|name, value| given.get(name) != Some(value) && !OF_THE_SHELL.iter().any(|own| name == own));
    Changes { set: now, unset }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_changed_and_removed_variables_are_changes() {
        let given = [("SAME", "1"), ("OTHER", "1"), ("GONE", "1"), ("BASH_FUNC_f%%", "() { :; }")];
        let mut variables = Variables::default();
        variables.extend(given);
        let exported = b"SAME=1\0OTHER=a=b\0NEW=x\ny\0SHLVL=2\0_=/bin/env\0";
        let changes = changes(&variables, exported);
        let set: Vec<_> = changes.set.iter().map(|(name, value)| (name.to_str(), value.to_str())).collect();
        assert_eq!(set, [(Some("NEW"), Some("x\ny")), (Some("OTHER"), Some("a=b"))]);
        assert_eq!(changes.unset, [OsString::from("GONE")].into());
    }
}
