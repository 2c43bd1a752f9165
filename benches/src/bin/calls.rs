//! Tool calls: measures them against starting the same scripts directly.
//!
//! This file has the measures, the aims, and their order. The two sides take turns in every round, in small
//! steps, so that a noisy moment of the machine does not affect only one of them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};
use std::time::Duration;

use mcp_bash_bench::aims::Bound::{AtLeast, AtMost};
use mcp_bash_bench::aims::{Aim, Comparison};
use mcp_bash_bench::command_line::{Options, drive, print};
use mcp_bash_bench::crowd::crowd;
use mcp_bash_bench::direct::Script;
use mcp_bash_bench::echo::echo_during;
use mcp_bash_bench::pipe_pass::PipePass;
use mcp_bash_bench::proc_usage::CpuTime;
use mcp_bash_bench::scoreboard::{Measure, Scoreboard};
use mcp_bash_bench::statistics::{microseconds, milliseconds, percentile};
use mcp_bash_bench::{Failure, Launch, Request, Subject, fixture};
use serde_json::json;

const USAGE: &str = "\
Usage: calls [OPTIONS]

  --mcp-bash PATH    the mcp-bash binary (default: beside this program)
  --rounds N         rounds in which the two sides take turns (default: 5)
  --reference PATH   another server of such projects, of which a few calls are measured as well
  --json FILE        also write every round's values to FILE
";

const SEQUENTIAL_TURNS: u32 = 20;
const SEQUENTIAL_CALLS_PER_TURN: u32 = 50;
const COMMAND_TURNS: u32 = 200;
const REFERENCE_CALLS: u32 = 10;
const CROWD: u32 = 2_000;
const IN_FLIGHT: u32 = 50;
const ARGUMENT_TURNS: u32 = 40;
const ARGUMENT: usize = 1_000_000;
const OUTPUT_TURNS: u32 = 10;
const OUTPUT: usize = 10_000_000;

const P50: Measure = Measure { name: "call p50", unit: "µs", decimals: 0 };
const PROVIDED: Measure = Measure { name: "provided call p50", unit: "µs", decimals: 0 };
const P99: Measure = Measure { name: "call p99", unit: "µs", decimals: 0 };
const COMMAND: Measure = Measure { name: "`mcp-bash call` p50", unit: "ms", decimals: 2 };
const COMMAND_OVER: Measure = Measure { name: "`mcp-bash call` over the script", unit: "ms", decimals: 2 };
const CPU: Measure = Measure { name: "CPU per call", unit: "µs", decimals: 0 };
const CROWD_THROUGHPUT: Measure = Measure { name: "calls, 50 in flight", unit: "1/s", decimals: 0 };
const CROWD_CPU: Measure = Measure { name: "CPU per call, 50 in flight", unit: "µs", decimals: 0 };
const LIST_P99: Measure = Measure { name: "tools/list p99 meanwhile", unit: "ms", decimals: 2 };
const ARGUMENT_TIME: Measure = Measure { name: "argument of 1 MB", unit: "ms", decimals: 2 };
const ARGUMENT_OWN: Measure = Measure { name: "argument of 1 MB, less the pass", unit: "ms", decimals: 2 };
const ARGUMENT_PASS: Measure = Measure { name: "pass of 1 MB through a pipe", unit: "ms", decimals: 2 };
const OUTPUT_TIME: Measure = Measure { name: "output of 10 MB", unit: "ms", decimals: 2 };
const OUTPUT_OWN: Measure = Measure { name: "output of 10 MB, less the pass", unit: "ms", decimals: 2 };
const OUTPUT_PASS: Measure = Measure { name: "pass of 10 MB through a pipe", unit: "ms", decimals: 2 };

/// In the order of the table.
const MEASURES: [Measure; 15] = [
    P50,
    PROVIDED,
    P99,
    COMMAND,
    COMMAND_OVER,
    CPU,
    CROWD_THROUGHPUT,
    CROWD_CPU,
    LIST_P99,
    ARGUMENT_TIME,
    ARGUMENT_OWN,
    ARGUMENT_PASS,
    OUTPUT_TIME,
    OUTPUT_OWN,
    OUTPUT_PASS,
];

/// Bytes through a server cross one more pipe than those of a direct run. That cost is measured separately
/// and subtracted before the two are compared.
const AIMS: [Aim; 7] = [
    Aim { measure: COMMAND_OVER, bound: AtMost, limit: 1.5, times: None },
    Aim { measure: PROVIDED, bound: AtMost, limit: 1.15, times: Some(DIRECT) },
    Aim { measure: P50, bound: AtMost, limit: 1.08, times: Some(DIRECT) },
    Aim { measure: CROWD_THROUGHPUT, bound: AtLeast, limit: 0.95, times: Some(DIRECT) },
    Aim { measure: LIST_P99, bound: AtMost, limit: 10.0, times: None },
    Aim { measure: ARGUMENT_OWN, bound: AtMost, limit: 1.5, times: Some(DIRECT) },
    Aim { measure: OUTPUT_OWN, bound: AtMost, limit: 1.3, times: Some(DIRECT) },
];

const MCP_BASH: &str = "mcp-bash";
const DIRECT: &str = "direct";

fn main() -> ExitCode {
    drive("calls", USAGE, &["--mcp-bash", "--rounds", "--reference", "--json"], run)
}

fn run(options: &Options) -> Result<(), String> {
    let rounds = options.number("--rounds", 5)?;
    let scratch = tempfile::tempdir().map_err(|error| format!("a temporary directory: {error}"))?;
    let mut stage = Stage::new(options, scratch.path())?;
    let scores = Scoreboard::of_rounds(rounds, |scores| stage.round(scores))?;
    let comparison =
        Comparison { server: MCP_BASH, others: &[DIRECT], measures: &MEASURES, aims: &AIMS, scores: &scores };
    print(&format!("Medians over {rounds} rounds.\n\n{}", comparison.whole_table()))?;
    if options.has("--reference") {
        print(&stage.compare_with_reference(options).map_err(|failure| failure.to_string())?)?;
    }
    options.write_json(&json!({ "servers": scores.to_json(), "comparison": comparison.to_json() }))
}

/// The server and its scripts, which also run directly.
struct Stage {
    launch: Launch,
    project: PathBuf,
    hi: Script,
    /// The command that calls it, as a user does at a terminal.
    call_hi: Script,
    /// Provides a tool.
    provided: Script,
    swallow: Script,
    /// Prints the contents of a file.
    print: Script,
    /// Prints the contents of an empty file.
    print_nothing: Script,
    /// An object with a string of 1 MB.
    argument: String,
}

impl Stage {
    fn new(options: &Options, scratch: &Path) -> Result<Self, String> {
        let project = scratch.join("project");
        let prepare = || {
            let tool = |name: &str, commands: &str| fixture::write_tool(&project, name, commands);
            let prepared = (
                tool("hi", "echo hi")?,
                fixture::write_provider(&project, "provided")?,
                tool("swallow", "cat >/dev/null; echo ok")?,
                tool("print", &format!("exec cat '{}'", scratch.join("text").display()))?,
                tool("print-nothing", &format!("exec cat '{}'", scratch.join("nothing").display()))?,
            );
            fs::write(scratch.join("text"), text(OUTPUT))?;
            fs::write(scratch.join("nothing"), "")?;
            io::Result::Ok(prepared)
        };
        let (hi, provided, swallow, print, print_nothing) =
            prepare().map_err(|error| format!("the project to serve: {error}"))?;
        let launch = options
            .launch(MCP_BASH, "--mcp-bash", "mcp-bash", scratch)?
            .argument("--project-root")
            .argument(&project)
            .setting("MCPBASH_MAX_CONCURRENT_REQUESTS", IN_FLIGHT.to_string())
            .setting("MCPBASH_MAX_TOOL_OUTPUT_SIZE", (2 * OUTPUT).to_string())
            .setting("MCPBASH_MAX_RESULT_TEXT_BYTES", "0");
        let call_hi = Script::new(launch.program().to_owned()).with_arguments(words_to_call_hi(&project));
        Ok(Self {
            launch,
            call_hi,
            project,
            hi: Script::new(hi),
            provided: Script::new(provided).with_arguments(&["provided", "{}"]),
            swallow: Script::new(swallow),
            print: Script::new(print),
            print_nothing: Script::new(print_nothing),
            argument: format!(r#"{{"text":"{}"}}"#, "x".repeat(ARGUMENT)),
        })
    }

    fn round(&mut self, scores: &mut Scoreboard) -> Result<(), Failure> {
        let (mut server, _) = Subject::start_initialized(&self.launch)?;
        self.measure_sequence(&mut server, scores)?;
        self.measure_provided(&mut server, scores)?;
        self.measure_command(scores)?;
        self.measure_crowd(&mut server, scores)?;
        self.measure_argument(&mut server, scores)?;
        self.measure_output(&mut server, scores)?;
        server.close()?;
        Ok(())
    }

    /// A few calls of the same tool by another server, which may take seconds each.
    fn compare_with_reference(&self, options: &Options) -> Result<String, Failure> {
        let failed = |problem: String| Failure::new("reference", problem);
        let launch = options
            .launch("reference", "--reference", "", &self.project)
            .map_err(failed)?
            .setting("MCPBASH_PROJECT_ROOT", &self.project)
            .setting("MCPBASH_TOOL_ALLOWLIST", "*");
        let request = Request::call_tool("hi", "{}");
        let mut p50 = Vec::new();
        for launch in [&launch, &self.launch] {
            let (mut server, _) = Subject::start_initialized(launch)?;
            let mut samples = Vec::new();
            for _ in 0..REFERENCE_CALLS {
                server.begin_measure();
                samples.push(server.call_checked(&request, succeeded)?);
            }
            p50.push(percentile(&samples, 50));
        }
        let times = p50[0].as_secs_f64() / p50[1].as_secs_f64();
        Ok(format!(
            "A call by the reference takes {:.0} ms, {times:.0} times as long.\n",
            milliseconds(p50[0])
        ))
    }

    /// Calls one after the other.
    fn measure_sequence(&mut self, server: &mut Subject, scores: &mut Scoreboard) -> Result<(), Failure> {
        let request = Request::call_tool("hi", "{}");
        let (mut called, mut run) = (Vec::new(), Vec::new());
        let (mut server_cpu, mut own_cpu) = (Duration::ZERO, Duration::ZERO);
        for turn in 0..=SEQUENTIAL_TURNS {
            server.begin_measure();
            let before = cpu_time(server.pid())?;
            for _ in 0..SEQUENTIAL_CALLS_PER_TURN {
                called.push(server.call_checked(&request, succeeded)?);
            }
            server_cpu += cpu_time(server.pid())?.since(before);
            let before = cpu_time(process::id())?;
            for _ in 0..SEQUENTIAL_CALLS_PER_TURN {
                run.push(direct(self.hi.run(None))?);
            }
            own_cpu += cpu_time(process::id())?.since(before);
            if turn == 0 {
                // The first turn warms up both sides.
                called.clear();
                run.clear();
                (server_cpu, own_cpu) = (Duration::ZERO, Duration::ZERO);
            }
        }
        let count = SEQUENTIAL_TURNS * SEQUENTIAL_CALLS_PER_TURN;
        for (name, samples, cpu) in [(MCP_BASH, &called, server_cpu), (DIRECT, &run, own_cpu)] {
            scores.add(name, P50, microseconds(percentile(samples, 50)));
            scores.add(name, P99, microseconds(percentile(samples, 99)));
            scores.add(name, CPU, microseconds(cpu / count));
        }
        Ok(())
    }

    /// Calls of a tool that an executable provides, one after the other.
    fn measure_provided(&mut self, server: &mut Subject, scores: &mut Scoreboard) -> Result<(), Failure> {
        let request = Request::call_tool("provided", "{}");
        let (mut called, mut run) = (Vec::new(), Vec::new());
        server.begin_measure();
        for _ in 0..SEQUENTIAL_TURNS * SEQUENTIAL_CALLS_PER_TURN / 2 {
            called.push(server.call_checked(&request, succeeded)?);
            run.push(direct(self.provided.run(None))?);
        }
        scores.add(MCP_BASH, PROVIDED, microseconds(percentile(&called, 50)));
        scores.add(DIRECT, PROVIDED, microseconds(percentile(&run, 50)));
        Ok(())
    }

    /// The whole of `mcp-bash call`: start, project, call, exit.
    fn measure_command(&mut self, scores: &mut Scoreboard) -> Result<(), Failure> {
        let (mut called, mut run) = (Vec::new(), Vec::new());
        for _ in 0..COMMAND_TURNS {
            let took = self.call_hi.run(None).map_err(|error| Failure::new(MCP_BASH, error.to_string()))?;
            if self.call_hi.printed() != b"hi\n" {
                return Err(Failure::new(MCP_BASH, "`mcp-bash call hi` does not print `hi`".to_owned()));
            }
            called.push(took);
            run.push(direct(self.hi.run(None))?);
        }
        let [called, run] = [&called, &run].map(|samples| milliseconds(percentile(samples, 50)));
        scores.add(MCP_BASH, COMMAND, called);
        scores.add(DIRECT, COMMAND, run);
        scores.add(MCP_BASH, COMMAND_OVER, called - run);
        Ok(())
    }

    /// Many concurrent calls.
    fn measure_crowd(&self, server: &mut Subject, scores: &mut Scoreboard) -> Result<(), Failure> {
        let mut add = |name: &str, elapsed: Duration, cpu: Duration, probes: &[Duration]| {
            scores.add(name, CROWD_THROUGHPUT, f64::from(CROWD) / elapsed.as_secs_f64());
            scores.add(name, CROWD_CPU, microseconds(cpu / CROWD));
            scores.add(name, LIST_P99, milliseconds(percentile(probes, 99)));
        };
        let call = Request::call_tool("hi", "{}");
        let called = crowd(server, &call, (CROWD, IN_FLIGHT), &Request::list_tools(), succeeded)?;
        add(MCP_BASH, called.elapsed, called.cpu, &called.probes);

        let before = cpu_time(process::id())?;
        let (elapsed, probes) = direct(echo_during(|| self.hi.run_many(CROWD, IN_FLIGHT)))?;
        // The threads that started the scripts have exited, so this is the coarse counter's value.
        let cpu = cpu_time(process::id())?.since(before);
        add(DIRECT, elapsed, cpu, &probes);
        Ok(())
    }

    /// The cost that a large argument adds to a call.
    fn measure_argument(&mut self, server: &mut Subject, scores: &mut Scoreboard) -> Result<(), Failure> {
        let empty = Request::call_tool("swallow", "{}");
        let full = Request::call_tool("swallow", &self.argument);
        let mut pass = direct(PipePass::new(ARGUMENT))?;
        let mut samples = Differences::default();
        server.begin_measure();
        for _ in 0..ARGUMENT_TURNS {
            samples.called_empty.push(server.call_checked(&empty, succeeded)?);
            samples.called_full.push(server.call_checked(&full, succeeded)?);
            samples.run_empty.push(direct(self.swallow.run(Some(b"")))?);
            samples.run_full.push(direct(self.swallow.run(Some(self.argument.as_bytes())))?);
            samples.passes.push(direct(pass.take())?);
        }
        samples.enter(ARGUMENT_TIME, ARGUMENT_OWN, ARGUMENT_PASS, scores);
        Ok(())
    }

    /// The cost that a large output adds to a call.
    fn measure_output(&mut self, server: &mut Subject, scores: &mut Scoreboard) -> Result<(), Failure> {
        let empty = Request::call_tool("print-nothing", "{}");
        let full = Request::call_tool("print", "{}");
        let mut length = 0;
        let complete = |line: &[u8], length: &mut usize| {
            *length = line.len();
            if line.len() < OUTPUT { Err("its answer is too short".to_owned()) } else { succeeded(line) }
        };
        // The first call shows the length of the answer's line, and grows the driver's buffer to it.
        server.call_checked(&full, |line| complete(line, &mut length))?;
        let mut pass = direct(PipePass::new(length))?;
        let mut samples = Differences::default();
        server.begin_measure();
        for _ in 0..OUTPUT_TURNS {
            samples.called_empty.push(server.call_checked(&empty, succeeded)?);
            samples.called_full.push(server.call_checked(&full, |line| complete(line, &mut length))?);
            samples.run_empty.push(direct(self.print_nothing.run(None))?);
            samples.run_full.push(direct(self.print.run(None))?);
            samples.passes.push(direct(pass.take())?);
        }
        samples.enter(OUTPUT_TIME, OUTPUT_OWN, OUTPUT_PASS, scores);
        Ok(())
    }
}

/// The command line that calls the tool `hi`. It lives as long as the driver.
fn words_to_call_hi(project: &Path) -> &'static [&'static str] {
    let project: &'static str = project.to_string_lossy().into_owned().leak();
    vec!["call", "hi", "--project-root", project].leak()
}

/// Times with many bytes and with none; the difference is the cost of the bytes.
#[derive(Default)]
struct Differences {
    called_empty: Vec<Duration>,
    called_full: Vec<Duration>,
    run_empty: Vec<Duration>,
    run_full: Vec<Duration>,
    /// The bytes' way through the pipe between the driver and the server, which a direct run does not have.
    passes: Vec<Duration>,
}

impl Differences {
    fn enter(&self, whole: Measure, own: Measure, pass: Measure, scores: &mut Scoreboard) {
        let typical = |samples: &[Duration]| milliseconds(percentile(samples, 50));
        let called = typical(&self.called_full) - typical(&self.called_empty);
        let run = typical(&self.run_full) - typical(&self.run_empty);
        scores.add(MCP_BASH, whole, called);
        scores.add(DIRECT, whole, run);
        scores.add(MCP_BASH, own, called - typical(&self.passes));
        scores.add(DIRECT, own, run);
        scores.add(DIRECT, pass, typical(&self.passes));
    }
}

/// Checks that a tool worked.
fn succeeded(line: &[u8]) -> Result<(), String> {
    match memchr::memmem::find(line, br#""isError":false"#) {
        Some(_) => Ok(()),
        None => Err(format!("a tool failed: «{}»", String::from_utf8_lossy(&line[..line.len().min(300)]))),
    }
}

/// Text of so many bytes, in lines.
fn text(length: usize) -> String {
    let line = "The quick brown fox jumps over the lazy dog, and the dog does not mind it at all.\n";
    let mut text = line.repeat(length / line.len() + 1);
    text.truncate(length);
    text
}

fn cpu_time(pid: u32) -> Result<CpuTime, Failure> {
    CpuTime::of(pid).map_err(|error| Failure::new(MCP_BASH, format!("processor time: {error}")))
}

/// Names the side that failed.
fn direct<T>(outcome: io::Result<T>) -> Result<T, Failure> {
    outcome.map_err(|error| Failure::new(DIRECT, error.to_string()))
}
