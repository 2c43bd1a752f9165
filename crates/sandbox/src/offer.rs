//! Offer: the narrowest declaration under which a traced call could do what it did.

use crate::attempts::{Attempt, Attempts, Deed, Target};
use crate::declaration::{Declaration, Mode, Network};
use crate::place::Place;
use crate::traced_call::{TracedCall, folder_of};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// As many files of one folder stand for the folder.
const SIBLINGS: usize = 3;

/// The port of name servers: who asks one wants to reach a host whose name is not known here.
pub(crate) const NAME_SERVER: u16 = 53;

/// A declaration that is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    pub read: Vec<String>,
    pub write: Vec<String>,
    /// The value of `network`.
    pub network: Value,
}

impl Offer {
    /// The offer for what was allowed, and `with_denied` for what was denied too. Only what `exists` can be declared.
    pub fn new(
        call: &TracedCall,
        attempts: &Attempts,
        with_denied: bool,
        exists: impl Fn(&Path) -> bool,
    ) -> Self {
        let wanted = |attempt: &&Attempt| {
            !call.is_always_allowed(attempt) && (with_denied || call.allows(attempt, attempts))
        };
        let (mut read, mut write) = (BTreeSet::new(), BTreeSet::new());
        for attempt in attempts.iter().filter(wanted) {
            let Target::Path(path) = &attempt.target else { continue };
            if call.is_own(path) || is_of_a_process(path) {
                continue;
            }
            match attempt.deed {
                Deed::Read | Deed::Run => drop(read.insert(path.clone())),
                Deed::Write => drop(write.insert(path.clone())),
                Deed::Create | Deed::Remove => drop(write.insert(folder_of(path).to_owned())),
                Deed::Connect | Deed::Listen => {}
            }
        }
        let is_wide = |folder: &Path| {
            folder.parent().is_none() || call.home.as_ref().is_some_and(|home| home.starts_with(folder))
        };
        let folded = |paths: BTreeSet<PathBuf>| {
            let paths = paths.into_iter().map(|path| writable_in_json(&path)).filter(|path| exists(path));
            reduced(&merged(paths.collect(), is_wide))
        };
        let write = folded(write);
        let read: BTreeSet<PathBuf> = folded(read);
        let is_covered = |path: &PathBuf| write.iter().any(|folder| path.starts_with(folder));
        let read: BTreeSet<PathBuf> = read.into_iter().filter(|path| !is_covered(path)).collect();
        let mut write = names(call, &write);
        if call.policy.has_tmp {
            write.insert(0, Place::Tmp.to_string());
        }
        Self { read: names(call, &read), write, network: network(call, attempts, with_denied) }
    }

    /// The value of `sandbox` with this offer: the mode and the limits of `declared` stay.
    pub fn sandbox(&self, declared: Option<&Declaration>) -> Value {
        let written = declared.and_then(|declared| serde_json::from_str(declared.written()).ok());
        let mut members = match written {
            Some(Value::Object(members)) => members,
            Some(Value::String(word)) if word == Mode::Strict.name() => {
                Map::from_iter([("mode".to_owned(), word.into())])
            }
            _ => Map::new(),
        };
        if members.get("mode").is_some_and(|mode| mode == Mode::Off.name()) {
            members.remove("mode");
        }
        for (key, value) in
            [("read", json!(self.read)), ("write", json!(self.write)), ("network", self.network.clone())]
        {
            members.insert(key.to_owned(), value);
        }
        Value::Object(members)
    }
}

/// Whether a path is about processes, which have other numbers in the next call.
fn is_of_a_process(path: &Path) -> bool {
    let Ok(below) = path.strip_prefix("/proc") else { return false };
    let first = below.iter().next().and_then(|first| first.to_str()).unwrap_or_default();
    first == "self" || first == "thread-self" || first.parse::<u32>().is_ok()
}

/// The path, or the nearest folder above it that a declaration can name.
fn writable_in_json(path: &Path) -> PathBuf {
    let can_be_named = |path: &Path| {
        let is_plain = |text: &str| Place::parse(text).is_ok() && !text.chars().any(char::is_control);
        path.to_str().is_some_and(is_plain)
    };
    path.ancestors().find(|path| can_be_named(path)).unwrap_or(Path::new("/")).to_owned()
}

/// Files of one folder, if there are several, become the folder.
fn merged(paths: BTreeSet<PathBuf>, is_wide: impl Fn(&Path) -> bool) -> BTreeSet<PathBuf> {
    let mut by_folder: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for path in paths {
        by_folder.entry(folder_of(&path).to_owned()).or_default().push(path);
    }
    let merge = |(folder, files): (PathBuf, Vec<PathBuf>)| {
        if files.len() >= SIBLINGS && !is_wide(&folder) { vec![folder] } else { files }
    };
    by_folder.into_iter().flat_map(merge).collect()
}

/// Without what is below another one.
fn reduced(paths: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    let is_below_another = |path: &PathBuf| path.ancestors().skip(1).any(|folder| paths.contains(folder));
    paths.iter().filter(|path| !is_below_another(path)).cloned().collect()
}

/// The places, as an author writes them. A root stays whole, since each client has other ones.
fn names(call: &TracedCall, paths: &BTreeSet<PathBuf>) -> Vec<String> {
    let name = |path: &PathBuf| match call.place(path) {
        Place::Roots(_) => Place::Roots(PathBuf::new()).to_string(),
        place => place.to_string(),
    };
    let names: BTreeSet<String> = paths.iter().map(name).collect();
    names.into_iter().collect()
}

fn network(call: &TracedCall, attempts: &Attempts, with_denied: bool) -> Value {
    let mut hosts: BTreeSet<String> = match &call.policy.network {
        // Which of them were used is not known: the process connects to the proxy.
        Network::Hosts(hosts) => hosts.entries().collect(),
        Network::None | Network::All => BTreeSet::new(),
    };
    for attempt in attempts.iter().filter(|attempt| attempt.deed == Deed::Connect) {
        let Target::Address(address) = attempt.target else { continue };
        let is_allowed = call.allows(attempt, attempts);
        let is_local = address.ip().is_loopback();
        if call.policy.network == Network::All && !is_local {
            return "all".into();
        }
        // What it reached by the proxy, or at its own servers, is listed already or need not be.
        let is_new = !is_allowed || call.policy.network == Network::All;
        if !is_new || !(with_denied || is_allowed) || [0, NAME_SERVER].contains(&address.port()) {
            continue;
        }
        hosts.insert(if is_local { format!("localhost:{}", address.port()) } else { address.to_string() });
    }
    if with_denied {
        hosts.extend(call.refused_hosts.iter().cloned());
    }
    if hosts.is_empty() { "none".into() } else { json!(hosts) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declaration::Limits;
    use crate::hosts::HostList;

    fn call(network: Network) -> TracedCall {
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        TracedCall {
            policy: Policy {
                mode: Mode::On,
                read: paths(&["/usr", "/p", "/data/a"]),
                write: paths(&["/dev/null", "/p/out"]),
                has_tmp: true,
                network,
                limits: Limits::default(),
            },
            always: paths(&["/usr", "/p/tools/x.sh"]),
            own: paths(&["/run/cell/tmp", "/run/cell/home"]),
            shared: Some("/run/call".into()),
            project: "/p".into(),
            roots: paths(&["/data/a"]),
            home: Some("/home/ann".into()),
            proxy_port: Some(3128),
            refused_hosts: Vec::new(),
        }
    }

    use crate::policy::Policy;

    fn on(deed: Deed, path: &str) -> Attempt {
        Attempt { deed, target: Target::Path(path.into()) }
    }

    fn connect(address: &str) -> Attempt {
        Attempt { deed: Deed::Connect, target: Target::Address(address.parse().unwrap()) }
    }

    fn offer(call: &TracedCall, attempts: &[Attempt], with_denied: bool) -> Value {
        let attempts: Attempts = attempts.iter().cloned().collect();
        Offer::new(call, &attempts, with_denied, |path| !path.ends_with("gone")).sandbox(None)
    }

    #[test]
    fn paths_become_places_and_what_every_sandbox_allows_is_left_out() {
        let attempts = [
            on(Deed::Run, "/usr/bin/cat"),
            on(Deed::Read, "/p/tools/x.sh"),
            on(Deed::Read, "/p/data.txt"),
            on(Deed::Read, "/p/gone"),
            on(Deed::Read, "/data/a/b/c"),
            on(Deed::Write, "/dev/null"),
            on(Deed::Create, "/run/cell/tmp/x"),
            on(Deed::Create, "/run/call/result"),
            on(Deed::Create, "/p/out/a/b"),
            on(Deed::Create, "/p/out/a"),
            on(Deed::Read, "/p/out/a/b"),
            on(Deed::Read, "/home/ann/.ssh/id"),
            on(Deed::Write, "/var/log/x.log"),
            on(Deed::Read, "/proc/self/status"),
        ];
        let call = call(Network::None);
        let narrow = json!({"read": ["project/data.txt", "roots"], "write": ["tmp", "project/out"], "network": "none"});
        assert_eq!(offer(&call, &attempts, false), narrow);
        let wide = json!({
            "read": ["project/data.txt", "roots", "~/.ssh/id"],
            "write": ["tmp", "/var/log/x.log", "project/out"],
            "network": "none",
        });
        assert_eq!(offer(&call, &attempts, true), wide);
    }

    #[test]
    fn siblings_become_their_folder_but_never_a_home_or_everything() {
        let read = |paths: &[&str]| {
            let attempts: Vec<_> = paths.iter().map(|path| on(Deed::Read, path)).collect();
            offer(&call(Network::None), &attempts, true)["read"].clone()
        };
        assert_eq!(read(&["/p/d/1", "/p/d/2"]), json!(["project/d/1", "project/d/2"]));
        assert_eq!(read(&["/p/d/1", "/p/d/2", "/p/d/3", "/p/d/e/4"]), json!(["project/d"]));
        assert_eq!(read(&["/home/ann/a", "/home/ann/b", "/home/ann/c"]), json!(["~/a", "~/b", "~/c"]));
        assert_eq!(read(&["/a", "/b", "/c"]), json!(["/a", "/b", "/c"]));
        // A glob, a line break: names that a declaration cannot have.
        assert_eq!(read(&["/p/d/*", "/p/e/x\ny"]), json!(["project/d", "project/e"]));
    }

    #[test]
    fn a_network_is_none_its_hosts_or_all() {
        let network = |network, attempts: &[Attempt], with_denied| {
            offer(&call(network), attempts, with_denied)["network"].clone()
        };
        let attempts = [
            connect("127.0.0.1:5432"),
            connect("192.0.2.1:443"),
            connect("192.0.2.9:53"),
            connect("[::1]:5432"),
        ];
        assert_eq!(network(Network::None, &attempts, false), "none");
        assert_eq!(network(Network::None, &attempts, true), json!(["192.0.2.1:443", "localhost:5432"]));
        assert_eq!(network(Network::All, &attempts, false), "all");
        assert_eq!(network(Network::All, &attempts[..1], false), json!(["localhost:5432"]));
        assert_eq!(network(Network::All, &[], false), "none");
        let listed = || Network::Hosts(HostList::parse(&["api.example.org:443"]).unwrap());
        assert_eq!(network(listed(), &[connect("127.0.0.1:3128")], true), json!(["api.example.org:443"]));
        let refused = call(listed()).with_refused_hosts(["b.example.org:443".to_owned()]);
        let both = json!(["api.example.org:443", "b.example.org:443"]);
        assert_eq!(offer(&refused, &[], true)["network"], both);
        assert_eq!(offer(&refused, &[], false)["network"], json!(["api.example.org:443"]));
    }

    #[test]
    fn a_server_of_the_call_itself_needs_no_declaration() {
        let listen = Attempt { deed: Deed::Listen, target: Target::Address("127.0.0.1:80".parse().unwrap()) };
        let attempts = [listen, connect("127.0.0.1:80"), connect("127.0.0.1:81")];
        assert_eq!(offer(&call(Network::None), &attempts, true)["network"], json!(["localhost:81"]));
    }

    #[test]
    fn the_mode_and_the_limits_stay() {
        let offer = Offer { read: Vec::new(), write: Vec::new(), network: "none".into() };
        let with = |text: &str| offer.sandbox(Some(&Declaration::parse(text).unwrap()));
        let kept = json!({"mode": "strict", "read": [], "write": [], "network": "none"});
        assert_eq!(with("\"strict\""), kept);
        let limited = with(r#"{"read":["/x"],"cpuSecs":3,"mode":"off"}"#);
        assert_eq!(limited, json!({"read": [], "cpuSecs": 3, "write": [], "network": "none"}));
        assert_eq!(with("\"off\""), json!({"read": [], "write": [], "network": "none"}));
    }
}
