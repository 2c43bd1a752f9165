//! Protocol engine: measures mcp-bash against a bare tokio loop and the official Rust SDK.
//!
//! This file has the command line, the measures, the aims, and their order. Servers take turns in every
//! round, in small steps, so that a noisy moment of the machine does not affect only one of them.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use mcp_bash_bench::aims::Bound::{AtLeast, AtMost};
use mcp_bash_bench::aims::{Aim, Comparison};
use mcp_bash_bench::command_line::{Options, drive, print};
use mcp_bash_bench::measures::{flood, idle_memory, lifetime, round_trips};
use mcp_bash_bench::scoreboard::{Measure, Scoreboard};
use mcp_bash_bench::statistics::{median, megabytes, microseconds, milliseconds, percentile};
use mcp_bash_bench::{Failure, Launch, Placement, Request, Subject, fixture};
use serde_json::json;

const USAGE: &str = "\
Usage: engine [OPTIONS]

  --mcp-bash PATH    the mcp-bash binary (default: beside this program, as the two below)
  --bare-loop PATH   the baseline server
  --rmcp PATH        the server on the official Rust SDK
  --rounds N         rounds in which the servers take turns (default: 5)
  --json FILE        also write every round's values to FILE
";

const LAUNCHES_PER_ROUND: u32 = 20;
/// Sequential pings that do not count, before a round's first turn and before every turn: a server that was
/// just moved to another core is slow for a moment.
const WARM_UP_PINGS: u32 = 200;
const WARM_UP_PINGS_PER_TURN: u32 = 20;
const SEQUENTIAL_PINGS: u32 = 5_000;
const SEQUENTIAL_TURNS: u32 = 10;
const PIPELINED_PINGS: u32 = 50_000;
const PIPELINED_TURNS: u32 = 10;

const COLD_START: Measure = Measure { name: "cold start", unit: "ms", decimals: 2 };
const ONE_CORE_P50: Measure = Measure { name: "ping p50, one core", unit: "µs", decimals: 1 };
const ONE_CORE_P99: Measure = Measure { name: "ping p99, one core", unit: "µs", decimals: 1 };
const TWO_CORES_P50: Measure = Measure { name: "ping p50, two cores", unit: "µs", decimals: 1 };
const TWO_CORES_P99: Measure = Measure { name: "ping p99, two cores", unit: "µs", decimals: 1 };
const THROUGHPUT: Measure = Measure { name: "pipelined pings", unit: "1/s", decimals: 0 };
const CPU_PER_PING: Measure = Measure { name: "CPU per ping", unit: "µs", decimals: 2 };
const RESIDENT: Measure = Measure { name: "idle RSS", unit: "MB", decimals: 2 };
const PROPORTIONAL: Measure = Measure { name: "idle PSS", unit: "MB", decimals: 2 };
const PRIVATE: Measure = Measure { name: "idle private", unit: "MB", decimals: 2 };
const BINARY: Measure = Measure { name: "binary", unit: "MB", decimals: 2 };
const EXIT: Measure = Measure { name: "EOF to exit", unit: "ms", decimals: 2 };

/// In the order of the tables.
const MEASURES: [Measure; 12] = [
    COLD_START,
    ONE_CORE_P50,
    ONE_CORE_P99,
    TWO_CORES_P50,
    TWO_CORES_P99,
    THROUGHPUT,
    CPU_PER_PING,
    RESIDENT,
    PROPORTIONAL,
    PRIVATE,
    BINARY,
    EXIT,
];

const AIMS: [Aim; 8] = [
    Aim { measure: COLD_START, bound: AtMost, limit: 1.2, times: Some(BARE_LOOP) },
    Aim { measure: ONE_CORE_P50, bound: AtMost, limit: 1.5, times: Some(BARE_LOOP) },
    Aim { measure: TWO_CORES_P50, bound: AtMost, limit: 1.5, times: Some(BARE_LOOP) },
    Aim { measure: THROUGHPUT, bound: AtLeast, limit: 0.6, times: Some(BARE_LOOP) },
    Aim { measure: THROUGHPUT, bound: AtLeast, limit: 3.0, times: Some(RMCP) },
    Aim { measure: RESIDENT, bound: AtMost, limit: 6.0, times: None },
    Aim { measure: BINARY, bound: AtMost, limit: 12.0, times: None },
    Aim { measure: EXIT, bound: AtMost, limit: 2.0, times: None },
];

const MCP_BASH: &str = "mcp-bash";
const EMBEDDED: &str = "mcp-bash, embedded project";
const BARE_LOOP: &str = "bare-loop";
const RMCP: &str = "rmcp";

fn main() -> ExitCode {
    drive("engine", USAGE, &["--mcp-bash", "--bare-loop", "--rmcp", "--rounds", "--json"], run)
}

fn run(options: &Options) -> Result<(), String> {
    let rounds = options.number("--rounds", 5)?;
    let scratch = tempfile::tempdir().map_err(|error| format!("a temporary directory: {error}"))?;
    let contestants = contestants(options, scratch.path())?;
    let mut scores = Scoreboard::default();
    take_measures(&contestants, rounds, &mut scores).map_err(|failure| failure.to_string())?;

    let servers: Vec<&str> = contestants.iter().map(|contestant| contestant.launch.name()).collect();
    let others = [BARE_LOOP, RMCP];
    let comparison =
        Comparison { server: MCP_BASH, others: &others, measures: &MEASURES, aims: &AIMS, scores: &scores };
    let (medians, ratios) = (scores.table(&servers, &MEASURES), comparison.table());
    print(&format!("Medians over {rounds} rounds.\n\n{medians}\n{ratios}"))?;
    options.write_json(&json!({ "servers": scores.to_json(), "comparison": comparison.to_json() }))
}

/// A server and its measures.
struct Contestant {
    launch: Launch,
    /// False for a row with only the start and the memory.
    full: bool,
}

fn contestants(options: &Options, scratch: &Path) -> Result<Vec<Contestant>, String> {
    let project = scratch.join("project");
    let empty = scratch.join("empty");
    let made = fixture::write_project(&project).and_then(|()| fs::create_dir(&empty));
    made.map_err(|error| format!("the project to serve: {error}"))?;

    let mcp_bash = |server| options.launch(server, "--mcp-bash", "mcp-bash", &empty);
    let served = mcp_bash(MCP_BASH)?.argument("--project-root").argument(&project);
    let bare_loop = options.launch(BARE_LOOP, "--bare-loop", "bare-loop", &empty)?;
    let rmcp = options.launch(RMCP, "--rmcp", "rmcp-server", &empty)?;
    Ok(vec![
        Contestant { launch: served, full: true },
        Contestant { launch: bare_loop, full: true },
        Contestant { launch: rmcp, full: true },
        Contestant { launch: mcp_bash(EMBEDDED)?, full: false },
    ])
}

fn take_measures(contestants: &[Contestant], rounds: u32, scores: &mut Scoreboard) -> Result<(), Failure> {
    for Contestant { launch, .. } in contestants {
        // The first start reads the program from disk, which is not part of the cold start.
        lifetime(launch)?;
    }
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}");
        measure_lifetimes(contestants, scores)?;
        for contestant in contestants {
            measure_memory(&contestant.launch, scores)?;
        }
        let full = contestants.iter().filter(|contestant| contestant.full);
        let start = |contestant: &Contestant| Ok(Subject::start_initialized(&contestant.launch)?.0);
        let mut subjects: Vec<Subject> = full.map(start).collect::<Result<_, Failure>>()?;
        measure_round_trips(&mut subjects, scores)?;
        measure_floods(&mut subjects, scores)?;
        for subject in subjects {
            subject.close()?;
        }
    }
    for contestant in contestants.iter().filter(|contestant| contestant.full) {
        let size = contestant.launch.program_size()?;
        scores.add(contestant.launch.name(), BINARY, megabytes(size));
    }
    Ok(())
}

/// Cold starts and exits. Servers take turns launch by launch, because these are the noisiest numbers.
fn measure_lifetimes(contestants: &[Contestant], scores: &mut Scoreboard) -> Result<(), Failure> {
    let mut samples = vec![(Vec::new(), Vec::new()); contestants.len()];
    for _ in 0..LAUNCHES_PER_ROUND {
        for (contestant, (starts, exits)) in contestants.iter().zip(&mut samples) {
            let lifetime = lifetime(&contestant.launch)?;
            starts.push(milliseconds(lifetime.cold_start));
            exits.push(milliseconds(lifetime.exit));
        }
    }
    for (contestant, (starts, exits)) in contestants.iter().zip(&samples) {
        let name = contestant.launch.name();
        scores.add(name, COLD_START, median(starts));
        if contestant.full {
            scores.add(name, EXIT, median(exits));
        }
    }
    Ok(())
}

/// The memory of a fresh process. No other server runs then, since pages shared with one would count for
/// neither.
fn measure_memory(launch: &Launch, scores: &mut Scoreboard) -> Result<(), Failure> {
    let (mut subject, _) = Subject::start_initialized(launch)?;
    let memory = idle_memory(&mut subject)?;
    scores.add(launch.name(), RESIDENT, megabytes(memory.resident));
    scores.add(launch.name(), PROPORTIONAL, megabytes(memory.proportional));
    scores.add(launch.name(), PRIVATE, megabytes(memory.private));
    subject.close()?;
    Ok(())
}

fn measure_round_trips(subjects: &mut [Subject], scores: &mut Scoreboard) -> Result<(), Failure> {
    let ping = Request::ping();
    for (placement, p50, p99) in [
        (Placement::OneCore, ONE_CORE_P50, ONE_CORE_P99),
        (Placement::TwoCores, TWO_CORES_P50, TWO_CORES_P99),
    ] {
        if !placement.is_possible() {
            continue;
        }
        let mut samples: Vec<Vec<Duration>> = vec![Vec::new(); subjects.len()];
        for turn in 0..SEQUENTIAL_TURNS {
            let warm_up = if turn == 0 { WARM_UP_PINGS } else { WARM_UP_PINGS_PER_TURN };
            for (subject, samples) in subjects.iter_mut().zip(&mut samples) {
                let count = SEQUENTIAL_PINGS / SEQUENTIAL_TURNS;
                samples.extend(round_trips(subject, &ping, placement, warm_up, count)?);
            }
        }
        for (subject, samples) in subjects.iter().zip(&samples) {
            scores.add(subject.name(), p50, microseconds(percentile(samples, 50)));
            scores.add(subject.name(), p99, microseconds(percentile(samples, 99)));
        }
    }
    Ok(())
}

fn measure_floods(subjects: &mut [Subject], scores: &mut Scoreboard) -> Result<(), Failure> {
    let ping = Request::ping();
    let mut samples = vec![(Vec::new(), Vec::new()); subjects.len()];
    for _ in 0..PIPELINED_TURNS {
        for (subject, (throughputs, costs)) in subjects.iter_mut().zip(&mut samples) {
            let flood = flood(subject, &ping, PIPELINED_PINGS)?;
            throughputs.push(flood.per_second());
            costs.push(microseconds(flood.cpu_per_message()));
        }
    }
    for (subject, (throughputs, costs)) in subjects.iter().zip(&samples) {
        scores.add(subject.name(), THROUGHPUT, median(throughputs));
        scores.add(subject.name(), CPU_PER_PING, median(costs));
    }
    Ok(())
}
