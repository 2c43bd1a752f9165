//! Resolution: the places of a declaration as paths that exist.

use super::confined::NotConfined;
use super::key::Key;
use super::profile;
use mcp_bash_sandbox::{Declaration, Limits, Network, Place, Policy};
use std::path::{Path, PathBuf};

/// How many processes and threads a call may have, unless its declaration says so. Enough for builds, and not for a fork
/// bomb.
const PROCESSES: u64 = 1024;

/// A policy, and the paths of it that the home of a call must lead to.
pub(super) struct Resolved {
    pub(super) policy: Policy,
    /// Paths below the user's home that are allowed, as they are written behind `~`.
    pub(super) links: Vec<PathBuf>,
    pub(super) home: Option<PathBuf>,
}

/// Resolves the declaration of a key.
pub(super) fn resolve(key: &Key) -> Result<Resolved, NotConfined> {
    let Declaration { mode, read, write, network, limits, .. } = &key.declaration;
    let home = std::env::home_dir().filter(|home| home.is_absolute());
    let mut links = Vec::new();
    let read_places =
        read.clone().unwrap_or_else(|| vec![Place::Project(PathBuf::new()), Place::Roots(PathBuf::new())]);
    let write_places = write.clone().unwrap_or_else(|| vec![Place::Tmp]);
    let mut paths_of = |places: &[Place]| -> Result<Vec<PathBuf>, NotConfined> {
        let mut found = Vec::new();
        for place in places {
            if let Place::Home(below) = place {
                links.push(below.clone());
            }
            found.extend(paths(place, key, home.as_deref())?);
        }
        Ok(found)
    };
    let (declared, mut write) = (paths_of(&read_places)?, paths_of(&write_places)?);
    let mut read = always_read(key, home.as_deref());
    read.extend(declared);
    let (_, devices) = profile::of_system();
    write.extend(devices.map(Path::to_owned));
    let has_tmp = write_places.contains(&Place::Tmp);
    let limits = Limits { processes: limits.processes.or(Some(PROCESSES)), ..*limits };
    let policy = Policy {
        mode: mode.unwrap_or_default(),
        read,
        write,
        has_tmp,
        network: network.clone().unwrap_or(Network::None),
        limits,
    };
    Ok(Resolved { policy, links, home })
}

/// What the process may read whatever its declaration says, or it would not start.
pub(super) fn always_read(key: &Key, home: Option<&Path>) -> Vec<PathBuf> {
    let (system, _) = profile::of_system();
    let mut read: Vec<PathBuf> = system.map(Path::to_owned).collect();
    read.extend(profile::of_search_path(&key.search_path, home));
    read.extend(profile::of_program(&key.program, home));
    read.extend([key.script.clone()]);
    read.extend(key.toolbox.iter().cloned());
    read
}

/// The paths of a place. The temporary folder of a call is not known yet.
fn paths(place: &Place, key: &Key, home: Option<&Path>) -> Result<Vec<PathBuf>, NotConfined> {
    let found = match place {
        Place::Project(below) => vec![key.project.join(below)],
        Place::Roots(below) => key.roots.iter().map(|root| root.join(below)).collect(),
        Place::Home(below) => vec![home.ok_or(NotConfined::NoHome)?.join(below)],
        Place::Absolute(path) => vec![path.clone()],
        Place::Tmp => Vec::new(),
    };
    match found.iter().find(|path| !path.exists()) {
        Some(missing) => {
            let path = Some(missing.clone()).filter(|_| !matches!(place, Place::Absolute(_)));
            Err(NotConfined::Missing { place: place.to_string(), path })
        }
        None => Ok(found),
    }
}
