//! Usage: what processes used of the sandbox that their declaration allows, and what it allows beyond that.

use crate::attempts::{Attempt, Attempts, Deed, Target};
use crate::declaration::{Declaration, Network};
use crate::offer::NAME_SERVER;
use crate::place::Place;
use crate::traced_call::{TracedCall, folder_of};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

/// What one process used, or several together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    read: Places,
    write: Places,
    /// Whether another machine was connected to.
    other_machines: bool,
    /// The ports of this machine that were connected to.
    local_ports: BTreeSet<u16>,
    /// The entries of the host list that were connected to.
    entries: BTreeSet<String>,
}

/// What a process of a script used, as servers record it.
#[derive(Debug, Serialize, Deserialize)]
pub struct RecordedUsage {
    pub script: PathBuf,
    pub usage: Usage,
}

/// The allowed places, as their author writes them. Each has the narrowest folder that holds everything that was used of it,
/// relative to the place; `None` if nothing was.
type Places = BTreeMap<String, Option<PathBuf>>;

/// An allowed place, and the paths that it stands for, without links.
pub type AllowedPaths = (Place, Vec<PathBuf>);

/// Something that a declaration allows and nothing used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Excess {
    Read(String),
    Write(String),
    /// Only a folder below the place was read.
    ReadOnlyBelow(String, String),
    /// Only a folder below the place was written to.
    WriteOnlyBelow(String, String),
    /// `"network": "all"`.
    Network,
    /// `"network": "all"`, of which only ports of this machine were used.
    NetworkBeyond(Vec<u16>),
    Host(String),
}

impl Usage {
    /// What a process used of these places, and of the entries of its host list.
    pub fn of(
        call: &TracedCall,
        attempts: &Attempts,
        read: &[AllowedPaths],
        write: &[AllowedPaths],
        entries: impl IntoIterator<Item = String>,
    ) -> Self {
        let mut usage = Self { entries: entries.into_iter().collect(), ..Self::default() };
        usage.read = places(read, || {
            paths(call, attempts, |deed| matches!(deed, Deed::Read | Deed::Run)).map(Path::to_owned)
        });
        usage.write = places(write, || {
            let written = paths(call, attempts, |deed| deed == Deed::Write).map(Path::to_owned);
            let changed = paths(call, attempts, |deed| matches!(deed, Deed::Create | Deed::Remove));
            written.chain(changed.map(|path| folder_of(path).to_owned()))
        });
        let own_port = |port| attempts.iter().any(|attempt| listens_on(attempt, port));
        for attempt in attempts.iter().filter(|attempt| attempt.deed == Deed::Connect) {
            let Target::Address(address) = attempt.target else { continue };
            if !address.ip().is_loopback() {
                usage.other_machines |= address.port() != 0;
            } else if ![0, NAME_SERVER].contains(&address.port()) && !own_port(address.port()) {
                usage.local_ports.insert(address.port());
            }
        }
        usage
    }

    /// Adds what another process used.
    pub fn add(&mut self, other: Self) {
        add_places(&mut self.read, other.read);
        add_places(&mut self.write, other.write);
        self.other_machines |= other.other_machines;
        self.local_ports.extend(other.local_ports);
        self.entries.extend(other.entries);
    }

    /// What a declaration itself allows, and no process used. Places that no process was allowed are left out.
    pub fn excess(&self, declaration: &Declaration) -> Vec<Excess> {
        let mut excess = Vec::new();
        for place in declaration.read.iter().flatten() {
            excess.extend(beyond(&self.read, place, Excess::Read, Excess::ReadOnlyBelow));
        }
        for place in declaration.write.iter().flatten() {
            excess.extend(beyond(&self.write, place, Excess::Write, Excess::WriteOnlyBelow));
        }
        match &declaration.network {
            Some(Network::All) if !self.other_machines => excess.push(if self.local_ports.is_empty() {
                Excess::Network
            } else {
                Excess::NetworkBeyond(self.local_ports.iter().copied().collect())
            }),
            Some(Network::Hosts(hosts)) => {
                let unused = hosts.entries().filter(|entry| !self.entries.contains(entry));
                excess.extend(unused.map(Excess::Host));
            }
            _ => {}
        }
        excess
    }
}

/// Completes "its sandbox …".
impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(place) => write!(f, "allows reading `{place}`, which no test did"),
            Self::Write(place) => write!(f, "allows writing to `{place}`, which no test did"),
            Self::ReadOnlyBelow(place, used) => {
                write!(f, "allows reading `{place}`, of which the tests read only `{used}`")
            }
            Self::WriteOnlyBelow(place, used) => {
                write!(f, "allows writing to `{place}`, of which the tests wrote only to `{used}`")
            }
            Self::Network => f.write_str("allows the whole network, which no test used"),
            Self::NetworkBeyond(ports) => {
                let ports: Vec<String> = ports.iter().map(|port| format!("`localhost:{port}`")).collect();
                write!(f, "allows the whole network, of which the tests used only {}", ports.join(", "))
            }
            Self::Host(entry) => write!(f, "allows connecting to `{entry}`, which no test did"),
        }
    }
}

/// The paths of these deeds that count as use: not what every sandbox may do, nor the folders of the call.
fn paths<'a>(
    call: &'a TracedCall,
    attempts: &'a Attempts,
    counts: impl Fn(Deed) -> bool + 'a,
) -> impl Iterator<Item = &'a Path> {
    let counted = attempts.iter().filter(move |attempt| counts(attempt.deed));
    counted.filter(|attempt| !call.is_always_allowed(attempt)).filter_map(|attempt| match &attempt.target {
        Target::Path(path) if !call.is_own(path) => Some(path.as_path()),
        _ => None,
    })
}

fn listens_on(attempt: &Attempt, port: u16) -> bool {
    match attempt {
        // Port 0 is any free one.
        Attempt { deed: Deed::Listen, target: Target::Address(own) } => [0, port].contains(&own.port()),
        _ => false,
    }
}

/// What is used of each place. The temporary folder of a call is not asked about: it costs nothing to allow it.
fn places<I: Iterator<Item = PathBuf>>(allowed: &[AllowedPaths], used: impl Fn() -> I) -> Places {
    let allowed = allowed.iter().filter(|(place, _)| *place != Place::Tmp);
    allowed.map(|(place, roots)| (place.to_string(), used_of(roots, used()))).collect()
}

/// The narrowest folder, relative to one of these paths, that holds everything that is used below them.
fn used_of(roots: &[PathBuf], used: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    used.filter_map(|path| {
        let below = roots.iter().find_map(|root| path.strip_prefix(root).ok())?;
        // A file stands for its folder: with other arguments it is another file.
        let is_file = !path.is_dir();
        Some(if is_file { folder_of(below) } else { below }.to_owned())
    })
    .reduce(|one, other| common(&one, &other))
}

fn common(one: &Path, other: &Path) -> PathBuf {
    let both = one.components().zip(other.components());
    both.take_while(|(one, other)| one == other).map(|(part, _)| part).collect()
}

fn add_places(places: &mut Places, others: Places) {
    for (place, used) in others {
        let known = places.entry(place).or_default();
        *known = match (known.take(), used) {
            (Some(one), Some(other)) => Some(common(&one, &other)),
            (one, other) => one.or(other),
        };
    }
}

fn beyond(
    places: &Places,
    place: &Place,
    unused: impl Fn(String) -> Excess,
    only_below: impl Fn(String, String) -> Excess,
) -> Option<Excess> {
    let name = place.to_string();
    match places.get(&name)? {
        None => Some(unused(name)),
        Some(below) if below.as_os_str().is_empty() => None,
        Some(below) => {
            let used = format!("{}/{}", name.trim_end_matches('/'), below.display());
            Some(only_below(name, used))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(read: &[(&str, Option<&str>)]) -> Usage {
        let read = read.iter().map(|(place, used)| ((*place).to_owned(), used.map(PathBuf::from)));
        Usage { read: read.collect(), ..Usage::default() }
    }

    #[test]
    fn processes_together_use_the_narrowest_folder_of_all() {
        let mut all = usage(&[("project", Some("data/day")), ("/var", None), ("/srv", None)]);
        all.add(usage(&[("project", Some("data/night")), ("/var", Some("log")), ("/opt", Some(""))]));
        let together =
            usage(&[("project", Some("data")), ("/var", Some("log")), ("/srv", None), ("/opt", Some(""))]);
        assert_eq!(all, together);
        let declared = Declaration::parse(r#"{"read": ["project", "/srv", "/opt", "/unknown"]}"#).unwrap();
        let excess =
            [Excess::ReadOnlyBelow("project".into(), "project/data".into()), Excess::Read("/srv".into())];
        assert_eq!(all.excess(&declared), excess);
        all.add(usage(&[("project", Some("logs"))]));
        assert_eq!(all.excess(&declared), [Excess::Read("/srv".into())]);
    }

    #[test]
    fn one_word_and_no_network_allow_nothing_that_could_be_left_out() {
        for written in ["\"on\"", r#"{"network": "none"}"#, r#"{"network": []}"#] {
            let declared = Declaration::parse(written).unwrap();
            assert_eq!(Usage::default().excess(&declared), [], "{written}");
        }
    }
}
