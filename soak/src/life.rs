//! Life of one server, from its start to the proof that nothing is left of it.

use crate::audit::Due;
use crate::endings::Ending;
use crate::peer::{Manner, Peer};
use crate::proc;
use crate::process::{Launch, Process};
use crate::random::Random;
use crate::revision::Revision;
use crate::run::{Run, TIMEOUT, wait_until};
use crate::tally::Outcome;
use crate::traces::Trace;
use crate::traffic::{LONGEST_MESSAGE, Traffic, drafts};
use crate::violations::Kind;
use serde_json::{Value, json};
use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Starts a server, sends it traffic for a while and shuts it down in some way.
pub(crate) fn live(run: &Arc<Run>, number: u32) {
    let mut random = Random::of_part(run.seed, &format!("life of server {number}"));
    let revision = *random.pick(&Revision::ALL);
    let places = *random.pick(&[4, 8, 16]);
    let Some(mut process) = start(run, number, revision, places, &mut random) else { return };
    let peer = Arc::clone(&process.peer);
    let mut traffic = Traffic::new(&peer);
    traffic.greet();
    await_greeting(&peer);
    let end = Instant::now() + random.millis(100, 6000);
    while Instant::now() < end.min(run.until) && !peer.has_ended() {
        sleep(traffic.step());
    }
    let ending = Ending::any(&mut random);
    if ending == Ending::Orderly {
        quiesce(&peer);
    }
    ending.end(&mut process, &mut random);
    finish(ending, &process);
}

/// Starts a server with this limit of concurrent requests.
pub(crate) fn start(
    run: &Arc<Run>,
    number: u32,
    revision: Revision,
    places: usize,
    random: &mut Random,
) -> Option<Process> {
    let capabilities = capabilities(random);
    let project = usize::try_from(random.below(run.projects.len() as u64)).unwrap_or(0);
    let settings = vec![
        ("MCPBASH_MAX_MESSAGE_BYTES", LONGEST_MESSAGE.to_string()),
        ("MCPBASH_MAX_CONCURRENT_REQUESTS", places.to_string()),
    ];
    let launch = Launch { number, revision, capabilities, project, settings };
    match Process::start(run, launch) {
        Ok(process) => {
            run.tally.with(|counts| *counts.revisions.entry(revision.name()).or_default() += 1);
            Some(process)
        }
        Err(error) => {
            run.violations.add(
                Kind::Died,
                &format!("server {number}"),
                &format!("it does not start: {error}"),
            );
            None
        }
    }
}

fn capabilities(random: &mut Random) -> Value {
    let mut capabilities = json!({});
    for name in ["elicitation", "sampling", "roots"] {
        if random.chance(75) {
            capabilities[name] = json!({});
        }
    }
    capabilities
}

/// Waits for the first answers: a server that is shut down during its start is a different case.
pub(crate) fn await_greeting(peer: &Peer) {
    wait_until(TIMEOUT, || peer.ledger().is_quiet() || peer.has_ended());
}

/// Waits until everything is answered, no request listens and no process is left. Otherwise reports a
/// violation and returns false.
pub(crate) fn quiesce(peer: &Peer) -> bool {
    let is_stateless = peer.revision.is_stateless();
    let manner = Manner { stateless: is_stateless, ..Manner::default() };
    wait_until(TIMEOUT, || {
        peer.do_due();
        !peer.has_later() && peer.ledger().waiting() == 0 || peer.has_ended()
    });
    let listens = peer.ledger().cancellable(true);
    for listen in listens {
        peer.cancel(&listen);
    }
    let subscribed = peer.ledger().subscribed();
    for uri in subscribed {
        peer.request(drafts::unsubscribe(&uri), Manner::default());
    }
    // After them the server cleans up leftovers of other calls, and has read every cancellation.
    peer.request(drafts::plain(peer), manner);
    peer.request(drafts::ping(is_stateless), manner);
    let is_quiet = wait_until(TIMEOUT, || {
        peer.do_due();
        !peer.has_later() && peer.ledger().is_quiet() || peer.has_ended()
    });
    if peer.has_ended() || peer.is_condemned.load(Ordering::Acquire) {
        return false;
    }
    if !is_quiet {
        peer.violation(Kind::Unanswered, &format!("it owes {}", peer.ledger().debts(|_| true).join(", ")));
        return false;
    }
    is_alone(peer)
}

/// Whether the server has no processes but its warden.
fn is_alone(peer: &Peer) -> bool {
    let others = || -> Vec<_> {
        proc::descendants(peer.pid).into_iter().filter(|process| !process.is_warden()).collect()
    };
    let is_alone = wait_until(TIMEOUT / 4, || others().is_empty());
    let left = others();
    if !is_alone && !left.is_empty() {
        let all_dead = left.iter().all(|process| process.is_dead);
        let kind = if all_dead { Kind::Zombie } else { Kind::ProcessLeft };
        let list: Vec<_> = left.iter().take(8).map(proc::Process::describe).collect();
        peer.violation(kind, &format!("all is answered, and there are\n{}", list.join("\n")));
    }
    is_alone
}

/// Checks that nothing is left of a server that exited, and closes its account.
pub(crate) fn finish(ending: Ending, process: &Process) {
    let (peer, run) = (&process.peer, &process.peer.run);
    let after = format!("it has ended ({}), and there are", ending.name());
    processes_are_gone(peer, &after);
    files_are_gone(process, &after);
    let unanswered = peer.ledger().unanswered();
    for (id, method, was_cancelled) in unanswered {
        let outcome = if was_cancelled { Outcome::Cancelled } else { Outcome::CutOff };
        run.tally.request(method, outcome);
        run.audit.owe(peer.pid, &id, method, Due::Unknown);
    }
    run.tally.with(|counts| *counts.servers.entry(ending.name()).or_default() += 1);
    run.leave(peer);
}

fn processes_are_gone(peer: &Peer, after: &str) {
    let of_it = || -> Vec<_> {
        let all = proc::descendants(std::process::id());
        let is_of_it = |found: &proc::Process| found.words.iter().any(|word| word.server == peer.number);
        all.into_iter().filter(|found| is_of_it(found) && !found.is_dead).collect()
    };
    if !wait_until(TIMEOUT / 3, || of_it().is_empty()) {
        let list: Vec<_> = of_it().iter().take(8).map(proc::Process::describe).collect();
        peer.violation(Kind::ProcessLeft, &format!("{after}\n{}", list.join("\n")));
    }
    let traces = || Trace::of_server(&peer.run, peer.number);
    let is_cold = |trace: &Trace| trace.age > Duration::from_secs(1);
    if !wait_until(TIMEOUT / 3, || traces().iter().all(is_cold)) {
        peer.violation(Kind::ProcessLeft, &format!("{after} processes that fork and end, again and again"));
    }
    traces().into_iter().for_each(Trace::remove);
}

fn files_are_gone(process: &Process, after: &str) {
    let files = || -> Vec<_> { fs::read_dir(&process.folder).into_iter().flatten().flatten().collect() };
    if !wait_until(TIMEOUT / 3, || files().is_empty()) {
        let list: Vec<_> = files().iter().map(|file| file.path().display().to_string()).collect();
        process.peer.violation(Kind::FileLeft, &format!("{after} {}", list.join(", ")));
    }
}
