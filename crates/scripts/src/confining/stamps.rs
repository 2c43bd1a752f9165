//! Stamps: show whether the paths of a policy are still the files that its ruleset was built for. A rule applies to a file, and
//! not to another one that replaces it.

use super::profile;
use mcp_bash_sandbox::Policy;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often installed programs are checked. A program that was just replaced may be denied for this long.
const INSTALLED_CHECK_INTERVAL: Duration = Duration::from_secs(1);

pub(super) struct Stamps {
    /// Checked before each process.
    own: Vec<(PathBuf, Stamp)>,
    installed: Vec<(PathBuf, Stamp)>,
    checked_installed: Instant,
}

/// Device and inode; for the folder of the system's configuration also its modification time, otherwise 0.
type Stamp = (u64, u64, i64, i64);

impl Stamps {
    /// The stamps of all paths that may be replaced: those that are not the system's, and the folder of the system's
    /// configuration, whose files are replaced by renaming. `installed` are the paths of the policy that hold programs.
    pub(super) fn of(policy: &Policy, installed: &[PathBuf]) -> Self {
        let mut paths: Vec<&Path> = policy.read.iter().chain(&policy.write).map(PathBuf::as_path).collect();
        paths.retain(|path| !profile::is_of_system_profile(path));
        paths.push(Path::new(profile::REPLACED_IN));
        paths.sort_unstable();
        paths.dedup();
        let (installed, own): (Vec<&Path>, Vec<&Path>) =
            paths.into_iter().partition(|path| installed.iter().any(|installed| installed == path));
        Self { own: stamped(&own), installed: stamped(&installed), checked_installed: Instant::now() }
    }

    /// Whether the paths are the same files as they were.
    pub(super) fn are_current(&mut self) -> bool {
        if !are_same(&self.own) {
            return false;
        }
        if self.checked_installed.elapsed() < INSTALLED_CHECK_INTERVAL {
            return true;
        }
        self.checked_installed = Instant::now();
        are_same(&self.installed)
    }
}

fn stamped(paths: &[&Path]) -> Vec<(PathBuf, Stamp)> {
    paths.iter().filter_map(|path| Some((path.to_path_buf(), stamp(path)?))).collect()
}

fn are_same(stamps: &[(PathBuf, Stamp)]) -> bool {
    stamps.iter().all(|(path, made)| stamp(path).as_ref() == Some(made))
}

fn stamp(path: &Path) -> Option<Stamp> {
    let seen = fs::metadata(path).ok()?;
    let changed =
        if path == Path::new(profile::REPLACED_IN) { (seen.mtime(), seen.mtime_nsec()) } else { (0, 0) };
    Some((seen.dev(), seen.ino(), changed.0, changed.1))
}
