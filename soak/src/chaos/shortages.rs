//! Shortages: for a moment the server has no descriptors, no processes, or no space for its temporary files.

use super::account::Account;
use super::vandal::Damage;
use crate::http::Server;
use crate::random::Random;
use rustix::process::{Pid, Resource, Rlimit, getuid, prlimit};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;

/// A small file system for the temporary files of the server.
#[derive(Debug)]
pub(super) struct Disk(PathBuf);

impl Disk {
    /// Creates a folder with this many megabytes of space.
    pub(super) fn mount(folder: PathBuf, megabytes: u32) -> io::Result<Self> {
        fs::create_dir(&folder)?;
        let size = format!("size={megabytes}m,mode=700");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &size, "disk"]).arg(&folder);
        if mount.status()?.success() {
            Ok(Self(folder))
        } else {
            Err(io::Error::other("chaos needs a name space of mounts of its own: `scripts/chaos` makes one"))
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    /// Fills it.
    fn fill(&self) -> io::Result<()> {
        match fs::write(self.filler(), vec![0; 64 * 1024 * 1024]) {
            Err(error) if error.kind() == ErrorKind::StorageFull => Ok(()),
            other => other,
        }
    }

    fn make_room(&self) -> io::Result<()> {
        fs::remove_file(self.filler())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

/// Makes the server short of a resource, again and again.
pub(super) struct Shortages<'a> {
    pub(super) server: &'a Server,
    pub(super) disk: &'a Disk,
    pub(super) damage: &'a Damage,
    pub(super) account: &'a Account,
    pub(super) random: Random,
}

#[derive(Debug, Clone, Copy)]
enum Lack {
    Descriptors,
    Processes,
    Space,
}

const LACKS: [(u64, Lack); 3] = [(3, Lack::Descriptors), (1, Lack::Processes), (2, Lack::Space)];

impl Shortages<'_> {
    pub(super) fn rage(mut self, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Acquire) {
            sleep(self.random.millis(200, 1500));
            let lack = self.random.weighted(&LACKS);
            self.damage.note();
            if let Err(error) = self.cause(lack) {
                self.account.blame(format!("no shortage could be made: {lack:?}: {error}"));
            }
            self.damage.note();
        }
    }

    fn cause(&mut self, lack: Lack) -> io::Result<()> {
        match lack {
            Lack::Descriptors => {
                self.account.note("shortages of descriptors");
                let more = self.random.below(8);
                let open = fs::read_dir(format!("/proc/{}/fd", self.server.pid()))?.count() as u64;
                self.limit(Resource::Nofile, open + more)
            }
            // The limit does not apply to root.
            Lack::Processes if is_root_of_the_system() => Ok(()),
            Lack::Processes => {
                self.account.note("shortages of processes");
                self.limit(Resource::Nproc, 1)
            }
            Lack::Space => {
                self.account.note("shortages of space");
                self.disk.fill()?;
                sleep(self.random.millis(0, 300));
                self.disk.make_room()
            }
        }
    }

    /// Lowers a limit of the server for a moment.
    fn limit(&mut self, resource: Resource, most: u64) -> io::Result<()> {
        let pid = i32::try_from(self.server.pid()).ok().and_then(Pid::from_raw);
        let before = prlimit(pid, resource, keeping_maximum(self.server.pid(), resource, most)?)?;
        sleep(self.random.millis(0, 300));
        prlimit(pid, resource, before)?;
        Ok(())
    }
}

/// Whether this is the real root, and not only root in a user namespace.
fn is_root_of_the_system() -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    getuid().is_root() && map.split_whitespace().nth(1) == Some("0")
}

/// Only the soft limit changes: an ordinary user could not raise the hard limit again.
fn keeping_maximum(pid: u32, resource: Resource, most: u64) -> io::Result<Rlimit> {
    let name = if resource == Resource::Nofile { "Max open files" } else { "Max processes" };
    let limits = fs::read_to_string(format!("/proc/{pid}/limits"))?;
    let line = limits.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    let maximum = line.split_whitespace().nth(1).and_then(|maximum| maximum.parse().ok());
    Ok(Rlimit { current: Some(maximum.map_or(most, |maximum| most.min(maximum))), maximum })
}
