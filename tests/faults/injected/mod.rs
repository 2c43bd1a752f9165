//! System calls that fail once, each in turn, while a server reads its project, prepares its first calls, or
//! starts. After the fault the server must be in the same state as one without a fault; when every place is
//! tried, within ten seconds.
//!
//! The places come from the trace of a server without a fault. An ordinary run tries some of them,
//! `scripts/faults` all.

mod places;
mod strace;

use super::{Subject, write_version};
use crate::harness::http::HttpServer;
use crate::harness::metrics::metrics_address;
use crate::harness::{Project, Server, TIMEOUT, wait_at_most, wait_until};
use places::{Place, chosen, kinds, places, recorded, wants_all};
use rustix::process::getuid;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};
use strace::{Strace, Whose, command_under_strace};

/// The time to recover after a fault, where [`wants_all`] tries every place.
const HEALED: Duration = Duration::from_secs(10);

/// The factor for a machine so busy that the same operation is slow without a fault.
const AS_LONG: u32 = 10;

/// The time to wait for recovery if the operation took this long without a fault.
fn most(undisturbed: Duration) -> Duration {
    if wants_all() { HEALED.max(AS_LONG * undisturbed) } else { TIMEOUT }
}

/// The number of extra descriptors that a server may hold: it keeps some for reuse.
const POOLED: usize = 8;

/// A server with its own temporary folder and cache, so that it prepares everything itself.
struct Fresh {
    subject: Subject,
    project: Project,
    /// The time within which it must recover.
    most: Duration,
    _home: Project,
}

impl Fresh {
    /// A server of an empty project.
    fn start() -> Self {
        let project =
            Project::new().file("tools/.keep", "").file("prompts/.keep", "").file("resources/.keep", "");
        Self::start_by(traceable(), project).expect("a server")
    }

    /// The error is the standard error of a server that exited.
    fn start_by(command: Command, project: Project) -> Result<Self, String> {
        let home = Project::new().file("tmp/.keep", "").file("cache/.keep", "");
        let [temporary, cache] = ["tmp", "cache"].map(|name| home.path(name).display().to_string());
        // Lists do not wait for files that cannot be read.
        let settings = [("TMPDIR", &*temporary), ("XDG_CACHE_HOME", &cache), ("MCPBASH_LIST_WAIT_SECS", "0")];
        let server =
            HttpServer::try_start_by(command, project.root(), &["--metrics", "127.0.0.1:0"], &settings)?;
        let metrics = metrics_address(&server);
        Ok(Self { subject: Subject::of(server, metrics), project, most: TIMEOUT, _home: home })
    }

    /// Saves a version without a fault. Returns the system calls, and records how long it took.
    fn record(&mut self, version: usize, whose: Whose) -> String {
        let strace = Strace::attach(self.subject.server.pid(), whose, &recorded(&kinds(whose)));
        let began = Instant::now();
        write_version(&self.project, version);
        self.subject.expect_version(version);
        self.most = most(began.elapsed());
        strace.detach()
    }

    /// Saves a version while a call at a place fails once, and calls every tool.
    fn strike(&mut self, place: &Place, whose: Whose, version: usize) -> Strike {
        let strace = Strace::attach(self.subject.server.pid(), whose, &place.options());
        write_version(&self.project, version);
        // Until the call has failed, or never will.
        wait_at_most(self.most, || {
            let is_over = strace.has_struck() || self.subject.is_as(version).is_ok();
            if !is_over {
                self.readiness_is_true();
            }
            is_over.then_some(())
        });
        let trace = strace.detach();
        let ended = Instant::now();
        let wrong = self.heal(version);
        Strike::new(place, &trace, ended.elapsed(), wrong)
    }

    /// After the fault, everything must be as in a server without one. Otherwise returns the difference.
    fn heal(&mut self, version: usize) -> Option<String> {
        let mut wrong = None;
        wait_at_most(self.most, || {
            wrong = self.subject.is_as(version).err();
            if wrong.is_some() {
                self.readiness_is_true();
            }
            wrong.is_none().then_some(())
        });
        wrong
    }

    /// A server that has logged that it cannot read its project is not ready until it logs that it can again.
    fn readiness_is_true(&mut self) {
        let is_short = |log: &str| {
            log.matches("the project cannot be read now").count()
                > log.matches("the project could be read again").count()
        };
        let was_short = is_short(&self.subject.server.log());
        if self.subject.readiness().0 == 200 && was_short {
            wait_until("the log to say that the project could be read again", || {
                (!is_short(&self.subject.server.log())).then_some(())
            });
        }
    }

    /// The files that a server has created beside the project's own.
    fn files(&self) -> Vec<String> {
        let files = fs::read_dir(self.project.path(".registry")).expect("a folder").flatten();
        let mut files: Vec<String> =
            files.map(|file| file.file_name().to_string_lossy().into_owned()).collect();
        files.sort();
        files
    }

    /// The targets of its descriptors.
    fn descriptors(&self) -> Vec<String> {
        let folder = format!("/proc/{}/fd", self.subject.server.pid());
        let descriptors = fs::read_dir(folder).expect("a process").flatten();
        let leads_to = descriptors.filter_map(|descriptor| fs::read_link(descriptor.path()).ok());
        leads_to.map(|path| path.to_string_lossy().into_owned()).collect()
    }
}

/// The server, traceable by this user: a process of an ordinary user may trace it only if it was started in
/// its own user namespace.
fn traceable() -> Command {
    if getuid().is_root() {
        return Server::command();
    }
    let mut command = Server::command_of("unshare");
    command.args(["--map-root-user", env!("CARGO_BIN_EXE_mcp-bash")]);
    command
}

/// The outcome of a call that should fail.
struct Strike {
    has_struck: bool,
    /// The state that was not restored in time, and the call that failed.
    wrong: Option<String>,
}

impl Strike {
    fn new(place: &Place, trace: &str, took: Duration, wrong: Option<String>) -> Self {
        let struck: Vec<&str> = trace.lines().filter(|line| line.contains("(INJECTED)")).collect();
        let fault = format!("{took:?} after {place:?}, which was\n{}", struck.join("\n"));
        if wants_all() {
            eprintln!("{} {fault}", if wrong.is_some() { "WRONG" } else { "healed" });
        }
        Self { has_struck: !struck.is_empty(), wrong: wrong.map(|wrong| format!("{fault}\n{wrong}")) }
    }
}

/// No call may leave anything behind, and many must have failed: not every server makes the same calls.
fn judge(strikes: &[Strike], log: &str) {
    let wrong: Vec<&str> = strikes.iter().filter_map(|strike| strike.wrong.as_deref()).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}\n{log}", wrong.len(), strikes.len(), wrong.join("\n\n"));
    let struck = strikes.iter().filter(|strike| strike.has_struck).count();
    assert!(3 * struck >= strikes.len(), "only {struck} of {} calls were made and failed", strikes.len());
    assert!(!log.contains("panicked"), "{log}");
}

/// A save while a call fails, for places found in the trace of a save.
fn saves_survive(whose: Whose, some: usize) {
    let mut fresh = Fresh::start();
    fresh.record(0, whose);
    let trace = fresh.record(1, whose);
    let (files, descriptors) = (fresh.files(), fresh.descriptors());
    let places = chosen(places(&trace, &kinds(whose)), some);
    let strikes: Vec<Strike> =
        (2..).zip(&places).map(|(version, place)| fresh.strike(place, whose, version)).collect();
    judge(&strikes, &fresh.subject.server.log());
    assert_eq!(fresh.files(), files);
    // Workers of old versions exit by themselves.
    wait_until(&format!("no more descriptors than {descriptors:#?}, not {:#?}", fresh.descriptors()), || {
        (fresh.descriptors().len() <= descriptors.len() + POOLED).then_some(())
    });
    fresh.subject.server.finish();
}

#[test]
fn a_save_is_served_after_a_call_of_the_thread_that_reads_the_project_failed() {
    saves_survive(Whose::Reader, 10);
}

#[test]
fn a_save_is_served_after_a_call_of_any_thread_failed() {
    saves_survive(Whose::Threads, 8);
}

#[test]
fn a_save_is_served_after_a_call_of_a_process_that_loads_it_failed() {
    saves_survive(Whose::Everything, 6);
}

#[test]
fn a_server_that_prepares_its_first_calls_survives_a_call_that_failed() {
    let whose = Whose::Threads;
    let mut undisturbed = Fresh::start();
    let trace = undisturbed.record(0, whose);
    let mut log = String::new();
    let strikes: Vec<Strike> = chosen(places(&trace, &kinds(whose)), 6)
        .iter()
        .map(|place| {
            let mut fresh = Fresh::start();
            fresh.most = undisturbed.most;
            let strike = fresh.strike(place, whose, 0);
            log.push_str(&fresh.subject.server.finish());
            strike
        })
        .collect();
    judge(&strikes, &log);
}

#[test]
fn a_server_whose_start_meets_a_call_that_failed_says_so_or_serves_everything() {
    let start = |options: &[String]| {
        let (project, outer) = (Project::new(), Project::new());
        write_version(&project, 0);
        let mut command = Server::command_of("strace");
        command.args(command_under_strace(options, &outer.path("trace"), env!("CARGO_BIN_EXE_mcp-bash")));
        (Fresh::start_by(command, project), outer)
    };
    let whose = Whose::Reader;
    let began = Instant::now();
    let (undisturbed, outer) = start(&recorded(&kinds(whose)));
    let mut undisturbed = undisturbed.unwrap_or_else(|said| panic!("{said}"));
    undisturbed.subject.expect_version(0);
    let most = most(began.elapsed());
    let mut log = String::new();
    let strikes: Vec<Strike> = chosen(places(&outer.read("trace"), &kinds(whose)), 8)
        .iter()
        .map(|place| {
            let (fresh, outer) = start(&place.options());
            let began = Instant::now();
            let wrong = match fresh {
                Ok(mut fresh) => {
                    fresh.most = most;
                    let wrong = fresh.heal(0);
                    log.push_str(&fresh.subject.server.log());
                    wrong
                }
                Err(said) => (said.contains("panicked") || !says(&said, place)).then_some(said),
            };
            Strike::new(place, &outer.read("trace"), began.elapsed(), wrong)
        })
        .collect();
    judge(&strikes, &log);
}

/// Whether a server that exited says why.
fn says(said: &str, place: &Place) -> bool {
    let words = match place.error {
        "EMFILE" | "ENFILE" => "Too many open files",
        "ENOSPC" => "No space left on device",
        "EAGAIN" => "Resource temporarily unavailable",
        _ => "Cannot allocate memory",
    };
    // The C library reports each thread that could not be started in the same words.
    [words, "Resource temporarily unavailable", "error while loading shared libraries"]
        .iter()
        .any(|words| said.contains(words))
}
