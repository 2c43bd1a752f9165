//! Cell: a prepared sandbox for one process at a time, with a temporary folder and a home of its own, and the objects by which
//! the kernel enforces its policy. Preparing one takes milliseconds, so cells are kept and reused.

use super::command::CommandLine;
use super::confined::NotConfined;
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
use super::elsewhere::Parts;
use super::key::Key;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use super::linux::Parts;
use super::resolve::{Resolved, plan, resolve};
use super::stamps::Stamps;
use mcp_bash_runner::{StateDir, Variables};
use mcp_bash_sandbox::{Confinement, Plan, Policy};
use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(crate) struct Cell {
    pub(super) policy: Policy,
    pub(super) plan: Plan,
    pub(super) folders: CellFolders,
    /// The stamps of the paths of the policy, from when the cell was made.
    stamps: Stamps,
    pub(super) parts: Parts,
}

/// The folders that only this cell may write to.
pub(crate) struct CellFolders {
    root: PathBuf,
    pub(crate) tmp: PathBuf,
    pub(crate) home: PathBuf,
    /// How many entries the unused home has, including those of its folders.
    entries: usize,
    /// The links of the unused home, and where they lead.
    links: Vec<(PathBuf, PathBuf)>,
    /// Whether the unused home has folders.
    has_folders: bool,
    /// The stamps of both folders when they were last found clean.
    clean: Option<[FolderStamp; 2]>,
}

/// Device, inode and the time of the last change of its entries or its mode.
type FolderStamp = (u64, u64, i64, i64);

/// A change within this time of the last one may have the same timestamp, because the clock of file systems is coarse. Only an
/// older timestamp proves that nothing has changed.
const SETTLED: Duration = Duration::from_millis(50);

impl Cell {
    pub(super) fn make(key: &Key, state_dir: &StateDir) -> Result<Self, NotConfined> {
        let Resolved { policy, installed, links, home } = resolve(key)?;
        let plan = plan(&policy)?;
        let folders = CellFolders::make(state_dir, &links, home.as_deref())?;
        let stamps = Stamps::of(&policy, &installed);
        Ok(Self { parts: Parts::make(&policy, &plan)?, policy, plan, folders, stamps })
    }

    /// Whether the paths of its policy are the same files as when it was made, and its temporary folder exists.
    pub(super) fn is_current(&mut self) -> bool {
        self.stamps.are_current() && self.folders.tmp.is_dir()
    }

    /// The restrictions of a process. The call folder, if any, is shared with the process.
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
        let folders = Self {
            tmp: root.join("tmp"),
            home: root.join("home"),
            root,
            entries: 0,
            links: Vec::new(),
            has_folders: false,
            clean: None,
        };
        make_folder(&folders.tmp)?;
        make_folder(&folders.home)?;
        for below in links {
            if let Some(user_home) = user_home {
                folders.link(below, user_home)?;
            }
        }
        let has_folders = links.iter().any(|below| below.components().count() > 1);
        let entries = count(&folders.home, usize::MAX);
        let made = links.iter().filter_map(|below| {
            let path = folders.home.join(below);
            // A folder may be there instead, for the links below it.
            let target = fs::read_link(&path).ok()?;
            Some((path, target))
        });
        let links = made.collect();
        Ok(Self { entries, links, has_folders, ..folders })
    }

    /// Links `~/below` of this home to that of the user.
    fn link(&self, below: &Path, user_home: &Path) -> io::Result<()> {
        let link = self.home.join(below);
        if let Some(parent) = link.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        match symlink(user_home.join(below), &link) {
            // Another entry has created it, or a folder above it.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    }

    /// Whether the folders have the entries that they were made with, and no others. They are listed only if their stamps have
    /// changed.
    pub(super) fn are_clean(&mut self) -> bool {
        let now = SystemTime::now();
        let (Some(tmp), Some(home)) = (private(&self.tmp), private(&self.home)) else { return false };
        let stamps = [stamp(&tmp), stamp(&home)];
        if self.clean == Some(stamps) {
            return true;
        }
        let are_clean = count(&self.tmp, 0) == 0
            && count(&self.home, self.entries) == self.entries
            && self
                .links
                .iter()
                .all(|(link, target)| fs::read_link(link).is_ok_and(|found| found == *target));
        // The stamp of a folder does not change with the contents of its subfolders.
        if self.has_folders {
            return are_clean;
        }
        let is_settled = |seen: &Metadata| {
            let changed = Duration::new(
                seen.ctime().try_into().unwrap_or(0),
                seen.ctime_nsec().try_into().unwrap_or(0),
            );
            now.duration_since(UNIX_EPOCH + changed).is_ok_and(|age| age > SETTLED)
        };
        self.clean = (are_clean && is_settled(&tmp) && is_settled(&home)).then_some(stamps);
        are_clean
    }

    /// Removes the folders on a thread of its own, because they may hold any number of files. Anything left is removed when the
    /// server exits.
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

/// The metadata of a folder, if only our user may enter it.
fn private(folder: &Path) -> Option<Metadata> {
    let seen = fs::symlink_metadata(folder).ok()?;
    (seen.is_dir() && seen.mode() & 0o7777 == 0o700).then_some(seen)
}

fn stamp(seen: &Metadata) -> FolderStamp {
    (seen.dev(), seen.ino(), seen.ctime(), seen.ctime_nsec())
}

/// The number of entries of a folder, including those of its subfolders. Counting stops above `most`.
fn count(folder: &Path, most: usize) -> usize {
    let mut folders = vec![folder.to_owned()];
    let mut count = 0_usize;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder) else { return usize::MAX };
        for entry in entries {
            count += 1;
            let Ok(entry) = entry else { return usize::MAX };
            if count > most {
                return count;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::thread::sleep;

    fn folders(above: &Path) -> CellFolders {
        let (tmp, home) = (above.join("tmp"), above.join("home"));
        make_folder(&tmp).unwrap();
        make_folder(&home).unwrap();
        CellFolders {
            root: above.to_owned(),
            tmp,
            home,
            entries: 0,
            links: Vec::new(),
            has_folders: false,
            clean: None,
        }
    }

    #[test]
    fn folders_are_clean_until_something_is_left_in_them() {
        let above = tempfile::tempdir().unwrap();
        let mut folders = folders(above.path());
        let left = folders.tmp.join("x");
        assert!(folders.are_clean());
        fs::write(&left, "").unwrap();
        assert!(!folders.are_clean());
        fs::remove_file(&left).unwrap();
        assert!(folders.are_clean(), "it was removed again");
        // From now on a change shows in the times of the folder.
        sleep(2 * SETTLED);
        assert!(folders.are_clean() && folders.clean.is_some(), "the next look is a short one");
        assert!(folders.are_clean());
        fs::write(&left, "").unwrap();
        assert!(!folders.are_clean());
        fs::remove_file(&left).unwrap();
        fs::create_dir(folders.home.join(".config")).unwrap();
        assert!(!folders.are_clean());
    }

    #[test]
    fn what_is_left_beside_a_link_in_a_folder_is_found() {
        let above = tempfile::tempdir().unwrap();
        let mut folders = folders(above.path());
        folders.link(Path::new(".config/gh"), Path::new("/home/ann")).unwrap();
        (folders.entries, folders.has_folders) = (count(&folders.home, usize::MAX), true);
        sleep(2 * SETTLED);
        assert!(folders.are_clean() && folders.are_clean());
        fs::write(folders.home.join(".config/left"), "").unwrap();
        assert!(!folders.are_clean());
    }

    #[test]
    fn a_home_whose_link_was_replaced_is_not_clean() {
        let above = tempfile::tempdir().unwrap();
        let mut folders = folders(above.path());
        let (link, target) = (folders.home.join(".gitconfig"), PathBuf::from("/home/me/.gitconfig"));
        symlink(&target, &link).unwrap();
        (folders.entries, folders.links) = (1, vec![(link.clone(), target)]);
        assert!(folders.are_clean());
        fs::remove_file(&link).unwrap();
        fs::write(&link, "[alias]\nst = !id").unwrap();
        assert!(!folders.are_clean(), "by a file");
        fs::remove_file(&link).unwrap();
        symlink("/tmp/theirs", &link).unwrap();
        assert!(!folders.are_clean(), "by another link");
    }

    #[test]
    fn folders_that_others_may_enter_or_that_are_replaced_are_not_clean() {
        let above = tempfile::tempdir().unwrap();
        let mut folders = folders(above.path());
        sleep(2 * SETTLED);
        assert!(folders.are_clean());
        fs::set_permissions(&folders.tmp, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!folders.are_clean());
        fs::remove_dir(&folders.tmp).unwrap();
        assert!(!folders.are_clean());
        symlink("/", &folders.tmp).unwrap();
        assert!(!folders.are_clean());
    }
}
