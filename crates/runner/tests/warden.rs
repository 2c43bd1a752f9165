//! Warden: when the server is killed, its calls are killed with it.
//!
//! This program is the server, the warden and the test in one: without a test harness it has a `main` of its own, as
//! the warden requires.

#![allow(clippy::disallowed_methods, reason = "tests use files of their own")]

#[path = "stage/mod.rs"]
mod stage;

use mcp_bash_runner::{Invocation, Talk};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use stage::process_table::{Process, all, of};
use stage::{SHEDDING, Stage, processes_of, shell};
use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Leaves one process of each kind behind, says that it is done, and never ends.
const ENDLESS: &str = "trap '' TERM HUP INT
    $LINGER 1001 &
    setsid $LINGER 1002 &
    setsid sh -c 'trap \"\" TERM HUP INT; while :; do $LINGER 1003; done' &
    (setsid env -i sh -c 'exec \"$0\" 1004 <&- >&- 2>&-' $LINGER &)
    while :; do $LINGER 1005; done";

fn endless() -> String {
    ENDLESS.replace("env -i ", SHEDDING)
}

/// Leaves something behind that has to be searched for, and exits.
const LEAVER: &str = "setsid $LINGER 2001 &\n(true &)\necho hi";

/// Promises that no other system can keep.
const LINUX_ONLY: [&str; 3] = [
    "a_killed_server_takes_a_chain_along",
    "a_killed_server_takes_along_what_shed_its_mark",
    "nobody_looks_into_server_and_warden",
];

/// Looks at descriptors and environments in `/proc`.
const NEEDS_PROC: &str = "the_warden_has_nothing_of_the_servers";

/// Why a test is not run here.
fn ignored(name: &str) -> Option<&'static str> {
    if cfg!(any(not(target_os = "linux"), mcp_bash_portable)) && LINUX_ONLY.contains(&name) {
        Some("it needs a subreaper, a mark beside the environment, or `dumpable`")
    } else if cfg!(not(target_os = "linux")) && name == NEEDS_PROC {
        Some("it needs `/proc`")
    } else {
        None
    }
}

fn main() {
    mcp_bash_runner::warden::install();
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.get(1).is_some_and(|word| word == "server") {
        return server(Path::new(&arguments[2]), &arguments[3..]);
    }
    let tests: [(&str, fn()); 13] = [
        ("a_killed_server_takes_its_calls_along", a_killed_server_takes_its_calls_along),
        ("a_server_killed_at_once_takes_its_call_along", a_server_killed_at_once_takes_its_call_along),
        ("a_killed_server_takes_a_chain_along", a_killed_server_takes_a_chain_along),
        ("a_killed_server_takes_along_what_shed_its_mark", a_killed_server_takes_along_what_shed_its_mark),
        ("wardens_are_replaced_however_often_they_die", wardens_are_replaced_however_often_they_die),
        ("nobody_looks_into_server_and_warden", nobody_looks_into_server_and_warden),
        ("a_signal_to_the_group_of_the_server_spares_the_warden", a_signal_to_the_group_spares_the_warden),
        ("signals_to_every_process_spare_the_warden", signals_to_every_process_spare_the_warden),
        ("a_server_that_ends_takes_the_warden_along", a_server_that_ends_takes_the_warden_along),
        ("the_warden_has_nothing_of_the_servers", the_warden_has_nothing_of_the_servers),
        ("the_warden_is_no_leftover", the_warden_is_no_leftover),
        ("a_warden_that_died_is_replaced", a_warden_that_died_is_replaced),
        ("a_server_inside_of_a_call_goes_with_it", a_server_inside_of_a_call_goes_with_it),
    ];
    for (name, test) in tests {
        if let Some(why) = ignored(name) {
            eprintln!("test {name} ... ignored, {why}");
            continue;
        }
        if arguments.get(1).is_none_or(|word| word.starts_with('-') || name.contains(word.as_str())) {
            test();
            eprintln!("test {name} ... ok");
        }
    }
    if arguments.len() == 1 {
        stage::again_without_groups();
    }
}

/// Runs scripts one after the other.
fn server(folder: &Path, scripts: &[String]) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let stage = Stage::at(folder);
    runtime.block_on(async {
        for script in scripts {
            if script == "end" {
                let runner = std::sync::Arc::clone(&stage.runner);
                tokio::task::spawn_blocking(move || runner.end_all(Duration::from_millis(100)))
                    .await
                    .unwrap();
            } else {
                // A channel makes the server create a folder of its own.
                let shell = shell(&folder.join(script));
                let folder = stage.runner.folder().unwrap();
                let talk = Some(Talk { folder: &folder, side_channel: &["CHANNEL"], questions: None });
                stage.run(Invocation { talk, ..shell }).await;
            }
        }
    });
}

struct Server {
    stage: Stage,
    process: Child,
}

impl Server {
    fn start(scripts: &[&str]) -> Self {
        let stage = Stage::new();
        stage.script("endless", &endless());
        stage.script("leaver", LEAVER);
        stage.script(
            "waiting_for_ever",
            "trap '' TERM HUP INT\nsetsid $LINGER 4001 &\necho >called\n$LINGER 4002",
        );
        stage.script("chained", "perl $PWD/chain\nwhile :; do $LINGER 1005; done");
        stage.script("chain", "use POSIX; open(F, '>chaining'); while (1) { exit if fork; setsid; }");
        stage.script(
            "shedding",
            "(bash -c 'ulimit -x unlimited 2>/dev/null; ulimit -S -x 0; setsid env -i $0 3001' $LINGER &)
             while :; do $LINGER 1005; done",
        );
        stage.script("wait", "echo >waiting\nwhile [ ! -e go ]; do sleep 0.01; done\nrm go waiting");
        let process = Command::new(std::env::current_exe().unwrap())
            .args(["server", stage.path("").to_str().unwrap()])
            .args(scripts)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self { stage, process }
    }

    fn wait_for_endless(&self) {
        let words = ["1001", "1002", "linger 1003", "1004", "1005"];
        wait_for("all processes of the call", || {
            words.iter().all(|word| self.stage.processes_with(word) > 0)
        });
    }

    fn warden(&self) -> u32 {
        let mut found = None;
        wait_for("the warden", || {
            let is_ours = |process: &Process| process.is_warden() && process.parent == self.process.id();
            found = all().into_iter().find(is_ours);
            found.is_some()
        });
        found.unwrap().pid
    }

    fn private_folders(&self) -> usize {
        let entries = fs::read_dir(self.stage.path("")).unwrap().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("mcpbash.run.")).count()
    }

    /// The calls, and after them the server, which has the folder in its command line too.
    fn wait_until_gone(&self) {
        wait_for("all processes to be gone", || self.stage.processes().is_empty());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn a_killed_server_takes_its_calls_along() {
    let mut server = Server::start(&["leaver", "endless"]);
    server.wait_for_endless();
    let warden = server.warden();
    assert_eq!(server.private_folders(), 1);
    server.process.kill().unwrap();
    server.process.wait().unwrap();
    let start = Instant::now();
    server.wait_until_gone();
    eprintln!("all were gone {:?} after the server", start.elapsed());
    wait_for("the warden to be gone", || !is_warden(warden));
    assert_eq!(server.private_folders(), 0);
}

/// The warden is not a program of its own yet.
fn a_server_killed_at_once_takes_its_call_along() {
    for _ in 0..10 {
        let mut server = Server::start(&["waiting_for_ever"]);
        wait_for("the call", || server.stage.path("called").exists());
        server.process.kill().unwrap();
        server.process.wait().unwrap();
        server.wait_until_gone();
        wait_for("its folder to be gone", || server.private_folders() == 0);
    }
}

/// Each process of the chain starts the next, in a session of its own, and exits, as fast as it can.
fn a_killed_server_takes_a_chain_along() {
    for _ in 0..5 {
        let mut server = Server::start(&["chained"]);
        wait_for("the chain", || server.stage.path("chaining").exists());
        server.warden();
        server.process.kill().unwrap();
        server.process.wait().unwrap();
        server.wait_until_gone();
    }
}

/// It has no environment and no group of its call, and has tried to remove the number. Without privileges no process
/// can raise it again; with privileges the control group holds it.
fn a_killed_server_takes_along_what_shed_its_mark() {
    let is_root = rustix::process::geteuid().is_root();
    if is_root && std::env::var_os(stage::WITHOUT_GROUPS).is_some() {
        return;
    }
    let mut server = Server::start(&["shedding"]);
    wait_for("the daemon", || server.stage.processes_with("linger 3001") > 0);
    server.warden();
    server.process.kill().unwrap();
    server.process.wait().unwrap();
    server.wait_until_gone();
}

fn wardens_are_replaced_however_often_they_die() {
    let mut server = Server::start(&["endless"]);
    server.wait_for_endless();
    for _ in 0..7 {
        let warden = server.warden();
        kill_process(pid(warden), Signal::KILL).unwrap();
        wait_for("another warden", || server.warden() != warden);
    }
    server.process.kill().unwrap();
    server.process.wait().unwrap();
    server.wait_until_gone();
}

/// Files in `/proc` that belong to root are closed to all others, even to the user of the process.
fn nobody_looks_into_server_and_warden() {
    use std::os::unix::fs::MetadataExt;
    let server = Server::start(&["endless"]);
    server.wait_for_endless();
    for process in [server.process.id(), server.warden()] {
        wait_for("it to keep to itself", || {
            fs::metadata(format!("/proc/{process}/environ")).unwrap().uid() == 0
        });
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        assert!(status.lines().any(|line| line.starts_with("CoreDumping")), "{status}");
    }
}

fn a_signal_to_the_group_spares_the_warden() {
    let mut server = Server::start(&["endless"]);
    server.wait_for_endless();
    let warden = server.warden();
    kill_process_group(pid(server.process.id()), Signal::TERM).unwrap();
    server.process.wait().unwrap();
    server.wait_until_gone();
    wait_for("the warden to be gone", || !is_warden(warden));
}

/// As a client does that terminates the whole tree: each process is signalled, and the server is killed a moment later.
/// The first warden is not a program of its own yet, the second is.
fn signals_to_every_process_spare_the_warden() {
    for has_lived in [false, true] {
        let mut server = Server::start(&["waiting_for_ever"]);
        wait_for("the call", || server.stage.path("called").exists());
        let mut children = children_of(server.process.id());
        if has_lived {
            children.push(server.warden());
        }
        for child in children {
            for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
                let _ = kill_process(pid(child), signal);
            }
        }
        server.process.kill().unwrap();
        server.process.wait().unwrap();
        server.wait_until_gone();
        wait_for("its folder to be gone", || server.private_folders() == 0);
    }
}

fn children_of(process: u32) -> Vec<u32> {
    all().into_iter().filter(|child| child.parent == process).map(|child| child.pid).collect()
}

fn a_server_that_ends_takes_the_warden_along() {
    for scripts in [&["leaver", "wait", "end"][..], &["leaver", "wait"]] {
        let mut server = Server::start(scripts);
        wait_for("the server to wait", || server.stage.path("waiting").exists());
        let warden = server.warden();
        fs::write(server.stage.path("go"), "").unwrap();
        assert!(server.process.wait().unwrap().success());
        if scripts.contains(&"end") {
            assert!(of(warden).is_none(), "it was reaped by the server");
        }
        wait_for("the warden to be gone", || !is_warden(warden));
        server.wait_until_gone();
    }
}

fn the_warden_has_nothing_of_the_servers() {
    let mut server = Server::start(&["endless"]);
    server.wait_for_endless();
    let warden = server.warden();
    let descriptor = |pid: u32, number: u32| {
        fs::read_link(format!("/proc/{pid}/fd/{number}")).unwrap().display().to_string()
    };
    assert!(descriptor(warden, 0).starts_with("pipe:"));
    let ledger = if cfg!(mcp_bash_portable) { "mcpbash.ledger." } else { "/memfd:mcp-bash-ledger" };
    assert!(descriptor(warden, 1).contains(ledger), "{}", descriptor(warden, 1));
    assert_eq!(descriptor(warden, 2), "/dev/null");
    let servers = [0, 1, 2].map(|number| descriptor(server.process.id(), number));
    for entry in fs::read_dir(format!("/proc/{warden}/fd")).unwrap() {
        let held = fs::read_link(entry.unwrap().path()).unwrap().display().to_string();
        assert!(!servers.contains(&held), "it holds {held}");
    }
    assert_eq!(fs::read(format!("/proc/{warden}/environ")).unwrap(), b"");
    server.process.kill().unwrap();
    let mut said = Vec::new();
    server.process.stdout.take().unwrap().read_to_end(&mut said).unwrap();
    server.process.stderr.take().unwrap().read_to_end(&mut said).unwrap();
    server.process.wait().unwrap();
    server.wait_until_gone();
}

fn the_warden_is_no_leftover() {
    let mut server = Server::start(&["wait", "leaver", "leaver", "wait"]);
    wait_for("the server to wait", || server.stage.path("waiting").exists());
    let warden = server.warden();
    fs::write(server.stage.path("go"), "").unwrap();
    wait_for("the server to go on", || !server.stage.path("go").exists());
    wait_for("the server to wait again", || server.stage.path("waiting").exists());
    assert_eq!(server.stage.processes_with("2001"), 0);
    assert_eq!(server.warden(), warden, "it is still the same");
    server.process.kill().unwrap();
    server.process.wait().unwrap();
    server.wait_until_gone();
}

fn a_warden_that_died_is_replaced() {
    let mut server = Server::start(&["wait", "endless"]);
    wait_for("the server to wait", || server.stage.path("waiting").exists());
    let first = server.warden();
    kill_process(pid(first), Signal::KILL).unwrap();
    wait_for("the warden to be gone", || !is_warden(first));
    fs::write(server.stage.path("go"), "").unwrap();
    server.wait_for_endless();
    wait_for("another warden", || server.warden() != first);
    server.process.kill().unwrap();
    server.process.wait().unwrap();
    server.wait_until_gone();
}

/// Here this process is the outer server.
fn a_server_inside_of_a_call_goes_with_it() {
    let (outer, inner) = (Stage::new(), Stage::new());
    inner.script("endless", &endless());
    let program = std::env::current_exe().unwrap();
    let body = format!("setsid {} server {} endless", program.display(), inner.path("").display());
    let words = ["1001", "1002", "linger 1003", "1004", "1005"];
    let grown = async {
        stage::wait_for("all", || words.iter().all(|word| inner.processes_with(word) > 0)).await;
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(outer.runner.run(outer.shell("outer", &body), grown, |_| (), drop)).unwrap();
    inner.assert_empty();
    outer.assert_empty();
    // Its folder is in no command line, but the mark of the outer call is in its environment.
    #[cfg(target_os = "linux")]
    {
        let is_of_call = |pid: u32| {
            fs::read(format!("/proc/{pid}/environ")).is_ok_and(|text| text.starts_with(b"MCP_CALL_ID="))
        };
        let us = std::process::id();
        let wardens = all().into_iter().filter(|process| process.is_warden() && process.parent != us);
        assert_eq!(
            wardens.filter(|warden| is_of_call(warden.pid)).count(),
            0,
            "the inner warden is gone too"
        );
    }
    assert_eq!(processes_of(&inner.path("")), []);
}

fn is_warden(pid: u32) -> bool {
    of(pid).is_some_and(|process| process.is_warden())
}

fn pid(number: u32) -> Pid {
    Pid::from_raw(number.cast_signed()).unwrap()
}

fn wait_for(what: &str, mut happened: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !happened() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
