//! Chaos of a fleet: three servers of one project share a database behind a plain proxy. Clients of both eras call
//! them while servers are killed, upgraded, frozen, and cut off from the database and from clients, and the database is
//! restarted. At the end every request and every task is accounted for: nothing ran twice that must not, all servers show the
//! same, and nothing is left behind.
//!
//! The faults are in `faults.rs`, with a log that explains what clients saw. Clients (`stateless.rs`, `sessions.rs`) enter
//! requests and tasks into the `ledger`; tools write their runs into a journal (`project.rs`, `journal.rs`), in which `runs.rs`
//! finds those that should not have been; the `judge` follows the tasks to their ends. Each server has an audit log, whose lines
//! are durable before answers are sent: `audit.rs` finds each request and each run in them.

mod audit;
mod client;
mod faults;
mod journal;
mod judge;
mod ledger;
mod link;
mod project;
mod runs;
mod servers;
mod sessions;
mod stateless;

use crate::arguments::Arguments;
use crate::proc;
use crate::random::Random;
use crate::run::{TIMEOUT, wait_until};
use client::Client;
use judge::Judge;
use ledger::Wrong;
use link::lock;
use servers::{Fleet, SCHEMA};
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// The number of clients of each era.
const CLIENTS: u32 = 6;

/// The number of faults that may be active at once.
const STORMS: u32 = 2;

/// True if the servers did nothing wrong.
pub(crate) fn fleet(arguments: &Arguments) -> io::Result<bool> {
    crate::adopt_orphans()?;
    let folder = tempfile::Builder::new().prefix("mcp-bash-fleet.").tempdir()?;
    let (seed, length) = (arguments.seed, arguments.length);
    let fleet = Fleet::start(&arguments.binary, arguments.older.as_deref(), folder.path())?;
    let seconds = length.as_secs();
    crate::say(&format!("chaos of a fleet at {} for {seconds} s, seed {seed}\n", fleet.address));
    load(&fleet, seed, length);
    if let [number, ..] = fleet.not_upgraded()[..] {
        return Err(io::Error::other(format!("server {number} was not upgraded: it needs more --seconds")));
    }
    Judge::new(&fleet, seed).judge();
    end(&fleet);
    audit::judge(&fleet);
    crate::say(&fleet.ledger.report());
    let is_clean = fleet.ledger.is_clean();
    if !is_clean {
        let faults = fleet.faults.describe(fleet.begun);
        crate::say(&format!(
            "the faults:\n{faults}\n\nthe same choices again: fleet --seed {seed} --seconds {seconds}\n"
        ));
    }
    Ok(is_clean)
}

/// Lets all clients call while the faults rage, and waits until both are over.
fn load(fleet: &Fleet, seed: u64, length: Duration) {
    let until = Instant::now() + length;
    thread::scope(|scope| {
        for number in 0..STORMS {
            let random = Random::of_part(seed, &format!("storm {number}"));
            scope.spawn(move || faults::rage(fleet, random, length, until));
        }
        for number in 0..2 * CLIENTS {
            let mut client = Client::new(fleet, number, Random::of_part(seed, &format!("client {number}")));
            scope.spawn(move || {
                while Instant::now() < until {
                    if number % 2 == 0 { client.act_without_session() } else { client.act_in_session() }
                }
                client.leave();
            });
        }
    });
}

/// Ends all servers, and looks for what is left of them.
fn end(fleet: &Fleet) {
    let scripts = || -> Vec<_> {
        let all = fleet.places.iter().flat_map(servers::Place::scripts);
        all.filter(|process| !process.is_worker()).collect()
    };
    if !wait_until(TIMEOUT, || scripts().is_empty()) {
        fleet.ledger.blame(
            Wrong::ProcessLeft,
            &format!("all tasks have ended, and there are still\n{}", list(&scripts())),
        );
    }
    fleet.places.iter().for_each(|place| place.stop(fleet));
    let alive = || -> Vec<_> {
        let all = proc::descendants(std::process::id()).into_iter();
        all.filter(|process| !process.is_dead && !process.command.contains("postgres")).collect()
    };
    if !wait_until(TIMEOUT / 3, || alive().is_empty()) {
        fleet.ledger.blame(
            Wrong::ProcessLeft,
            &format!("all servers have ended, and there are still\n{}", list(&alive())),
        );
    }
    let files = fleet.files_left();
    if !files.is_empty() {
        fleet.ledger.blame(Wrong::FileLeft, &format!("{files:?}"));
    }
    expire(fleet);
}

/// A server that starts removes what has expired, and takes care of the tasks that nobody was told of.
fn expire(fleet: &Fleet) {
    let [place, ..] = &fleet.places[..] else { return };
    place.start(fleet);
    let ask = |what: &str| lock(&fleet.database).query(&format!("SELECT {what}").replace("{s}", SCHEMA));
    let left = || {
        ask("count(*) FROM {s}.tasks WHERE expires_ms < extract(epoch FROM now()) * 1000
             OR NOT is_final AND lease_until < now() AND record::json ->> 'repeatable' = 'false'")
    };
    if !wait_until(TIMEOUT, || left() == "0") {
        fleet
            .ledger
            .blame(Wrong::RowLeft, &format!("{} tasks that have expired, or whose server is gone", left()));
    }
    place.stop(fleet);
    let kept = ask("count(*) || ' tasks, ' || (SELECT count(*) FROM {s}.notes) || ' notes, '
        || (SELECT count(*) FROM {s}.records) || ' texts, ' || (SELECT count(*) FROM {s}.used_keys) || ' used keys' FROM {s}.tasks");
    fleet.ledger.note(&format!("time the database keeps {kept}"));
}

fn list(processes: &[proc::Process]) -> String {
    let lines: Vec<_> = processes.iter().take(10).map(proc::Process::describe).collect();
    lines.join("\n")
}
