//! Folder removal: removes folders that scripts could write to.

use crate::folders::private_folder;
use rustix::fs::{
    AtFlags, Dir, DirEntry, FileType, Mode, OFlags, chmodat, fchmod, openat, renameat, statat, unlinkat,
};
use std::ffi::{CStr, CString};
use std::fs::{self, File, Permissions};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Removes a folder with everything that scripts have put there. Anything that cannot be removed stays in the temporary
/// directory, which the system cleans up.
pub fn remove_folder(top: &Path) {
    let opened = private_folder::open(top).or_else(|error| {
        // A link is not a folder, and stays.
        if top.symlink_metadata()?.is_dir() {
            fs::set_permissions(top, Permissions::from_mode(0o700))?;
        }
        private_folder::open(top).map_err(|_| error)
    });
    if let Ok(folder) = opened {
        remove_contents(&folder);
    }
    let _ = fs::remove_dir(top);
}

/// Removes the contents of a folder, even if scripts took permissions away or nested folders deeper than any stack or
/// path allows: deeper folders are moved up first. No link is followed.
pub(crate) fn remove_contents(top: &File) {
    let _ = fchmod(top, Mode::RWXU);
    let mut pending = Vec::new();
    for entry in entries(top) {
        if is_folder(top, &entry) {
            pending.push(entry.file_name().to_owned());
        } else {
            let _ = unlinkat(top, entry.file_name(), AtFlags::empty());
        }
    }
    let mut moved = 0_u64;
    while let Some(name) = pending.pop() {
        let Some(folder) = open_in(top, &name) else { continue };
        for entry in entries(&folder) {
            if !is_folder(&folder, &entry) {
                let _ = unlinkat(&folder, entry.file_name(), AtFlags::empty());
                continue;
            }
            moved += 1;
            let Ok(new_name) = CString::new(format!("mcpbash.removed.{moved}")) else { continue };
            // Only a writable folder can be moved.
            let _ = chmodat(&folder, entry.file_name(), Mode::RWXU, AtFlags::empty());
            if renameat(&folder, entry.file_name(), top, &new_name).is_ok() {
                pending.push(new_name);
            }
        }
        let _ = unlinkat(top, &name, AtFlags::REMOVEDIR);
    }
}

/// Opens a folder in `top`, whose permissions we may set.
fn open_in(top: &File, name: &CStr) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let open = || openat(top, name, flags, Mode::empty());
    let folder = open().or_else(|_| {
        chmodat(top, name, Mode::RWXU, AtFlags::empty())?;
        open()
    });
    let folder = folder.ok()?;
    let _ = fchmod(&folder, Mode::RWXU);
    Some(folder)
}

fn entries(folder: impl std::os::fd::AsFd) -> impl Iterator<Item = DirEntry> {
    let entries = Dir::read_from(folder).into_iter().flatten().flatten();
    entries.filter(|entry| !matches!(entry.file_name().to_bytes(), b"." | b".."))
}

/// Whether it is a folder, not a link to one.
fn is_folder(parent: impl std::os::fd::AsFd, entry: &DirEntry) -> bool {
    let kind = match entry.file_type() {
        FileType::Unknown => {
            let seen = statat(parent, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
            seen.map_or(FileType::Unknown, |seen| FileType::from_raw_mode(seen.st_mode))
        }
        known => known,
    };
    kind == FileType::Directory
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
        for (closed, mode) in [("a/b/c", 0o000), ("a/b", 0o500), ("a", 0o000), ("", 0o300)] {
            fs::set_permissions(top.join(closed), Permissions::from_mode(mode)).unwrap();
        }
        remove_folder(&top);
        assert!(!top.exists());
        assert!(temporary.path().join("outside").exists());
    }

    #[test]
    fn a_link_in_place_of_a_folder_is_not_followed() {
        let temporary = tempfile::tempdir().unwrap();
        let (precious, link) = (temporary.path().join("precious"), temporary.path().join("link"));
        fs::create_dir(&precious).unwrap();
        fs::write(precious.join("file"), "").unwrap();
        std::os::unix::fs::symlink(&precious, &link).unwrap();
        remove_folder(&link);
        assert!(precious.join("file").exists());
    }
}
