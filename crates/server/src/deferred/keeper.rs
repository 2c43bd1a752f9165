//! Task keeper: the only writer of a task's record while the task runs. It records progress, questions and the response of the
//! inner request, delivers the notes of other requests and processes, and finishes the task once. Meanwhile it renews its
//! lease, and stops the task if it loses the lease.

use super::table::{Deferred, Running, failure, now_ms, stopped};
use super::task_reply::{Event, Events};
use super::view::View;
use crate::logging::Subscriber;
use crate::requests::Unanswered;
use mcp_bash_runner::on_own_thread;
use mcp_bash_tasks::{Durability, Failure, Lease, Note, Status, StoreError, TaskId, TaskRecord};
use mcp_bash_wire::{Decoded, Incoming, Limits, Object, Raw, RawBuf, Revision, Scanner, decode};
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, interval, sleep, timeout_at};

/// The interval between checks for notes of other processes, and the shortest interval between writes of progress.
pub(super) const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The fraction of the lease time that is reserved to stop the script.
const TO_STOP: u32 = 6;

/// The longest status message, in characters.
const LONGEST_MESSAGE: usize = 1000;

pub(crate) struct Keeper {
    pub(crate) deferred: Arc<Deferred>,
    pub(crate) running: Arc<Running>,
    pub(crate) lease: Lease,
    pub(crate) record: TaskRecord,
    pub(crate) events: Events,
    /// The session in which the task was called. It receives changes.
    pub(crate) session: Option<Arc<Subscriber>>,
    /// Starts the inner request of a task that waits for its turn, with its params.
    pub(crate) begin: Option<Begin>,
    /// Cancels the inner request.
    pub(crate) cancel: Box<dyn Fn() + Send + Sync>,
}

/// Starts the inner request of a task.
pub(crate) type Begin = Box<dyn FnOnce(String) + Send>;

/// How a task ends.
pub(super) enum Ending {
    Answered(Vec<u8>),
    /// The inner request ended without a response, and was not cancelled by the keeper.
    Unanswered,
    /// The task cannot start.
    Failed(Failure),
    Cancelled,
    /// The server is stopping.
    Stopped,
    Expired,
    /// Another process has the task now.
    Lost,
}

impl Keeper {
    /// Keeps the task until it ends.
    pub(crate) async fn run(self) {
        let Self { deferred, running, lease, record, events, session, begin, cancel } = self;
        let _leaving = Leaving { deferred: Arc::clone(&deferred), id: record.id.clone() };
        let lease = Arc::new(lease);
        let position = record.notes_from;
        let mut desk = Desk {
            deferred: Arc::clone(&deferred),
            running,
            lease: Arc::clone(&lease),
            record,
            session,
            position,
        };
        let (is_kept, is_expired) = {
            let mut holding = pin!(hold(Arc::clone(&deferred), lease, desk.record.repeatable));
            let ending = tokio::select! {
                () = &mut holding => Ending::Lost,
                ending = desk.work(begin, events) => ending,
            };
            if !matches!(ending, Ending::Answered(_) | Ending::Unanswered) {
                cancel();
            }
            let is_expired = matches!(ending, Ending::Expired);
            let is_kept = match ending {
                Ending::Lost => false,
                ending => tokio::select! {
                    () = holding => false,
                    is_kept = desk.end(ending) => is_kept,
                },
            };
            (is_kept, is_expired)
        };
        if is_kept && desk.record.status.is_final() {
            desk.announce();
        }
        let is_left = is_kept && !desk.record.status.is_final();
        if let Some(lease) = Arc::into_inner(desk.lease).filter(|_| is_expired || is_left) {
            let store = Arc::clone(deferred.store());
            // A record that cannot be removed now is removed by a sweep, and a lease that cannot be released expires.
            let give_up = move || if is_expired { store.remove(lease) } else { store.release(lease) };
            drop(on_own_thread(give_up).await);
        }
    }
}

/// Renews a lease as long as that succeeds. It never waits for other operations of the keeper on the store.
///
/// Another process may restart a repeatable task once its lease expires, so such a task is given up before that. Any other task
/// is given up only when another process is known to have taken it: nobody else runs it, and writes with a stale lease are
/// refused.
async fn hold(deferred: Arc<Deferred>, lease: Arc<Lease>, is_repeatable: bool) {
    let Some(time) = deferred.store().lease_time() else { return pending().await };
    let mut until = Instant::now() + time - time / TO_STOP;
    loop {
        let (store, held, asked) = (Arc::clone(deferred.store()), Arc::clone(&lease), Instant::now());
        let renewing = on_own_thread(move || store.renew(&held));
        let renewed =
            if is_repeatable { timeout_at(until, renewing).await.ok().flatten() } else { renewing.await };
        match renewed {
            Some(Ok(())) => {
                until = asked + time - time / TO_STOP;
                sleep(time / 3).await;
                continue;
            }
            Some(Err(StoreError::Stale { .. })) => return,
            Some(Err(error)) => deferred.report(&error),
            None => {}
        }
        if is_repeatable && Instant::now() + CHECK_INTERVAL >= until {
            return;
        }
        sleep(CHECK_INTERVAL).await;
    }
}

/// Removes a task from the table of running tasks, even if its keeper panics.
struct Leaving {
    deferred: Arc<Deferred>,
    id: TaskId,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.deferred.leave(&self.id);
    }
}

/// The state of a keeper.
pub(super) struct Desk {
    pub(super) deferred: Arc<Deferred>,
    pub(super) running: Arc<Running>,
    pub(super) lease: Arc<Lease>,
    pub(super) record: TaskRecord,
    session: Option<Arc<Subscriber>>,
    /// The position in the notes.
    position: u64,
}

impl Desk {
    /// Waits for the turn of the task if necessary, and attends to the task until it ends.
    async fn work(&mut self, begin: Option<Begin>, events: Events) -> Ending {
        if let Some(begin) = begin {
            match self.await_turn().await {
                Ok(params) => begin(params),
                Err(ending) => return ending,
            }
        }
        self.attend(events).await
    }

    async fn attend(&mut self, mut events: Events) -> Ending {
        let mut looks = interval(CHECK_INTERVAL);
        loop {
            let is_look = tokio::select! {
                event = events.events.recv() => match event {
                    Some(Event::Answered(message)) => return Ending::Answered(message),
                    Some(Event::Ended) | None if self.deferred.is_stopping() => return Ending::Stopped,
                    Some(Event::Ended) | None => return Ending::Unanswered,
                },
                () = self.running.poke.notified() => false,
                _ = looks.tick() => true,
            };
            if self.deferred.is_stopping() {
                return Ending::Stopped;
            }
            if self.record.is_expired(now_ms()) {
                return Ending::Expired;
            }
            if self.take_notes().await {
                return Ending::Cancelled;
            }
            let progress = if is_look { events.progress() } else { None };
            let has_progress = progress.is_some();
            if let Some(words) = progress {
                self.record.status_message = Some(words.chars().take(LONGEST_MESSAGE).collect());
            }
            if self.follow_questions() || has_progress {
                self.record.touch(now_ms());
                if let Err(StoreError::Stale { .. }) = self.write(Durability::Passing).await {
                    return Ending::Lost;
                }
                self.announce();
            }
        }
    }

    /// Announces a written change. A session that is congested does not receive it, and has to ask.
    pub(super) fn announce(&self) {
        self.deferred.announce();
        let revision = Revision::parse(&self.record.revision);
        if let (Some(session), Some(revision)) = (&self.session, revision) {
            session.tell_task(View { record: self.record.clone() }.members(revision));
        }
    }

    /// Delivers new answers to the questions. True if the task is cancelled.
    pub(super) async fn take_notes(&mut self) -> bool {
        let (store, id, position) =
            (Arc::clone(self.deferred.store()), self.record.id.clone(), self.position);
        let notes = match on_own_thread(move || store.notes(&id, position)).await {
            Some(Ok((notes, position))) => {
                self.position = position;
                notes
            }
            Some(Err(error)) => {
                self.deferred.report(&error);
                return false;
            }
            None => return false,
        };
        for note in notes {
            match note {
                Note::Cancel => return true,
                Note::Answer { key, answer } => {
                    let answer = Scanner::new(&answer, Limits::NONE).whole_value().map(RawBuf::from);
                    if let Ok(answer) = answer {
                        self.running.questions.answer(&key, Ok(answer));
                    }
                }
                Note::NoAnswer { key, reason } => {
                    self.running.questions.answer(&key, Err(Unanswered::Refused(reason)));
                }
            }
        }
        false
    }

    /// Updates the questions in the record. False if they are unchanged.
    fn follow_questions(&mut self) -> bool {
        let (open, used) = self.running.questions.open();
        if open == self.record.questions {
            return false;
        }
        self.record.status = if open.is_empty() { Status::Working } else { Status::InputRequired };
        (self.record.questions, self.record.used_keys) = (open, used);
        true
    }

    async fn write(&self, durability: Durability) -> Result<(), StoreError> {
        let (store, lease, record) =
            (Arc::clone(self.deferred.store()), Arc::clone(&self.lease), self.record.clone());
        let written = on_own_thread(move || store.update(&lease, &record, durability)).await;
        let written = written.unwrap_or(Ok(()));
        if let Err(error) = &written {
            self.deferred.report(error);
        }
        written
    }

    /// Finishes the task. False if the final record was not written.
    async fn end(&mut self, ending: Ending) -> bool {
        match ending {
            Ending::Lost | Ending::Expired => return false,
            Ending::Stopped if self.record.may_begin_elsewhere() => {
                // Its questions end with its process; the next process asks again.
                self.record.status = Status::Working;
                self.record.questions.clear();
                return self.write(Durability::Passing).await.is_ok();
            }
            Ending::Stopped => self.record.fail(stopped(), now_ms()),
            Ending::Failed(failure) => self.record.fail(failure, now_ms()),
            Ending::Cancelled => self.record.end(Status::Cancelled, now_ms()),
            Ending::Unanswered => {
                self.record.fail(failure("the call ended without an answer"), now_ms());
            }
            Ending::Answered(message) => return self.complete_with(message).await,
        }
        self.write_until_kept().await
    }

    /// Finishes the task with the response of its inner request.
    async fn complete_with(&mut self, message: Vec<u8>) -> bool {
        match Outcome::read(&message) {
            Ok(Outcome { members, has_tool_failed }) => {
                drop(message);
                self.record.has_tool_failed = has_tool_failed;
                self.record.end(Status::Completed, now_ms());
                match self.complete_until_kept(members).await {
                    Ok(()) => return true,
                    Err(StoreError::Stale { .. }) => return false,
                    Err(error) => self.deferred.report(&error),
                }
                // Paths are only for the operator.
                let words = "the result was not kept: the task store cannot be written";
                self.record.fail(failure(words), now_ms());
            }
            Err(failure) => self.record.fail(failure, now_ms()),
        }
        self.write_until_kept().await
    }

    /// Writes the final record with the result, and retries while the store is unavailable.
    async fn complete_until_kept(&self, members: String) -> Result<(), StoreError> {
        let members = Arc::new(members);
        loop {
            let (store, lease) = (Arc::clone(self.deferred.store()), Arc::clone(&self.lease));
            let (mut record, members) = (self.record.clone(), Arc::clone(&members));
            let complete = move || store.complete(&lease, &mut record, String::clone(&members));
            match on_own_thread(complete).await {
                Some(Err(error)) if error.is_passing() && !self.is_given_up() => self.deferred.report(&error),
                Some(kept) => return kept,
                None => return Ok(()),
            }
            sleep(CHECK_INTERVAL).await;
        }
    }

    /// Writes the final record, and retries on failure: until then the task counts as running. False if it was given up.
    async fn write_until_kept(&self) -> bool {
        while let Err(error) = self.write(Durability::Durable).await {
            if matches!(error, StoreError::Stale { .. }) || self.is_given_up() {
                return false;
            }
            sleep(CHECK_INTERVAL).await;
        }
        true
    }

    /// Whether the final record is not needed any more.
    fn is_given_up(&self) -> bool {
        self.deferred.is_stopping() || self.record.is_expired(now_ms())
    }
}

/// The result of a call.
struct Outcome {
    /// Its members, as JSON text without braces.
    members: String,
    has_tool_failed: bool,
}

impl Outcome {
    /// Reads the response of a call. `Err` if it is an error or cannot be read.
    fn read(message: &[u8]) -> Result<Self, Failure> {
        let Ok(Some(Decoded::One(Incoming::Response(response)))) = decode(message, Limits::NONE) else {
            return Err(failure("the answer of the call cannot be read"));
        };
        if let Some(error) = response.error {
            return Err(read_error(error));
        }
        let Some(result) = response.result.filter(|result| result.is_object()) else {
            return Err(failure("the call has no result"));
        };
        let is_error =
            Object::read(result, "result", &["isError"]).ok().and_then(|result| result.get("isError"));
        let text = result.text();
        Ok(Self {
            members: text[1..text.len() - 1].to_owned(),
            has_tool_failed: is_error.is_some_and(|is_error| is_error.text() == "true"),
        })
    }
}

fn read_error(error: Raw<'_>) -> Failure {
    let unreadable = || failure("the error of the call cannot be read");
    let Ok(error) = Object::read(error, "error", &["code", "message", "data"]) else { return unreadable() };
    let Some(code) = error.get("code").and_then(|code| code.text().parse().ok()) else { return unreadable() };
    let message = error.get("message").and_then(Raw::string).unwrap_or_default().into_owned();
    Failure { code, message, data: error.get("data").map(|data| data.text().to_owned()) }
}
