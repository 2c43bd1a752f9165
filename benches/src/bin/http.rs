//! HTTP: measures requests against a minimal endpoint on axum, calls of tools against starting the same script
//! directly, and all of it against other servers with the same tool.
//!
//! This file has the measures, the aims, and their order. Servers take turns in every round, in small steps,
//! so that a noisy moment of the machine does not affect only one of them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use mcp_bash_bench::aims::Bound::{AtLeast, AtMost};
use mcp_bash_bench::aims::{Aim, Comparison};
use mcp_bash_bench::command_line::{Options, drive, print};
use mcp_bash_bench::direct::Script;
use mcp_bash_bench::http::{Connection, HttpServer, IdleStreams, Load, Post, load};
use mcp_bash_bench::proc_usage::Memory;
use mcp_bash_bench::scoreboard::{Measure, Scoreboard};
use mcp_bash_bench::statistics::{megabytes, microseconds, milliseconds, percentile};
use mcp_bash_bench::{Failure, Launch, fixture};
use serde_json::json;

const USAGE: &str = "\
Usage: http [OPTIONS]

  --mcp-bash PATH      the mcp-bash binary (default: beside this program, as the two below)
  --axum PATH          the minimal endpoint
  --rmcp PATH          the server on the official Rust SDK
  --fastmcp FOLDER     the folder of the server on FastMCP (default: not measured, as the one below)
  --typescript FOLDER  the folder of the server on the official TypeScript SDK
  --threads N          threads of the endpoint and of the Rust SDK's server (default: one for each processor)
  --only PART          one of starts, streams, discover, ping, calls, crowd (default: all)
  --rounds N           rounds in which the servers take turns (default: 5)
  --json FILE          also write every round's values to FILE
";

/// The values of `--only`.
const PARTS: [&str; 6] = ["starts", "streams", "discover", "ping", "calls", "crowd"];

const CONNECTIONS: u32 = 64;
const LOAD_TURNS: u32 = 8;
const LOAD_TIME: Duration = Duration::from_millis(250);
const CALL_TURNS: u32 = 10;
const CALLS_PER_TURN: u32 = 50;
const CALLERS: u32 = 50;
const CROWD_TURNS: u32 = 2;
const CROWD_TIME: Duration = Duration::from_millis(500);
const CROWD: u32 = 1_000;
const STREAMS: u32 = 1_000;
/// How long a server may settle before its memory is read.
const SETTLING: Duration = Duration::from_millis(500);

const START: Measure = Measure { name: "start to first answer", unit: "ms", decimals: 0 };
const DISCOVER: Measure = Measure { name: "server/discover, 64 connections", unit: "1/s", decimals: 0 };
const DISCOVER_P50: Measure = Measure { name: "server/discover p50", unit: "ms", decimals: 2 };
const DISCOVER_P99: Measure = Measure { name: "server/discover p99", unit: "ms", decimals: 2 };
const DISCOVER_CPU: Measure = Measure { name: "CPU per server/discover", unit: "µs", decimals: 1 };
const PING: Measure = Measure { name: "ping, 64 connections", unit: "1/s", decimals: 0 };
const PING_P50: Measure = Measure { name: "ping p50", unit: "ms", decimals: 2 };
const PING_P99: Measure = Measure { name: "ping p99", unit: "ms", decimals: 2 };
const PING_CPU: Measure = Measure { name: "CPU per ping", unit: "µs", decimals: 1 };
const CALL_P50: Measure = Measure { name: "tools/call p50", unit: "ms", decimals: 2 };
const CALL_P99: Measure = Measure { name: "tools/call p99", unit: "ms", decimals: 2 };
const CALLS: Measure = Measure { name: "tools/call, 50 connections", unit: "1/s", decimals: 0 };
const RESIDENT: Measure = Measure { name: "idle RSS", unit: "MB", decimals: 1 };
const LISTENS: Measure = Measure { name: "1,000 idle subscriptions/listen", unit: "MB", decimals: 1 };
const SESSIONS: Measure = Measure { name: "1,000 idle sessions with a GET stream", unit: "MB", decimals: 1 };

/// In the order of the tables.
const MEASURES: [Measure; 15] = [
    START,
    DISCOVER,
    DISCOVER_P50,
    DISCOVER_P99,
    DISCOVER_CPU,
    PING,
    PING_P50,
    PING_P99,
    PING_CPU,
    CALL_P50,
    CALL_P99,
    CALLS,
    RESIDENT,
    LISTENS,
    SESSIONS,
];

const AIMS: [Aim; 8] = [
    Aim { measure: DISCOVER, bound: AtLeast, limit: 0.85, times: Some(AXUM) },
    Aim { measure: DISCOVER_P99, bound: AtMost, limit: 2.0, times: Some(AXUM) },
    Aim { measure: PING, bound: AtLeast, limit: 0.85, times: Some(AXUM) },
    Aim { measure: PING_P99, bound: AtMost, limit: 2.0, times: Some(AXUM) },
    Aim { measure: CALL_P50, bound: AtMost, limit: 1.12, times: Some(DIRECT) },
    Aim { measure: CALLS, bound: AtLeast, limit: 0.9, times: Some(DIRECT) },
    Aim { measure: LISTENS, bound: AtMost, limit: 30.0, times: None },
    Aim { measure: SESSIONS, bound: AtMost, limit: 30.0, times: None },
];

const MCP_BASH: &str = "mcp-bash";
const AXUM: &str = "axum";
const DIRECT: &str = "direct";
const RMCP: &str = "rmcp";
const FASTMCP: &str = "FastMCP";
const TYPESCRIPT: &str = "TypeScript SDK";

/// The text that an answer must contain.
const RESULT: &[u8] = b"\"result\"";
const SAID_HI: &[u8] = b"\"text\":\"hi";

fn main() -> ExitCode {
    let known = [
        "--mcp-bash",
        "--axum",
        "--rmcp",
        "--fastmcp",
        "--typescript",
        "--threads",
        "--only",
        "--rounds",
        "--json",
    ];
    drive("http", USAGE, &known, run)
}

fn run(options: &Options) -> Result<(), String> {
    let rounds = options.number("--rounds", 5)?;
    let scratch = tempfile::tempdir().map_err(|error| format!("a temporary directory: {error}"))?;
    let mut stage = Stage::new(options, scratch.path())?;
    let scores = Scoreboard::of_rounds(rounds, |scores| stage.round(scores))?;

    let aimed = Comparison {
        server: MCP_BASH,
        others: &[AXUM, DIRECT],
        measures: &MEASURES,
        aims: &AIMS,
        scores: &scores,
    };
    let others: Vec<&str> = stage.others.iter().map(Launch::name).collect();
    let compared =
        Comparison { server: MCP_BASH, others: &others, measures: &MEASURES, aims: &[], scores: &scores };
    let (aims, comparison) = (aimed.whole_table(), compared.whole_table());
    print(&format!("Medians over {rounds} rounds.\n\n{aims}\n{comparison}"))?;
    options.write_json(&json!({
        "servers": scores.to_json(),
        "aims": aimed.to_json(),
        "comparison": compared.to_json(),
    }))
}

/// The servers, and the script that all of them run.
struct Stage {
    mcp_bash: Launch,
    axum: Launch,
    others: Vec<Launch>,
    hi: Script,
    /// The part that the run is limited to.
    only: Option<String>,
}

impl Stage {
    fn new(options: &Options, scratch: &Path) -> Result<Self, String> {
        let project = scratch.join("project");
        let script = fixture::write_tool(&project, "hi", "echo hi")
            .map_err(|error| format!("the project to serve: {error}"))?;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = options.number("--threads", u32::try_from(cores).unwrap_or(1))?.to_string();
        let mcp_bash = options
            .launch(MCP_BASH, "--mcp-bash", "mcp-bash", scratch)?
            .argument("serve")
            .argument("--http")
            .argument("127.0.0.1:0")
            .argument("--project-root")
            .argument(&project)
            .setting("MCPBASH_MAX_CONCURRENT_REQUESTS", CALLERS.to_string());
        let answers = keep_answers(&mcp_bash, scratch)?;
        let axum = options.launch(AXUM, "--axum", "axum-endpoint", scratch)?.argument(&threads);
        let axum = answers.into_iter().fold(axum, Launch::argument);
        let rmcp = options.launch(RMCP, "--rmcp", "rmcp-http-server", scratch)?;
        let mut others = vec![rmcp.argument(&threads).argument(&script)];
        others.extend(in_folder(options, FASTMCP, "--fastmcp", "venv/bin/python", "server.py", &script)?);
        others.extend(in_folder(
            options,
            TYPESCRIPT,
            "--typescript",
            "node_modules/.bin/node",
            "server.mjs",
            &script,
        )?);
        let only = options.path("--only").map(|part| part.to_string_lossy().into_owned());
        if let Some(part) = only.as_deref().filter(|part| !PARTS.contains(part)) {
            return Err(format!("«{part}» is none of {}", PARTS.join(", ")));
        }
        Ok(Self { mcp_bash, axum, others, hi: Script::new(script), only })
    }

    fn round(&mut self, scores: &mut Scoreboard) -> Result<(), Failure> {
        if self.wants("starts") {
            self.measure_starts(scores)?;
        }
        if self.wants("streams") {
            self.measure_streams(scores)?;
        }
        let mut servers = Vec::new();
        for launch in [&self.mcp_bash, &self.axum].into_iter().chain(&self.others) {
            servers.push(HttpServer::start(launch)?);
        }
        if self.wants("discover") {
            measure_discover(&mut servers, scores)?;
        }
        if self.wants("ping") {
            measure_ping(&mut servers, scores)?;
        }
        servers.retain(|server| server.name() != AXUM);
        if self.wants("calls") {
            self.measure_calls(&mut servers, scores)?;
        }
        if self.wants("crowd") {
            self.measure_crowd(&mut servers, scores)?;
        }
        Ok(())
    }

    fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == part)
    }

    /// Each server by itself: its start time and its idle memory.
    fn measure_starts(&self, scores: &mut Scoreboard) -> Result<(), Failure> {
        for launch in [&self.mcp_bash].into_iter().chain(&self.others) {
            let mut server = HttpServer::start(launch)?;
            let answer = Connection::open(&server)
                .map_err(|error| error.to_string())
                .and_then(|mut connection| connection.exchange(&Post::discover(1)))
                .and_then(|answer| answer.check(RESULT));
            let took = server.age();
            answer.map_err(|what| server.failure(&what))?;
            scores.add(launch.name(), START, milliseconds(took));
            scores.add(launch.name(), RESIDENT, megabytes(resident(&mut server)?));
        }
        Ok(())
    }

    /// The memory of silent streams, each kind in a fresh process.
    fn measure_streams(&self, scores: &mut Scoreboard) -> Result<(), Failure> {
        type Open = fn(&HttpServer, u32) -> Result<IdleStreams, String>;
        let kinds: [(Measure, Open); 2] = [(LISTENS, IdleStreams::listen), (SESSIONS, IdleStreams::sessions)];
        for (measure, open) in kinds {
            let mut server = HttpServer::start(&self.mcp_bash)?;
            let before = resident(&mut server)?;
            let streams = open(&server, STREAMS).map_err(|what| server.failure(&what))?;
            let after = resident(&mut server)?;
            drop(streams);
            scores.add(server.name(), measure, megabytes(after.saturating_sub(before)));
        }
        Ok(())
    }

    /// Calls one after the other, on one connection.
    fn measure_calls(&mut self, servers: &mut [HttpServer], scores: &mut Scoreboard) -> Result<(), Failure> {
        let mut samples = vec![Vec::new(); servers.len()];
        let mut run = Vec::new();
        for turn in 0..=CALL_TURNS {
            for (server, samples) in servers.iter_mut().zip(&mut samples) {
                server.begin_measure();
                samples.extend(call_in_sequence(server).map_err(|what| server.failure(&what))?);
            }
            for _ in 0..CALLS_PER_TURN {
                run.push(direct(self.hi.run(None))?);
            }
            if turn == 0 {
                // The first turn warms up all sides.
                samples.iter_mut().for_each(Vec::clear);
                run.clear();
            }
        }
        let named = servers.iter().map(HttpServer::name).zip(&samples).chain([(DIRECT, &run)]);
        for (name, samples) in named {
            scores.add(name, CALL_P50, milliseconds(percentile(samples, 50)));
            scores.add(name, CALL_P99, milliseconds(percentile(samples, 99)));
        }
        Ok(())
    }

    /// Calls on many connections at once.
    fn measure_crowd(&self, servers: &mut [HttpServer], scores: &mut Scoreboard) -> Result<(), Failure> {
        for server in servers {
            let path = server.path().to_owned();
            let mut turns = Load::default();
            for _ in 0..CROWD_TURNS {
                let call = |number| Post::call_tool(number, "hi");
                turns.add(load(server, &path, CALLERS, CROWD_TIME, call, SAID_HI)?);
            }
            scores.add(server.name(), CALLS, turns.rate());
        }
        let elapsed = direct(self.hi.run_many(CROWD, CALLERS))?;
        scores.add(DIRECT, CALLS, f64::from(CROWD) / elapsed.as_secs_f64());
        Ok(())
    }
}

/// Asks mcp-bash for the answers that the endpoint on axum returns, and stores them in files.
fn keep_answers(mcp_bash: &Launch, scratch: &Path) -> Result<[PathBuf; 2], String> {
    let server = HttpServer::start(mcp_bash).map_err(|failure| failure.to_string())?;
    let mut connection = Connection::open(&server).map_err(|error| error.to_string())?;
    let session = connection.begin_session()?;
    let mut keep = |name: &str, post: Post| {
        let answer = connection.exchange(&post)?;
        answer.check(RESULT)?;
        let file = scratch.join(name);
        fs::write(&file, &answer.body).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok::<_, String>(file)
    };
    Ok([keep("discover", Post::discover(1))?, keep("ping", Post::ping(1, session.as_deref()))?])
}

/// A server that is a `script` for an interpreter, in a folder with its packages.
fn in_folder(
    options: &Options,
    name: &str,
    option: &str,
    interpreter: &str,
    server: &str,
    script: &Path,
) -> Result<Option<Launch>, String> {
    let Some(folder) = options.path(option) else { return Ok(None) };
    let launch =
        Launch::new(name, &folder.join(interpreter), &folder).map_err(|failure| failure.to_string())?;
    Ok(Some(launch.argument(server).argument(script)))
}

fn measure_discover(servers: &mut [HttpServer], scores: &mut Scoreboard) -> Result<(), Failure> {
    let paths: Vec<String> = servers.iter().map(|server| path_of(server, "/discover")).collect();
    let mut turns: Vec<Load> = servers.iter().map(|_| Load::default()).collect();
    for _ in 0..LOAD_TURNS {
        for ((server, path), turns) in servers.iter_mut().zip(&paths).zip(&mut turns) {
            turns.add(load(server, path, CONNECTIONS, LOAD_TIME, Post::discover, RESULT)?);
        }
    }
    for (server, turns) in servers.iter().zip(&turns) {
        enter(server.name(), turns, [DISCOVER, DISCOVER_P50, DISCOVER_P99, DISCOVER_CPU], scores);
    }
    Ok(())
}

/// All connections belong to one session.
fn measure_ping(servers: &mut [HttpServer], scores: &mut Scoreboard) -> Result<(), Failure> {
    let mut sessions = Vec::new();
    for server in servers.iter_mut() {
        sessions.push(begin_session(server).map_err(|what| server.failure(&what))?);
    }
    let paths: Vec<String> = servers.iter().map(|server| path_of(server, "/ping")).collect();
    let mut turns: Vec<Load> = servers.iter().map(|_| Load::default()).collect();
    for _ in 0..LOAD_TURNS {
        for (((server, path), turns), session) in
            servers.iter_mut().zip(&paths).zip(&mut turns).zip(&sessions)
        {
            let ping = |number| Post::ping(number, session.as_deref());
            turns.add(load(server, path, CONNECTIONS, LOAD_TIME, ping, RESULT)?);
        }
    }
    for (server, turns) in servers.iter().zip(&turns) {
        enter(server.name(), turns, [PING, PING_P50, PING_P99, PING_CPU], scores);
    }
    Ok(())
}

/// The endpoint on axum has a path for each answer.
fn path_of(server: &HttpServer, fixed: &str) -> String {
    if server.name() == AXUM { fixed.to_owned() } else { server.path().to_owned() }
}

fn begin_session(server: &HttpServer) -> Result<Option<String>, String> {
    if server.name() == AXUM {
        // As long as a real one, so that the requests have the same size.
        return Ok(Some("x".repeat(32)));
    }
    Connection::open(server).map_err(|error| error.to_string())?.begin_session()
}

fn call_in_sequence(server: &HttpServer) -> Result<Vec<Duration>, String> {
    let mut connection = Connection::open(server).map_err(|error| error.to_string())?;
    let mut samples = Vec::new();
    for number in 0..CALLS_PER_TURN {
        let answer = connection.exchange(&Post::call_tool(number, "hi"))?;
        answer.check(SAID_HI)?;
        samples.push(answer.took);
    }
    Ok(samples)
}

fn resident(server: &mut HttpServer) -> Result<u64, Failure> {
    thread::sleep(SETTLING);
    let memory = Memory::of(server.pid()).map_err(|error| server.failure(&format!("its memory: {error}")))?;
    Ok(memory.resident)
}

/// Names the side that failed.
fn direct<T>(outcome: io::Result<T>) -> Result<T, Failure> {
    outcome.map_err(|error| Failure::new(DIRECT, error.to_string()))
}

/// Records the turns of one server in a round.
fn enter(server: &str, turns: &Load, measures: [Measure; 4], scores: &mut Scoreboard) {
    let [rate, p50, p99, cpu] = measures;
    scores.add(server, rate, turns.rate());
    scores.add(server, p50, milliseconds(percentile(&turns.samples, 50)));
    scores.add(server, p99, milliseconds(percentile(&turns.samples, 99)));
    scores.add(server, cpu, microseconds(turns.cpu_per_request()));
}
