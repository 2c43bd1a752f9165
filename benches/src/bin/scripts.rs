//! Scripts: measures the cost of the SDK for scripts, and how soon a client receives their messages.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcp_bash_bench::aims::Bound::AtMost;
use mcp_bash_bench::aims::{Aim, Comparison};
use mcp_bash_bench::command_line::{Options, drive, print};
use mcp_bash_bench::direct::Script;
use mcp_bash_bench::scoreboard::{Measure, Scoreboard};
use mcp_bash_bench::statistics::{milliseconds, percentile};
use mcp_bash_bench::{Failure, Launch, Request, Subject, fixture};
use serde_json::{Value, json};

const USAGE: &str = "\
Usage: scripts [OPTIONS]

  --mcp-bash PATH    the mcp-bash binary (default: beside this program)
  --rounds N         rounds in which the two sides take turns (default: 5)
  --json FILE        also write every round's values to FILE
";

const STARTS: u32 = 200;
const EVENTS: u32 = 10_000;

const START: Measure = Measure { name: "start p50", unit: "ms", decimals: 2 };
const SURPLUS: Measure = Measure { name: "start over bash -c true", unit: "ms", decimals: 2 };
const HEARD: Measure = Measure { name: "progress from script to client p50", unit: "ms", decimals: 3 };
const HEARD_P99: Measure = Measure { name: "progress from script to client p99", unit: "ms", decimals: 3 };
const TOLD: Measure = Measure { name: "of 10,000 events, told", unit: "", decimals: 0 };

const MEASURES: [Measure; 5] = [START, SURPLUS, HEARD, HEARD_P99, TOLD];

const AIMS: [Aim; 2] = [
    Aim { measure: SURPLUS, bound: AtMost, limit: 3.0, times: None },
    Aim { measure: HEARD, bound: AtMost, limit: 2.0, times: None },
];

const MCP_BASH: &str = "with the SDK";
const BARE: &str = "bash -c true";

fn main() -> ExitCode {
    drive("scripts", USAGE, &["--mcp-bash", "--rounds", "--json"], run)
}

fn run(options: &Options) -> Result<(), String> {
    let rounds = options.number("--rounds", 5)?;
    let scratch = tempfile::tempdir().map_err(|error| format!("a temporary directory: {error}"))?;
    let mut stage = Stage::new(options, scratch.path())?;
    let scores = Scoreboard::of_rounds(rounds, |scores| stage.round(scores))?;
    let comparison =
        Comparison { server: MCP_BASH, others: &[BARE], measures: &MEASURES, aims: &AIMS, scores: &scores };
    print(&format!("Medians over {rounds} rounds.\n\n{}", comparison.whole_table()))?;
    options.write_json(&json!({ "servers": scores.to_json(), "comparison": comparison.to_json() }))
}

/// The scripts that run directly, and the server that runs others.
struct Stage {
    launch: Launch,
    bare: Script,
    sourcing: Script,
}

/// The path of the SDK, as scripts source it.
fn sdk() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../sdk/tool-sdk.sh")
}

impl Stage {
    fn new(options: &Options, scratch: &Path) -> Result<Self, String> {
        let project = scratch.join("project");
        let source = ". \"$MCP_SDK/tool-sdk.sh\"";
        let prepare = || {
            let bash = |name: &str, body: &str| fixture::write_bash_tool(&project, name, body);
            bash(
                "slow",
                &format!(
                    "{source}\nfor i in {{1..100}}; do mcp_progress \"$i\" \"$EPOCHREALTIME\" 100; sleep 0.005; done"
                ),
            )?;
            bash(
                "many",
                &format!("{source}\nfor i in {{1..{EVENTS}}}; do mcp_progress \"$i\" x {EVENTS}; done"),
            )?;
            fixture::write_bash_tool(
                &scratch.join("direct"),
                "sourcing",
                &format!(". '{}'\nmcp_result_success '{{\"a\":1}}'", sdk().display()),
            )
        };
        let sourcing = prepare().map_err(|error| format!("the project to serve: {error}"))?;
        let launch = options
            .launch("mcp-bash", "--mcp-bash", "mcp-bash", scratch)?
            .argument("--project-root")
            .argument(&project)
            .setting("MCPBASH_MAX_PROGRESS_PER_MIN", "0");
        Ok(Self {
            launch,
            bare: Script::new("/bin/bash".into()).with_arguments(&["-c", "true"]),
            sourcing: Script::new(sourcing),
        })
    }

    fn round(&mut self, scores: &mut Scoreboard) -> Result<(), Failure> {
        self.measure_starts(scores)?;
        let (mut server, _) = Subject::start_initialized(&self.launch)?;
        let delays = heard(&mut server, "slow")?;
        scores.add(MCP_BASH, HEARD, milliseconds(percentile(&delays, 50)));
        scores.add(MCP_BASH, HEARD_P99, milliseconds(percentile(&delays, 99)));
        let told = heard(&mut server, "many")?.len();
        scores.add(MCP_BASH, TOLD, f64::from(u32::try_from(told).unwrap_or(u32::MAX)));
        server.close()?;
        Ok(())
    }

    /// A script that sources the SDK and returns a result, compared with a shell that does nothing.
    fn measure_starts(&mut self, scores: &mut Scoreboard) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::new("a script", error.to_string());
        let (mut bare, mut sourcing) = (Vec::new(), Vec::new());
        for _ in 0..STARTS {
            bare.push(self.bare.run(None).map_err(failed)?);
            sourcing.push(self.sourcing.run(None).map_err(failed)?);
        }
        let (bare, sourcing) = (milliseconds(percentile(&bare, 50)), milliseconds(percentile(&sourcing, 50)));
        scores.add(BARE, START, bare);
        scores.add(MCP_BASH, START, sourcing);
        scores.add(MCP_BASH, SURPLUS, sourcing - bare);
        Ok(())
    }
}

/// The delay of each progress message after the script wrote it. A message without a time counts as 0.
fn heard(server: &mut Subject, tool: &str) -> Result<Vec<Duration>, Failure> {
    let params = format!(r#"{{"name":"{tool}","arguments":{{}},"_meta":{{"progressToken":1}}}}"#);
    let mut delays = Vec::new();
    server.begin_measure();
    server.call_listening(&Request::with_params("tools/call", &params), |line| {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let message: Value = serde_json::from_slice(line).unwrap_or_default();
        if message["method"] == "notifications/progress" {
            let written = message["params"]["message"].as_str().and_then(|text| text.parse::<f64>().ok());
            delays.push(written.map_or(Duration::ZERO, |at| now.saturating_sub(Duration::from_secs_f64(at))));
        }
    })?;
    if delays.is_empty() { Err(server.failure("nothing was heard of its script")) } else { Ok(delays) }
}
