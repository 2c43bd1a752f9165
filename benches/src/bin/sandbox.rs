//! Sandbox: measures calls of one script under several declarations, and each mechanism by itself.
//!
//! The declarations take turns call by call. The mechanisms are measured on runs of `/bin/true`, by the same code that
//! runs the processes of calls.

use std::fs;
use std::future::pending;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcp_bash_bench::aims::Bound::AtMost;
use mcp_bash_bench::aims::{Aim, Comparison};
use mcp_bash_bench::command_line::{Options, drive, print};
use mcp_bash_bench::fixture::{METADATA, write_tool};
use mcp_bash_bench::scoreboard::{Measure, Scoreboard};
use mcp_bash_bench::statistics::{microseconds, percentile};
use mcp_bash_bench::{Failure, Launch, Request, Subject};
use mcp_bash_budget::Budget;
use mcp_bash_runner::{Input, Invocation, ProcessEnding, Runner, StateDir, TimeLimits, Variables};
use mcp_bash_sandbox::{
    Access, Confinement, Filter, FilterChoices, LandlockRights, Namespaces, ProcessLimit, Ruleset, Sockets,
};
use serde_json::json;
use tokio::runtime::Builder;

const USAGE: &str = "\
Usage: sandbox [OPTIONS]

  --mcp-bash PATH    the mcp-bash binary (default: beside this program)
  --rounds N         rounds in which the declarations take turns (default: 5)
  --json FILE        also write every round's values to FILE
";

const CALLS: u32 = 500;
const WARM_UP_CALLS: u32 = 20;
const RUNS: u32 = 300;

const P50: Measure = Measure { name: "call p50", unit: "µs", decimals: 0 };
const RUN: Measure = Measure { name: "run of `true`, p50", unit: "µs", decimals: 1 };

const OFF: &str = "off";
const ON: &str = "on";

/// Tools by their declarations.
const DECLARATIONS: [(&str, &str); 4] = [
    (OFF, "\"off\""),
    (ON, "\"on\""),
    ("strict", "\"strict\""),
    ("hosts", r#"{"network":["example.org:443"]}"#),
];

fn main() -> ExitCode {
    // This program is also the maker of its namespaces.
    if let Some(code) = mcp_bash_sandbox::run_maker_if_asked() {
        return code;
    }
    mcp_bash_runner::warden::install();
    drive("sandbox", USAGE, &["--mcp-bash", "--rounds", "--json"], run)
}

fn run(options: &Options) -> Result<(), String> {
    let rounds = options.number("--rounds", 5)?;
    let scratch = tempfile::tempdir().map_err(|error| format!("a temporary directory: {error}"))?;
    let project = scratch.path().join("project");
    write_project(&project).map_err(|error| format!("the project to serve: {error}"))?;
    let launch = options
        .launch("mcp-bash", "--mcp-bash", "mcp-bash", scratch.path())?
        .argument("--project-root")
        .argument(&project);
    let layers = layers().map_err(|error| format!("the mechanisms: {error}"))?;
    let scores = Scoreboard::of_rounds(rounds, |scores| {
        measure_calls(&launch, scores)?;
        measure_layers(&layers, scores).map_err(|error| Failure::new("layers", error.to_string()))
    })?;
    let aims = [Aim { measure: P50, bound: AtMost, limit: 1.10, times: Some(OFF) }];
    let comparison = Comparison {
        server: ON,
        others: &[OFF, "strict", "hosts"],
        measures: &[P50],
        aims: &aims,
        scores: &scores,
    };
    print(&format!("Medians over {rounds} rounds.\n\n{}\n", comparison.whole_table()))?;
    let names: Vec<&str> = layers.iter().map(|layer| layer.name).collect();
    print(&format!("{}", scores.table(&names, &[RUN])))?;
    options.write_json(&json!({ "servers": scores.to_json(), "comparison": comparison.to_json() }))
}

fn write_project(project: &Path) -> io::Result<()> {
    for (name, declaration) in DECLARATIONS {
        let script = write_tool(project, name, "echo hi")?;
        let metadata = format!(
            r#"{{"name":"{name}","description":"Says hi","inputSchema":{{"type":"object"}},"sandbox":{declaration}}}"#
        );
        fs::write(script.with_file_name(METADATA), metadata)?;
    }
    Ok(())
}

/// Calls of every tool, in turns.
fn measure_calls(launch: &Launch, scores: &mut Scoreboard) -> Result<(), Failure> {
    let (mut server, _) = Subject::start_initialized(launch)?;
    let requests = DECLARATIONS.map(|(name, _)| (name, Request::call_tool(name, "{}")));
    let mut samples = DECLARATIONS.map(|_| Vec::new());
    for call in 0..WARM_UP_CALLS + CALLS {
        server.begin_measure();
        for ((_, request), samples) in requests.iter().zip(&mut samples) {
            let took = server.call_checked(request, succeeded)?;
            if call >= WARM_UP_CALLS {
                samples.push(took);
            }
        }
    }
    for ((name, _), samples) in requests.iter().zip(&samples) {
        scores.add(name, P50, microseconds(percentile(samples, 50)));
    }
    server.close()?;
    Ok(())
}

/// One mechanism, and what it needs to be allowed.
struct Layer {
    name: &'static str,
    confinement: Confinement,
}

fn layers() -> io::Result<Vec<Layer>> {
    let free = Confinement::default;
    let namespaces = Namespaces::make(&[])?;
    let rights = LandlockRights::of_kernel()?.ok_or(io::ErrorKind::Unsupported)?;
    let ruleset = Ruleset::new(rights, false)?;
    for path in ["/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache", "/dev/null", "/tmp"] {
        // Not every system has all of them.
        let _ = ruleset.allow(rights, Path::new(path), Access::Read);
    }
    let ruleset = Arc::new(ruleset);
    let filter = Filter::new(FilterChoices { sockets: Sockets::Isolated, unix_sockets: true });
    let filter = filter.ok_or(io::ErrorKind::Unsupported)?;
    let all = free()
        .inside(&namespaces)
        .with_limit(ProcessLimit::Processes(1024))
        .without_new_privileges()
        .restricted_by(Arc::clone(&ruleset))
        .filtered_by(filter.clone());
    let layer = |name, confinement| Layer { name, confinement };
    Ok(vec![
        layer("none", free()),
        layer("no new privileges", free().without_new_privileges()),
        layer(
            "limits",
            free().with_limit(ProcessLimit::OpenFiles(256)).with_limit(ProcessLimit::CpuSeconds(30)),
        ),
        layer("namespaces", free().inside(&namespaces)),
        layer("Landlock", free().without_new_privileges().restricted_by(ruleset)),
        layer("seccomp", free().without_new_privileges().filtered_by(filter)),
        layer("all", all),
    ])
}

/// Runs of a program under every mechanism, in turns.
fn measure_layers(layers: &[Layer], scores: &mut Scoreboard) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let runner = Runner::new(Arc::new(StateDir::new(std::env::temp_dir(), false)));
    let mut samples: Vec<Vec<Duration>> = vec![Vec::new(); layers.len()];
    for _ in 0..RUNS {
        for (layer, samples) in layers.iter().zip(&mut samples) {
            let before = Instant::now();
            let run = runner.run(invocation(layer.confinement.clone()), pending(), |_| {}, drop);
            let outcome = runtime.block_on(run).map_err(io::Error::other)?;
            if outcome.ending != ProcessEnding::Exited(0) {
                return Err(io::Error::other(format!("{}: {:?}", layer.name, outcome.ending)));
            }
            samples.push(before.elapsed());
        }
    }
    runner.end_all(Duration::ZERO);
    for (layer, samples) in layers.iter().zip(&samples) {
        scores.add(layer.name, RUN, microseconds(percentile(samples, 50)));
    }
    Ok(())
}

fn invocation(confinement: Confinement) -> Invocation<'static> {
    Invocation {
        program: "/bin/true".into(),
        arguments: Vec::new(),
        directory: "/".into(),
        environment: Variables::default(),
        input: Input::Bytes(&[]),
        patience: TimeLimits::fixed(Duration::from_secs(10)),
        grace: Duration::from_secs(1),
        output_limit: 1024,
        budget: Budget::new(1 << 20, "the budget of the benchmark"),
        error_tail: 0,
        talk: None,
        confinement,
    }
}

fn succeeded(line: &[u8]) -> Result<(), String> {
    match memchr::memmem::find(line, br#""isError":false"#) {
        Some(_) => Ok(()),
        None => Err(format!("a tool failed: «{}»", String::from_utf8_lossy(&line[..line.len().min(300)]))),
    }
}
