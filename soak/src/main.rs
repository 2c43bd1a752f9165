//! Soak test: random traffic against real servers, over real pipes, of every method in both eras: honest scripts and
//! hostile ones, clients that cancel, pause and vanish, projects that change, servers that are shut down in every way.
//! Each request, process, descriptor and file is accounted for, and each message must belong to its call.
//!
//! # Theory of operation
//!
//! A run has several *slots*, each a thread that runs one server after the other (`life.rs`), and two *residents* that
//! stay for the whole run so that their resource usage can be compared (`resident.rs`). A server is a process, three
//! threads that move its bytes (`process.rs`), and its client's knowledge about it (`peer.rs`): the `ledger` of what it
//! owes. The slot sends what `traffic` chooses; the reading thread passes each message to `judge.rs`, and questions to
//! `answers.rs`. Gardeners change the projects meanwhile, and `watch.rs` looks for anything that hangs, grows or
//! outlives its call.
//!
//! All servers share one audit log. At the end `audit.rs` finds each request in it once, and `planted.rs` searches all that
//! servers have written for a secret that tools have said. `printed.rs` searches what commands and the metrics print.
//!
//! Beside them named callers share one server over HTTP (`callers`), where each must receive its own messages and no
//! others.
//!
//! `soak chaos` (`chaos`) does the same over HTTP to a single server, with fewer kinds of traffic and more violence.
//! `soak fleet` (`fleet`) does it to several servers that share a database, with faults of whole machines.
//! `soak leaks` (`leaks`) does the same a million times, and prints the memory of the server.

mod answers;
mod arguments;
mod audit;
mod callers;
mod chaos;
mod draft;
mod endings;
mod fleet;
mod http;
mod judge;
mod leaks;
mod ledger;
mod life;
mod peer;
mod planted;
mod printed;
mod proc;
mod process;
mod project;
mod random;
mod report;
mod resident;
mod revision;
mod run;
mod tally;
mod traces;
mod traffic;
mod violations;
mod watch;
mod word;

use arguments::{Arguments, Purpose, USAGE};
use project::{Gardener, Project};
use random::Random;
use resident::Comparison;
use revision::Revision;
use run::{Run, TIMEOUT, wait_until};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use violations::Kind;

/// The number of projects. Several servers share each.
const PROJECTS: usize = 3;

/// The interval of the status lines.
const INTERVAL: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let arguments = match Arguments::read(std::env::args().skip(1)) {
        Ok(Some(arguments)) => arguments,
        Ok(None) => {
            say(USAGE);
            return ExitCode::SUCCESS;
        }
        Err(problem) => {
            eprintln!("soak: {problem}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let run = match arguments.purpose {
        Purpose::Soak => soak,
        Purpose::Chaos => chaos::chaos,
        Purpose::Fleet => fleet::fleet,
        Purpose::Leaks => leaks::leaks,
    };
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::from(2)
        }
    }
}

fn say(text: &str) {
    // If standard output is closed, the exit status still counts.
    let _ = io::stdout().write_all(text.as_bytes());
}

/// True if the server did nothing wrong.
fn soak(arguments: &Arguments) -> io::Result<bool> {
    adopt_orphans()?;
    let folder = tempfile::Builder::new().prefix("mcp-bash-soak.").tempdir()?;
    let run = Arc::new(prepare(arguments, folder.path())?);
    say(&format!(
        "soak of {} for {} s, seed {}\n",
        arguments.binary.display(),
        arguments.length.as_secs(),
        run.seed
    ));
    let comparisons = thread::scope(|scope| {
        scope.spawn(|| callers::share(&run, arguments, folder.path()));
        keep_going(&run, arguments.servers)
    });
    nothing_is_left(&run);
    let mut logs = vec![run.audit_log.clone()];
    logs.extend((arguments.callers > 0).then(|| callers::audit_log(folder.path())));
    let records = audit::settle(&run, &logs);
    // The files that commands write are searched too.
    let texts = printed::hunt(&run, folder.path(), &logs);
    let files = planted::hunt(&run, folder.path(), &run.secrets);
    run.tally.with(|counts| {
        (counts.records, counts.searched_files, counts.searched_texts) = (records, files, texts);
    });
    say(&report::report(&run, run.begun.elapsed().as_secs_f64(), &comparisons));
    let is_clean = run.violations.counts().is_empty();
    if !is_clean {
        let (seed, seconds) = (run.seed, arguments.length.as_secs());
        say(&format!(
            "\nthe same choices again: --seed {seed} --seconds {seconds} --servers {}\n",
            arguments.servers
        ));
    }
    Ok(is_clean)
}

/// Orphans are reparented to this process, so none can get lost.
#[cfg(target_os = "linux")]
fn adopt_orphans() -> io::Result<()> {
    use rustix::process::{getpid, set_child_subreaper};
    Ok(set_child_subreaper(Some(getpid()))?)
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() -> io::Result<()> {
    Err(io::Error::other("only Linux shows what is needed, in /proc"))
}

fn prepare(arguments: &Arguments, folder: &Path) -> io::Result<Run> {
    let projects = (0..PROJECTS).map(|number| Project::write(folder.join(format!("project-{number}"))));
    let projects = projects.collect::<io::Result<Vec<_>>>()?;
    let run = Run::new(arguments.seed, folder, projects, arguments.length);
    fs::copy(&arguments.binary, &run.binary)
        .map_err(|error| io::Error::other(format!("--binary {}: {error}", arguments.binary.display())))?;
    fs::create_dir(&run.temporary)?;
    fs::create_dir(&run.traces)?;
    planted::write(&run.secrets)?;
    Ok(run)
}

/// Runs all servers until the time is over and all of them have exited.
fn keep_going(run: &Arc<Run>, servers: u32) -> Vec<Comparison> {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| watch::watch(run, &is_done));
        scope.spawn(|| tell_progress(run, &is_done));
        for number in 0..PROJECTS {
            scope.spawn(move || tend(run, number));
        }
        let residents = [Revision::V2025_11_25, Revision::V2026_07_28];
        let residents: Vec<_> = (0..)
            .zip(residents)
            .map(|(number, revision)| scope.spawn(move || resident::stay(run, number, revision)))
            .collect();
        let slots = servers - u32::try_from(residents.len()).unwrap_or(0);
        let slots: Vec<_> = (0..slots)
            .map(|slot| {
                scope.spawn(move || {
                    // Numbers do not depend on the speed of the slots, so the same seed makes the same
                    // servers.
                    for number in (100 + slot..).step_by(slots as usize) {
                        if run.is_over() {
                            break;
                        }
                        life::live(run, number);
                    }
                })
            })
            .collect();
        for slot in slots {
            let _ = slot.join();
        }
        let comparisons =
            residents.into_iter().filter_map(|resident| resident.join().ok().flatten()).collect();
        is_done.store(true, Ordering::Release);
        comparisons
    })
}

/// Changes a project from time to time.
fn tend(run: &Run, number: usize) {
    let mut random = Random::of_part(run.seed, &format!("project {number}"));
    let mut gardener = Gardener::new(Random::of_part(run.seed, &format!("gardener {number}")));
    while !run.is_over() {
        thread::sleep(random.millis(50, 500));
        if gardener.change(&run.projects[number]).is_some() {
            run.tally.with(|counts| counts.changes += 1);
        }
    }
}

fn tell_progress(run: &Run, is_done: &AtomicBool) {
    let mut next = INTERVAL;
    while !is_done.load(Ordering::Acquire) {
        thread::sleep(Duration::from_millis(200));
        let elapsed = run.begun.elapsed();
        if elapsed >= next {
            next += INTERVAL;
            let counts = run.tally.counts();
            let (total, servers) = (counts.total(), counts.servers.values().sum::<u64>());
            let violations: usize = run.violations.counts().values().sum();
            say(&format!(
                "{:>5} s: {total} requests, {servers} servers ended, {} alive, {violations} violations\n",
                elapsed.as_secs(),
                run.peers().len()
            ));
        }
    }
}

/// After all servers have exited, none of their processes may be left.
fn nothing_is_left(run: &Run) {
    let alive = || -> Vec<_> {
        let all = proc::descendants(std::process::id());
        all.into_iter().filter(|process| !process.is_dead).collect()
    };
    if !wait_until(TIMEOUT / 3, || alive().is_empty()) {
        let list: Vec<_> = alive().iter().take(20).map(proc::Process::describe).collect();
        run.violations.add(Kind::ProcessLeft, "all servers have ended", &list.join("\n"));
        for process in alive() {
            process::signal_process(process.pid, rustix::process::Signal::KILL);
        }
    }
}
