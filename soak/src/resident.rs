//! Residents: servers that stay for the whole run. Their idle resource usage after the warm-up is compared
//! with that at the end.

use crate::draft::Draft;
use crate::endings::Ending;
use crate::life::{await_greeting, finish, quiesce, start};
use crate::peer::{Manner, Peer, TokenKind};
use crate::proc;
use crate::process::Process;
use crate::random::Random;
use crate::revision::Revision;
use crate::run::{Run, TIMEOUT, wait_until};
use crate::traffic::{Traffic, drafts, stateless};
use crate::violations::Kind;
use std::fs;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The resource usage of an idle server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) memory: u64,
    /// Readable only by root, unless the server allows it.
    pub(crate) descriptors: Option<u64>,
    pub(crate) threads: u64,
    /// In its temporary folder, without leftovers of scripts.
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

/// The memory growth that is not a leak: memory that the allocator keeps for concurrent calls.
const MEMORY_SLACK: u64 = 8 * 1024 * 1024;

/// The growth of descriptors and files that is not a leak.
const DESCRIPTOR_SLACK: u64 = 16;
const FILE_SLACK: u64 = 16;

/// The limit of concurrent requests of these servers.
const PLACES: usize = 8;

/// How long to look for the lowest usage as the baseline.
const SETTLING: Duration = Duration::from_secs(2);

/// Runs one server for the whole time. Nothing is compared if it exits early.
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
    let before = measure(&peer, &process, |_, looked| looked >= SETTLING);
    converse(&mut traffic, &peer, run.until);
    // Free memory may be released late, and a server may be reading its project again at any moment.
    let after = measure(&peer, &process, |now, _| before.is_none_or(|before| now.growth(before).is_empty()));
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

/// Runs as many concurrent scripts as possible. Afterwards the server holds everything that it keeps for
/// reuse.
fn fill_places(peer: &Peer) {
    let manner =
        Manner { stateless: peer.revision.is_stateless(), token: Some(TokenKind::Text), ..Manner::default() };
    for _ in 0..2 * PLACES {
        peer.request(drafts::slow(peer), manner);
    }
}

/// The lowest usage of an idle server. Measured repeatedly until `is_enough` accepts the lowest value so far
/// and the elapsed time.
fn measure(peer: &Peer, process: &Process, is_enough: impl Fn(Usage, Duration) -> bool) -> Option<Usage> {
    if !quiesce(peer) {
        return None;
    }
    hears_news(peer);
    if !quiesce(peer) {
        return None;
    }
    let (mut least, since): (Option<Usage>, _) = (None, Instant::now());
    wait_until(TIMEOUT, || {
        let Some(now) = Usage::of(peer.pid, process) else { return true };
        let now = least.map_or(now, |least| least.least(now));
        least = Some(now);
        is_enough(now, since.elapsed())
    });
    least
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

    /// The growth since then, beyond the slack.
    fn growth(self, before: Self) -> Vec<(Kind, String)> {
        let mut growth = Vec::new();
        if self.memory > before.memory + MEMORY_SLACK {
            let (was, is) = (before.memory / 1024, self.memory / 1024);
            growth.push((Kind::Memory, format!("resident memory was {was} KiB and is {is} KiB")));
        }
        if let (Some(was), Some(is)) = (before.descriptors, self.descriptors)
            && is > was + DESCRIPTOR_SLACK
        {
            growth.push((Kind::Descriptors, format!("there were {was} descriptors and are {is}")));
        }
        if self.files > before.files + FILE_SLACK {
            let (was, is) = (before.files, self.files);
            growth.push((Kind::FileLeft, format!("there were {was} files in its folder and are {is}")));
        }
        growth
    }
}

impl Comparison {
    fn judge(&self, peer: &Peer) {
        for (kind, what) in self.after.growth(self.before) {
            peer.violation(kind, &what);
        }
    }
}

/// Subscribers are notified of a changed resource.
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
        wait_until(TIMEOUT, || peer.ledger().is_acknowledged(&id));
        Some(id)
    } else {
        ask(drafts::subscribe_to(&uri), Manner::default());
        wait_until(TIMEOUT, || peer.ledger().is_quiet());
        None
    };
    let known = peer.ledger().updates(&uri);
    let text = format!("after {:?}", peer.run.begun.elapsed());
    let heard =
        write(&text) && wait_until(TIMEOUT, || peer.ledger().updates(&uri) > known || peer.has_ended());
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
    fn growth_beyond_the_slack_is_reported() {
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
