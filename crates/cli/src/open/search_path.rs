//! Search path of scripts: a desktop client starts us with a bare `PATH`; a login shell knows a better one.

use mcp_bash_project::{Paths, Pauses, languages};
use mcp_bash_scripts::Scripts;
use mcp_bash_settings::Settings;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::sleep;

/// The `PATH` of a program that a desktop starts.
pub(crate) const DESKTOP: &str = "/usr/bin:/bin:/usr/sbin:/sbin";

/// The search path for scripts, and where it comes from.
pub(crate) struct SearchPath {
    pub(crate) path: OsString,
    pub(crate) source: &'static str,
}

impl SearchPath {
    /// The path that is known without asking a shell.
    fn at_once(settings: &Settings) -> Self {
        match &settings.search_path {
            Some(path) => Self { path: path.into(), source: "MCPBASH_PATH" },
            None => Self { path: std::env::var_os("PATH").unwrap_or_default(), source: "environment" },
        }
    }

    /// The search path of scripts if a desktop has started the server.
    pub(crate) fn of_desktop(settings: &Settings, login_shell: Option<&OsStr>) -> Self {
        let known = Self::at_once(settings);
        if known.source == "MCPBASH_PATH" {
            return known;
        }
        match login_shell {
            Some(path) => Self { path: joined(OsStr::new(DESKTOP), path), source: "login shell" },
            None => Self { path: DESKTOP.into(), source: "desktop" },
        }
    }

    /// Whether a login shell may know more.
    fn is_bare(&self) -> bool {
        self.source != "MCPBASH_PATH" && is_bare(&self.path)
    }

    /// Asks the login shell too, if the known path is bare.
    pub(crate) fn resolve(scripts: &Scripts) -> Self {
        let known = Self::at_once(scripts.settings());
        if !known.is_bare() {
            return known;
        }
        match scripts.ask_login_shell() {
            Some(path) => Self { path: joined(&known.path, &path), source: "login shell" },
            None => known,
        }
    }
}

impl SearchPath {
    /// The same with the project's own folders of programs, for checks whether a program exists.
    pub(crate) fn for_project(&self, paths: &Paths) -> OsString {
        let own = languages().flat_map(|language| language.program_folders.places);
        let own = own.map(|(place, programs)| paths.root.join(place).join(programs));
        let own = std::env::join_paths(own).unwrap_or_default();
        joined(&self.path, &own)
    }
}

/// Sets the search path of scripts if no shell has to be asked for it. Otherwise calls wait for it, until
/// [`resolve_for`] has found it.
pub(crate) fn set_if_known(scripts: &Scripts) {
    let known = SearchPath::at_once(scripts.settings());
    if known.is_bare() {
        scripts.await_search_path();
    } else {
        scripts.set_search_path(known.path);
    }
}

/// Finds the search path on a thread of its own, so that no answer waits for it, and then does what depends on it; if the
/// path is known, after a `pause`. Where the system has no thread left, it tries again until it has one.
pub(crate) fn resolve_for(
    scripts: Arc<Scripts>,
    runtime: &Handle,
    pause: Duration,
    then: impl FnOnce(&Scripts) + Send + 'static,
) {
    let is_known = scripts.has_search_path();
    let work: Work = Arc::new(Mutex::new(Some(Box::new(move || {
        scripts.set_search_path(SearchPath::resolve(&scripts).path);
        then(&scripts);
    }))));
    if !is_known && start(&work).is_ok() {
        return;
    }
    runtime.spawn(async move {
        sleep(pause).await;
        let mut pauses = Pauses::new(Duration::from_millis(250), Duration::from_secs(4));
        while start(&work).is_err() {
            sleep(pauses.lengthen()).await;
        }
    });
}

/// Work that is done once, by the first thread that can be started for it.
type Work = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

fn start(work: &Work) -> io::Result<()> {
    let work = Arc::clone(work);
    let run = move || {
        let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(work) = work {
            work();
        }
    };
    std::thread::Builder::new().name("path".into()).spawn(run).map(drop)
}

/// Whether a path has nothing but what every system has.
fn is_bare(path: &OsStr) -> bool {
    const BARE: [&str; 4] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];
    std::env::split_paths(path).all(|folder| BARE.iter().any(|bare| folder == Path::new(bare)))
}

/// The folders of both, each once, ours first.
fn joined(ours: &OsStr, theirs: &OsStr) -> OsString {
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in std::env::split_paths(ours).chain(std::env::split_paths(theirs)) {
        if folder.is_absolute() && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    std::env::join_paths(folders).unwrap_or_else(|_| ours.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_path_is_told_from_one_that_somebody_made() {
        for bare in ["", "/usr/bin:/bin", "/usr/bin:/bin:/usr/sbin:/sbin"] {
            assert!(bare.is_empty() || is_bare(OsStr::new(bare)), "{bare}");
        }
        assert!(!is_bare(OsStr::new("/usr/bin:/opt/homebrew/bin")));
    }

    #[test]
    fn both_paths_are_joined_without_repetition() {
        let joined = joined(OsStr::new("/usr/bin:/bin"), OsStr::new("/opt/bin:/bin:relative:/usr/local/bin"));
        assert_eq!(joined, "/usr/bin:/bin:/opt/bin:/usr/local/bin");
    }
}
