//! Instances: measures how much more three servers of one project do than one, if all share a database.
//!
//! Each server, with the scripts that it starts, has a small part of a processor, which a control group enforces: otherwise all
//! of them would compete for the few processors of this machine, as servers on machines of their own do not. The database and
//! the driver have the rest.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use mcp_bash_bench::aims::Bound::AtLeast;
use mcp_bash_bench::aims::{Aim, Comparison};
use mcp_bash_bench::command_line::{Options, drive, print};
use mcp_bash_bench::http::{HttpServer, Load, Post, load};
use mcp_bash_bench::scoreboard::{Measure, Scoreboard};
use mcp_bash_bench::{Failure, Launch, fixture};
use mcp_bash_postgres_server::Server as Database;
use serde_json::json;

const USAGE: &str = "\
Usage: instances [OPTIONS]       needs root, for control groups

  --mcp-bash PATH    the mcp-bash binary (default: beside this program)
  --rounds N         rounds in which one server and three take turns (default: 5)
  --json FILE        also write every round's values to FILE
";

/// The processor time of a server, in microseconds of each period.
const QUOTA: u32 = 2_000;
const PERIOD: u32 = 10_000;

const CONNECTIONS: u32 = 12;
const LOAD_TIME: Duration = Duration::from_secs(3);
const SAID_HI: &[u8] = b"\"text\":\"hi";

const ONE: &str = "one server";
const THREE: &str = "three servers";

const CALLS: Measure = Measure { name: "tools/call, 12 connections", unit: "1/s", decimals: 0 };
const AIM: Aim = Aim { measure: CALLS, bound: AtLeast, limit: 2.5, times: Some(ONE) };

fn main() -> ExitCode {
    drive("instances", USAGE, &["--mcp-bash", "--rounds", "--json"], run)
}

fn run(options: &Options) -> Result<(), String> {
    let rounds = options.number("--rounds", 5)?;
    let scratch = tempfile::tempdir().map_err(|error| format!("a temporary directory: {error}"))?;
    let project = scratch.path().join("project");
    fixture::write_tool(&project, "hi", "echo hi")
        .map_err(|error| format!("the project to serve: {error}"))?;
    // It ends with this value.
    let database = Database::start();
    let launch = options
        .launch(ONE, "--mcp-bash", "mcp-bash", scratch.path())?
        .argument("serve")
        .argument("--http")
        .argument("127.0.0.1:0")
        .argument("--project-root")
        .argument(&project)
        .setting("MCPBASH_STORE", database.url("bench"));
    let groups = (0..3).map(Group::new).collect::<Result<Vec<Group>, String>>()?;
    let scores = Scoreboard::of_rounds(rounds, |scores| {
        scores.add(ONE, CALLS, rate(&launch, &groups[..1])?);
        scores.add(THREE, CALLS, rate(&launch, &groups)?);
        Ok(())
    })?;
    let comparison =
        Comparison { server: THREE, others: &[ONE], measures: &[CALLS], aims: &[AIM], scores: &scores };
    let (part, table) = (f64::from(QUOTA) / f64::from(PERIOD), comparison.whole_table());
    print(&format!("Medians over {rounds} rounds; each server has {part} of a processor.\n\n{table}"))?;
    options.write_json(&json!({ "servers": scores.to_json(), "comparison": comparison.to_json() }))
}

/// The calls per second of a server in each of the groups, all at once.
fn rate(launch: &Launch, groups: &[Group]) -> Result<f64, Failure> {
    let mut servers = Vec::new();
    for group in groups {
        let mut server = HttpServer::start(launch)?;
        group.enter(server.pid()).map_err(|error| server.failure(&format!("its control group: {error}")))?;
        servers.push(server);
    }
    let connections = CONNECTIONS / u32::try_from(servers.len()).unwrap_or(1);
    let call = |mut server: HttpServer| {
        let path = server.path().to_owned();
        load(&mut server, &path, connections, LOAD_TIME, |number| Post::call_tool(number, "hi"), SAID_HI)
    };
    let loads: Vec<Result<Load, Failure>> = thread::scope(|scope| {
        let runs: Vec<_> = servers.into_iter().map(|server| scope.spawn(move || call(server))).collect();
        runs.into_iter().filter_map(|run| run.join().ok()).collect()
    });
    loads.into_iter().map(|load| load.map(|load| load.rate())).sum()
}

/// A control group whose processes share the processor time of one server.
struct Group(PathBuf);

impl Group {
    fn new(number: u32) -> Result<Self, String> {
        let name = format!("mcp-bash-bench-{}-{number}", std::process::id());
        let first = Path::new("/sys/fs/cgroup/cpu");
        let made = if first.is_dir() {
            Self::make(
                first.join(name),
                &[("cpu.cfs_period_us", PERIOD.to_string()), ("cpu.cfs_quota_us", QUOTA.to_string())],
            )
        } else {
            Self::make(Path::new("/sys/fs/cgroup").join(name), &[("cpu.max", format!("{QUOTA} {PERIOD}"))])
        };
        made.map_err(|error| format!("a control group that limits processor time: {error}"))
    }

    fn make(path: PathBuf, settings: &[(&str, String)]) -> io::Result<Self> {
        fs::create_dir(&path)?;
        let group = Self(path);
        for (name, value) in settings {
            fs::write(group.0.join(name), value)?;
        }
        Ok(group)
    }

    fn enter(&self, process: u32) -> io::Result<()> {
        fs::write(self.0.join("cgroup.procs"), process.to_string())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Its processes have just been killed, and leave it when the system has cleaned up after them.
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}
