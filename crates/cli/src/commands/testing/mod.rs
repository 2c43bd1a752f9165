//! `mcp-bash test`: the tests of a project, run against a real server.
//!
//! Cases are YAML files beside what they test (`find`, `read_case`). Several workers (`run`) take one after another, each
//! with a folder of its own (`folder`) and a server of its own (`server`), which is this same program, started as a client
//! starts it. The result (`result`, `host`) is compared with what the case says (`expect`, `snapshot`) and reported
//! (`report`). Programs in `test/` are run as well (`external`). `contract` compares what clients see of the project with
//! what was recorded.

mod case;
mod contract;
mod count;
mod counter;
mod diff;
mod error;
mod expect;
mod external;
mod fields;
mod find;
mod folder;
mod host;
mod node;
mod read_case;
mod report;
mod result;
mod review;
mod run;
mod select;
mod server;
mod snapshot;
mod subjects;
mod watch;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::connect::OpenProject;
use crate::open::end_signals::EndSignals;
use crate::terminal::Terminal;
use crate::terminal::print::print_text;
use case::Case;
use error::TestError;
use external::External;
use folder::TemporaryFolder;
use mcp_bash_files::write_whole;
use mcp_bash_project::Paths;
use report::{Loudness, Report};
use review::Review;
use run::{CaseReport, Status};
use serde_json::{Value, json};
use server::Setting;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use subjects::Subjects;
use tokio::runtime::{Builder, Runtime};

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each of them is a flag of the command line")]
pub(crate) struct Arguments {
    /// Run only what has one of these in its name or its file
    #[arg(value_name = "PATTERN")]
    patterns: Vec<String>,

    /// Show what there is to run, and run nothing
    #[arg(long, conflicts_with_all = ["update", "watch", "contract", "junit"])]
    list: bool,

    /// Compare what clients see of the project with tests/contract.json: a breaking change fails
    #[arg(long, conflicts_with_all = ["patterns", "watch", "junit", "require_tests"])]
    contract: bool,

    /// Record snapshots (or the contract) anew: each change is shown first, and asked about
    #[arg(long)]
    update: bool,

    /// Record all changes without asking
    #[arg(short, long, requires = "update")]
    yes: bool,

    /// Run again what is concerned whenever a file changes, until Ctrl-C
    #[arg(long, conflicts_with_all = ["json", "update"])]
    watch: bool,

    /// Report as JSON
    #[arg(long)]
    json: bool,

    /// Write a report as `JUnit` XML to this file too; - is standard output, in place of the other report
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// How many cases are run at once; as many as there are processors by default
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,

    /// Fail if a tool has no test
    #[arg(long)]
    require_tests: bool,

    /// Do not fail because bats, which runs test/*.bats, is not installed
    #[arg(long)]
    allow_missing: bool,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash test                               all tests of the project
  mcp-bash test hello                         those of one tool, or of files with that name
  mcp-bash test 'hello/greets by name' -v     one case
  mcp-bash test --update                      look at changed results and record them
  mcp-bash test --watch                       again and again, as you write
  mcp-bash test --junit report.xml            for a CI service
  mcp-bash test --contract                    does a change break clients?

A case is a few lines of YAML in tools/NAME/tests/:
  - name: greets by name
    arguments: { name: Ada }
    expect: { text: \"Hello, Ada!\" }

Exit codes: 0 all passed, 1 some failed, 2 a case file cannot be read, 4 nothing matches,
130 Ctrl-C.
docs/testing.md says what a case can hold.";

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    if arguments.json && arguments.junit.as_deref() == Some(Path::new("-")) {
        return Err(TestError::TwoReports.into());
    }
    let mut session = TestSession::open(common)?;
    if arguments.contract {
        return Ok(contract::run(&session, arguments, common.quiet)?);
    }
    // If there is no user to ask, that is an error before anything is run.
    let review = if arguments.update { Some(Review::new(arguments.yes)?) } else { None };
    if arguments.watch {
        return Ok(watch::run(common, arguments, &mut session)?);
    }
    let selection = Selection::read(&session, arguments)?;
    if arguments.list {
        print(&select::list(&selection.cases, &selection.externals, arguments.json))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut report = session.run(&selection, arguments)?;
    if let Some(review) = review {
        record(&mut report, review)?;
    }
    tell(&report, common, arguments)?;
    Ok(if report.has_failed() { Exit::Failed } else { Exit::Done }.into())
}

/// Everything that a run needs: the project, the folder for its cases, the signals that end it.
struct TestSession {
    runtime: Runtime,
    folder: TemporaryFolder,
    setting: Setting,
    paths: Paths,
    subjects: Subjects,
    stop: tokio::sync::watch::Receiver<bool>,
}

/// The tests to run.
struct Selection {
    cases: Vec<Case>,
    externals: Vec<External>,
    untested: Vec<String>,
}

impl TestSession {
    fn open(common: &Common) -> Result<Self, Error> {
        let (paths, subjects) = read_project(common)?;
        let start = |source| Error::Start { source };
        let folder = TemporaryFolder::new().map_err(TestError::TemporaryFolder)?;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(start)?;
        let stop = catch_signals(&runtime)?;
        let setting = Setting {
            program: std::env::current_exe().map_err(start)?,
            project: paths.root.clone(),
            registry: folder.path().join("registry"),
        };
        Ok(Self { runtime, folder, setting, paths, subjects, stop })
    }

    /// Reads the project again, after a change.
    fn read_again(&mut self, common: &Common) -> Result<(), Error> {
        (self.paths, self.subjects) = read_project(common)?;
        Ok(())
    }

    fn run(&self, selection: &Selection, arguments: &Arguments) -> Result<Report, TestError> {
        let start = Instant::now();
        let jobs = arguments.jobs.map_or_else(processors, usize::from);
        let folder = TemporaryFolder::inside(&self.folder).map_err(TestError::TemporaryFolder)?;
        self.runtime.block_on(async {
            let ran = run::run_cases(&selection.cases, &self.setting, &folder, jobs, &self.stop).await;
            let cases = ran.map_err(TestError::TemporaryFolder)?.ok_or(TestError::Interrupted)?;
            let mut externals = Vec::new();
            for external in &selection.externals {
                let ran = external::run(external, &self.setting, &folder, self.stop.clone()).await;
                externals.push(ran.ok_or(TestError::Interrupted)?);
            }
            Ok(Report {
                cases,
                externals,
                untested: selection.untested.clone(),
                recorded: 0,
                duration: start.elapsed(),
                is_whole: arguments.patterns.is_empty(),
                requires_tests: arguments.require_tests,
                allows_missing: arguments.allow_missing,
            })
        })
    }
}

impl Selection {
    fn read(session: &TestSession, arguments: &Arguments) -> Result<Self, TestError> {
        let (cases, problems) = find::find(&session.paths, &session.subjects);
        if !problems.is_empty() {
            if arguments.json {
                let problems: Vec<Value> = problems
                    .iter()
                    .map(|wrong| json!({ "file": wrong.file, "line": wrong.line, "problem": wrong.problem }))
                    .collect();
                print(&format!("{:#}\n", json!({ "problems": problems })))?;
            }
            return Err(TestError::CaseFiles {
                problems: problems.iter().map(ToString::to_string).collect(),
            });
        }
        let tested: HashSet<&str> = cases
            .iter()
            .filter(|case| matches!(case.subject, case::Subject::Tool(_)))
            .map(|case| case.subject.name())
            .collect();
        let mut untested = session.subjects.tool_names();
        untested.retain(|name| !tested.contains(name.as_str()));
        let (cases, externals) =
            select::select(cases, external::find(&session.paths.root), &arguments.patterns)?;
        Ok(Self { cases, externals, untested })
    }
}

/// Reads the project and its testable entries.
fn read_project(common: &Common) -> Result<(Paths, Subjects), Error> {
    let catalog = OpenProject::read(common, |_| ())?.catalog;
    Ok((catalog.paths.clone(), Subjects::of(&catalog)))
}

/// Becomes true on Ctrl-C or another signal to exit.
fn catch_signals(runtime: &Runtime) -> Result<tokio::sync::watch::Receiver<bool>, Error> {
    let mut signals = EndSignals::catch(runtime)?;
    let (sender, stop) = tokio::sync::watch::channel(false);
    runtime.spawn(async move {
        signals.next().await;
        let _ = sender.send(true);
        // Later receivers see it too.
        sender.closed().await;
    });
    Ok(stop)
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Records the results that differ from their snapshots, as far as the review accepts them.
fn record(report: &mut Report, mut review: Review) -> Result<(), TestError> {
    for CaseReport { case, change, status, .. } in &mut report.cases {
        let Some(changed) = change else { continue };
        let title = format!("{} ({})", case.id(), changed.path.display());
        if review.accepts(&title, changed.recorded.as_deref().unwrap_or_default(), &changed.got)? {
            let written = snapshot::write(changed);
            written.map_err(|source| TestError::Write { path: changed.path.clone(), source })?;
            *status = Status::Passed;
            report.recorded += 1;
        }
    }
    Ok(())
}

fn tell(report: &Report, common: &Common, arguments: &Arguments) -> Result<(), TestError> {
    if let Some(path) = &arguments.junit {
        if path == Path::new("-") {
            return print(&report::junit(report));
        }
        let written = write_whole(path, report::junit(report).as_bytes());
        written.map_err(|source| TestError::Write { path: path.clone(), source })?;
    }
    let text = if arguments.json {
        format!("{:#}\n", report::json(report))
    } else {
        report::text(report, loudness(common), Terminal::of_stdout())
    };
    print(&text)
}

fn loudness(common: &Common) -> Loudness {
    match (common.quiet, common.verbose) {
        (true, _) => Loudness::Quiet,
        (_, true) => Loudness::Each,
        _ => Loudness::Usual,
    }
}

/// A closed pipe is not a failure.
fn print(text: &str) -> Result<(), TestError> {
    print_text(text).map_err(TestError::Print)
}
