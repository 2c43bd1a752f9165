//! Test session: everything that runs have in common, and the tests that one of them selects.

use crate::cases::case::{Case, Subject};
use crate::cases::find;
use crate::cases::subjects::Subjects;
use crate::dry_run::ToolCommands;
use crate::error::TestError;
use crate::external::External;
use crate::folder::TemporaryFolder;
use crate::options::Options;
use crate::policy_case::PolicyCases;
use crate::printing::print;
use crate::report::Report;
use crate::server::Setting;
use crate::{external, run, select};
use mcp_bash_client::Remote;
use mcp_bash_project::{Catalog, Paths};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Runtime;
use tokio::sync::watch::Receiver;

/// What a run gets from the program that it belongs to.
pub struct Surroundings<'a> {
    /// Drives the run: a runtime with one thread.
    pub runtime: Runtime,
    /// Becomes true on Ctrl-C or another signal to exit.
    pub stop: Receiver<bool>,
    /// The program that serves the project: this one.
    pub program: PathBuf,
    /// A running server over HTTP that is tested, in place of one that we start.
    pub remote: Option<Remote>,
    /// Reads the project again, after a change.
    pub read_again: &'a dyn Fn() -> Result<Catalog, String>,
}

/// The project, the folder for its cases, the signals that end the run.
pub(crate) struct TestSession<'a> {
    surroundings: Surroundings<'a>,
    pub(crate) folder: TemporaryFolder,
    pub(crate) setting: Setting,
    pub(crate) paths: Paths,
    pub(crate) subjects: Subjects,
}

/// The tests to run.
pub(crate) struct Selection {
    pub(crate) cases: Vec<Case>,
    pub(crate) externals: Vec<External>,
    untested: Vec<String>,
}

impl<'a> TestSession<'a> {
    pub(crate) fn open(catalog: &Catalog, surroundings: Surroundings<'a>) -> Result<Self, TestError> {
        let folder = TemporaryFolder::new().map_err(TestError::TemporaryFolder)?;
        let paths = catalog.paths.clone();
        let setting = Setting {
            program: surroundings.program.clone(),
            project: paths.root.clone(),
            registry: folder.path().join("registry"),
            remote: surroundings.remote.clone(),
            commands: Arc::new(ToolCommands::of(catalog)),
            policy: Arc::new(PolicyCases::of(catalog)),
        };
        Ok(Self { surroundings, folder, setting, paths, subjects: Subjects::of(catalog) })
    }

    /// Reads the project again, after a change.
    pub(crate) fn read_again(&mut self) -> Result<(), String> {
        let catalog = (self.surroundings.read_again)()?;
        (self.paths, self.subjects) = (catalog.paths.clone(), Subjects::of(&catalog));
        self.setting.commands = Arc::new(ToolCommands::of(&catalog));
        self.setting.policy = Arc::new(PolicyCases::of(&catalog));
        Ok(())
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.surroundings.runtime
    }

    pub(crate) fn stop(&self) -> Receiver<bool> {
        self.surroundings.stop.clone()
    }

    pub(crate) fn run(&self, selection: &Selection, options: &Options) -> Result<Report, TestError> {
        let start = Instant::now();
        let jobs = options.jobs.map_or_else(processors, usize::from);
        let folder = TemporaryFolder::inside(&self.folder).map_err(TestError::TemporaryFolder)?;
        self.runtime().block_on(async {
            let ran = run::run_cases(&selection.cases, &self.setting, &folder, jobs, &self.stop()).await;
            let cases = ran.map_err(TestError::TemporaryFolder)?.ok_or(TestError::Interrupted)?;
            let mut externals = Vec::new();
            for external in &selection.externals {
                let ran = external::run(external, &self.setting, &folder, self.stop()).await;
                externals.push(ran.ok_or(TestError::Interrupted)?);
            }
            Ok(Report {
                cases,
                externals,
                untested: selection.untested.clone(),
                recorded: 0,
                duration: start.elapsed(),
                is_whole: options.patterns.is_empty(),
                requires_tests: options.require_tests,
                allows_missing: options.allow_missing,
            })
        })
    }
}

impl Selection {
    pub(crate) fn read(session: &TestSession<'_>, options: &Options) -> Result<Self, TestError> {
        let (cases, problems) = find::find(&session.paths, &session.subjects);
        if !problems.is_empty() {
            if options.json {
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
            .flat_map(|case| &case.steps)
            .filter(|step| matches!(step.subject, Subject::Tool(_)))
            .map(|step| step.subject.name())
            .collect();
        let mut untested = session.subjects.tool_names();
        untested.retain(|name| !tested.contains(name.as_str()));
        let (cases, externals) =
            select::select(cases, external::find(&session.paths.root), &options.patterns)?;
        Ok(Self { cases, externals, untested })
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
