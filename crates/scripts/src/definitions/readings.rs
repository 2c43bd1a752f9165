//! Definition readings: files that report their own definitions (function files, providers) are run in the background, each by
//! a task of its own, so that one that hangs delays only its own tools.
//!
//! An answer is reported to the reader, and kept until the project was read with it. Until then, the file is *in progress*, so
//! that a caller that waits for the file finds its definitions served afterwards.

use crate::definitions::failed_loads::FailedLoads;
use crate::surroundings::Surroundings;
use crate::workers::Workers;
use mcp_bash_project::{Asked, Definitions, Paths, Pauses, Said, Stamp, Unanswered, Worker};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock};
use std::thread::{Builder, available_parallelism};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore, oneshot, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

/// A file that takes longer than this no longer occupies a place.
const SLOW: Duration = Duration::from_secs(2);

/// The first pause before a file that failed for a temporary reason is asked again. The pause doubles after each attempt, up to
/// the longest, so that a file that answers quickly is served within ten seconds after the reason is gone.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

pub(crate) struct Readings {
    pub(crate) surroundings: Arc<Surroundings>,
    workers: Arc<Workers>,
    failed_loads: FailedLoads,
    state: Mutex<ReadingsState>,
    /// The files whose definitions are not served yet.
    in_progress: watch::Sender<Vec<FileInProgress>>,
    /// Limits how many files are asked at once: each takes an interpreter.
    places: LazyLock<Semaphore>,
    tell: OnceLock<Tell>,
}

/// A file that is being asked for its definitions, or has answered and is not served yet.
#[derive(Debug, Clone)]
pub struct FileInProgress {
    pub file: PathBuf,
    pub since: Instant,
}

type Tell = Box<dyn Fn(&Path) + Send + Sync>;

#[derive(Default)]
struct ReadingsState {
    files: HashMap<PathBuf, Reading>,
    last: u64,
    /// The files that answered before a callback was set.
    unreported: Vec<PathBuf>,
}

/// One file, with its stamp when it was asked.
struct Reading {
    number: u64,
    stamp: Stamp,
    answer: Answer,
}

enum Answer {
    Awaited(AbortHandle),
    Here {
        answer: Result<Definitions, Unanswered>,
        /// Whether the project was read because of it.
        is_served: bool,
        /// Makes the next attempt begin soon, if there will be one.
        soon: Arc<Notify>,
    },
}

/// The places: two for each processor, since a starting interpreter also waits for the disk.
fn places() -> Semaphore {
    let processors = available_parallelism().map_or(2, usize::from);
    Semaphore::new((2 * processors).clamp(4, 16))
}

impl Readings {
    pub(crate) fn new(surroundings: Arc<Surroundings>, workers: Arc<Workers>) -> Self {
        Self {
            surroundings,
            workers,
            failed_loads: FailedLoads::default(),
            state: Mutex::default(),
            in_progress: watch::Sender::default(),
            places: LazyLock::new(places),
            tell: OnceLock::new(),
        }
    }

    /// Calls `tell` with each file whose definitions are now known. `tell` runs where it may block, and reads the file again.
    pub(crate) fn on_definitions(&self, tell: impl Fn(&Path) + Send + Sync + 'static) {
        let unreported = {
            let mut state = self.state.lock();
            let _ = self.tell.set(Box::new(tell));
            std::mem::take(&mut state.unreported)
        };
        // Files that answered before the callback was set.
        if let Some(tell) = self.tell.get() {
            for file in &unreported {
                tell(file);
            }
        }
    }

    /// The files whose definitions are not served yet.
    pub(crate) fn files_in_progress(&self) -> watch::Receiver<Vec<FileInProgress>> {
        self.in_progress.subscribe()
    }

    /// The definitions of a file. It is asked in the runtime of the workers, unless its answer for the same stamp is known.
    pub(crate) fn definitions(
        self: &Arc<Self>,
        file: &Path,
        stamp: Stamp,
        asked: Asked<'_>,
        paths: &Paths,
    ) -> Said {
        let mut state = self.state.lock();
        match state.files.get(file) {
            Some(reading) if reading.stamp == stamp => {
                return match &reading.answer {
                    Answer::Awaited(_) => Said::Later,
                    Answer::Here { answer, .. } => Said::Now(answer.clone()),
                };
            }
            // A newer version of the file aborts the reading of the older one.
            Some(Reading { answer: Answer::Awaited(older), .. }) => older.abort(),
            _ => {}
        }
        if let Some(why) = self.failed_loads.refusal(file) {
            state.files.remove(file);
            return Said::Now(Err(why.into()));
        }
        state.last += 1;
        let question = Question {
            in_progress: InProgress {
                readings: Arc::clone(self),
                file: file.to_owned(),
                number: state.last,
                soon: Arc::default(),
            },
            worker: match asked {
                Asked::Provider => None,
                Asked::Functions(worker) => Some(worker.clone()),
            },
            paths: paths.clone(),
        };
        self.enter(file);
        let task = self.workers.runtime().spawn(question.ask());
        let reading = Reading { number: state.last, stamp, answer: Answer::Awaited(task.abort_handle()) };
        state.files.insert(file.to_owned(), reading);
        Said::Later
    }
}

impl Readings {
    /// Forgets the answers that are served, and aborts the reading of files that have changed or are gone.
    pub(crate) fn ask_again(&self) {
        self.state.lock().files.retain(|file, reading| {
            let is_same = Stamp::at(file) == Some(reading.stamp);
            match &reading.answer {
                Answer::Here { answer: Err(unanswered), soon, .. } if is_same && unanswered.passes => {
                    // The next attempt may succeed. It is not made at once: the file itself may change the project.
                    soon.notify_one();
                    true
                }
                Answer::Here { is_served, .. } => is_same && !is_served,
                Answer::Awaited(task) => {
                    if !is_same {
                        task.abort();
                    }
                    is_same
                }
            }
        });
    }

    fn enter(&self, file: &Path) {
        self.in_progress.send_modify(|files| {
            files.retain(|known| known.file != file);
            files.push(FileInProgress { file: file.to_owned(), since: Instant::now() });
        });
    }

    /// Keeps an answer. False if the file was asked again meanwhile.
    fn keep(&self, question: &InProgress, answer: Result<Definitions, Unanswered>) -> bool {
        let InProgress { file, number, soon, .. } = question;
        let mut state = self.state.lock();
        let Some(reading) = state.files.get_mut(file).filter(|reading| reading.number == *number) else {
            return false;
        };
        reading.answer = Answer::Here { answer, is_served: false, soon: Arc::clone(soon) };
        true
    }

    /// Whether no callback is set yet. If so, the file is remembered for it.
    fn is_unreported(&self, file: &Path) -> bool {
        let mut state = self.state.lock();
        let is_unreported = self.tell.get().is_none();
        if is_unreported {
            state.unreported.push(file.to_owned());
        }
        is_unreported
    }

    /// Marks a file as no longer in progress, unless it was asked again.
    fn leave(&self, file: &Path, number: u64) {
        let mut state = self.state.lock();
        let reading = state.files.get_mut(file);
        if reading.as_ref().is_none_or(|reading| reading.number == number) {
            match reading.map(|reading| &mut reading.answer) {
                Some(Answer::Here { is_served, .. }) => *is_served = true,
                // It ended without an answer, and may be asked again.
                Some(Answer::Awaited(_)) => drop(state.files.remove(file)),
                None => {}
            }
            self.in_progress.send_modify(|files| files.retain(|known| known.file != file));
        }
    }
}

/// Marks a file as in progress. Dropping it removes the mark, however the task ends.
struct InProgress {
    readings: Arc<Readings>,
    file: PathBuf,
    number: u64,
    soon: Arc<Notify>,
}

impl Drop for InProgress {
    fn drop(&mut self) {
        self.readings.leave(&self.file, self.number);
    }
}

/// A file to ask.
struct Question {
    in_progress: InProgress,
    /// The worker that loads it. `None` for a provider.
    worker: Option<Worker>,
    paths: Paths,
}

impl Question {
    /// Asks the file until it has answered, or has failed for a permanent reason.
    async fn ask(self) {
        let InProgress { readings, file, number, soon } = &self.in_progress;
        let mut pauses = Pauses::new(FIRST_PAUSE, LONGEST_PAUSE);
        loop {
            let began = Instant::now();
            let answer = tokio::select! {
                biased;
                // Dropping it kills the process.
                () = readings.surroundings.processes.ended() => return,
                answer = self.answer() => answer,
            };
            if readings.surroundings.processes.has_ended() {
                // The answer reflects only the shutdown.
                return;
            }
            if self.worker.is_some() {
                let why = answer.as_ref().err().map(|unanswered| &unanswered.why);
                readings.failed_loads.note(file, began.into_std(), why);
            }
            let is_over = !answer.as_ref().is_err_and(|unanswered| unanswered.passes);
            if !readings.keep(&self.in_progress, answer) || readings.is_unreported(file) {
                return;
            }
            tell(readings, file).await;
            if is_over {
                return;
            }
            // Nothing waits for the next attempt.
            readings.leave(file, *number);
            let pause = pause_after(began.elapsed(), pauses.lengthen());
            tokio::select! {
                () = readings.surroundings.processes.ended() => return,
                () = sleep(pause) => {}
                () = soon.notified() => sleep(pause.min(FIRST_PAUSE)).await,
            }
        }
    }

    async fn answer(&self) -> Result<Definitions, Unanswered> {
        let InProgress { readings, file, .. } = &self.in_progress;
        let answer = async {
            match &self.worker {
                None => readings.surroundings.ask_provider(file, &self.paths).await,
                Some(worker) => {
                    let text = readings.workers.load_functions(file, worker, &self.paths).await?;
                    Ok(Definitions { text, instructions: None })
                }
            }
        };
        let place = readings.places.acquire().await;
        tokio::pin!(answer);
        tokio::select! {
            answer = &mut answer => return answer,
            () = sleep(SLOW) => drop(place),
        }
        answer.await
    }
}

/// The pause after an attempt. Slow attempts must not keep the machine busy.
fn pause_after(attempt: Duration, usual: Duration) -> Duration {
    if attempt > LONGEST_PAUSE { 3 * attempt } else { usual.max(attempt) }
}

/// Reports an answer on a thread of its own, because the callback may block. If no thread can be started, tries again.
async fn tell(readings: &Arc<Readings>, file: &Path) {
    let mut pauses = Pauses::new(FIRST_PAUSE / 4, 4 * FIRST_PAUSE);
    loop {
        let (done, told) = oneshot::channel::<()>();
        let (readings, file) = (Arc::clone(readings), file.to_owned());
        let report = move || {
            if let Some(tell) = readings.tell.get() {
                tell(&file);
            }
            drop(done);
        };
        if Builder::new().name("definitions".into()).spawn(report).is_ok() {
            // `done` is dropped when the thread ends, even by a panic.
            let _ = told.await;
            return;
        }
        sleep(pauses.lengthen()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_attempts_that_take_long_have_long_pauses() {
        let pause = |attempt: u64| pause_after(Duration::from_secs(attempt), LONGEST_PAUSE).as_secs();
        assert_eq!([pause(0), pause(3), pause(4), pause(30)], [4, 4, 4, 90]);
    }
}
