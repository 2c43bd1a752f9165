//! The folders that decide which file a path leads to. Whoever may write one of them can put another file there.

use super::{Distrust, judge, judge_owner, writable};
use mcp_bash_files::look;
use mcp_bash_files::shortage::noted;
use std::ffi::OsString;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// Where a path leads.
pub(super) struct Way {
    /// Where it ends, without links.
    pub(super) end: PathBuf,
    /// The folders of the links that it leads through.
    links: Vec<PathBuf>,
    /// The project without links, or what was given as such.
    root: PathBuf,
}

impl Way {
    /// Follows the links of a path one by one. How `root` itself is reached is not looked at: its owner has named it.
    pub(super) fn follow(path: &Path, root: &Path) -> io::Result<Self> {
        /// As many as Linux follows.
        const MOST_LINKS: usize = 40;

        let real_root = look::canonical(root).unwrap_or_else(|_| root.to_owned());
        let (mut here, rest) = match path.strip_prefix(root) {
            Ok(below) => (real_root.clone(), below.to_owned()),
            Err(_) => (PathBuf::from("/"), std::path::absolute(path)?),
        };
        let (mut names, mut links) = (Vec::new(), Vec::new());
        push_names(&rest, &mut names);
        while let Some(name) = names.pop() {
            if name == ".." {
                here.pop();
                continue;
            }
            let next = here.join(&name);
            if !look::link_metadata(&next)?.is_symlink() {
                here = next;
                continue;
            }
            let target = fs::read_link(&next).map_err(noted)?;
            links.push(here.clone());
            if links.len() > MOST_LINKS {
                return Err(rustix::io::Errno::LOOP.into());
            }
            if target.is_absolute() {
                here = PathBuf::from("/");
            }
            push_names(&target, &mut names);
        }
        Ok(Self { end: here, links, root: real_root })
    }

    /// Judges the folder that the end of the path stands in, the folders of the links, and all that these stand in.
    pub(super) fn judge(&self) -> Result<(), Distrust> {
        let ends_in = self.end.parent().unwrap_or(&self.end);
        self.judge_with(ends_in)
    }

    /// The same for a path that leads to a folder, which is judged as well.
    pub(super) fn judge_folder(&self) -> Result<(), Distrust> {
        self.judge_with(&self.end)
    }

    /// Judges the end of the path and all folders as those of a program.
    pub(super) fn judge_program(&self) -> Result<(), Distrust> {
        let metadata = look::metadata(&self.end)?;
        if self.end.starts_with(&self.root) {
            judge(&self.end, &metadata)?;
        } else if is_writable_by_everyone(&metadata) {
            return Err(writable(&self.end, &metadata));
        }
        let ends_in = self.end.parent().unwrap_or(&self.end);
        for folder in [ends_in].into_iter().chain(self.links.iter().map(PathBuf::as_path)) {
            if folder.starts_with(&self.root) {
                judge_upwards(folder, &self.root)?;
            } else {
                judge_folders_of_programs(folder)?;
            }
        }
        Ok(())
    }

    fn judge_with(&self, folder: &Path) -> Result<(), Distrust> {
        let folders = [folder].into_iter().chain(self.links.iter().map(PathBuf::as_path));
        for folder in folders {
            judge_upwards(folder, &self.root)?;
        }
        Ok(())
    }
}

/// Puts the names of a path on top of those that are still to be looked up, the first one last.
fn push_names(path: &Path, names: &mut Vec<OsString>) {
    let parts = path.components().rev();
    let is_name = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::ParentDir);
    names.extend(parts.filter(is_name).map(|part| part.as_os_str().to_owned()));
}

/// Judges a folder and those it stands in: up to `root` where it is inside of that, else all of them.
pub(super) fn judge_upwards(folder: &Path, root: &Path) -> Result<(), Distrust> {
    let is_inside = folder.starts_with(root);
    for (height, folder) in folder.ancestors().enumerate() {
        let metadata = look::metadata(folder)?;
        // In `/tmp` and its like everyone may make entries, but nobody may rename or remove those of others.
        if !is_inside && height > 0 && is_sticky(&metadata) {
            judge_owner(folder, &metadata)?;
        } else {
            judge(folder, &metadata)?;
        }
        if is_inside && folder == root {
            break;
        }
    }
    Ok(())
}

/// Judges a folder outside of the project that programs are in, and those above it.
fn judge_folders_of_programs(folder: &Path) -> Result<(), Distrust> {
    for (height, folder) in folder.ancestors().enumerate() {
        let metadata = look::metadata(folder)?;
        if is_writable_by_everyone(&metadata) && (height == 0 || !is_sticky(&metadata)) {
            return Err(writable(folder, &metadata));
        }
    }
    Ok(())
}

fn is_writable_by_everyone(metadata: &Metadata) -> bool {
    metadata.mode() & 0o002 != 0
}

fn is_sticky(metadata: &Metadata) -> bool {
    metadata.mode() & 0o1000 != 0
}
