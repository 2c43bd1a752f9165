//! Path resolution: the folders that decide which file a path leads to. A user who may write one of them can put another
//! file there.

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
    /// Its end, without symlinks.
    pub(super) end: PathBuf,
    /// The folders of the symlinks it leads through.
    links: Vec<PathBuf>,
    /// The project without symlinks, or as it was given.
    root: PathBuf,
}

impl Way {
    /// Follows the symlinks of a path one by one. The way to `root` itself is not judged: its owner has named it.
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

    /// Judges the folder of the end of the path, the folders of the symlinks, and all folders above these.
    pub(super) fn judge(&self) -> Result<(), Distrust> {
        let ends_in = self.end.parent().unwrap_or(&self.end);
        self.judge_with(ends_in)
    }

    /// The same for a path that leads to a folder, which is judged as well.
    pub(super) fn judge_folder(&self) -> Result<(), Distrust> {
        self.judge_with(&self.end)
    }

    /// Judges the end of the path and all folders by the rule for programs.
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

/// Pushes the names of a path on top of those still to be resolved, the first one last.
fn push_names(path: &Path, names: &mut Vec<OsString>) {
    let parts = path.components().rev();
    let is_name = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::ParentDir);
    names.extend(parts.filter(is_name).map(|part| part.as_os_str().to_owned()));
}

/// Judges a folder and those above it: up to `root` if it is inside that, otherwise all of them.
pub(super) fn judge_upwards(folder: &Path, root: &Path) -> Result<(), Distrust> {
    let is_inside = folder.starts_with(root);
    for (height, folder) in folder.ancestors().enumerate() {
        let metadata = look::metadata(folder)?;
        // In `/tmp` and other sticky folders everyone may create entries, but nobody may rename or remove those of others.
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

/// Judges a folder outside the project that contains programs, and those above it.
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
