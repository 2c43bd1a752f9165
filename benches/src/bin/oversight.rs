//! Oversight: measures what the audit log and the policy add to a call.
//!
//! One server has neither, one an audit log, one a durable audit log, and one a policy of twenty rules. They take turns call
//! by call. Each serves the same two tools, one of them in a sandbox.

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use mcp_bash_bench::aims::Bound::AtMost;
use mcp_bash_bench::aims::{Aim, Comparison};
use mcp_bash_bench::command_line::{Options, drive, print};
use mcp_bash_bench::fixture::{METADATA, write_tool};
use mcp_bash_bench::proc_usage::CpuTime;
use mcp_bash_bench::scoreboard::{Measure, Scoreboard};
use mcp_bash_bench::statistics::{microseconds, percentile};
use mcp_bash_bench::{Failure, Launch, Request, Subject};
use serde_json::json;

const USAGE: &str = "\
Usage: oversight [OPTIONS]

  --mcp-bash PATH    the mcp-bash binary (default: beside this program)
  --rounds N         rounds in which the servers take turns (default: 5)
  --json FILE        also write every round's values to FILE
";

const CALLS: u32 = 500;
const WARM_UP_CALLS: u32 = 20;

const PLAIN: &str = "plain";
const CONFINED: &str = "confined";

const PLAIN_P50: Measure = Measure { name: "call p50", unit: "µs", decimals: 0 };
const CONFINED_P50: Measure = Measure { name: "call in a sandbox, p50", unit: "µs", decimals: 0 };
const CPU: Measure = Measure { name: "CPU of the server per call", unit: "µs", decimals: 0 };

const OFF: &str = "off";
const AUDIT: &str = "audit";
const DURABLE: &str = "durable audit";
const POLICY: &str = "20 rules";
const SERVERS: [&str; 4] = [OFF, AUDIT, DURABLE, POLICY];

/// Conditions as projects write them. None of them matches, so that all are evaluated.
const CONDITIONS: [&str; 5] = [
    r#"tool.name == "delete_user" && args.env == "production" && !("sre" in caller.groups)"#,
    r#"tool.annotations.destructiveHint && now.getHours("Europe/Berlin") > 24"#,
    r#"has(args.path) && args.path.startsWith("/etc")"#,
    r#"client.name == "unknown" || caller.known_by == "address""#,
    r#"roots.exists(root, root.startsWith("/secret"))"#,
];
const RULES: usize = 20;

fn main() -> ExitCode {
    drive("oversight", USAGE, &["--mcp-bash", "--rounds", "--json"], run)
}

fn run(options: &Options) -> Result<(), String> {
    let rounds = options.number("--rounds", 5)?;
    let scratch = tempfile::tempdir().map_err(|error| format!("a temporary directory: {error}"))?;
    let written = |error: io::Error| format!("the projects to serve: {error}");
    let free = scratch.path().join("free");
    write_project(&free).map_err(written)?;
    let policed = scratch.path().join("policed");
    write_project(&policed).and_then(|()| write_policy(&policed)).map_err(written)?;
    let launch = |name: &str, project: &Path| {
        let launch = options.launch(name, "--mcp-bash", "mcp-bash", scratch.path())?;
        Ok::<_, String>(launch.argument("--project-root").argument(project))
    };
    let log = |name: &str| scratch.path().join(name);
    let launches = [
        launch(OFF, &free)?,
        launch(AUDIT, &free)?.setting("MCPBASH_AUDIT", log("audit.jsonl")),
        launch(DURABLE, &free)?
            .setting("MCPBASH_AUDIT", log("durable.jsonl"))
            .setting("MCPBASH_AUDIT_DURABLE", "true"),
        launch(POLICY, &policed)?,
    ];
    let scores = Scoreboard::of_rounds(rounds, |scores| measure(&launches, scores))?;
    let aim = |measure| [Aim { measure, bound: AtMost, limit: 1.03, times: Some(OFF) }];
    let (plain, confined) = (aim(PLAIN_P50), aim(CONFINED_P50));
    let aims = [plain, confined].concat();
    let measures = [PLAIN_P50, CONFINED_P50, CPU];
    let comparison =
        |server, aims| Comparison { server, others: &[OFF], measures: &measures, aims, scores: &scores };
    let comparisons = [comparison(AUDIT, &aims[..]), comparison(POLICY, &aims[..]), comparison(DURABLE, &[])];
    print(&format!("Medians over {rounds} rounds.\n"))?;
    for comparison in &comparisons {
        print(&format!("\n{}", comparison.whole_table()))?;
    }
    let comparisons = comparisons.each_ref().map(Comparison::to_json);
    options.write_json(&json!({ "servers": scores.to_json(), "comparisons": comparisons }))
}

fn write_project(project: &Path) -> io::Result<()> {
    for (name, sandbox) in [(PLAIN, "off"), (CONFINED, "on")] {
        let script = write_tool(project, name, "echo hi")?;
        let metadata = json!({
            "name": name,
            "description": "Says hi",
            "inputSchema": { "type": "object", "properties": { "env": { "type": "string" } } },
            "annotations": { "readOnlyHint": false, "destructiveHint": true },
            "sandbox": sandbox,
        });
        fs::write(script.with_file_name(METADATA), metadata.to_string())?;
    }
    Ok(())
}

fn write_policy(project: &Path) -> io::Result<()> {
    let rule = |condition: &&str| json!({ "when": condition, "deny": "Not like this." });
    let rules: Vec<_> = CONDITIONS.iter().cycle().take(RULES).map(rule).collect();
    // JSON is YAML.
    let policy = json!({ "version": 1, "default": "allow", "rules": rules });
    let folder = project.join("server.d");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("policy.yaml"), policy.to_string())
}

/// Calls of both tools at every server, in turns.
fn measure(launches: &[Launch; SERVERS.len()], scores: &mut Scoreboard) -> Result<(), Failure> {
    let mut servers = Vec::new();
    for launch in launches {
        servers.push(Subject::start_initialized(launch)?.0);
    }
    let tools = [(PLAIN, PLAIN_P50), (CONFINED, CONFINED_P50)];
    for (tool, measure) in tools {
        let request = Request::call_tool(tool, r#"{"env":"staging"}"#);
        let mut samples = SERVERS.map(|_| Vec::new());
        let mut used_before = Vec::new();
        for call in 0..WARM_UP_CALLS + CALLS {
            if call == WARM_UP_CALLS {
                used_before = servers.iter().map(cpu_time).collect::<Result<_, _>>()?;
            }
            for (server, samples) in servers.iter_mut().zip(&mut samples) {
                server.begin_measure();
                let took = server.call_checked(&request, succeeded)?;
                if call >= WARM_UP_CALLS {
                    samples.push(took);
                }
            }
        }
        for ((server, samples), before) in servers.iter().zip(&samples).zip(used_before) {
            scores.add(server.name(), measure, microseconds(percentile(samples, 50)));
            if tool == PLAIN {
                let used = cpu_time(server)?.since(before);
                scores.add(server.name(), CPU, microseconds(used / CALLS));
            }
        }
    }
    servers.into_iter().try_for_each(|server| server.close().map(drop))
}

fn cpu_time(server: &Subject) -> Result<CpuTime, Failure> {
    CpuTime::of(server.pid())
        .map_err(|error| Failure::new(server.name(), format!("its processor time: {error}")))
}

fn succeeded(line: &[u8]) -> Result<(), String> {
    match memchr::memmem::find(line, br#""isError":false"#) {
        Some(_) => Ok(()),
        None => Err(format!("a tool failed: «{}»", String::from_utf8_lossy(&line[..line.len().min(300)]))),
    }
}
