//! The files that a script and the server talk through beside its pipes. Scripts make them if they have something to say;
//! most have not.

use mcp_bash_runner::StateDir;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names that no call uses now. They are used again: the system knows them already as names of nothing.
#[derive(Default)]
pub(crate) struct SpareFiles(Mutex<Vec<Names>>);

/// Where a script leaves an error, the list of files that belong to its result, and where it learns that nobody waits.
struct Names {
    error: PathBuf,
    resources: PathBuf,
    cancel: PathBuf,
}

impl SpareFiles {
    pub(super) fn take(&self, state_dir: &StateDir) -> io::Result<CallFiles<'_>> {
        let spare = self.lock().pop();
        let names = match spare {
            Some(names) => names,
            None => Names {
                error: state_dir.fresh("error")?,
                resources: state_dir.fresh("resources")?,
                cancel: state_dir.fresh("cancel")?,
            },
        };
        Ok(CallFiles { names: Some(names), spare: self, lists_nothing: AtomicBool::new(false) })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Names>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The files of one call. They vanish with this value.
pub(crate) struct CallFiles<'a> {
    /// There until this value is dropped.
    names: Option<Names>,
    spare: &'a SpareFiles,
    /// Whether there was no list of resources when its script had ended.
    lists_nothing: AtomicBool,
}

impl CallFiles<'_> {
    /// Where a script leaves a JSON-RPC error, if it wants one.
    pub(super) fn error(&self) -> &Path {
        self.name(|names| &names.error)
    }

    /// Where a script names files that belong to its result.
    pub(super) fn resources(&self) -> &Path {
        self.name(|names| &names.resources)
    }

    /// What appears when nobody waits for the script any more.
    pub(super) fn cancel(&self) -> &Path {
        self.name(|names| &names.cancel)
    }

    pub(super) fn tell_of_cancellation(&self) {
        // It is about to be told to end anyway.
        let _ = std::fs::write(self.cancel(), "");
    }

    /// What the script, which has ended, left where it names files.
    pub(super) fn list_of_resources(&self) -> Option<String> {
        let list = std::fs::read_to_string(self.resources());
        let is_nothing = list.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound);
        self.lists_nothing.store(is_nothing, Ordering::Relaxed);
        list.ok()
    }

    fn name(&self, which: impl FnOnce(&Names) -> &PathBuf) -> &Path {
        self.names.as_ref().map_or(Path::new(""), |names| which(names))
    }
}

impl Drop for CallFiles<'_> {
    fn drop(&mut self) {
        let Some(names) = self.names.take() else { return };
        let lists_nothing = self.lists_nothing.load(Ordering::Relaxed);
        let resources = (!lists_nothing).then_some(&names.resources);
        // Whatever a script has put there, the next one must not find it.
        if [&names.error, &names.cancel].into_iter().chain(resources).all(|name| vanishes(name)) {
            self.spare.lock().push(names);
        }
    }
}

/// Removes what stands there, if anything. False for what is no file.
fn vanishes(name: &Path) -> bool {
    std::fs::remove_file(name).map_or_else(|error| error.kind() == ErrorKind::NotFound, |()| true)
}
