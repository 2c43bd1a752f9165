//! Chaos over HTTP: many clients call one server while scripts are killed, connections are cut in every
//! phase, folders are removed and files edited. At the end every request is accounted for: answered, refused,
//! or cancelled by its own client. None is lost, and none leaves a process, a file, a descriptor or memory
//! behind. The server has recovered, and each tool works as before. Its audit log, whose lines are durable before answers are sent,
//! has one line for each answered call, and none for a call that no client made.

mod account;
mod client;
mod project;
mod shortages;
mod told;
mod vandal;

use crate::arguments::Arguments;
use crate::audit;
use crate::http::{Server, Usage};
use crate::proc;
use crate::process::signal_process;
use crate::random::Random;
use crate::run::{TIMEOUT, wait_until};
use account::Account;
use client::Client;
use project::{Project, SLOW, TOOLS};
use rustix::process::Signal;
use shortages::{Disk, Shortages};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use vandal::{Damage, Vandal};

/// The number of concurrent clients, each with its own random choices.
const CLIENTS: u32 = 24;

/// The numbers of other clients: each has its own, and so have its calls.
const CALM: u32 = 100;
const LAST: u32 = 1000;
const LISTING: u32 = 2000;
const HEALING_CLIENT: u32 = 2001;

/// The state that all threads share.
struct Scene<'a> {
    server: Server,
    project: Project,
    temporary: &'a Path,
    disk: &'a Disk,
    account: Account,
    damage: Damage,
    seed: u64,
}

/// The time a server may take to detect that everything is restored.
const HEALING: Duration = Duration::from_secs(10);

/// The size of the disk for its temporary files, in megabytes.
const DISK: u32 = 32;

/// True if the server did nothing wrong.
pub(crate) fn chaos(arguments: &Arguments) -> io::Result<bool> {
    crate::adopt_orphans()?;
    let folder = tempfile::Builder::new().prefix("mcp-bash-chaos.").tempdir()?;
    let disk = Disk::mount(folder.path().join("disk"), DISK)?;
    let (project, temporary) = (Project::write(&folder.path().join("project"))?, disk.path().join("tmp"));
    let log = folder.path().join("audit.jsonl");
    let audited = audit::settings_of_short_run(&log);
    let mut environment = vec![
        ("MCPBASH_MAX_PROGRESS_PER_MIN", "0"),
        ("MCPBASH_HTTP_MAX_SESSIONS_PER_MIN", "0"),
        ("MCPBASH_AUDIT_DURABLE", "true"),
    ];
    environment.extend(audited.iter().map(|(name, value)| (*name, value.as_str())));
    let server = Server::start(&arguments.binary, project.root(), &temporary, &[], &environment)?;
    let (seed, seconds) = (arguments.seed, arguments.length.as_secs());
    crate::say(&format!("chaos at {} for {seconds} s, seed {seed}\n", server.address));
    let (account, damage, temporary) = (Account::default(), Damage::default(), &*temporary);
    let scene = Scene { server, project, temporary, disk: &disk, account, damage, seed };
    // After these calls the server holds everything that it keeps for reuse by concurrent calls.
    scene.load(Duration::from_secs(2), false, false);
    let before = scene.server.quiet_usage(|_| true);
    let lists = scene.client(LISTING, "lists", false).lists();
    scene.load(arguments.length, true, arguments.is_vandalised);
    scene.has_healed(&lists);
    scene.nothing_goes_on();
    let after = scene.server.quiet_usage(|now| now.growth(&before).is_none());
    if let Some(growth) = after.growth(&before) {
        scene.account.blame(growth);
    }
    let pid = scene.server.pid();
    let account = scene.end();
    account.settle_audit(&arguments.binary, &log, pid);
    crate::say(&report(&account, &before, &after));
    if !account.is_clean() {
        crate::say(&format!("\nthe same choices again: chaos --seed {seed} --seconds {seconds}\n"));
    }
    Ok(account.is_clean())
}

impl Scene<'_> {
    fn client(&self, number: u32, part: &str, is_chaotic: bool) -> Client<'_> {
        let random = Random::of_part(self.seed, part);
        Client::new(number, self.server.address, &self.account, &self.damage, random, is_chaotic)
    }

    /// Lets all clients call for this long, and waits for their open calls.
    fn load(&self, length: Duration, is_chaotic: bool, is_vandalised: bool) {
        let (until, is_over) = (Instant::now() + length, AtomicBool::new(false));
        thread::scope(|scope| {
            if is_chaotic {
                scope.spawn(|| self.kill_scripts(&is_over));
            }
            if is_vandalised {
                let vandal = Vandal {
                    project: &self.project,
                    temporary: self.temporary,
                    damage: &self.damage,
                    account: &self.account,
                    random: Random::of_part(self.seed, "vandal"),
                };
                scope.spawn(|| vandal.rage(&is_over));
                let shortages = Shortages {
                    server: &self.server,
                    disk: self.disk,
                    damage: &self.damage,
                    account: &self.account,
                    random: Random::of_part(self.seed, "shortages"),
                };
                scope.spawn(|| shortages.rage(&is_over));
            }
            let clients: Vec<_> = (0..CLIENTS)
                .map(|number| {
                    let part = format!("client {number}, chaotic {is_chaotic}");
                    let number = if is_chaotic { number } else { CALM + number };
                    let mut client = self.client(number, &part, is_chaotic);
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
                    self.account.blame("a client of the chaos panicked".to_owned());
                }
            }
            is_over.store(true, Ordering::Release);
        });
    }

    /// Kills random processes of the server.
    fn kill_scripts(&self, is_over: &AtomicBool) {
        let mut random = Random::of_part(self.seed, "killer");
        while !is_over.load(Ordering::Acquire) {
            thread::sleep(random.millis(1, 60));
            let alive = self.server.scripts();
            if !alive.is_empty() {
                signal_process(random.pick(&alive).pid, Signal::KILL);
                self.account.note("scripts killed");
            }
        }
    }

    /// After the damage stops and no resource is short: each tool works again within a while, and each list
    /// is as before.
    fn has_healed(&self, lists: &Result<String, String>) {
        let mut client = self.client(HEALING_CLIENT, "healing", false);
        let mut is_as_before = || {
            TOOLS.iter().try_for_each(|tool| client.is_served(tool))?;
            let now = client.lists();
            if now == *lists { Ok(()) } else { Err(format!("the lists were {lists:?} and are {now:?}")) }
        };
        let mut last = Ok(());
        wait_until(HEALING, || {
            last = is_as_before();
            last.is_ok()
        });
        if let Err(why) = last {
            self.account.blame(format!("the server has not healed: {why}"));
        }
    }

    /// No client waits for anything, so no process may run but workers, which wait for the next call.
    fn nothing_goes_on(&self) {
        let going_on = || -> Vec<_> {
            self.server.scripts().into_iter().filter(|process| !process.is_worker()).collect()
        };
        if !wait_until(TIMEOUT, || going_on().is_empty()) {
            let left: Vec<_> = going_on().iter().take(10).map(proc::Process::describe).collect();
            let left = left.join("\n");
            self.account.blame(format!("nobody waits for anything, and there are still\n{left}"));
        }
    }

    /// Shuts the server down while calls are running: each of them is answered, and nothing is left.
    fn end(mut self) -> Account {
        thread::scope(|scope| {
            let waiting: Vec<_> = (0..4)
                .map(|number| {
                    let mut client = self.client(LAST + number, &format!("last {number}"), false);
                    scope.spawn(move || client.call_slowly())
                })
                .collect();
            let mut running = BTreeSet::new();
            wait_until(TIMEOUT, || {
                let scripts = self.server.scripts().into_iter();
                running
                    .extend(scripts.filter(|script| script.command.contains(SLOW)).map(|script| script.pid));
                running.len() >= waiting.len()
            });
            self.server.signal(Signal::TERM);
        });
        let (account, status) = (self.account, self.server.wait());
        if status.is_none_or(|status| status.code() != Some(0)) {
            account.blame(format!("the server ended with {status:?}"));
        }
        let log = self.server.log();
        if log.contains("panic") {
            account.blame(format!("something panicked: {log}"));
        }
        let alive = || proc::descendants(std::process::id()).into_iter().filter(|process| !process.is_dead);
        if !wait_until(TIMEOUT / 3, || alive().next().is_none()) {
            let left: Vec<_> = alive().take(10).map(|process| process.describe()).collect();
            account.blame(format!("the server has ended, and there are still\n{}", left.join("\n")));
        }
        let left: Vec<_> = std::fs::read_dir(self.temporary).into_iter().flatten().flatten().collect();
        if !left.is_empty() {
            account.blame(format!("files are left: {left:?}"));
        }
        account
    }
}

fn report(account: &Account, before: &Usage, after: &Usage) -> String {
    format!("{}\nbefore  {before}\nafter   {after}\n", account.report())
}
