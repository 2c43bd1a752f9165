//! Case runner: runs several cases at once, each with a server of its own.
//!
//! While a worker runs a case, a server for the next one starts, and that of the case before ends.

use crate::cases::case::{Case, Step};
use crate::cases::values::Values;
use crate::counter::Counter;
use crate::expect::{Mismatch, mismatches};
use crate::folder::{ServerFolder, TemporaryFolder};
use crate::result::Places;
use crate::server::{NoResult, Setting, TestServer};
use crate::snapshot::{self, Change};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::{JoinHandle, LocalSet, spawn_local};

/// How a case ended.
#[derive(Debug, Clone)]
pub(crate) struct CaseReport {
    pub(crate) case: Case,
    pub(crate) status: Status,
    pub(crate) duration: Duration,
    /// The end of the script's standard error.
    pub(crate) stderr: String,
    /// How results differ from their snapshots, if nothing else is wrong.
    pub(crate) changes: Vec<Change>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Status {
    Passed,
    Failed(Vec<Mismatch>),
    /// The reason.
    Skipped(String),
}

/// What the workers share.
struct Shared {
    cases: Vec<Case>,
    setting: Setting,
    /// The folder in which each server has its own.
    folder: PathBuf,
    folders: Cell<usize>,
    /// The groups that no worker has taken: indices of cases that run one after another with one server.
    queue: RefCell<VecDeque<Vec<usize>>>,
    /// Servers that were started ahead, for cases that need nothing special of theirs.
    ready: RefCell<VecDeque<Start>>,
    reports: RefCell<Vec<Option<CaseReport>>>,
    counter: Counter,
}

/// A server that is starting or has started, and its folder.
struct Start {
    folder: Rc<ServerFolder>,
    server: JoinHandle<Result<TestServer, String>>,
}

/// Runs all cases, and returns their reports in order. `None` if `stop` is set meanwhile.
pub(crate) async fn run_cases(
    cases: &[Case],
    setting: &Setting,
    folder: &TemporaryFolder,
    jobs: usize,
    stop: &watch::Receiver<bool>,
) -> io::Result<Option<Vec<CaseReport>>> {
    let shared = Rc::new(Shared {
        queue: RefCell::new(groups(cases)),
        reports: RefCell::new(cases.iter().map(|case| without_server(case, setting)).collect()),
        counter: Counter::new(cases.len()),
        cases: cases.to_vec(),
        setting: setting.clone(),
        folder: folder.path().to_owned(),
        folders: Cell::new(0),
        ready: RefCell::default(),
    });
    let tasks = LocalSet::new();
    let workers = jobs.clamp(1, cases.len().max(1));
    let running: Vec<_> =
        (0..workers).map(|_| tasks.spawn_local(work(Rc::clone(&shared), stop.clone()))).collect();
    // With the workers, the servers that are still ending.
    tasks.await;
    for worker in running {
        worker.await.map_err(io::Error::other)??;
    }
    shared.counter.clear();
    let reports = shared.reports.take();
    Ok(reports.into_iter().collect())
}

/// The report of a case that needs no server: it is skipped, or only its command or the policy is compared.
fn without_server(case: &Case, setting: &Setting) -> Option<CaseReport> {
    if let Some(reason) = case.skip.clone() {
        return Some(CaseReport { status: Status::Skipped(reason), ..CaseReport::new(case) });
    }
    let step = case.steps.iter().find(|step| step.expect.is_dry())?;
    let start = Instant::now();
    let mut report = CaseReport::new(case);
    let places = Places::new(Path::new("${dir}"), &setting.project);
    let found = match &step.expect.policy {
        Some(expected) => setting.policy.mismatches(case, step, expected, &places),
        None => setting.commands.mismatches(step, &places),
    };
    if !found.is_empty() {
        report.status = Status::Failed(found);
    }
    report.duration = start.elapsed();
    Some(report)
}

/// The cases that have to run, each alone or with those that share its server.
fn groups(cases: &[Case]) -> VecDeque<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let needs_server =
        |case: &Case| case.skip.is_none() && !case.steps.iter().any(|step| step.expect.is_dry());
    for (index, case) in cases.iter().enumerate().filter(|(_, case)| needs_server(case)) {
        let shares =
            |group: &&mut Vec<usize>| group.first().is_some_and(|first| cases[*first].shares_with(case));
        match groups.iter_mut().find(shares) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    groups.into()
}

/// Runs one group after another until there is none left.
async fn work(shared: Rc<Shared>, mut stop: watch::Receiver<bool>) -> io::Result<()> {
    loop {
        let Some(group) = shared.queue.borrow_mut().pop_front() else { break };
        let Start { folder, server } = shared.server_for(group[0])?;
        let mut server = started(server).await;
        let is_stopped = tokio::select! {
            biased;
            _ = stop.wait_for(|stopped| *stopped) => true,
            () = run_group(&shared, &group, &folder, &mut server) => false,
        };
        if is_stopped {
            end_now(server).await;
            shared.queue.borrow_mut().clear();
            break;
        }
        spawn_local(async move {
            if let Ok(server) = server {
                server.end().await;
            }
            // A folder that cannot be removed goes with the folder of the run.
            let _ = folder.remove();
        });
    }
    loop {
        let Some(Start { server, .. }) = shared.ready.borrow_mut().pop_front() else { return Ok(()) };
        end_now(started(server).await).await;
    }
}

async fn end_now(server: Result<TestServer, String>) {
    if let Ok(server) = server {
        server.end_now().await;
    }
}

impl Shared {
    /// The server of a case: one that was started ahead, if it needs nothing special. Another one is started in its place.
    fn server_for(self: &Rc<Self>, index: usize) -> io::Result<Start> {
        let case = &self.cases[index];
        let ahead = if case.has_plain_server() { self.ready.borrow_mut().pop_front() } else { None };
        let found = match ahead {
            Some(ahead) => ahead,
            None => self.start(index)?,
        };
        let next = self
            .queue
            .borrow()
            .iter()
            .map(|group| group[0])
            .find(|next| self.cases[*next].has_plain_server());
        if let Some(next) = next {
            let ahead = self.start(next)?;
            self.ready.borrow_mut().push_back(ahead);
        }
        Ok(found)
    }

    fn start(self: &Rc<Self>, case: usize) -> io::Result<Start> {
        self.folders.set(self.folders.get() + 1);
        let folder = Rc::new(ServerFolder::new(&self.folder, self.folders.get())?);
        let server = spawn_local(start(Rc::clone(self), Rc::clone(&folder), case));
        Ok(Start { folder, server })
    }

    fn places(&self, folder: &ServerFolder) -> Places {
        Places::new(&folder.dir, &self.setting.project)
    }
}

/// Starts a server for a case.
async fn start(shared: Rc<Shared>, folder: Rc<ServerFolder>, case: usize) -> Result<TestServer, String> {
    let places = shared.places(&folder);
    TestServer::for_case(&shared.setting, &folder, &places, &shared.cases[case]).await
}

async fn started(server: JoinHandle<Result<TestServer, String>>) -> Result<TestServer, String> {
    server.await.unwrap_or_else(|error| Err(error.to_string()))
}

async fn run_group(
    shared: &Rc<Shared>,
    group: &[usize],
    folder: &Rc<ServerFolder>,
    server: &mut Result<TestServer, String>,
) {
    let places = shared.places(folder);
    for index in group {
        // The case before left it in a state that no one knows.
        if server.as_ref().is_ok_and(TestServer::is_gone) {
            *server = start(Rc::clone(shared), Rc::clone(folder), *index).await;
        }
        let report = run_case(&shared.cases[*index], server, folder, &places).await;
        shared.reports.borrow_mut()[*index] = Some(report);
        shared.counter.add_one();
    }
}

async fn run_case(
    case: &Case,
    server: &mut Result<TestServer, String>,
    folder: &ServerFolder,
    places: &Places,
) -> CaseReport {
    let mut report = CaseReport::new(case);
    let start = Instant::now();
    let prepared = prepared(case, folder, places);
    match (prepared, server) {
        (Err(problem), _) => report.status = Status::Failed(vec![Mismatch::new(problem)]),
        (Ok(()), Err(problem)) => report.status = Status::Failed(vec![Mismatch::new(problem.as_str())]),
        (Ok(()), Ok(server)) => run_steps(&mut report, case, server, folder, places).await,
    }
    report.duration = start.elapsed();
    report
}

fn prepared(case: &Case, folder: &ServerFolder, places: &Places) -> Result<(), String> {
    folder.empty().map_err(|error| format!("failed to make a folder for the case: {error}"))?;
    folder.fill(&case.files, |text| places.filled(text))
}

/// Makes one request after another, until a result is not as expected. A snapshot that differs stops nothing, so that all of
/// them can be recorded.
async fn run_steps(
    report: &mut CaseReport,
    case: &Case,
    server: &mut TestServer,
    folder: &ServerFolder,
    places: &Places,
) {
    let mut values = Values::default();
    let mut differing = Vec::new();
    for (index, step) in case.steps.iter().enumerate() {
        let found = match server.call(step, folder, places, &values).await {
            Ok(got) => {
                report.stderr.clone_from(&got.stderr);
                let mut found = mismatches(&values.filled_expect(&step.expect), &got, &folder.dir, places);
                if found.is_empty() && step.expect.snapshot {
                    match snapshot::compare(case, index, &got) {
                        Ok(change) => {
                            differing
                                .extend(change.as_ref().map(snapshot_mismatch).map(in_step(case, index)));
                            report.changes.extend(change);
                        }
                        Err(error) => {
                            found.push(Mismatch::new(format!("the snapshot cannot be read: {error}")));
                        }
                    }
                }
                if found.is_empty()
                    && let Err(problem) = values.keep(step, &got.text, got.value().as_ref())
                {
                    found.push(Mismatch::new(problem));
                }
                found
            }
            Err(problem) => vec![Mismatch::new(no_result(step, problem))],
        };
        if !found.is_empty() {
            report.changes.clear();
            report.status = Status::Failed(found.into_iter().map(in_step(case, index)).collect());
            return;
        }
    }
    if !differing.is_empty() {
        report.status = Status::Failed(differing);
    }
}

/// Why a step has no result.
fn no_result(step: &Step, problem: NoResult) -> String {
    match problem {
        NoResult::TimedOut => {
            let limit = step.timeout.as_secs_f64();
            format!("it took longer than {limit} s, and was ended; `timeout` gives it more")
        }
        NoResult::Failed(problem) => problem,
    }
}

/// Names the step of a mismatch, if the case has several.
fn in_step(case: &Case, index: usize) -> impl Fn(Mismatch) -> Mismatch {
    let step = &case.steps[index];
    let (kind, name, line) = (step.subject.kind(), step.subject.name(), step.line);
    let prefix = match case.steps.len() {
        1 => String::new(),
        _ => format!("step {} ({kind} `{name}`, line {line}): ", index + 1),
    };
    move |mismatch| Mismatch { problem: format!("{prefix}{}", mismatch.problem), ..mismatch }
}

fn snapshot_mismatch(change: &Change) -> Mismatch {
    match &change.recorded {
        Some(recorded) => Mismatch::with_diff(
            "the result is not the recorded one; `--update` records it after a look",
            recorded,
            &change.got,
        ),
        None => Mismatch::with_diff("there is no snapshot yet; `--update` records this", "", &change.got),
    }
}

impl CaseReport {
    /// Of a case that has passed so far.
    fn new(case: &Case) -> Self {
        Self {
            case: case.clone(),
            status: Status::Passed,
            duration: Duration::ZERO,
            stderr: String::new(),
            changes: Vec::new(),
        }
    }
}
