//! Removes folders that scripts could write to.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Removes a folder with all that scripts have put there, also where they took permissions away or nested
/// folders deeper than any stack or path goes: what stands further down is moved up first. What cannot be
/// removed nevertheless stays in the temporary directory, which the system cleans up.
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
