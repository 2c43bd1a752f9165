//! Tables of attacks. Each row is tried in the sandbox, where it must fail and leave everything as it was, and
//! without, where it must succeed: an attack that never succeeds would prove nothing.

use super::arena::{Arena, Report};
use super::identity::Identity;
use super::outside::Outside;
use serde_json::json;

pub(super) struct Row {
    /// The attack and its parameters. Words in braces stand for what is attacked, see `filled`.
    words: &'static str,
    without: Without,
    within: Within,
}

/// What happens without a sandbox.
#[derive(Clone, Copy)]
enum Without {
    Done,
    /// The kernel lets only root do it.
    DoneByRoot,
    /// Some kernels have no such thing, or refuse it to all.
    Unknown,
}

/// What happens in a sandbox.
#[derive(Clone, Copy)]
enum Within {
    Refused,
    /// Refused in a strict sandbox; elsewhere it is done on some kernels.
    RefusedIfStrict,
    /// It is done, with the reason.
    Done(&'static str),
}

/// An attack that the sandbox stops.
pub(super) const fn refused(words: &'static str) -> Row {
    Row { words, without: Without::Done, within: Within::Refused }
}

/// What the sandbox allows, or cannot stop, with the reason.
pub(super) const fn allowed(words: &'static str, why: &'static str) -> Row {
    Row { words, without: Without::Done, within: Within::Done(why) }
}

impl Row {
    /// Only root can do it without a sandbox.
    pub(super) const fn by_root(mut self) -> Self {
        self.without = Without::DoneByRoot;
        self
    }

    /// Not every kernel can do it.
    pub(super) const fn on_some_kernels(mut self) -> Self {
        self.without = Without::Unknown;
        self
    }

    /// Only a strict sandbox stops it on every kernel.
    pub(super) const fn if_strict(mut self) -> Self {
        self.within = Within::RefusedIfStrict;
        self
    }
}

/// Tries all rows as each user, and names those that went another way.
pub(super) fn expect(rows: &[Row]) {
    let mut wrong = Vec::new();
    for identity in Identity::all() {
        let mut arena = Arena::new(identity, &["off", "on", "strict"].map(|name| (name, json!(name))));
        let outside = Outside::new(identity);
        let sandboxes = ["on", "strict", "off"].into_iter().filter(|sandbox| can_run(&mut arena, sandbox));
        let sandboxes: Vec<&str> = sandboxes.collect();
        for row in rows {
            let Some(words) = filled(row.words, &mut arena, &outside) else { continue };
            for sandbox in &sandboxes {
                outside.restore();
                let before = outside.state();
                let outcome = arena.attack(sandbox, &words).and_then(|report| {
                    judge(row, sandbox, identity, &report)?;
                    let is_same = report.is_done || outside.state() == before;
                    if is_same { Ok(()) } else { Err(format!("it changed something: {report:?}")) }
                });
                if let Err(why) = outcome {
                    wrong.push(format!("{}, sandbox {sandbox}, {identity:?}: {why}", row.words));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} attacks went another way:\n{}", wrong.len(), wrong.join("\n"));
}

/// Whether tools run in a sandbox of this kind: a strict one may ask for more than the machine can enforce.
fn can_run(arena: &mut Arena, sandbox: &str) -> bool {
    let answer = arena.call(sandbox, &json!({ "words": ["identity"] }));
    let is_refused = sandbox == "strict" && answer.contains("cannot enforce");
    if is_refused {
        eprintln!("skipped: {answer}");
    }
    !is_refused
}

fn judge(row: &Row, sandbox: &str, identity: Identity, report: &Report) -> Result<(), String> {
    let should_be_done = match (sandbox, row.within, row.without) {
        ("off", _, Without::Done) => true,
        ("off", _, Without::DoneByRoot) => identity.is_root(),
        ("off", _, Without::Unknown) | ("on", Within::RefusedIfStrict, _) => return Ok(()),
        (_, Within::Refused | Within::RefusedIfStrict, _) => false,
        (_, Within::Done(_), _) => true,
    };
    match (report.is_done, should_be_done, row.within) {
        (false, true, Within::Done(why)) => Err(format!("failed, but {why}: {report:?}")),
        (false, true, _) => Err(format!("failed: {report:?}")),
        (true, false, _) => Err(format!("succeeded: {report:?}")),
        _ => Ok(()),
    }
}

/// The words with what is attacked. None if this machine has no such thing.
fn filled(words: &str, arena: &mut Arena, outside: &Outside) -> Option<String> {
    let mut text = words.to_owned();
    let servers = &outside.servers;
    let of_network = || std::fs::read_link("/proc/self/ns/net").expect("a namespace").display().to_string();
    for (name, value) in [
        ("{key}", outside.path("home/.ssh/id_ed25519").display().to_string()),
        ("{notes}", outside.path("home/notes").display().to_string()),
        ("{program}", outside.path("home/program").display().to_string()),
        ("{home}", outside.path("home").display().to_string()),
        ("{project}", arena.project.root().display().to_string()),
        ("{server-tmp}", arena.temporary_folder().display().to_string()),
        ("{process}", outside.process().to_string()),
        ("{tcp}", servers.tcp.to_string()),
        ("{udp}", servers.udp.to_string()),
        ("{unix}", servers.unix.display().to_string()),
        ("{unix-datagram}", servers.unix_datagram.display().to_string()),
        ("{abstract}", servers.abstract_name.clone()),
        ("{network}", of_network()),
    ] {
        text = text.replace(name, &value);
    }
    if text.contains("{server}") {
        text = text.replace("{server}", &arena.server_pid().to_string());
    }
    if text.contains("{call}") {
        text = text.replace("{call}", &arena.other_call().to_string());
    }
    if text.contains("{tcp-6}") {
        text = text.replace("{tcp-6}", &servers.tcp_6?.to_string());
    }
    Some(text)
}
