//! Stale folders: removes the private folders of servers that were killed together with their wardens.
//!
//! A folder is removed if its name is one that we give, it belongs to our user, and no process holds its lock: every
//! server holds a shared lock for as long as it lives (`private_folder`), and the kernel releases it however the server
//! ends. A server that has just made its folder and not locked it yet may lose it. It detects that, and makes another.

use crate::folders::private_folder;
use crate::folders::remove::remove_contents;
use rustix::fs::{FlockOperation, flock};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The prefix of private folders.
pub(crate) const PRIVATE: &str = "mcpbash.run.";

/// Whether a path leads through a private folder that was removed. If it were created again, nothing would ever remove
/// it.
pub fn is_in_removed_folder(path: &Path) -> bool {
    let is_private = |folder: &&Path| {
        folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(PRIVATE.as_bytes()))
    };
    path.ancestors().find(is_private).is_some_and(|folder| !folder.exists())
}
/// The prefix of folders for sockets.
pub(crate) const SOCKETS: &str = "mcpbash.ask.";

/// Removes the stale folders in `parent`.
pub(crate) fn remove_folders_in(parent: &Path) {
    for entry in parent.read_dir().into_iter().flatten().flatten() {
        if is_ours(&entry.file_name()) {
            let path = entry.path();
            if let Some(folder) = lock_unused(&path) {
                remove_contents(&folder);
                let _ = std::fs::remove_dir(path);
            }
        }
    }
}

/// The folder at `path`, locked exclusively, if it belongs to our user and no server uses it.
fn lock_unused(path: &Path) -> Option<File> {
    let folder = private_folder::open(path).ok()?;
    let is_own = folder.metadata().is_ok_and(|seen| seen.uid() == rustix::process::geteuid().as_raw());
    (is_own && flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok()).then_some(folder)
}

/// Whether a name has the form that we give: a prefix, process ids, and 16 random hexadecimal digits.
fn is_ours(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let Some(rest) = name.strip_prefix(PRIVATE).or_else(|| name.strip_prefix(SOCKETS)) else { return false };
    let mut parts = rest.rsplit('.');
    let is_random = |part: &str| part.len() == 16 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.next().is_some_and(is_random) && parts.all(is_number)
}

#[cfg(test)]
mod tests {
    use crate::StateDir;
    use std::fs;
    use std::os::unix::fs::symlink;

    const DEAD: &str = "mcpbash.run.7.8.0123456789abcdef";

    #[test]
    fn folders_that_no_server_uses_are_removed_and_no_others() {
        let temporary = tempfile::tempdir().unwrap();
        let at = |name: &str| temporary.path().join(name);
        let alive = StateDir::new(temporary.path().to_owned(), false);
        let kept = StateDir::new(temporary.path().to_owned(), true);
        let used = alive.path().unwrap();
        fs::create_dir_all(at(DEAD).join("calls/deep")).unwrap();
        fs::create_dir(at("mcpbash.ask.0123456789abcdef")).unwrap();
        // Kept on purpose, from an older version, or not ours.
        let others = [
            kept.path().unwrap(),
            at("mcpbash.state.7.8.0123456789abcdef"),
            at("mcpbash.run.notes"),
            at("mcpbash.run.7.8.0123456789abcdef.bak"),
        ];
        others[1..].iter().for_each(|other| fs::create_dir(other).unwrap());
        // A link with such a name leads elsewhere.
        fs::create_dir(at("precious")).unwrap();
        fs::write(at("precious/file"), "").unwrap();
        symlink(at("precious"), at("mcpbash.run.7.9.0123456789abcdef")).unwrap();
        drop(kept);
        alive.remove_folders_of_dead_servers();
        assert!(!at(DEAD).exists() && !at("mcpbash.ask.0123456789abcdef").exists());
        assert!(used.is_dir() && others.iter().all(|other| other.is_dir()), "{others:?}");
        assert!(at("precious/file").exists());
        alive.remove();
        assert!(!used.exists());
    }

    #[test]
    fn many_servers_that_begin_and_sweep_at_once_keep_their_folders() {
        let temporary = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let state_dir = StateDir::new(temporary.path().to_owned(), false);
                        let folder = state_dir.path().unwrap();
                        state_dir.remove_folders_of_dead_servers();
                        assert!(folder.is_dir());
                    }
                });
            }
        });
        assert_eq!(temporary.path().read_dir().unwrap().count(), 0);
    }
}
