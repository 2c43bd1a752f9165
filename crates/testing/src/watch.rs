//! `mcp-bash test --watch`: runs the affected tests again whenever a file of the project changes.

use crate::error::TestError;
use crate::options::Options;
use crate::printing::{print, print_report};
use crate::session::{Selection, TestSession};
use crate::verdict::Verdict;
use mcp_bash_project::Folders;
use mcp_bash_terminal::words::counted;
use mcp_bash_terminal::{complain, visible};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// How often files are polled if the system does not report changes.
const INTERVAL: Duration = Duration::from_secs(1);

/// How many files and folders of a project are followed.
const MOST: usize = 20_000;

/// How deep folders are followed.
const DEPTH: usize = 16;

pub(crate) fn run(options: &Options, session: &mut TestSession<'_>) -> Result<Verdict, TestError> {
    let mut watcher = Watcher::new()?;
    let (mut changed, mut by_last_run) = (None, BTreeSet::new());
    loop {
        let before = Files::of(&session.paths.root);
        watcher.follow(&before.folders);
        match run_concerned(options, session, changed.as_ref()) {
            Err(error @ (TestError::Interrupted | TestError::Print(_))) => return Err(error),
            Err(error) => complain(&error.to_string()),
            Ok(()) => {}
        }
        let after = Files::of(&session.paths.root);
        let meanwhile = after.differences(&before);
        // Files that change in each run are written by the tests themselves, and would cause an endless loop.
        if !meanwhile.is_empty() && meanwhile != by_last_run {
            by_last_run.clone_from(&meanwhile);
            changed = Some(meanwhile);
            continue;
        }
        by_last_run = meanwhile;
        print("\nWaiting for changes; Ctrl-C ends.\n")?;
        let Some(found) = watcher.wait(session, &after) else { return Ok(Verdict::Interrupted) };
        print(&format!("\n{} changed.\n", words(&found, &session.paths.root)))?;
        changed = Some(found);
        if let Err(error) = session.read_again() {
            complain(&error);
        }
    }
}

/// Runs the tests that the changed files affect, or all.
fn run_concerned(
    options: &Options,
    session: &TestSession<'_>,
    changed: Option<&BTreeSet<PathBuf>>,
) -> Result<(), TestError> {
    let mut selection = Selection::read(session, options)?;
    if let Some(changed) = changed {
        let folders: HashSet<PathBuf> =
            selection.cases.iter().filter_map(|case| Some(case.place.file.parent()?.to_owned())).collect();
        let is_test = |file: &Path| folders.iter().any(|folder| file.starts_with(folder));
        selection.cases.retain(|case| {
            changed.iter().any(|file| {
                if is_test(file) {
                    return concerns_as_test(file, &case.place.file);
                }
                case.steps.iter().any(|step| session.subjects.is_concerned(&step.subject, file))
            })
        });
        if changed.iter().all(|file| is_test(file)) {
            selection.externals.clear();
        }
    }
    let report = session.run(&selection, options)?;
    print_report(&report, options)
}

/// Whether a file in a folder of tests affects the cases of a case file there: it is that file, or one they may use.
fn concerns_as_test(changed: &Path, case_file: &Path) -> bool {
    let is_case_file = changed.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    let is_beside = case_file.parent().is_some_and(|folder| changed.starts_with(folder));
    changed == case_file || is_beside && !(is_case_file && changed.parent() == case_file.parent())
}

/// The files on one line.
fn words(files: &BTreeSet<PathBuf>, root: &Path) -> String {
    const MOST: usize = 3;
    let shown = files
        .iter()
        .take(MOST)
        .map(|file| visible(&file.strip_prefix(root).unwrap_or(file).to_string_lossy()));
    let mut words = shown.collect::<Vec<_>>().join(", ");
    if files.len() > MOST {
        let _ = write!(words, " and {} more", counted(files.len() - MOST, "file"));
    }
    words
}

/// Waits for files to change.
struct Watcher {
    folders: Folders,
    followed: HashSet<PathBuf>,
    events: UnboundedReceiver<()>,
    /// Whether the system reports all changes.
    is_told: bool,
}

impl Watcher {
    fn new() -> Result<Self, TestError> {
        let (sender, events) = unbounded_channel();
        let folders = Folders::watch(move |_| {
            let _ = sender.send(());
        });
        let folders = folders.map_err(TestError::Watch)?;
        Ok(Self { folders, followed: HashSet::new(), events, is_told: true })
    }

    fn follow(&mut self, folders: &[PathBuf]) {
        self.followed.retain(|folder| self.folders.follows(folder));
        for folder in folders {
            if !self.followed.contains(folder) {
                self.is_told &= self.folders.follow(folder);
                self.followed.insert(folder.clone());
            }
        }
    }

    /// The files that differ from `known`, once there are any; `None` on a signal to exit.
    fn wait(&mut self, session: &TestSession<'_>, known: &Files) -> Option<BTreeSet<PathBuf>> {
        let mut stop = session.stop();
        session.runtime().block_on(async {
            loop {
                let changed = Files::of(&session.paths.root).differences(known);
                if !changed.is_empty() {
                    return Some(changed);
                }
                tokio::select! {
                    biased;
                    _ = stop.wait_for(|stopped| *stopped) => return None,
                    _ = self.events.recv() => {}
                    () = tokio::time::sleep(INTERVAL), if !self.is_told => {}
                }
            }
        })
    }
}

/// What the files of a project look like from outside.
#[derive(Debug, Default)]
struct Files {
    looks: BTreeMap<PathBuf, Looks>,
    folders: Vec<PathBuf>,
}

/// Time of change, size and mode of a file.
type Looks = (i64, i64, u64, u32);

impl Files {
    fn of(root: &Path) -> Self {
        let mut files = Self::default();
        files.add(root, DEPTH);
        files
    }

    fn add(&mut self, folder: &Path, depth: usize) {
        if depth == 0 || self.folders.len() + self.looks.len() > MOST {
            return;
        }
        self.folders.push(folder.to_owned());
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_left_out = name.as_bytes().starts_with(b".")
                || name == "node_modules"
                || name == "__pycache__"
                || name == "target";
            if is_left_out {
                continue;
            }
            let path = entry.path();
            // A symlink to a folder counts as a file here: its target may lead back.
            match entry.metadata() {
                Ok(looks) if looks.is_dir() => self.add(&path, depth - 1),
                Ok(looks) => {
                    let looks = (looks.mtime(), looks.mtime_nsec(), looks.len(), looks.mode());
                    self.looks.insert(path, looks);
                }
                Err(_) => {}
            }
        }
    }

    /// The files that were added or removed, or look different.
    fn differences(&self, before: &Self) -> BTreeSet<PathBuf> {
        let is_other = |one: &Self, (path, looks): &(&PathBuf, &Looks)| one.looks.get(*path) != Some(*looks);
        let new = self.looks.iter().filter(|file| is_other(before, file));
        let old = before.looks.iter().filter(|file| is_other(self, file));
        new.chain(old).map(|(path, _)| path.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_tests_concerns_its_own_cases_or_those_beside_it() {
        let case = Path::new("/p/tools/a/tests/a.yaml");
        for (changed, concerns) in [
            ("/p/tools/a/tests/a.yaml", true),
            ("/p/tools/a/tests/b.yaml", false),
            ("/p/tools/a/tests/data/b.yaml", true),
            ("/p/tools/a/tests/__snapshots__/a.snap", true),
            ("/p/tools/b/tests/data.txt", false),
        ] {
            assert_eq!(concerns_as_test(Path::new(changed), case), concerns, "{changed}");
        }
    }
}
