//! Resolution: turns the places of a declaration into existing paths.

use super::confined::NotConfined;
use super::key::Key;
use super::profile;
use mcp_bash_runner::group_powers;
use mcp_bash_sandbox::{Declaration, Machine, Network, Place, Plan, Policy, Unenforceable};
use std::path::{Path, PathBuf};

/// A policy, and the paths that the home of a cell must link to.
pub(super) struct Resolved {
    pub(super) policy: Policy,
    /// The paths of the policy that hold installed programs, except those of the system.
    pub(super) installed: Vec<PathBuf>,
    /// Allowed paths below the user's home, relative to it.
    pub(super) links: Vec<PathBuf>,
    pub(super) home: Option<PathBuf>,
}

/// The places of a declaration that may be read and written, with those of the default profile.
pub(super) fn places(declaration: &Declaration) -> (Vec<Place>, Vec<Place>) {
    let read = declaration.read.clone();
    let read = read.unwrap_or_else(|| vec![Place::Project(PathBuf::new()), Place::Roots(PathBuf::new())]);
    (read, declaration.write.clone().unwrap_or_else(|| vec![Place::Tmp]))
}

/// The policy of a declaration, without its paths.
pub(super) fn policy(declaration: &Declaration) -> Policy {
    let Declaration { mode, network, limits, .. } = declaration;
    Policy {
        mode: mode.unwrap_or_default(),
        read: Vec::new(),
        write: Vec::new(),
        has_tmp: places(declaration).1.contains(&Place::Tmp),
        network: network.clone().unwrap_or(Network::None),
        limits: *limits,
    }
}

/// How this machine enforces a policy. Control groups are probed only if it needs them, because probing creates some.
pub(super) fn plan(policy: &Policy) -> Result<Plan, Unenforceable> {
    let (limits, machine) = (policy.limits, Machine::this()?);
    if limits.memory.is_none() && limits.processes.is_none() {
        return Plan::new(policy, machine);
    }
    Plan::new(policy, &Machine { groups: group_powers(), ..machine.clone() })
}

/// The home of the user.
pub(super) fn user_home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| home.is_absolute())
}

/// Resolves the declaration of a key.
pub(super) fn resolve(key: &Key) -> Result<Resolved, NotConfined> {
    let home = user_home();
    let mut links = Vec::new();
    let (read_places, write_places) = places(&key.declaration);
    let mut paths_of = |places: &[Place]| -> Result<Vec<PathBuf>, NotConfined> {
        let mut found = Vec::new();
        for place in places {
            if let Place::Home(below) = place {
                links.push(below.clone());
            }
            found.extend(paths(place, &key.project, &key.roots, home.as_deref())?);
        }
        Ok(found)
    };
    let (declared, mut write) = (paths_of(&read_places)?, paths_of(&write_places)?);
    let mut read = always_read(key, home.as_deref());
    read.extend(declared);
    let (_, devices) = profile::of_system();
    write.extend(devices.map(Path::to_owned));
    let policy = Policy { read, write, ..policy(&key.declaration) };
    Ok(Resolved { policy, installed: installed(key, home.as_deref()), links, home })
}

/// What the process may read whatever its declaration says, because it would not start otherwise.
pub(super) fn always_read(key: &Key, home: Option<&Path>) -> Vec<PathBuf> {
    let (system, _) = profile::of_system();
    let mut read: Vec<PathBuf> = system.map(Path::to_owned).collect();
    read.extend(installed(key, home));
    read.extend([key.script.clone()]);
    read.extend(key.toolbox.iter().cloned());
    read
}

/// The folders of the programs that it may run.
fn installed(key: &Key, home: Option<&Path>) -> Vec<PathBuf> {
    let mut found = profile::of_search_path(&key.search_path, home);
    found.extend(profile::of_program(&key.program, home));
    found
}

/// The paths of a place. Empty for the temporary folder, which each cell has for itself.
pub(super) fn paths(
    place: &Place,
    project: &Path,
    roots: &[PathBuf],
    home: Option<&Path>,
) -> Result<Vec<PathBuf>, NotConfined> {
    let found = match place {
        Place::Project(below) => vec![project.join(below)],
        Place::Roots(below) => roots.iter().map(|root| root.join(below)).collect(),
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
