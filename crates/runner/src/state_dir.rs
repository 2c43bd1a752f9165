//! The private folder of the server, for files that it needs while it runs.

use crate::remove::remove_folder;
use crate::{random, warden};
use parking_lot::Mutex;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A folder that only our user can enter, made when it is first needed and removed when the server ends.
#[derive(Debug)]
pub struct StateDir {
    parent: PathBuf,
    keep: bool,
    made: Mutex<Made>,
    counter: AtomicU64,
}

/// The folders that exist so far.
#[derive(Debug, Default)]
struct Made {
    folder: Option<PathBuf>,
    /// The folder that holds those of calls.
    calls: Option<PathBuf>,
    /// The folder for sockets, if paths in the private folder are too long for them.
    short: Option<PathBuf>,
    /// Descriptors that are closed before the folder is removed: a server at its limit on open files could
    /// not list it otherwise.
    reserve: Vec<File>,
}

/// How many descriptors to keep: one for each level of folders.
const RESERVE: usize = 5;

/// Where a folder with a short path can be made, in order of preference.
const SHORT_PARENTS: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

impl StateDir {
    /// A folder below `parent`. With `keep` it stays when the server ends.
    pub fn new(parent: PathBuf, keep: bool) -> Self {
        Self { parent, keep, made: Mutex::default(), counter: AtomicU64::new(0) }
    }

    /// The folder that it is in, or will be.
    pub fn parent(&self) -> &Path {
        &self.parent
    }

    /// The folder, which exists from now on.
    pub fn path(&self) -> io::Result<PathBuf> {
        self.folder(&mut self.made.lock())
    }

    /// The folder that holds those of calls. It cannot be listed, so that a process finds only the folder of
    /// its own call, unless it changes the permissions.
    pub(crate) fn calls(&self) -> io::Result<PathBuf> {
        let mut made = self.made.lock();
        if let Some(path) = &made.calls {
            return Ok(path.clone());
        }
        let path = self.folder(&mut made)?.join("calls");
        DirBuilder::new().mode(0o300).create(&path)?;
        Ok(made.calls.insert(path).clone())
    }

    /// A private folder with a short path.
    pub(crate) fn short_folder(&self) -> io::Result<PathBuf> {
        let mut made = self.made.lock();
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
        // `mkdir` fails where a file of that name exists, so nobody can have put a folder or link of theirs
        // there.
        DirBuilder::new().mode(0o700).create(&path).map_err(|error| {
            let parent = self.parent.display();
            let words = format!(
                "failed to make a folder in {parent}: {error}; set TMPDIR to a folder that you may write to"
            );
            io::Error::new(error.kind(), words)
        })?;
        if !self.keep {
            warden::remove_with_us(&path);
            made.reserve = (0..RESERVE).map_while(|_| mcp_bash_files::open_folder(&path).ok()).collect();
        }
        Ok(made.folder.insert(path).clone())
    }

    /// A path in the folder at which there is no file yet.
    pub fn fresh(&self, prefix: &str) -> io::Result<PathBuf> {
        let number = self.counter.fetch_add(1, Ordering::Relaxed);
        Ok(self.path()?.join(format!("{prefix}.{number}")))
    }

    /// A token that nobody can guess.
    pub fn unguessable_token(&self) -> io::Result<String> {
        random::hex::<16>()
    }

    /// Removes the folder, unless it is to be kept.
    pub fn remove(&self) {
        let made = std::mem::take(&mut *self.made.lock());
        drop(made.reserve);
        for path in made.folder.filter(|_| !self.keep).iter().chain(&made.short) {
            remove_folder(path);
        }
    }
}

impl Drop for StateDir {
    fn drop(&mut self) {
        self.remove();
    }
}

fn unguessable_name() -> io::Result<String> {
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    Ok(format!("mcpbash.state.{parent}.{}.{}", std::process::id(), random::hex::<8>()?))
}
