//! Comparison with an older build: measures a server over stdio against an older build of the same program, to see
//! whether an added feature costs users who do not use it.

use std::path::Path;
use std::process::ExitCode;

use mcp_bash_bench::aims::Bound::AtMost;
use mcp_bash_bench::aims::{Aim, Comparison};
use mcp_bash_bench::command_line::{Options, drive, print};
use mcp_bash_bench::measures::{idle_memory, lifetime, round_trips};
use mcp_bash_bench::proc_usage::thread_count;
use mcp_bash_bench::scoreboard::{Measure, Scoreboard};
use mcp_bash_bench::statistics::{median, megabytes, microseconds, milliseconds, percentile};
use mcp_bash_bench::{Failure, Launch, Placement, Request, Subject, fixture};
use serde_json::json;

const USAGE: &str = "\
Usage: older --older PATH [OPTIONS]

  --older PATH       an older build of mcp-bash
  --mcp-bash PATH    the mcp-bash binary (default: beside this program)
  --rounds N         rounds in which the two take turns (default: 5)
  --json FILE        also write every round's values to FILE
";

const LAUNCHES_PER_ROUND: u32 = 50;
const PING_TURNS: u32 = 10;
const PINGS_PER_TURN: u32 = 300;
const WARM_UP_PINGS: u32 = 50;
const CALL_TURNS: u32 = 200;

const COLD_START: Measure = Measure { name: "cold start", unit: "ms", decimals: 2 };
const EXIT: Measure = Measure { name: "EOF to exit", unit: "ms", decimals: 2 };
const PING: Measure = Measure { name: "ping p50, one core", unit: "µs", decimals: 1 };
const CALL: Measure = Measure { name: "call p50", unit: "µs", decimals: 0 };
const RESIDENT: Measure = Measure { name: "idle RSS", unit: "MB", decimals: 2 };
const WRITTEN: Measure = Measure { name: "idle, written", unit: "MB", decimals: 2 };
const THREADS: Measure = Measure { name: "idle threads", unit: "", decimals: 0 };
const BINARY: Measure = Measure { name: "binary", unit: "MB", decimals: 2 };

/// In the order of the table.
const MEASURES: [Measure; 8] = [COLD_START, EXIT, PING, CALL, RESIDENT, WRITTEN, THREADS, BINARY];

/// A binary compared with itself is within a few hundredths of 1, and exact for threads.
const AIMS: [Aim; 5] = [
    Aim { measure: COLD_START, bound: AtMost, limit: 1.05, times: Some(OLDER) },
    Aim { measure: PING, bound: AtMost, limit: 1.05, times: Some(OLDER) },
    Aim { measure: CALL, bound: AtMost, limit: 1.05, times: Some(OLDER) },
    Aim { measure: WRITTEN, bound: AtMost, limit: 1.05, times: Some(OLDER) },
    Aim { measure: THREADS, bound: AtMost, limit: 1.0, times: Some(OLDER) },
];

const MCP_BASH: &str = "mcp-bash";
const OLDER: &str = "older";

fn main() -> ExitCode {
    drive("older", USAGE, &["--older", "--mcp-bash", "--rounds", "--json"], run)
}

fn run(options: &Options) -> Result<(), String> {
    if !options.has("--older") {
        return Err(format!("--older is missing\n\n{USAGE}"));
    }
    let rounds = options.number("--rounds", 5)?;
    let scratch = tempfile::tempdir().map_err(|error| format!("a temporary directory: {error}"))?;
    let launches = launches(options, scratch.path())?;
    let mut scores = Scoreboard::default();
    take_measures(&launches, rounds, &mut scores).map_err(|failure| failure.to_string())?;

    let comparison =
        Comparison { server: MCP_BASH, others: &[OLDER], measures: &MEASURES, aims: &AIMS, scores: &scores };
    print(&format!("Medians over {rounds} rounds.\n\n{}", comparison.whole_table()))?;
    options.write_json(&json!({ "servers": scores.to_json(), "comparison": comparison.to_json() }))
}

fn launches(options: &Options, scratch: &Path) -> Result<[Launch; 2], String> {
    let project = scratch.join("project");
    fixture::write_project(&project).map_err(|error| format!("the project to serve: {error}"))?;
    let launch = |name, option| {
        let launch = options.launch(name, option, "mcp-bash", scratch)?;
        Ok::<_, String>(launch.argument("--project-root").argument(&project))
    };
    Ok([launch(MCP_BASH, "--mcp-bash")?, launch(OLDER, "--older")?])
}

fn take_measures(launches: &[Launch; 2], rounds: u32, scores: &mut Scoreboard) -> Result<(), Failure> {
    for launch in launches {
        // The first start reads the program from disk, which is not part of the cold start.
        lifetime(launch)?;
        scores.add(launch.name(), BINARY, megabytes(launch.program_size()?));
    }
    for round in 1..=rounds {
        eprintln!("round {round} of {rounds}");
        measure_lifetimes(launches, scores)?;
        for launch in launches {
            measure_idle(launch, scores)?;
        }
        let mut subjects = Vec::new();
        for launch in launches {
            subjects.push(Subject::start_initialized(launch)?.0);
        }
        measure_pings(&mut subjects, scores)?;
        measure_calls(&mut subjects, scores)?;
        for subject in subjects {
            subject.close()?;
        }
    }
    Ok(())
}

fn measure_lifetimes(launches: &[Launch; 2], scores: &mut Scoreboard) -> Result<(), Failure> {
    let mut samples = [const { (Vec::new(), Vec::new()) }; 2];
    for _ in 0..LAUNCHES_PER_ROUND {
        for (launch, (starts, exits)) in launches.iter().zip(&mut samples) {
            let lifetime = lifetime(launch)?;
            starts.push(milliseconds(lifetime.cold_start));
            exits.push(milliseconds(lifetime.exit));
        }
    }
    for (launch, (starts, exits)) in launches.iter().zip(&samples) {
        scores.add(launch.name(), COLD_START, median(starts));
        scores.add(launch.name(), EXIT, median(exits));
    }
    Ok(())
}

/// The memory and the threads of a fresh process.
fn measure_idle(launch: &Launch, scores: &mut Scoreboard) -> Result<(), Failure> {
    let (mut subject, _) = Subject::start_initialized(launch)?;
    let memory = idle_memory(&mut subject)?;
    let threads = thread_count(subject.pid());
    let threads = threads.map_err(|error| subject.failure(&format!("its threads: {error}")))?;
    scores.add(launch.name(), RESIDENT, megabytes(memory.resident));
    scores.add(launch.name(), WRITTEN, megabytes(memory.written));
    scores.add(launch.name(), THREADS, f64::from(threads));
    subject.close()?;
    Ok(())
}

fn measure_pings(subjects: &mut [Subject], scores: &mut Scoreboard) -> Result<(), Failure> {
    let ping = Request::ping();
    let mut samples = vec![Vec::new(); subjects.len()];
    for _ in 0..PING_TURNS {
        for (subject, samples) in subjects.iter_mut().zip(&mut samples) {
            let taken = round_trips(subject, &ping, Placement::OneCore, WARM_UP_PINGS, PINGS_PER_TURN)?;
            samples.extend(taken);
        }
    }
    for (subject, samples) in subjects.iter().zip(&samples) {
        scores.add(subject.name(), PING, microseconds(percentile(samples, 50)));
    }
    Ok(())
}

fn measure_calls(subjects: &mut [Subject], scores: &mut Scoreboard) -> Result<(), Failure> {
    let call = Request::call_tool("hi", "{}");
    let mut samples = vec![Vec::new(); subjects.len()];
    for _ in 0..CALL_TURNS {
        for (subject, samples) in subjects.iter_mut().zip(&mut samples) {
            subject.begin_measure();
            samples.push(subject.call(&call)?);
        }
    }
    for (subject, samples) in subjects.iter().zip(&samples) {
        scores.add(subject.name(), CALL, microseconds(percentile(samples, 50)));
    }
    Ok(())
}
