//! Case runner: runs several cases at once, each worker with a server of its own.

use crate::cases::case::Case;
use crate::counter::Counter;
use crate::expect::{Mismatch, mismatches};
use crate::folder::{TemporaryFolder, WorkerFolder};
use crate::result::{Got, Places};
use crate::server::{NoResult, Setting, TestServer};
use crate::snapshot::{self, Change};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::task::LocalSet;

/// How a case ended.
#[derive(Debug, Clone)]
pub(crate) struct CaseReport {
    pub(crate) case: Case,
    pub(crate) status: Status,
    pub(crate) duration: Duration,
    /// The end of the script's standard error.
    pub(crate) stderr: String,
    /// How the result differs from its snapshot, if nothing else is wrong.
    pub(crate) change: Option<Change>,
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
    /// The indices of the cases that no worker has started.
    queue: RefCell<VecDeque<usize>>,
    reports: RefCell<Vec<Option<CaseReport>>>,
    counter: Counter,
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
        queue: RefCell::new(in_order_of_servers(cases)),
        reports: RefCell::new(cases.iter().map(|_| None).collect()),
        counter: Counter::new(cases.len()),
        cases: cases.to_vec(),
        setting: setting.clone(),
    });
    let workers = LocalSet::new();
    for number in 1..=jobs.clamp(1, cases.len().max(1)) {
        let worker_folder = WorkerFolder::new(folder.path(), number)?;
        workers.spawn_local(work(Rc::clone(&shared), worker_folder, stop.clone()));
    }
    workers.await;
    shared.counter.clear();
    let reports = shared.reports.take();
    Ok(reports.into_iter().collect())
}

/// Cases with the same environment are adjacent, so that they can share a server.
fn in_order_of_servers(cases: &[Case]) -> VecDeque<usize> {
    let mut order: Vec<usize> = (0..cases.len()).collect();
    order.sort_by_key(|index| (&cases[*index].environment, &cases[*index].roots));
    order.into()
}

/// Runs one case after another until there is none left.
async fn work(shared: Rc<Shared>, folder: WorkerFolder, mut stop: watch::Receiver<bool>) {
    let places = Places::new(&folder.dir, &shared.setting.project);
    let mut server = None;
    let mut is_stopped = false;
    loop {
        let Some(index) = shared.queue.borrow_mut().pop_front() else { break };
        let case = &shared.cases[index];
        tokio::select! {
            biased;
            _ = stop.wait_for(|stopped| *stopped) => {
                is_stopped = true;
                break;
            }
            report = run_case(case, &mut server, &shared.setting, &folder, &places) => {
                shared.reports.borrow_mut()[index] = Some(report);
                shared.counter.add_one();
            }
        }
    }
    if is_stopped {
        TestServer::end_now(&mut server).await;
    } else {
        TestServer::end(&mut server).await;
    }
}

async fn run_case(
    case: &Case,
    server: &mut Option<TestServer>,
    setting: &Setting,
    folder: &WorkerFolder,
    places: &Places,
) -> CaseReport {
    let mut report = CaseReport {
        case: case.clone(),
        status: Status::Passed,
        duration: Duration::ZERO,
        stderr: String::new(),
        change: None,
    };
    if let Some(reason) = &case.skip {
        report.status = Status::Skipped(reason.clone());
        return report;
    }
    let start = Instant::now();
    if case.expect.is_dry() {
        let found = setting.commands.mismatches(case, places);
        if !found.is_empty() {
            report.status = Status::Failed(found);
        }
        report.duration = start.elapsed();
        return report;
    }
    let got = match prepared(case, folder, places) {
        Ok(()) => TestServer::call(server, setting, folder, places, case).await,
        Err(problem) => Err(NoResult::Failed(problem)),
    };
    report.duration = start.elapsed();
    match got {
        Ok(got) => judge(&mut report, &got, folder, places),
        Err(NoResult::TimedOut) => {
            let limit = case.timeout.as_secs_f64();
            let problem = format!("it took longer than {limit} s, and was ended; `timeout` gives it more");
            report.status = Status::Failed(vec![Mismatch::new(problem)]);
        }
        Err(NoResult::Failed(problem)) => report.status = Status::Failed(vec![Mismatch::new(problem)]),
    }
    report
}

fn prepared(case: &Case, folder: &WorkerFolder, places: &Places) -> Result<(), String> {
    folder.empty().map_err(|error| format!("failed to make a folder for the case: {error}"))?;
    folder.fill(&case.files, |text| places.filled(text))
}

fn judge(report: &mut CaseReport, got: &Got, folder: &WorkerFolder, places: &Places) {
    report.stderr.clone_from(&got.stderr);
    let mut found = mismatches(&report.case, got, &folder.dir, places);
    if found.is_empty() && report.case.expect.snapshot {
        match snapshot::compare(&report.case, got) {
            Ok(None) => {}
            Ok(Some(change)) => {
                found.push(snapshot_mismatch(&change));
                report.change = Some(change);
            }
            Err(error) => found.push(Mismatch::new(format!("the snapshot cannot be read: {error}"))),
        }
    }
    if !found.is_empty() {
        report.status = Status::Failed(found);
    }
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
