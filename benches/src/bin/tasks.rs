//! Tasks: measures what it costs to keep a call, and whether the number of kept tasks matters.
//!
//! One server has an empty store, one a store with 100,000 tasks, and one an empty store in `PostgreSQL`, which it reaches through a
//! Unix socket. They take turns. Between them, the driver writes as many bytes itself and makes them durable.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mcp_bash_bench::aims::Bound::AtMost;
use mcp_bash_bench::aims::{Aim, Comparison};
use mcp_bash_bench::command_line::{Options, drive, print};
use mcp_bash_bench::fixture::{METADATA, write_tool};
use mcp_bash_bench::scoreboard::{Measure, Scoreboard};
use mcp_bash_bench::statistics::{microseconds, percentile};
use mcp_bash_bench::{Failure, Launch, Request, Subject};
use mcp_bash_postgres_server::Server as Database;
use mcp_bash_tasks::{Owner, Status, TaskId, TaskRecord};
use serde_json::json;

const USAGE: &str = "\
Usage: tasks [OPTIONS]

  --mcp-bash PATH    the mcp-bash binary (default: beside this program)
  --tasks N          how many tasks the full store has (default: 100000)
  --rounds N         rounds in which the servers take turns (default: 3)
  --json FILE        also write every round's values to FILE
";

const STEPS: u32 = 100;
const WARM_UP_STEPS: u32 = 10;

const CALL: Measure = Measure { name: "call that is no task, p50", unit: "µs", decimals: 0 };
const CREATE: Measure = Measure { name: "call that becomes a task, p50", unit: "µs", decimals: 0 };
const GET: Measure = Measure { name: "get, p50", unit: "µs", decimals: 0 };
const FSYNC: Measure = Measure { name: "the same bytes, durable, p50", unit: "µs", decimals: 0 };
const ADDED: Measure = Measure { name: "create to first get, above that, p50", unit: "µs", decimals: 0 };

const BOTH: Measure = Measure { name: "create and first get, p50", unit: "µs", decimals: 0 };

const EMPTY: &str = "empty store";
const FULL: &str = "full store";
const DATABASE: &str = "PostgreSQL";
const SERVERS: [&str; 3] = [EMPTY, FULL, DATABASE];
const MEASURES: [Measure; 6] = [CALL, CREATE, GET, BOTH, FSYNC, ADDED];

const TOOL: &str = "hi";
/// About as long as the record of a new task.
const RECORD_BYTES: usize = 450;

/// A request of a client that declares tasks, or of one that does not.
fn request(method: &str, params: &str, has_tasks: bool) -> Request {
    let extensions = if has_tasks { r#""extensions":{"io.modelcontextprotocol/tasks":{}}"# } else { "" };
    let meta = format!(
        r#"{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"bench","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{{extensions}}}}}"#
    );
    Request::with_params(method, &format!(r#"{{{params},"_meta":{meta}}}"#))
}

fn main() -> ExitCode {
    drive("tasks", USAGE, &["--mcp-bash", "--tasks", "--rounds", "--json"], run)
}

fn run(options: &Options) -> Result<(), String> {
    let (rounds, tasks) = (options.number("--rounds", 3)?, options.number("--tasks", 100_000)?);
    // A folder on the disk of the system: a file system in memory needs no time to be durable.
    let scratch =
        tempfile::tempdir_in("/var/tmp").map_err(|error| format!("a temporary directory: {error}"))?;
    let failed = |error: io::Error| format!("the project and the stores: {error}");
    let project = scratch.path().join("project");
    write_project(&project).map_err(failed)?;
    let folders = [EMPTY, FULL].map(|name| scratch.path().join(name.replace(' ', "-")));
    fill(&folders[1], tasks).map_err(failed)?;
    // It ends with this value. Its settings are its defaults: a task is on the disk when it says so.
    let database = Database::start_with_port(5432, &["listen_addresses=", "fsync=on"]);
    let launch = |name: &str, store: &OsStr| {
        let launch = options.launch(name, "--mcp-bash", "mcp-bash", scratch.path())?;
        let launch = launch.argument("--project-root").argument(&project);
        Ok::<_, String>(
            launch.setting("MCPBASH_STORE", store).setting("MCPBASH_MAX_TASKS_PER_CALLER", "1000000"),
        )
    };
    let [empty, full] = folders.each_ref().map(|folder| folder.as_os_str());
    let url = database.url("bench");
    let launches = [launch(EMPTY, empty)?, launch(FULL, full)?, launch(DATABASE, OsStr::new(&url))?];
    let place = scratch.path().join("bare");
    fs::create_dir(&place).map_err(failed)?;
    let scores = Scoreboard::of_rounds(rounds, |scores| measure(&launches, &place, scores))?;
    let same = |measure| Aim { measure, bound: AtMost, limit: 1.10, times: Some(EMPTY) };
    let added = Aim { measure: ADDED, bound: AtMost, limit: 2000.0, times: None };
    let both = Aim { measure: BOTH, bound: AtMost, limit: 5000.0, times: None };
    let (of_full, of_empty) = ([same(CALL), same(CREATE), same(GET)], [added]);
    let of_database = [same(CALL), both];
    let compare =
        |server, others, aims| Comparison { server, others, measures: &MEASURES, aims, scores: &scores };
    let comparisons = [
        compare(FULL, &[EMPTY], &of_full),
        compare(EMPTY, &[FULL], &of_empty),
        compare(DATABASE, &[EMPTY], &of_database),
    ];
    print(&format!("Medians over {rounds} rounds; the full store has {tasks} tasks.\n"))?;
    for comparison in &comparisons {
        print(&format!("\n{}", comparison.whole_table()))?;
    }
    let comparisons = comparisons.each_ref().map(Comparison::to_json);
    options.write_json(&json!({ "servers": scores.to_json(), "comparisons": comparisons }))
}

fn write_project(project: &Path) -> io::Result<()> {
    let script = write_tool(project, TOOL, "echo hi")?;
    let metadata = json!({
        "name": TOOL,
        "description": "Says hi",
        "inputSchema": { "type": "object" },
        "execution": { "taskSupport": "optional" },
    });
    fs::write(script.with_file_name(METADATA), metadata.to_string())
}

/// Makes a store with that many tasks, which have ended and belong to another caller.
fn fill(store: &Path, tasks: u32) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().mode(0o700).create(store)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = u64::try_from(now.as_millis()).unwrap_or_default();
    for number in 0..tasks {
        let mut bits = [0xab; 16];
        // The first digits differ, as those of random ids do.
        bits[..4].copy_from_slice(&number.wrapping_mul(0x9e37_79b1).to_be_bytes());
        let record = TaskRecord {
            id: TaskId::of_random(bits),
            owner: Owner { known_by: "token".to_owned(), name: "another".to_owned() },
            tool: TOOL.to_owned(),
            revision: "2026-07-28".to_owned(),
            status: Status::Completed,
            status_message: None,
            created_ms: now,
            updated_ms: now,
            ttl_ms: 24 * 3600 * 1000,
            ttl_added_ms: 0,
            poll_ms: 1000,
            questions: Vec::new(),
            used_keys: Vec::new(),
            result: Some(r#""content":[{"type":"text","text":"hi"}]"#.to_owned()),
            has_long_result: false,
            has_tool_failed: false,
            error: None,
            notes_from: 0,
            repeatable: false,
            turn: None,
            attempt: 1,
        };
        fs::write(store.join(format!("{}.json", record.id)), serde_json::to_vec(&record)?)?;
        File::create(store.join(format!("{}.lock", record.id)))?;
    }
    Ok(())
}

/// Calls, tasks and gets at all servers, in turns.
fn measure(launches: &[Launch; SERVERS.len()], place: &Path, scores: &mut Scoreboard) -> Result<(), Failure> {
    let mut servers = Vec::new();
    for launch in launches {
        servers.push(Subject::start(launch)?);
    }
    let params = format!(r#""name":"{TOOL}","arguments":{{}}"#);
    let (call, create) = (request("tools/call", &params, false), request("tools/call", &params, true));
    let mut samples = SERVERS.map(|_| MEASURES.map(|_| Vec::new()));
    for step in 0..WARM_UP_STEPS + STEPS {
        for (server, samples) in servers.iter_mut().zip(&mut samples) {
            server.begin_measure();
            let called = server.call_checked(&call, |line| contains(line, r#""isError":false"#))?;
            let mut id = String::new();
            let created = server.call_checked(&create, |line| {
                id = task_id(line)?;
                Ok(())
            })?;
            let get = request("tasks/get", &format!(r#""taskId":"{id}""#), true);
            let got = server.call_checked(&get, |line| contains(line, r#""status":"#))?;
            let bare = durable(place).map_err(|error| Failure::new(server.name(), error.to_string()))?;
            if step >= WARM_UP_STEPS {
                let both = created + got;
                let values = [called, created, got, both, bare, both.saturating_sub(bare)];
                samples.iter_mut().zip(values).for_each(|(samples, value)| samples.push(value));
            }
        }
    }
    for (server, samples) in servers.iter().zip(&samples) {
        for (measure, samples) in MEASURES.into_iter().zip(samples) {
            scores.add(server.name(), measure, microseconds(percentile(samples, 50)));
        }
    }
    servers.into_iter().try_for_each(|server| server.close().map(drop))
}

/// Writes as many bytes as a record has to a new file, and makes file and name durable: the least that a task needs.
fn durable(place: &Path) -> io::Result<Duration> {
    let path = place.join("record");
    let began = Instant::now();
    let mut file = File::create_new(&path)?;
    file.write_all(&[b'x'; RECORD_BYTES])?;
    file.sync_all()?;
    File::open(place)?.sync_all()?;
    let took = began.elapsed();
    fs::remove_file(path)?;
    Ok(took)
}

fn contains(line: &[u8], wanted: &str) -> Result<(), String> {
    match memchr::memmem::find(line, wanted.as_bytes()) {
        Some(_) => Ok(()),
        None => Err(format!("no {wanted} in «{}»", String::from_utf8_lossy(&line[..line.len().min(300)]))),
    }
}

fn task_id(line: &[u8]) -> Result<String, String> {
    let answer: serde_json::Value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let id = answer["result"]["taskId"].as_str();
    id.map(str::to_owned).ok_or_else(|| format!("no task: {answer}"))
}
