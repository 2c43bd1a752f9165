//! Chaos over HTTP: many clients call one server while scripts are killed and connections are cut in every phase. At the
//! end every request is accounted for: answered, refused, or given up by its own client. None is lost, and nothing is left
//! of any of them: no process, no file, no descriptor, no memory.

mod account;
mod client;
mod http;
mod server;

use crate::arguments::Arguments;
use crate::proc;
use crate::process::signal_process;
use crate::random::Random;
use crate::run::{PATIENCE, wait_until};
use account::Account;
use client::Client;
use rustix::process::Signal;
use server::{Server, Usage};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How many clients there are at once, each with a caller's habits of its own.
const CLIENTS: u32 = 24;

/// True if the server did nothing wrong.
pub(crate) fn chaos(arguments: &Arguments) -> io::Result<bool> {
    crate::adopt_orphans()?;
    let folder = tempfile::Builder::new().prefix("mcp-bash-chaos.").tempdir()?;
    let server = Server::start(&arguments.binary, folder.path())?;
    let (seed, seconds) = (arguments.seed, arguments.length.as_secs());
    crate::say(&format!("chaos at {} for {seconds} s, seed {seed}\n", server.address));
    let account = Account::default();
    // What a server keeps for calls that run side by side, to use it again, it has after these.
    load(&server, &account, seed, Duration::from_secs(2), false);
    let before = server.quiet_usage(|_| true);
    load(&server, &account, seed, arguments.length, true);
    nothing_goes_on(&server, &account);
    let after = server.quiet_usage(|now| now.growth(&before).is_none());
    if let Some(growth) = after.growth(&before) {
        account.blame(growth);
    }
    end(server, &account, seed, folder.path());
    crate::say(&report(&account, &before, &after));
    if !account.is_clean() {
        crate::say(&format!("\nthe same choices again: chaos --seed {seed} --seconds {seconds}\n"));
    }
    Ok(account.is_clean())
}

/// Lets all clients call for so long, and waits for what they have begun.
fn load(server: &Server, account: &Account, seed: u64, length: Duration, is_chaotic: bool) {
    let (until, is_over) = (Instant::now() + length, AtomicBool::new(false));
    thread::scope(|scope| {
        if is_chaotic {
            scope.spawn(|| kill_scripts(server, account, seed, &is_over));
        }
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let random = Random::of_part(seed, &format!("client {number}, chaotic {is_chaotic}"));
                let mut client = Client::new(number, server.address, account, random, is_chaotic);
                scope.spawn(move || {
                    while Instant::now() < until {
                        client.act();
                    }
                    client.leave();
                })
            })
            .collect();
        for client in clients {
            if client.join().is_err() {
                account.blame("a client of the chaos panicked".to_owned());
            }
        }
        is_over.store(true, Ordering::Release);
    });
}

/// Kills what the server has started, here and there.
fn kill_scripts(server: &Server, account: &Account, seed: u64, is_over: &AtomicBool) {
    let mut random = Random::of_part(seed, "killer");
    while !is_over.load(Ordering::Acquire) {
        thread::sleep(random.millis(1, 60));
        let alive = server.scripts();
        if !alive.is_empty() {
            signal_process(random.pick(&alive).pid, Signal::KILL);
            account.note("scripts killed");
        }
    }
}

/// Nobody waits for anything, so that nothing must go on.
fn nothing_goes_on(server: &Server, account: &Account) {
    if !wait_until(PATIENCE, || server.scripts().is_empty()) {
        let left: Vec<_> = server.scripts().iter().take(10).map(proc::Process::describe).collect();
        account.blame(format!("nobody waits for anything, and there are still\n{}", left.join("\n")));
    }
}

/// Ends the server while calls are running: each of them is answered, and nothing is left.
fn end(mut server: Server, account: &Account, seed: u64, folder: &std::path::Path) {
    let address = server.address;
    thread::scope(|scope| {
        let waiting: Vec<_> = (0..4)
            .map(|number| {
                let random = Random::of_part(seed, &format!("last {number}"));
                let mut client = Client::new(1000 + number, address, account, random, false);
                scope.spawn(move || client.call_slowly())
            })
            .collect();
        wait_until(PATIENCE, || server.scripts().len() >= waiting.len());
        server.signal(Signal::TERM);
    });
    match server.wait() {
        Some(status) if status.code() == Some(0) => {}
        status => account.blame(format!("the server ended with {status:?}")),
    }
    let log = server.log();
    if log.contains("panic") {
        account.blame(format!("something panicked: {log}"));
    }
    let alive = || proc::descendants(std::process::id()).into_iter().filter(|process| !process.is_dead);
    if !wait_until(PATIENCE / 3, || alive().next().is_none()) {
        let left: Vec<_> = alive().take(10).map(|process| process.describe()).collect();
        account.blame(format!("the server has ended, and there are still\n{}", left.join("\n")));
    }
    let left: Vec<_> = std::fs::read_dir(folder.join("tmp")).into_iter().flatten().flatten().collect();
    if !left.is_empty() {
        account.blame(format!("files are left: {left:?}"));
    }
}

fn report(account: &Account, before: &Usage, after: &Usage) -> String {
    format!("{}\nbefore  {before}\nafter   {after}\n", account.report())
}
