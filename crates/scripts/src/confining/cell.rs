//! Cell: a prepared sandbox for one process at a time. It has a temporary folder and a home of its own, and what the kernel
//! needs to enforce its policy. Preparing it takes milliseconds, so cells are kept and reused.

use super::command::CommandLine;
use super::confined::NotConfined;
#[cfg(not(target_os = "linux"))]
use super::elsewhere::Parts;
use super::key::Key;
#[cfg(target_os = "linux")]
use super::linux::Parts;
use super::profile;
use super::resolve::{Resolved, resolve};
use mcp_bash_runner::{StateDir, Variables};
use mcp_bash_sandbox::{Confinement, Machine, Plan, Policy};
use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};

pub(crate) struct Cell {
    pub(super) policy: Policy,
    pub(super) plan: Plan,
    pub(super) folders: CellFolders,
    /// The paths of the policy that may be replaced, as they were when the cell was made.
    stamps: Vec<(PathBuf, Stamp)>,
    pub(super) parts: Parts,
}

/// The folders that only this cell may write to.
pub(crate) struct CellFolders {
    root: PathBuf,
    pub(crate) tmp: PathBuf,
    pub(crate) home: PathBuf,
    /// How many entries the home has when no process has used it.
    links: usize,
}

/// Device and inode; of a folder whose entries are replaced, the time of its last change too.
type Stamp = (u64, u64, i64, i64);

impl Cell {
    pub(super) fn make(key: &Key, state_dir: &StateDir) -> Result<Self, NotConfined> {
        let Resolved { policy, links, home } = resolve(key)?;
        let plan = Plan::new(&policy, Machine::this())?;
        let folders = CellFolders::make(state_dir, &links, home.as_deref())?;
        let stamps = stamps(&policy);
        Ok(Self { parts: Parts::make(&policy, &plan)?, policy, plan, folders, stamps })
    }

    /// Whether the paths of its policy are the same files as when it was made, and its own folders exist.
    pub(super) fn is_current(&self) -> bool {
        self.stamps.iter().all(|(path, made)| stamp(path).as_ref() == Some(made)) && self.folders.tmp.is_dir()
    }

    /// The restrictions of a process that shares a folder with us for its call.
    pub(super) fn confine(
        &mut self,
        call_folder: Option<&Path>,
        command: CommandLine<'_>,
    ) -> io::Result<Confinement> {
        self.parts.confine(&self.policy, &self.plan, &self.folders, call_folder, command)
    }

    /// The variables of its process.
    pub(super) fn set_variables(&self, variables: &mut Variables) {
        variables.set("HOME", &self.folders.home);
        for name in ["TMPDIR", "TMP", "TEMP", "MCPBASH_TMP_ROOT"] {
            variables.set(name, &self.folders.tmp);
        }
        // They would lead out of the home.
        for name in
            ["XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"]
        {
            variables.remove(name);
        }
    }
}

impl CellFolders {
    fn make(state_dir: &StateDir, links: &[PathBuf], user_home: Option<&Path>) -> io::Result<Self> {
        let root = state_dir.with_restored(|| {
            let root = state_dir.fresh("cell")?;
            make_folder(&root).map(|()| root)
        })?;
        let folders = Self { tmp: root.join("tmp"), home: root.join("home"), root, links: 0 };
        make_folder(&folders.tmp)?;
        make_folder(&folders.home)?;
        for below in links {
            if let Some(user_home) = user_home {
                folders.link(below, user_home)?;
            }
        }
        let links = fs::read_dir(&folders.home)?.count();
        Ok(Self { links, ..folders })
    }

    /// Lets `~/below` lead from this home to the user's.
    fn link(&self, below: &Path, user_home: &Path) -> io::Result<()> {
        let link = self.home.join(below);
        if let Some(parent) = link.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        match symlink(user_home.join(below), &link) {
            // Another entry has made it, or a folder above it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    }

    /// Whether they are as they were made.
    pub(super) fn are_clean(&self) -> bool {
        is_private(&self.tmp)
            && is_private(&self.home)
            && count(&self.tmp) == 0
            && count(&self.home) == self.links
    }

    /// Removes them, on a thread of its own: they may hold any number of files. Anything left is removed when the server
    /// exits.
    pub(super) fn discard(self) {
        let root = self.root;
        let _ = std::thread::Builder::new()
            .name("discard".into())
            .stack_size(256 * 1024)
            .spawn(move || mcp_bash_runner::remove_folder(&root));
    }
}

fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

fn is_private(folder: &Path) -> bool {
    let is_private = |seen: Metadata| seen.is_dir() && seen.mode() & 0o7777 == 0o700;
    fs::symlink_metadata(folder).is_ok_and(is_private)
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).map_or(usize::MAX, Iterator::count)
}

/// The stamps of what may be replaced: everything that is not the system's, and the folder of the system's configuration,
/// whose files are replaced by renaming.
fn stamps(policy: &Policy) -> Vec<(PathBuf, Stamp)> {
    let own = policy.read.iter().chain(&policy.write).filter(|path| !profile::is_of_system_profile(path));
    let paths = own.map(PathBuf::as_path).chain([Path::new(profile::REPLACED_IN)]);
    paths.filter_map(|path| Some((path.to_owned(), stamp(path)?))).collect()
}

fn stamp(path: &Path) -> Option<Stamp> {
    let seen = fs::metadata(path).ok()?;
    let changed =
        if path == Path::new(profile::REPLACED_IN) { (seen.mtime(), seen.mtime_nsec()) } else { (0, 0) };
    Some((seen.dev(), seen.ino(), changed.0, changed.1))
}
