//! Functions: measures calls of a function in a warm worker against the same function on other SDKs and
//! against a bare loop in the same language; calls of a script on the same servers; the start of a server
//! with many functions against one with none; and the first result of an uncached file against an interpreter
//! that imports the same file.
//!
//! This file has the measures, the aims, and their order. The servers take turns in every round, in small
//! steps, so that a noisy moment of the machine does not affect only one of them.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use mcp_bash_bench::aims::Bound::{AtLeast, AtMost};
use mcp_bash_bench::aims::{Aim, Comparison};
use mcp_bash_bench::command_line::{Options, drive, print};
use mcp_bash_bench::crowd::crowd;
use mcp_bash_bench::direct::Script;
use mcp_bash_bench::measures::{first_line, lifetime};
use mcp_bash_bench::scoreboard::{Measure, Scoreboard};
use mcp_bash_bench::statistics::{median, microseconds, milliseconds, percentile};
use mcp_bash_bench::{Failure, Launch, Request, Subject, fixture};
use serde_json::json;

const USAGE: &str = "\
Usage: functions [OPTIONS]

  --mcp-bash PATH     the mcp-bash binary (default: beside this program)
  --fastmcp FOLDER    where the server on FastMCP and its packages are; without it, it is left out
  --typescript FOLDER the same for the one on the TypeScript SDK
  --rounds N          rounds in which the servers take turns (default: 5)
  --json FILE         also write every round's values to FILE
";

const TURNS: u32 = 20;
const CALLS_PER_TURN: u32 = 100;
const WARM_UP_CALLS: u32 = 20;
const CROWD: u32 = 3_000;
const IN_FLIGHT: u32 = 16;
const STARTS: u32 = 20;
const SCRIPT_TURNS: u32 = 10;
const SCRIPTS_PER_TURN: u32 = 20;
const FUNCTIONS: u32 = 100;
const UNKNOWN_STARTS: u32 = 10;

const FIRST: Measure = Measure { name: "start and first call", unit: "ms", decimals: 1 };
const P50: Measure = Measure { name: "warm call p50", unit: "µs", decimals: 0 };
const P99: Measure = Measure { name: "warm call p99", unit: "µs", decimals: 0 };
const OVER: Measure = Measure { name: "warm call p50 over the pipes", unit: "µs", decimals: 0 };
const THROUGHPUT: Measure = Measure { name: "calls, 16 in flight", unit: "1/s", decimals: 0 };
const SCRIPT: Measure = Measure { name: "call of `echo hi` p50", unit: "ms", decimals: 2 };
const UNKNOWN: Measure = Measure { name: "first result of an unknown file", unit: "ms", decimals: 1 };
const COLD_START: Measure = Measure { name: "cold start", unit: "ms", decimals: 2 };

/// In the order of the table.
const MEASURES: [Measure; 6] = [FIRST, P50, P99, OVER, THROUGHPUT, SCRIPT];

const AIMS: [Aim; 3] = [
    Aim { measure: OVER, bound: AtMost, limit: 30.0, times: None },
    Aim { measure: P50, bound: AtMost, limit: 0.125, times: Some(FASTMCP) },
    Aim { measure: THROUGHPUT, bound: AtLeast, limit: 5.0, times: Some(FASTMCP) },
];

const START_AIMS: [Aim; 1] = [Aim { measure: COLD_START, bound: AtMost, limit: 1.1, times: Some(WITHOUT) }];

const PYTHON_AIMS: [Aim; 1] =
    [Aim { measure: UNKNOWN, bound: AtMost, limit: 1.2, times: Some(PYTHON_BY_HAND) }];
const NODE_AIMS: [Aim; 1] = [Aim { measure: UNKNOWN, bound: AtMost, limit: 1.2, times: Some(NODE_BY_HAND) }];

const PYTHON: &str = "mcp-bash, Python";
const NODE: &str = "mcp-bash, Node.js";
const PIPES: &str = "bare loop, Python";
const ALONE: &str = "the script alone";
const FASTMCP: &str = "FastMCP";
const TYPESCRIPT: &str = "TypeScript SDK";
const PYTHON_BY_HAND: &str = "import by Python";
const NODE_BY_HAND: &str = "import by Node.js";
const WITH: &str = "100 functions";
const WITHOUT: &str = "none";

fn main() -> ExitCode {
    let options = ["--mcp-bash", "--fastmcp", "--typescript", "--rounds", "--json"];
    drive("functions", USAGE, &options, run)
}

fn run(options: &Options) -> Result<(), String> {
    let rounds = options.number("--rounds", 5)?;
    let scratch = tempfile::tempdir().map_err(|error| format!("a temporary directory: {error}"))?;
    let mut stage = Stage::new(options, scratch.path())?;
    stage.warm_up().map_err(|failure| failure.to_string())?;
    let scores = Scoreboard::of_rounds(rounds, |scores| stage.round(scores))?;
    let servers: Vec<&str> = stage.servers.iter().map(Launch::name).chain([ALONE]).collect();
    let others: Vec<&str> = servers.iter().copied().filter(|name| *name != PYTHON).collect();
    let comparison =
        Comparison { server: PYTHON, others: &others, measures: &MEASURES, aims: &AIMS, scores: &scores };
    let starts = Comparison {
        server: WITH,
        others: &[WITHOUT],
        measures: &[COLD_START],
        aims: &START_AIMS,
        scores: &scores,
    };
    let unknown =
        |server, others, aims| Comparison { server, others, measures: &[UNKNOWN], aims, scores: &scores };
    let unknown =
        [unknown(PYTHON, &[PYTHON_BY_HAND], &PYTHON_AIMS), unknown(NODE, &[NODE_BY_HAND], &NODE_AIMS)];
    print(&format!(
        "Medians over {rounds} rounds.\n\n{}\n{}\nA server with {FUNCTIONS} functions of Python, which it knows from before, \
         beside one without:\n\n{}\nFrom the start of a server that does not know the file to the result of its function, \
         beside the same interpreter that imports the file:\n\n{}\n{}",
        scores.table(&servers, &MEASURES),
        comparison.table(),
        starts.whole_table(),
        unknown[0].whole_table(),
        unknown[1].whole_table()
    ))?;
    options.write_json(&json!({
        "servers": scores.to_json(),
        "comparison": comparison.to_json(),
        "starts": starts.to_json(),
        "unknown": unknown.each_ref().map(Comparison::to_json),
    }))
}

/// The servers with the function, and the two whose starts are compared.
struct Stage {
    /// The folder with a project for each of our servers, by name.
    scratch: PathBuf,
    servers: Vec<Launch>,
    /// The script that most of them offer as a tool.
    script: Script,
    starts: [Launch; 2],
    /// The interpreters alone, beside the server of the same language.
    by_hand: [(&'static str, Launch); 2],
}

impl Stage {
    fn new(options: &Options, scratch: &Path) -> Result<Self, String> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("function-servers");
        let made = |error: io::Error| format!("the projects to serve: {error}");
        let project = |name: &str, file: &str| -> io::Result<PathBuf> {
            let root = scratch.join(name);
            fs::create_dir_all(root.join("tools"))?;
            fs::copy(here.join(file), root.join("tools").join(file))?;
            Ok(root)
        };
        let serving = |name: &str, root: &Path| -> Result<Launch, String> {
            let launch = options.launch(name, "--mcp-bash", "mcp-bash", scratch)?;
            Ok(launch.argument("--project-root").argument(root))
        };
        let python = project(PYTHON, "sums.py").map_err(made)?;
        let script = fixture::write_tool(&python, "hi", "echo hi").map_err(made)?;
        let python = serving(PYTHON, &python)?;
        let node = serving(NODE, &project(NODE, "sums.mjs").map_err(made)?)?;
        let pipes = interpreter(PIPES, "python3", scratch)?.argument(here.join("pipes.py"));
        let mut servers = vec![python, node, pipes];
        if let Some(folder) = options.path("--fastmcp") {
            let launch = Launch::new(FASTMCP, &folder.join("venv/bin/python"), &folder);
            servers
                .push(launch.map_err(|failure| failure.to_string())?.argument("server.py").argument(&script));
        }
        if let Some(folder) = options.path("--typescript") {
            let launch = Launch::new(TYPESCRIPT, &folder.join("node_modules/.bin/node"), &folder);
            servers.push(
                launch.map_err(|failure| failure.to_string())?.argument("server.mjs").argument(&script),
            );
        }
        let with = scratch.join(WITH);
        let without = scratch.join(WITHOUT);
        fixture::write_project(&without).map_err(made)?;
        fixture::write_project(&with).and_then(|()| write_functions(&with)).map_err(made)?;
        let starts = [serving(WITH, &with)?, serving(WITHOUT, &without)?];
        let by_hand = [
            (PYTHON, python_by_hand(options, &scratch.join(PYTHON))?),
            (NODE, node_by_hand(options, &scratch.join(NODE))?),
        ];
        Ok(Self { scratch: scratch.to_owned(), servers, script: Script::new(script), starts, by_hand })
    }

    /// The first starts read programs from disk, and cache the list of functions.
    fn warm_up(&self) -> Result<(), Failure> {
        for launch in self.servers.iter().chain(&self.starts) {
            let (mut subject, _) = Subject::start_initialized(launch)?;
            subject.call(&Request::list_tools())?;
            if learns_functions(launch) {
                let registry = self.scratch.join(launch.name()).join(".registry/functions.json");
                await_file(&registry).map_err(|what| subject.failure(&what))?;
            }
            drop(subject);
        }
        Ok(())
    }

    fn round(&mut self, scores: &mut Scoreboard) -> Result<(), Failure> {
        self.measure_starts(scores)?;
        self.measure_unknown(scores)?;
        let mut subjects = Vec::new();
        for launch in &self.servers {
            let (mut subject, _) = Subject::start_initialized(launch)?;
            subject.call_checked(&call(), is_sum)?;
            scores.add(launch.name(), FIRST, milliseconds(subject.age()));
            subjects.push(subject);
        }
        measure_calls(&mut subjects, scores)?;
        for subject in &mut subjects {
            let crowd = crowd(subject, &call(), (CROWD, IN_FLIGHT), &Request::ping(), is_sum)?;
            scores.add(subject.name(), THROUGHPUT, f64::from(CROWD) / crowd.elapsed.as_secs_f64());
        }
        self.measure_scripts(&mut subjects, scores)?;
        // Not closed one by one: some of the others exit with an error when their input ends.
        drop(subjects);
        Ok(())
    }

    /// Sequential calls of a script by the servers that have it, and direct runs.
    fn measure_scripts(&mut self, subjects: &mut [Subject], scores: &mut Scoreboard) -> Result<(), Failure> {
        let mut alone = Vec::new();
        let mut having: Vec<(&mut Subject, Vec<Duration>)> = subjects
            .iter_mut()
            .filter(|subject| has_script(subject))
            .map(|subject| (subject, Vec::new()))
            .collect();
        for _ in 0..SCRIPT_TURNS {
            for (subject, samples) in &mut having {
                subject.begin_measure();
                for _ in 0..SCRIPTS_PER_TURN {
                    samples.push(subject.call_checked(&Request::call_tool("hi", "{}"), says_hi)?);
                }
            }
            for _ in 0..SCRIPTS_PER_TURN {
                let took = self.script.run(None);
                alone.push(took.map_err(|error| Failure::new(ALONE, error.to_string()))?);
            }
        }
        for (subject, samples) in &having {
            scores.add(subject.name(), SCRIPT, milliseconds(percentile(samples, 50)));
        }
        scores.add(ALONE, SCRIPT, milliseconds(percentile(&alone, 50)));
        Ok(())
    }

    fn measure_starts(&self, scores: &mut Scoreboard) -> Result<(), Failure> {
        let mut samples = [const { Vec::new() }; 2];
        for _ in 0..STARTS {
            for (launch, samples) in self.starts.iter().zip(&mut samples) {
                samples.push(milliseconds(lifetime(launch)?.cold_start));
            }
        }
        for (launch, samples) in self.starts.iter().zip(&samples) {
            scores.add(launch.name(), COLD_START, median(samples));
        }
        Ok(())
    }
}

impl Stage {
    /// First results of servers without a registry, and imports of the same file by its interpreter.
    fn measure_unknown(&self, scores: &mut Scoreboard) -> Result<(), Failure> {
        for &(server, ref by_hand) in &self.by_hand {
            let launch = self.servers.iter().find(|launch| launch.name() == server);
            let launch = launch.ok_or_else(|| Failure::new(server, "it is not measured".to_owned()))?;
            let (mut ours, mut alone) = (Vec::new(), Vec::new());
            for _ in 0..UNKNOWN_STARTS {
                fs::remove_dir_all(self.scratch.join(server).join(".registry"))
                    .map_err(|error| Failure::new(server, format!("its registry: {error}")))?;
                let (mut subject, _) = Subject::start_initialized(launch)?;
                subject.call(&Request::list_tools())?;
                subject.call_checked(&call(), is_sum)?;
                ours.push(milliseconds(subject.age()));
                // It writes the cache as soon as it can, at the latest before it exits.
                subject.close()?;
                alone.push(milliseconds(first_line(by_hand)?));
            }
            scores.add(server, UNKNOWN, median(&ours));
            scores.add(by_hand.name(), UNKNOWN, median(&alone));
        }
        Ok(())
    }
}

/// The output of `mcp-bash sdk-path` for a language.
fn sdk(options: &Options, language: &str, folder: &Path) -> Result<PathBuf, String> {
    let launch = options.launch("sdk-path", "--mcp-bash", "mcp-bash", folder)?;
    let output = Command::new(launch.program()).args(["sdk-path", "--lang", language]).output();
    let output = output.map_err(|error| format!("mcp-bash sdk-path: {error}"))?;
    Ok(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim_end()))
}

/// Python that imports the file served by the project in `root`.
fn python_by_hand(options: &Options, root: &Path) -> Result<Launch, String> {
    let launch = interpreter(PYTHON_BY_HAND, "python3", &root.join("tools"))?;
    let launch = launch.setting("PYTHONPATH", sdk(options, "python", root)?);
    Ok(launch.argument("-c").argument("import sums; print('imported', flush=True)"))
}

/// The same for Node.js. The SDK is an ordinary package here, which costs less than resolving it for a
/// project.
fn node_by_hand(options: &Options, root: &Path) -> Result<Launch, String> {
    let packages = root.join("node_modules");
    let sdk = sdk(options, "node", root)?;
    let sdk = sdk.parent().ok_or("the SDK for Node.js stands nowhere")?;
    fs::create_dir_all(&packages)
        .and_then(|()| std::os::unix::fs::symlink(sdk, packages.join("mcp-bash")))
        .map_err(|error| format!("the package mcp-bash: {error}"))?;
    let launch = interpreter(NODE_BY_HAND, "node", &root.join("tools"))?;
    let program = "await import('./sums.mjs'); console.log('imported')";
    Ok(launch.argument("--input-type=module").argument("-e").argument(program))
}

/// Whether it is one of our servers with functions.
fn learns_functions(launch: &Launch) -> bool {
    [PYTHON, NODE, WITH].contains(&launch.name())
}

fn has_script(subject: &Subject) -> bool {
    ![NODE, PIPES].contains(&subject.name())
}

/// Waits until a file exists.
fn await_file(file: &Path) -> Result<(), String> {
    let until = Instant::now() + Duration::from_secs(20);
    while !file.exists() {
        if Instant::now() > until {
            return Err(format!("it did not write {}", file.display()));
        }
        thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// A program on the search path.
fn interpreter(name: &str, program: &str, folder: &Path) -> Result<Launch, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file());
    let found = found.ok_or_else(|| format!("there is no {program} on the PATH"))?;
    Launch::new(name, &found, folder).map_err(|failure| failure.to_string())
}

/// Ten files of ten functions, each with its own types.
fn write_functions(root: &Path) -> io::Result<()> {
    for file in 0..FUNCTIONS / 10 {
        let mut text = "from mcp_bash import tool\n".to_owned();
        for function in 0..10 {
            let _ = write!(
                text,
                "\n\n@tool\ndef report_{file}_{function}(path: str, top: int = 10, deep: bool = False) -> dict[str, int]:\n    \
                 \"\"\"Reports number {function} of {file}.\n\n    Args:\n        path: Where to look.\n        top: How many lines.\n        \
                 deep: Whether folders are looked into.\n    \"\"\"\n    return {{path: top}}\n"
            );
        }
        fs::write(root.join(format!("tools/reports_{file}.py")), text)?;
    }
    Ok(())
}

fn call() -> Request {
    Request::call_tool("add", r#"{"a":40,"b":2}"#)
}

fn is_sum(line: &[u8]) -> Result<(), String> {
    let is_there = line.windows(4).any(|text| text == b"\"42\"");
    if is_there { Ok(()) } else { Err(format!("it did not add: {}", String::from_utf8_lossy(line))) }
}

fn says_hi(line: &[u8]) -> Result<(), String> {
    let is_there = line.windows(3).any(|text| text == b"\"hi");
    if is_there { Ok(()) } else { Err(format!("it did not say hi: {}", String::from_utf8_lossy(line))) }
}

/// Sequential calls. The cost over the pipes is the difference of the medians of the same round.
fn measure_calls(subjects: &mut [Subject], scores: &mut Scoreboard) -> Result<(), Failure> {
    let mut samples: Vec<Vec<Duration>> = vec![Vec::new(); subjects.len()];
    for _ in 0..TURNS {
        for (subject, samples) in subjects.iter_mut().zip(&mut samples) {
            subject.begin_measure();
            for _ in 0..WARM_UP_CALLS {
                subject.call_checked(&call(), is_sum)?;
            }
            for _ in 0..CALLS_PER_TURN {
                samples.push(subject.call_checked(&call(), is_sum)?);
            }
        }
    }
    let medians: Vec<f64> = samples.iter().map(|samples| microseconds(percentile(samples, 50))).collect();
    let pipes =
        subjects.iter().position(|subject| subject.name() == PIPES).map_or(0.0, |place| medians[place]);
    for ((subject, samples), median) in subjects.iter().zip(&samples).zip(&medians) {
        scores.add(subject.name(), P50, *median);
        scores.add(subject.name(), P99, microseconds(percentile(samples, 99)));
        if subject.name() != PIPES {
            scores.add(subject.name(), OVER, median - pipes);
        }
    }
    Ok(())
}
