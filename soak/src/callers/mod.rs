//! Named callers share one server over HTTP for the whole run. Each has its own token, calls scripts and functions
//! that hand work to pools, and checks everything that it receives. Each call carries a word with the name of its
//! caller. Scripts and functions repeat it in everything they write, together with the caller they think they work for.
//! So the test sees whether every notification, log message, question and result belongs to the caller that receives
//! it, and to the call.

mod caller;
mod mark;
mod project;

use crate::arguments::Arguments;
use crate::audit;
use crate::http::Server;
use crate::planted;
use crate::printed;
use crate::project::STARTING;
use crate::random::Random;
use crate::run::Run;
use crate::violations::{Kind, excerpt};
use caller::Caller;
use mark::Mark;
pub(crate) use project::RULE;
use rustix::process::Signal;
use serde_json::Value;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::PoisonError;
use std::thread;

/// The names of the callers.
pub(crate) const NAMES: [&str; 8] = ["ada", "ben", "cleo", "dan", "eve", "finn", "gus", "hal"];

/// The name of this server in violations.
pub(crate) const SERVER: &str = "the server of the callers with names";

/// The audit log of this server.
pub(crate) fn audit_log(folder: &Path) -> PathBuf {
    folder.join("callers.jsonl")
}

/// Lets callers share a server until the time is over.
pub(crate) fn share(run: &Run, arguments: &Arguments, folder: &Path) {
    let names = &NAMES[..arguments.callers];
    if names.is_empty() {
        return;
    }
    if let Err(error) = call_until_over(run, names, folder) {
        run.violations.add(Kind::Died, SERVER, &format!("it could not be started: {error}"));
    }
}

fn call_until_over(run: &Run, names: &[&'static str], folder: &Path) -> io::Result<()> {
    let (project, tokens) = (folder.join("callers"), folder.join("tokens"));
    project::write(&project)?;
    let tokens_of: Vec<String> =
        names.iter().map(|name| new_token(&run.binary, name, &tokens)).collect::<io::Result<_>>()?;
    let temporary = run.temporary.join("callers");
    let options =
        [OsStr::new("--tokens"), tokens.as_os_str(), OsStr::new("--metrics"), OsStr::new("127.0.0.1:0")];
    let audited = audit::settings(&audit_log(folder));
    let mut environment = vec![
        ("MCPBASH_MAX_PROGRESS_PER_MIN", "0"),
        ("MCPBASH_MAX_LOGS_PER_MIN", "0"),
        ("MCPBASH_HTTP_MAX_SESSIONS_PER_MIN", "0"),
    ];
    let secrets = run.secrets.display().to_string();
    environment.push(("MCPBASH_SECRETS_FILE", &secrets));
    environment.extend(audited.iter().map(|(name, value)| (*name, value.as_str())));
    let mut server = Server::start(&run.binary, &project, &temporary, &options, &environment)?;
    thread::scope(|scope| {
        for (name, token) in names.iter().zip(&tokens_of) {
            // Two at once, so that a caller also runs beside itself.
            for number in 0..2 {
                let random = Random::of_part(run.seed, &format!("caller {name} {number}"));
                let mut caller =
                    Caller::new(run, (name, number), token, (server.pid(), server.address), random);
                scope.spawn(move || caller.call_until_over());
            }
        }
    });
    match server.metrics() {
        Some(address) => printed::look_at_metrics(run, address),
        None => run.violations.add(Kind::Unprinted, SERVER, "the address of its metrics"),
    }
    server.signal(Signal::TERM);
    match server.wait() {
        Some(status) if status.success() => {}
        Some(status) => run.violations.add(Kind::ExitStatus, SERVER, &status.to_string()),
        None => {
            run.violations.add(Kind::ExitStatus, SERVER, &format!("it does not end\n{}", server.describe()));
        }
    }
    look_at_log(run, &server.log());
    let left: Vec<_> = std::fs::read_dir(&temporary).into_iter().flatten().flatten().collect();
    if !left.is_empty() {
        run.violations.add(Kind::FileLeft, SERVER, &format!("{left:?}"));
    }
    let _ = std::fs::remove_dir_all(&temporary);
    Ok(())
}

/// The log may contain kinds, sizes and places, but never data of callers or output of scripts.
fn look_at_log(run: &Run, log: &str) {
    for line in log.lines().filter(|line| !Mark::all_in(line).is_empty()) {
        run.violations.add(Kind::SaidToOperator, SERVER, &excerpt(line));
    }
    if planted::is_in(log.as_bytes()) {
        run.violations.add(Kind::Secret, SERVER, "standard error");
    }
}

/// A new token for a caller, which is also in the file of tokens.
pub(crate) fn new_token(binary: &Path, name: &str, file: &Path) -> io::Result<String> {
    // Nobody else must take it for an orphan.
    let _alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    let output = Command::new(binary).args(["token", "new", name, "--json", "--file"]).arg(file).output()?;
    let made: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let problem = || io::Error::other(format!("no token: {}", String::from_utf8_lossy(&output.stderr)));
    made["token"].as_str().map(str::to_owned).ok_or_else(problem)
}
