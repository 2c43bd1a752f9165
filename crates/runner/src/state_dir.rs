//! A private folder for what has to be a file while the server runs.

use crate::{random, warden};
use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A folder only we can enter, made when it is first needed and removed when the server ends.
#[derive(Debug)]
pub struct StateDir {
    parent: PathBuf,
    keep: bool,
    made: Mutex<Made>,
    counter: AtomicU64,
}

/// What was made of it so far.
#[derive(Debug, Default)]
struct Made {
    folder: Option<PathBuf>,
    /// Where the folders of calls stand.
    calls: Option<PathBuf>,
    /// Where sockets stand if paths in the folder are too long for them.
    short: Option<PathBuf>,
    /// Descriptors that are closed before the folder is removed: a server that has used up all it may have could not
    /// even look into it.
    reserve: Vec<File>,
}

/// As many folders as stand inside of one another.
const RESERVE: usize = 5;

/// Where a folder with a short path may stand, the best first.
const SHORT_PARENTS: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

impl StateDir {
    /// A folder below `parent`. With `keep` it stays when the server ends.
    pub fn new(parent: PathBuf, keep: bool) -> Self {
        Self { parent, keep, made: Mutex::default(), counter: AtomicU64::new(0) }
    }

    /// The folder, which exists from now on.
    pub fn path(&self) -> io::Result<PathBuf> {
        self.folder(&mut self.lock())
    }

    /// The folder that holds those of calls. It does not tell the names in it, so that a process finds the folder of its
    /// own call and no other's, unless it is out for more than its own.
    pub(crate) fn calls(&self) -> io::Result<PathBuf> {
        let mut made = self.lock();
        if let Some(path) = &made.calls {
            return Ok(path.clone());
        }
        let path = self.folder(&mut made)?.join("calls");
        DirBuilder::new().mode(0o300).create(&path)?;
        Ok(made.calls.insert(path).clone())
    }

    /// A private folder with a short path.
    pub(crate) fn short_folder(&self) -> io::Result<PathBuf> {
        let mut made = self.lock();
        if let Some(path) = &made.short {
            return Ok(path.clone());
        }
        let mut problem = io::Error::from(io::ErrorKind::NotFound);
        for parent in SHORT_PARENTS {
            let path = Path::new(parent).join(format!("mcpbash.{}", random::hex::<8>()?));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    warden::remove_with_us(&path);
                    return Ok(made.short.insert(path).clone());
                }
                Err(error) => problem = error,
            }
        }
        Err(problem)
    }

    fn folder(&self, made: &mut Made) -> io::Result<PathBuf> {
        if let Some(path) = &made.folder {
            return Ok(path.clone());
        }
        let path = self.parent.join(unguessable_name()?);
        // `mkdir` fails where anything of that name stands already, so nobody can have laid a trap there.
        DirBuilder::new().mode(0o700).create(&path)?;
        if !self.keep {
            warden::remove_with_us(&path);
            made.reserve = (0..RESERVE).map_while(|_| File::open(&path).ok()).collect();
        }
        Ok(made.folder.insert(path).clone())
    }

    /// A path below the folder that nothing stands at yet.
    pub fn fresh(&self, prefix: &str) -> io::Result<PathBuf> {
        let number = self.counter.fetch_add(1, Ordering::Relaxed);
        Ok(self.path()?.join(format!("{prefix}.{number}")))
    }

    /// A word that nobody can guess.
    pub fn unguessable_word(&self) -> io::Result<String> {
        random::hex::<16>()
    }

    /// Removes the folder, unless it is to be kept.
    pub fn remove(&self) {
        let made = std::mem::take(&mut *self.lock());
        drop(made.reserve);
        for path in made.folder.filter(|_| !self.keep).iter().chain(&made.short) {
            remove_folder(path);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StateDir {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Removes a folder with all that scripts have put there, also where they took permissions away or nested folders deeper
/// than any stack or path goes: what stands further down is moved up first. What cannot be removed all the same is in the
/// temporary directory, and then the system's to clean up.
pub(crate) fn remove_folder(top: &Path) {
    let (mut pending, mut emptied) = (vec![top.to_owned()], Vec::new());
    while let Some(folder) = pending.pop() {
        if fs::read_dir(&folder).is_err() {
            let _ = fs::set_permissions(&folder, Permissions::from_mode(0o700));
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let _ = fs::remove_file(path);
            } else if folder == top {
                pending.push(path);
            } else {
                let moved = top.join(format!("mcpbash.removed.{}", emptied.len() + pending.len()));
                pending.extend(fs::rename(&path, &moved).is_ok().then_some(moved));
            }
        }
        emptied.push(folder);
    }
    for folder in emptied.iter().rev() {
        let _ = fs::remove_dir(folder);
    }
}

fn unguessable_name() -> io::Result<String> {
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    Ok(format!("mcpbash.state.{parent}.{}.{}", std::process::id(), random::hex::<8>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_removed_whatever_is_in_it() {
        let temporary = tempfile::tempdir().unwrap();
        let top = temporary.path().join("top");
        fs::create_dir_all(top.join("a/b/c")).unwrap();
        fs::write(top.join("a/b/file"), "").unwrap();
        std::os::unix::fs::symlink(temporary.path(), top.join("a/link")).unwrap();
        fs::write(temporary.path().join("outside"), "").unwrap();
        let nest = std::process::Command::new("sh")
            .args([
                "-c",
                "name=$(printf %0200d 7); for n in $(seq 40); do mkdir $name && cd -P $name || exit 1; done",
            ])
            .current_dir(top.join("a/b"))
            .status();
        assert!(nest.unwrap().success());
        for closed in ["a/b/c", "a/b", "a"] {
            fs::set_permissions(top.join(closed), Permissions::from_mode(0o000)).unwrap();
        }
        remove_folder(&top);
        assert!(!top.exists());
        assert!(temporary.path().join("outside").exists());
    }
}
