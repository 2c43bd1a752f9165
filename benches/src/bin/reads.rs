//! Resource reads: measures reading a large resource against reading and encoding its file directly.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use mcp_bash_bench::aims::Bound::AtLeast;
use mcp_bash_bench::aims::{Aim, Comparison};
use mcp_bash_bench::command_line::{Options, drive, print};
use mcp_bash_bench::scoreboard::{Measure, Scoreboard};
use mcp_bash_bench::statistics::percentile;
use mcp_bash_bench::{Failure, Launch, Request, Subject};
use serde_json::json;

const USAGE: &str = "\
Usage: reads [OPTIONS]

  --mcp-bash PATH    the mcp-bash binary (default: beside this program)
  --rounds N         rounds in which the two sides take turns (default: 5)
  --json FILE        also write every round's values to FILE
";

const SIZE: usize = 10_000_000;
const TURNS: u32 = 20;

const SPEED: Measure = Measure { name: "resources/read of 10 MB", unit: "MB/s", decimals: 0 };
const AIMS: [Aim; 1] = [Aim { measure: SPEED, bound: AtLeast, limit: 0.5, times: Some(DIRECT) }];

const MCP_BASH: &str = "mcp-bash";
const DIRECT: &str = "direct";

fn main() -> ExitCode {
    drive("reads", USAGE, &["--mcp-bash", "--rounds", "--json"], run)
}

fn run(options: &Options) -> Result<(), String> {
    let rounds = options.number("--rounds", 5)?;
    let scratch = tempfile::tempdir().map_err(|error| format!("a temporary directory: {error}"))?;
    let (launch, file) = prepare(options, scratch.path())?;
    let scores = Scoreboard::of_rounds(rounds, |scores| measure(&launch, &file, scores))?;
    let comparison =
        Comparison { server: MCP_BASH, others: &[DIRECT], measures: &[SPEED], aims: &AIMS, scores: &scores };
    print(&format!("Medians over {rounds} rounds.\n\n{}", comparison.whole_table()))?;
    options.write_json(&json!({ "servers": scores.to_json(), "comparison": comparison.to_json() }))
}

/// A project with one binary resource, and how to serve it.
fn prepare(options: &Options, scratch: &Path) -> Result<(Launch, PathBuf), String> {
    let file = scratch.join("project/resources/large.bin");
    let bytes: Vec<u8> = (0..SIZE).map(|place| place.wrapping_mul(2_654_435_761).to_le_bytes()[2]).collect();
    fs::create_dir_all(scratch.join("project/resources"))
        .and_then(|()| fs::write(&file, bytes))
        .map_err(|error| format!("the project to serve: {error}"))?;
    let launch = options
        .launch(MCP_BASH, "--mcp-bash", "mcp-bash", scratch)?
        .argument("--project-root")
        .argument(scratch.join("project"))
        .setting("MCPBASH_MAX_RESOURCE_BYTES", (2 * SIZE).to_string());
    Ok((launch, file))
}

fn measure(launch: &Launch, file: &Path, scores: &mut Scoreboard) -> Result<(), Failure> {
    let (mut server, _) = Subject::start_initialized(launch)?;
    let uri = format!("file://{}", file.display());
    let request = Request::with_params("resources/read", &format!(r#"{{"uri":"{uri}"}}"#));
    let (mut read, mut direct) = (Vec::new(), Vec::new());
    server.begin_measure();
    for _ in 0..TURNS {
        read.push(server.call_checked(&request, |line| {
            if line.len() > SIZE { Ok(()) } else { Err("its answer is too short".to_owned()) }
        })?);
        let started = Instant::now();
        let bytes = fs::read(file).map_err(|error| Failure::new(DIRECT, error.to_string()))?;
        let text = STANDARD.encode(&bytes);
        direct.push(started.elapsed());
        assert!(text.len() > SIZE, "all of it was encoded");
    }
    server.close()?;
    let megabytes = 10.0;
    scores.add(MCP_BASH, SPEED, megabytes / percentile(&read, 50).as_secs_f64());
    scores.add(DIRECT, SPEED, megabytes / percentile(&direct, 50).as_secs_f64());
    Ok(())
}
