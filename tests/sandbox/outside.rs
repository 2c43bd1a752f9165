//! What attacks are aimed at: a folder, and a process. The folder can be compared with what it was.

use super::identity::Identity;
use super::servers::Servers;
use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

pub(super) struct Outside {
    folder: TempDir,
    identity: Identity,
    process: Child,
    pub(super) servers: Servers,
}

/// The state of everything in a folder: of each path, its text and its metadata.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct State(BTreeMap<PathBuf, String>);

impl Outside {
    pub(super) fn new(identity: Identity) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let mut sleep = Command::new("sleep");
        sleep.arg("600").stdin(Stdio::null()).env("SECRET", "of another process").current_dir("/");
        identity.runs(&mut sleep);
        let process = sleep.spawn().expect("a process");
        let servers = Servers::start(folder.path());
        let outside = Self { folder, identity, process, servers };
        outside.restore();
        outside
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(super) fn process(&self) -> u32 {
        self.process.id()
    }

    /// Everything as it was in the beginning.
    pub(super) fn restore(&self) {
        let home = self.path("home");
        let _ = fs::remove_dir_all(&home);
        fs::create_dir_all(home.join(".ssh")).expect("folders");
        fs::write(home.join(".ssh/id_ed25519"), "a private key\n").expect("a file");
        fs::write(home.join("notes"), "notes\n").expect("a file");
        fs::copy("/bin/true", home.join("program")).expect("a program");
        fs::set_permissions(home.join("notes"), Permissions::from_mode(0o600)).expect("permissions");
        self.identity.owns(self.folder.path());
    }

    pub(super) fn state(&self) -> State {
        let mut state = BTreeMap::new();
        let mut folders = vec![self.path("home")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                state.insert(path.clone(), described(&path));
                if path.is_dir() && !path.is_symlink() {
                    folders.push(path);
                }
            }
        }
        State(state)
    }
}

fn described(path: &Path) -> String {
    let metadata = fs::symlink_metadata(path).expect("metadata");
    let text = if metadata.is_file() { fs::read(path).expect("a file") } else { Vec::new() };
    let length = text.len();
    let text = String::from_utf8_lossy(&text[..length.min(100)]).into_owned();
    let mut attribute = [0_u8; 8];
    let has_attribute = rustix::fs::lgetxattr(path, "user.hostile", &mut attribute).is_ok();
    let (mode, uid, links, time) = (metadata.mode(), metadata.uid(), metadata.nlink(), metadata.mtime_nsec());
    format!("{mode:o} {uid} {links} {}.{time} {has_attribute} {length} {text}", metadata.mtime())
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
