//! Servers that stay for the whole run. What they use when all is quiet is compared: after a while, and at the end.

use crate::draft::Draft;
use crate::endings::Ending;
use crate::life::{await_greeting, finish, quiesce, start};
use crate::peer::{Manner, Peer, TokenKind};
use crate::proc;
use crate::process::Process;
use crate::random::Random;
use crate::revision::Revision;
use crate::run::{Run, wait_until};
use crate::traffic::{Traffic, drafts, stateless};
use crate::violations::Kind;
use std::fs;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// What a server uses when it has nothing to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) memory: u64,
    /// Only root may look, unless the server lets others.
    pub(crate) descriptors: Option<u64>,
    pub(crate) threads: u64,
    /// In its temporary folder, but for what scripts have left there.
    pub(crate) files: u64,
}

/// A server's usage after the warm-up and at the end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comparison {
    pub(crate) server: u32,
    pub(crate) revision: Revision,
    pub(crate) before: Usage,
    pub(crate) after: Usage,
}

/// How much more memory is no leak: what the allocator keeps, for calls that happened to run side by side.
const MEMORY_SLACK: u64 = 8 * 1024 * 1024;

/// How many more descriptors and files are none.
const DESCRIPTOR_SLACK: u64 = 16;
const FILE_SLACK: u64 = 16;

/// How many requests these servers work on at once.
const PLACES: usize = 8;

/// How long after the last answer the usage is taken.
const SETTLING: Duration = Duration::from_secs(2);

/// Runs one server for the whole time. Nothing is compared if it did not last.
pub(crate) fn stay(run: &Arc<Run>, number: u32, revision: Revision) -> Option<Comparison> {
    let mut random = Random::of_part(run.seed, &format!("resident {number}"));
    let mut process = start(run, number, revision, PLACES, &mut random)?;
    let peer = Arc::clone(&process.peer);
    let mut traffic = Traffic::new(&peer);
    traffic.greet();
    await_greeting(&peer);
    let length = run.until.saturating_duration_since(Instant::now());
    converse(&mut traffic, &peer, Instant::now() + length * 2 / 5);
    fill_places(&peer);
    let before = measure(&peer, &process);
    converse(&mut traffic, &peer, run.until);
    let after = measure(&peer, &process);
    Ending::Orderly.end(&mut process, &mut random);
    finish(Ending::Orderly, &process);
    let comparison = Comparison { server: number, revision, before: before?, after: after? };
    comparison.judge(&peer);
    Some(comparison)
}

fn converse(traffic: &mut Traffic<'_>, peer: &Peer, until: Instant) {
    while Instant::now() < until && !peer.has_ended() {
        sleep(traffic.step());
    }
}

/// Lets as many scripts run at once as there can. What a server keeps for each of them, to use it again, it has then.
fn fill_places(peer: &Peer) {
    let manner =
        Manner { stateless: peer.revision.is_stateless(), token: Some(TokenKind::Text), ..Manner::default() };
    for _ in 0..2 * PLACES {
        peer.request(drafts::slow(peer), manner);
    }
}

fn measure(peer: &Peer, process: &Process) -> Option<Usage> {
    if !quiesce(peer) {
        return None;
    }
    hears_news(peer);
    if !quiesce(peer) {
        return None;
    }
    sleep(SETTLING);
    // The least of some looks: a server may be reading its project again at any moment.
    let looks = (0..10).filter_map(|_| {
        sleep(Duration::from_millis(50));
        Usage::of(peer.pid, process)
    });
    looks.reduce(Usage::least)
}

impl Usage {
    fn of(pid: u32, process: &Process) -> Option<Self> {
        let mut files = 0;
        for folder in fs::read_dir(&process.folder).into_iter().flatten().flatten() {
            let names = fs::read_dir(folder.path()).into_iter().flatten().flatten();
            files +=
                names.filter(|name| !name.file_name().to_string_lossy().starts_with("junk-")).count() as u64;
        }
        Some(Self {
            memory: proc::memory(pid)?,
            descriptors: proc::descriptors(pid),
            threads: proc::threads(pid)?,
            files,
        })
    }

    fn least(self, other: Self) -> Self {
        Self {
            memory: self.memory.min(other.memory),
            descriptors: self.descriptors.min(other.descriptors),
            threads: self.threads.min(other.threads),
            files: self.files.min(other.files),
        }
    }
}

impl Comparison {
    fn judge(&self, peer: &Peer) {
        let (before, after) = (self.before, self.after);
        if after.memory > before.memory + MEMORY_SLACK {
            let what = format!(
                "resident memory was {} KiB and is {} KiB",
                before.memory / 1024,
                after.memory / 1024
            );
            peer.violation(Kind::Memory, &what);
        }
        if let (Some(before), Some(after)) = (before.descriptors, after.descriptors)
            && after > before + DESCRIPTOR_SLACK
        {
            peer.violation(Kind::Descriptors, &format!("there were {before} descriptors and are {after}"));
        }
        if after.files > before.files + FILE_SLACK {
            let what = format!("there were {} files in its folder and are {}", before.files, after.files);
            peer.violation(Kind::FileLeft, &what);
        }
    }
}

/// A change of a resource is told to whoever wants to know.
fn hears_news(peer: &Peer) {
    let project = &peer.run.projects[peer.project];
    let file = format!("resources/news-{}.txt", peer.number);
    let uri = format!("file://./{file}");
    let write = |text: &str| project.file(&file, text).is_ok();
    let ask = |draft: Draft, manner: Manner| peer.request(draft, manner);
    if !write("before") {
        return;
    }
    let listen = if peer.revision.is_stateless() {
        let id = ask(drafts::listen_to(&uri), stateless());
        wait_until(Duration::from_secs(20), || peer.ledger().is_acknowledged(&id));
        Some(id)
    } else {
        ask(drafts::subscribe_to(&uri), Manner::default());
        wait_until(Duration::from_secs(20), || peer.ledger().is_quiet());
        None
    };
    let known = peer.ledger().updates(&uri);
    let text = format!("after {:?}", peer.run.begun.elapsed());
    let heard = write(&text)
        && wait_until(Duration::from_secs(20), || peer.ledger().updates(&uri) > known || peer.has_ended());
    if !heard {
        peer.violation(Kind::Unheard, &format!("{uri} was changed, and nobody was told"));
    }
    match listen {
        Some(id) => peer.cancel(&id),
        None => drop(ask(drafts::unsubscribe(&uri), Manner::default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grew_beyond_the_slack_is_told() {
        let before = Usage { memory: 30 << 20, descriptors: Some(40), threads: 10, files: 2 };
        let found = |after| {
            let (peer, _sent) = Peer::without_server(Revision::V2025_11_25);
            Comparison { server: 1, revision: peer.revision, before, after }.judge(&peer);
            peer.run.violations.counts().into_keys().collect::<Vec<_>>()
        };
        assert_eq!(found(before), []);
        assert_eq!(found(Usage { memory: 50 << 20, ..before }), [Kind::Memory]);
        assert_eq!(found(Usage { descriptors: Some(100), ..before }), [Kind::Descriptors]);
        assert_eq!(found(Usage { files: 100, ..before }), [Kind::FileLeft]);
    }
}
