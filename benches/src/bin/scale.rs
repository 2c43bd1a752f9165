//! Scale: measures mcp-bash with a project of very many tools.
//!
//! This file has the measures, the aims, and their order. The two sides take turns in every round, so that a
//! noisy moment of the machine does not affect only one of them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use mcp_bash_bench::aims::Bound::AtMost;
use mcp_bash_bench::aims::{Aim, Comparison};
use mcp_bash_bench::command_line::{Options, drive, print};
use mcp_bash_bench::measures::idle_memory;
use mcp_bash_bench::pages::{first_page, list_all};
use mcp_bash_bench::proc_usage::Traffic;
use mcp_bash_bench::scoreboard::{Measure, Scoreboard};
use mcp_bash_bench::statistics::{kilobytes, median, milliseconds, percentile};
use mcp_bash_bench::{Failure, Launch, Subject, fixture};
use serde_json::json;

const USAGE: &str = "\
Usage: scale [OPTIONS]

  --mcp-bash PATH    the mcp-bash binary (default: beside this program)
  --tools N          how many tools the project has (default: 10000)
  --rounds N         rounds in which the measures take turns (default: 5)
  --json FILE        also write every round's values to FILE

The project is written to the directory for temporary files, which TMPDIR names.
";

const WARM_STARTS: u32 = 5;
const CHANGES: u32 = 3;
const SHORT_PAGE: u32 = 50;
/// How long the registry must be unchanged before it counts as written.
const QUIET: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_secs(60);

const FIRST_SCAN: Measure = Measure { name: "first scan", unit: "ms", decimals: 1 };
const WARM_START: Measure = Measure { name: "warm start", unit: "ms", decimals: 1 };
const WARM_SURPLUS: Measure = Measure { name: "warm start over empty", unit: "ms", decimals: 1 };
const PAGE: Measure = Measure { name: "page of tools p50", unit: "ms", decimals: 2 };
const FIFTY: Measure = Measure { name: "page of 50 p50", unit: "ms", decimals: 2 };
const FIRST_MEMORY: Measure = Measure { name: "RSS per tool, first scan", unit: "kB", decimals: 1 };
const WARM_MEMORY: Measure = Measure { name: "RSS per tool, warm start", unit: "kB", decimals: 1 };
const CHANGE: Measure = Measure { name: "change to notification", unit: "ms", decimals: 1 };
const CHANGE_READ: Measure = Measure { name: "read for a change", unit: "kB", decimals: 1 };
const CHANGE_WRITTEN: Measure = Measure { name: "written for a change", unit: "kB", decimals: 1 };

const VALIDATION: Measure = Measure { name: "`mcp-bash validate`, per tool", unit: "ms", decimals: 3 };

/// In the order of the table.
const MEASURES: [Measure; 11] = [
    FIRST_SCAN,
    WARM_START,
    WARM_SURPLUS,
    PAGE,
    FIFTY,
    FIRST_MEMORY,
    WARM_MEMORY,
    CHANGE,
    CHANGE_READ,
    CHANGE_WRITTEN,
    VALIDATION,
];

const AIMS: [Aim; 9] = [
    Aim { measure: FIRST_SCAN, bound: AtMost, limit: 3.0, times: Some(READING) },
    Aim { measure: WARM_SURPLUS, bound: AtMost, limit: 30.0, times: None },
    Aim { measure: PAGE, bound: AtMost, limit: 1.0, times: None },
    Aim { measure: FIFTY, bound: AtMost, limit: 1.0, times: None },
    Aim { measure: FIRST_MEMORY, bound: AtMost, limit: 20.0, times: None },
    Aim { measure: WARM_MEMORY, bound: AtMost, limit: 20.0, times: None },
    Aim { measure: CHANGE_READ, bound: AtMost, limit: 200.0, times: None },
    Aim { measure: CHANGE_WRITTEN, bound: AtMost, limit: 50.0, times: None },
    Aim { measure: VALIDATION, bound: AtMost, limit: 1.0, times: None },
];

const MCP_BASH: &str = "mcp-bash";
/// The time that the driver takes to walk the project and to read every metadata file once.
const READING: &str = "plain reading";
const EMPTY: &str = "empty project";

fn main() -> ExitCode {
    drive("scale", USAGE, &["--mcp-bash", "--tools", "--rounds", "--json"], run)
}

fn run(options: &Options) -> Result<(), String> {
    let rounds = options.number("--rounds", 5)?;
    let tools = options.number("--tools", 10_000)?;
    let scratch = tempfile::tempdir().map_err(|error| format!("a temporary directory: {error}"))?;
    let mut stage = Stage::new(options, scratch.path(), tools)?;
    let scores = Scoreboard::of_rounds(rounds, |scores| stage.round(scores))?;
    let comparison = Comparison {
        server: MCP_BASH,
        others: &[READING, EMPTY],
        measures: &MEASURES,
        aims: &AIMS,
        scores: &scores,
    };
    let place = if is_in_memory(scratch.path()) { "in memory (tmpfs)" } else { "on disk" };
    let heading = format!("{tools} tools {place}. Medians over {rounds} rounds.");
    print(&format!("{heading}\n\n{}", comparison.whole_table()))?;
    options.write_json(&json!({
        "tools": tools,
        "place": place,
        "servers": scores.to_json(),
        "comparison": comparison.to_json(),
    }))
}

/// A large project and an empty one, and how to serve them.
struct Stage {
    tools: u32,
    project: PathBuf,
    full: Launch,
    empty: Launch,
    /// The metadata file that is changed.
    changing: PathBuf,
    edition: u32,
}

impl Stage {
    fn new(options: &Options, scratch: &Path, tools: u32) -> Result<Self, String> {
        let (project, empty) = (scratch.join("project"), scratch.join("empty"));
        let written = fs::create_dir_all(empty.join("tools"))
            .and_then(|()| fixture::write_many(&project, tools))
            .map_err(|error| format!("the project to serve: {error}"))?;
        let launch = |server: &str, project: &Path| {
            let launch = options.launch(server, "--mcp-bash", "mcp-bash", scratch)?;
            Ok::<_, String>(launch.argument("--project-root").argument(project))
        };
        Ok(Self {
            tools,
            full: launch(MCP_BASH, &project)?,
            empty: launch(EMPTY, &empty)?,
            project,
            changing: written,
            edition: 0,
        })
    }

    fn round(&mut self, scores: &mut Scoreboard) -> Result<(), Failure> {
        self.measure_first_scan(scores)?;
        self.measure_warm_starts(scores)?;
        self.measure_service(scores)?;
        self.measure_validation(scores)
    }

    /// A start without a registry, and the memory of that server afterwards.
    fn measure_first_scan(&self, scores: &mut Scoreboard) -> Result<(), Failure> {
        let started = Instant::now();
        let read = read_metadata(&self.project.join("tools")).map_err(|error| driver_failure(&error))?;
        scores.add(READING, FIRST_SCAN, milliseconds(started.elapsed()));
        if read != self.tools {
            return Err(Failure::new(READING, format!("there are {read} metadata files")));
        }

        match fs::remove_dir_all(self.registry()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(driver_failure(&error)),
            _ => {}
        }
        let (mut server, elapsed) = start_to_first_page(&self.full)?;
        scores.add(MCP_BASH, FIRST_SCAN, milliseconds(elapsed));
        self.await_registry()?;
        let full = self.memory_after_listing(&mut server)?;
        server.close()?;
        scores.add(MCP_BASH, FIRST_MEMORY, self.per_tool(full, self.empty_memory()?));
        Ok(())
    }

    /// Starts with the registry of the first scan, and starts with an empty project.
    fn measure_warm_starts(&self, scores: &mut Scoreboard) -> Result<(), Failure> {
        let (mut full, mut empty) = (Vec::new(), Vec::new());
        for _ in 0..WARM_STARTS {
            for (launch, samples) in [(&self.full, &mut full), (&self.empty, &mut empty)] {
                let (server, elapsed) = start_to_first_page(launch)?;
                samples.push(milliseconds(elapsed));
                server.close()?;
            }
        }
        scores.add(MCP_BASH, WARM_START, median(&full));
        scores.add(EMPTY, WARM_START, median(&empty));
        scores.add(MCP_BASH, WARM_SURPLUS, median(&full) - median(&empty));
        Ok(())
    }

    /// A server started with a registry: its pages, its memory, and its reaction to changes.
    fn measure_service(&mut self, scores: &mut Scoreboard) -> Result<(), Failure> {
        let (mut server, _) = start_to_first_page(&self.full)?;
        // It checks the whole project again after it has started to watch it.
        thread::sleep(QUIET);
        let full = self.memory_after_listing(&mut server)?;
        scores.add(MCP_BASH, WARM_MEMORY, self.per_tool(full, self.empty_memory()?));

        for (measure, limit, walks) in [(PAGE, None, 10), (FIFTY, Some(SHORT_PAGE), 2)] {
            let mut samples = Vec::new();
            for _ in 0..walks {
                samples.extend(self.list(&mut server, limit)?);
            }
            scores.add(MCP_BASH, measure, milliseconds(percentile(&samples, 50)));
        }
        self.measure_changes(&mut server, scores)?;
        server.close()?;
        Ok(())
    }

    fn measure_changes(&mut self, server: &mut Subject, scores: &mut Scoreboard) -> Result<(), Failure> {
        let (mut times, mut read, mut written) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..CHANGES {
            self.edition += 1;
            let text = fixture::long_metadata(self.tools / 2, self.edition);
            let before = traffic(server)?;
            let changed = Instant::now();
            fs::write(&self.changing, text).map_err(|error| driver_failure(&error))?;
            let noticed = server.await_notification("notifications/tools/list_changed")?;
            times.push(milliseconds(noticed - changed));
            // Reads after the notification count as well.
            self.await_registry()?;
            let after = traffic(server)?;
            read.push(kilobytes(after.read - before.read));
            written.push(kilobytes(after.written - before.written));
        }
        scores.add(MCP_BASH, CHANGE, median(&times));
        scores.add(MCP_BASH, CHANGE_READ, median(&read));
        scores.add(MCP_BASH, CHANGE_WRITTEN, median(&written));
        Ok(())
    }

    /// The whole command, from its start to its exit.
    fn measure_validation(&self, scores: &mut Scoreboard) -> Result<(), Failure> {
        let mut command = Command::new(self.full.program());
        command.args(["validate", "--quiet", "--project-root"]).arg(&self.project).stdout(Stdio::null());
        let started = Instant::now();
        let status = command.status().map_err(|error| driver_failure(&error))?;
        let elapsed = started.elapsed();
        if !status.success() {
            return Err(Failure::new(MCP_BASH, format!("`mcp-bash validate` ended with {status}")));
        }
        scores.add(MCP_BASH, VALIDATION, milliseconds(elapsed) / f64::from(self.tools));
        Ok(())
    }

    fn registry(&self) -> PathBuf {
        self.project.join(".registry")
    }

    /// Waits until the registry exists and has not changed for a while.
    fn await_registry(&self) -> Result<(), Failure> {
        let file = self.registry().join(".tools.stamps");
        let deadline = Instant::now() + TIMEOUT;
        while Instant::now() < deadline {
            let changed = fs::metadata(&file).and_then(|metadata| metadata.modified());
            let age = changed.ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
            if age.is_some_and(|age| age > QUIET) {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err(Failure::new(MCP_BASH, "it does not write its registry"))
    }

    /// Lists all tools, and checks that none is missing.
    fn list(&self, server: &mut Subject, limit: Option<u32>) -> Result<Vec<Duration>, Failure> {
        let (listed, samples) = list_all(server, limit)?;
        match u32::try_from(listed) {
            Ok(listed) if listed == self.tools => Ok(samples),
            _ => Err(server.failure(&format!("it lists {listed} tools of {}", self.tools))),
        }
    }

    fn memory_after_listing(&self, server: &mut Subject) -> Result<u64, Failure> {
        self.list(server, None)?;
        Ok(idle_memory(server)?.resident)
    }

    fn empty_memory(&self) -> Result<u64, Failure> {
        let (mut server, _) = start_to_first_page(&self.empty)?;
        let memory = idle_memory(&mut server)?.resident;
        server.close()?;
        Ok(memory)
    }

    /// The memory that each tool adds to an empty project, in kilobytes.
    fn per_tool(&self, full: u64, empty: u64) -> f64 {
        kilobytes(full.saturating_sub(empty)) / f64::from(self.tools)
    }
}

/// Starts a server and asks for the first page of tools. The time runs from the start of the process until
/// the page is complete.
fn start_to_first_page(launch: &Launch) -> Result<(Subject, Duration), Failure> {
    let (mut server, _) = Subject::start_initialized(launch)?;
    let until_asked = server.age();
    let answered = server.call(&first_page(None))?;
    Ok((server, until_asked + answered))
}

/// Reads every metadata file once and returns their number.
fn read_metadata(tools: &Path) -> io::Result<u32> {
    let mut count = 0;
    for folder in fs::read_dir(tools)? {
        for file in fs::read_dir(folder?.path())? {
            let file = file?;
            if file.file_name() == fixture::METADATA {
                fs::read(file.path())?;
                count += 1;
            }
        }
    }
    Ok(count)
}

fn traffic(server: &mut Subject) -> Result<Traffic, Failure> {
    Traffic::of(server.pid()).map_err(|error| server.failure(&format!("its traffic: {error}")))
}

fn driver_failure(error: &io::Error) -> Failure {
    Failure::new("the project", error.to_string())
}

#[cfg(target_os = "linux")]
fn is_in_memory(path: &Path) -> bool {
    // The kernel's magic number of tmpfs.
    rustix::fs::statfs(path).is_ok_and(|system| system.f_type == 0x0102_1994)
}

#[cfg(not(target_os = "linux"))]
fn is_in_memory(_path: &Path) -> bool {
    false
}
