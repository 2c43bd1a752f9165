//! State folder: the private folder of the server, for files that it needs while it runs.

use crate::folders::dead_servers;
use crate::folders::private_folder::{PrivateFolder, touch};
use crate::folders::remove::remove_folder;
use crate::random;
use crate::warden;
use parking_lot::Mutex;
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A folder that only our user can enter, made when it is first needed and removed when the server exits.
///
/// A script, or a cleaner of temporary files, may remove it while the server runs. No call checks that it exists: code
/// that does not find its file calls [`StateDir::restore`], and tries again.
#[derive(Debug)]
pub struct StateDir {
    parent: PathBuf,
    keep: bool,
    made: Mutex<Made>,
    counter: AtomicU64,
    /// Whether the stale folders of other servers were removed.
    has_cleaned_up: AtomicBool,
}

/// The folders that exist so far.
#[derive(Debug, Default)]
struct Made {
    folder: Option<PrivateFolder>,
    /// The folder that holds those of calls.
    calls: Option<PathBuf>,
    /// The folder for sockets, if paths in the private folder are too long for them.
    short: Option<PrivateFolder>,
    /// Descriptors that are closed before the folder is removed: a server at its limit on open files could not list it
    /// otherwise.
    reserve: Vec<File>,
}

/// How many descriptors to keep: one for each level of folders.
const RESERVE: usize = 5;

/// Where a folder with a short path can be made, in order of preference.
const SHORT_PARENTS: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// How often to make a folder again if another process removes it at once.
const ATTEMPTS: usize = 10;

impl StateDir {
    /// A folder below `parent`. With `keep` it stays when the server exits.
    pub fn new(parent: PathBuf, keep: bool) -> Self {
        Self {
            parent,
            keep,
            made: Mutex::default(),
            counter: AtomicU64::new(0),
            has_cleaned_up: AtomicBool::new(false),
        }
    }

    /// The folder that it is in, or will be in.
    pub fn parent(&self) -> &Path {
        &self.parent
    }

    /// The folder, made if it does not exist.
    pub fn path(&self) -> io::Result<PathBuf> {
        self.folder(&mut self.made.lock())
    }

    /// The folder that holds those of calls. It cannot be listed, so that a process finds only the folder of its own
    /// call, unless it changes the permissions.
    pub(crate) fn calls(&self) -> io::Result<PathBuf> {
        let mut made = self.made.lock();
        if let Some(path) = &made.calls {
            return Ok(path.clone());
        }
        let path = self.folder(&mut made)?.join("calls");
        make_unlistable(&path)?;
        Ok(made.calls.insert(path).clone())
    }

    /// A private folder with a short path.
    pub(crate) fn short_folder(&self) -> io::Result<PathBuf> {
        let mut made = self.made.lock();
        if let Some(folder) = &made.short {
            return Ok(folder.path().to_owned());
        }
        let mut problem = io::Error::from(ErrorKind::NotFound);
        for parent in SHORT_PARENTS {
            let name = || Ok(format!("{}{}", dead_servers::SOCKETS, random::hex::<8>()?));
            match make_in(Path::new(parent), name) {
                Ok(folder) => {
                    warden::remove_with_us(folder.path());
                    return Ok(made.short.insert(folder).path().to_owned());
                }
                Err(error) => problem = error,
            }
        }
        Err(problem)
    }

    fn folder(&self, made: &mut Made) -> io::Result<PathBuf> {
        if let Some(folder) = &made.folder {
            return Ok(folder.path().to_owned());
        }
        let folder = make_in(&self.parent, || unguessable_name(self.keep)).map_err(|error| {
            let parent = self.parent.display();
            let words = format!(
                "failed to make a folder in {parent}: {error}; set TMPDIR to a folder that you may write to"
            );
            io::Error::new(error.kind(), words)
        })?;
        self.note(made, folder.path());
        Ok(made.folder.insert(folder).path().to_owned())
    }

    fn note(&self, made: &mut Made, path: &Path) {
        if !self.keep {
            warden::remove_with_us(path);
            made.reserve = (0..RESERVE).map_while(|_| mcp_bash_files::open_folder(path).ok()).collect();
        }
    }

    /// Creates removed folders again. The private folder gets its previous path, where running scripts look for it,
    /// unless something else is at that path now.
    pub fn restore(&self) -> io::Result<()> {
        let mut made = self.made.lock();
        if let Some(gone) = made.folder.take_if(|folder| !folder.is_there()) {
            made.calls = None;
            if let Ok(folder) = PrivateFolder::make(gone.path().to_owned()) {
                self.note(&mut made, folder.path());
                made.folder = Some(folder);
            } else {
                warden::forget(gone.path());
                self.folder(&mut made)?;
            }
        }
        if let Some(calls) = &made.calls {
            make_unlistable(calls)?;
        }
        if let Some(gone) = made.short.take_if(|folder| !folder.is_there()) {
            warden::forget(gone.path());
        }
        Ok(())
    }

    /// Runs `act`. If a file or folder is missing, restores the private folder and runs `act` again.
    pub fn with_restored<T>(&self, act: impl Fn() -> io::Result<T>) -> io::Result<T> {
        act().or_else(|error| {
            if error.kind() != ErrorKind::NotFound {
                return Err(error);
            }
            self.restore()?;
            act()
        })
    }

    /// Touches the folders, so that no cleaner of temporary files removes them for their age.
    pub fn refresh(&self) -> io::Result<()> {
        self.restore()?;
        let made = self.made.lock();
        let folders = made.folder.iter().chain(&made.short).map(PrivateFolder::path);
        folders.chain(made.calls.as_deref()).try_for_each(touch)
    }

    /// Removes the stale private folders of other servers. It lists whole temporary folders, which may take a while.
    pub fn remove_folders_of_dead_servers(&self) {
        self.has_cleaned_up.store(true, Ordering::Relaxed);
        dead_servers::remove_folders_in(&self.parent);
        let others = SHORT_PARENTS.map(Path::new).into_iter().filter(|other| *other != self.parent);
        others.for_each(dead_servers::remove_folders_in);
    }

    /// An unused path in the folder.
    pub fn fresh(&self, prefix: &str) -> io::Result<PathBuf> {
        let number = self.counter.fetch_add(1, Ordering::Relaxed);
        Ok(self.path()?.join(format!("{prefix}.{number}")))
    }

    /// An unguessable token.
    pub fn unguessable_token(&self) -> io::Result<String> {
        random::hex::<16>()
    }

    /// Removes the folder, unless it is to be kept. Then removes the stale folders of other servers, if this process
    /// has not done so yet.
    pub fn remove(&self) {
        let made = std::mem::take(&mut *self.made.lock());
        drop(made.reserve);
        let was_used = made.folder.is_some();
        for folder in made.folder.filter(|_| !self.keep).iter().chain(&made.short) {
            remove_folder(folder.path());
        }
        if was_used && !self.has_cleaned_up.load(Ordering::Relaxed) {
            self.remove_folders_of_dead_servers();
        }
    }
}

impl Drop for StateDir {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Makes a folder in `parent` with an unguessable name.
fn make_in(parent: &Path, name: impl Fn() -> io::Result<String>) -> io::Result<PrivateFolder> {
    let mut attempts = 1;
    loop {
        match PrivateFolder::make(parent.join(name()?)) {
            // Another server took it for a stale folder.
            Err(error) if error.kind() == ErrorKind::NotFound && attempts < ATTEMPTS && parent.is_dir() => {
                attempts += 1;
            }
            made => return made,
        }
    }
}

/// Makes a folder in the private one that can be entered but not listed. An existing folder stays as it is.
fn make_unlistable(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o300).create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Other servers never remove a folder that is to be kept, so its name differs.
fn unguessable_name(keep: bool) -> io::Result<String> {
    let prefix = if keep { "mcpbash.state." } else { dead_servers::PRIVATE };
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    Ok(format!("{prefix}{parent}.{}.{}", std::process::id(), random::hex::<8>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::time::{Duration, SystemTime};

    fn state_dir() -> (StateDir, tempfile::TempDir) {
        let temporary = tempfile::tempdir().unwrap();
        (StateDir::new(temporary.path().to_owned(), false), temporary)
    }

    #[test]
    fn a_folder_that_is_gone_is_made_again_where_it_was() {
        let (state_dir, _temporary) = state_dir();
        let (folder, calls) = (state_dir.path().unwrap(), state_dir.calls().unwrap());
        fs::remove_dir_all(&folder).unwrap();
        let file = || state_dir.path().map(|folder| folder.join("file"));
        state_dir.with_restored(|| fs::write(file()?, "")).unwrap();
        assert_eq!(state_dir.path().unwrap(), folder);
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(state_dir.calls().unwrap(), calls);
        assert!(calls.is_dir());
        fs::remove_dir(&calls).unwrap();
        state_dir.restore().unwrap();
        assert!(calls.is_dir());
        state_dir.remove();
        assert!(!folder.exists());
    }

    #[test]
    fn a_link_in_its_place_is_not_used() {
        let (state_dir, temporary) = state_dir();
        let folder = state_dir.path().unwrap();
        fs::remove_dir(&folder).unwrap();
        std::os::unix::fs::symlink(temporary.path(), &folder).unwrap();
        state_dir.restore().unwrap();
        assert_ne!(state_dir.path().unwrap(), folder);
        assert!(state_dir.path().unwrap().is_dir());
    }

    #[test]
    fn it_looks_used_when_it_is_refreshed() {
        let (state_dir, _temporary) = state_dir();
        let (folder, calls) = (state_dir.path().unwrap(), state_dir.calls().unwrap());
        let long_ago = SystemTime::now() - Duration::from_secs(40 * 24 * 60 * 60);
        for path in [&folder, &calls] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
            let times = fs::FileTimes::new().set_accessed(long_ago).set_modified(long_ago);
            File::open(path).unwrap().set_times(times).unwrap();
        }
        state_dir.refresh().unwrap();
        for path in [&folder, &calls] {
            let seen = path.metadata().unwrap();
            assert!(seen.modified().unwrap() > long_ago && seen.accessed().unwrap() > long_ago);
            assert_eq!(seen.uid(), rustix::process::geteuid().as_raw());
        }
    }
}
