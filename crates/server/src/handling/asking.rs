//! Asking: sends a script's questions to the client. With a session they are requests to the client. Without one they are an
//! `input_required` response, and the process is parked until a retry brings the answers.

use super::work::Work;
use crate::callers::ClientCapabilities;
use crate::logging::{Measured, Related};
use crate::replies::{Stream as _, shape};
use crate::requests::request_state::digest;
use crate::requests::{
    AskedOfTask, Current, Occupant, Origin, Parked, ParkedStage, PendingQuestion, Place, Resting, Round,
    Subject, TaskQuestions, Unanswered,
};
use crate::sessions::Session;
use mcp_bash_audit::{Event, Outcome};
use mcp_bash_wire::{Object, RawBuf};
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

/// A call that another request can continue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resumable {
    pub(crate) subject: Subject,
    /// Whether its author allows it to run again.
    pub(crate) may_run_again: bool,
}

/// A question to a client.
pub(crate) struct ClientQuestion {
    /// The name that its author gave it.
    pub(crate) name: Option<Box<str>>,
    pub(crate) method: &'static str,
    /// A JSON object.
    pub(crate) params: String,
    pub(crate) is_offered: fn(ClientCapabilities) -> bool,
    /// Whether an answer may come from the call itself or from an earlier run of the script.
    pub(crate) may_be_given: bool,
}

/// The key of a question without a name.
const UNNAMED: &str = "question";

/// How long a client with a session may take to answer, unless the script sets a timeout.
const USUAL_TIMEOUT: Duration = Duration::from_secs(300);

impl Work {
    /// Asks the client the questions that its capabilities allow, and returns the results as JSON: one after the other with a
    /// session, all together without one. Meanwhile other requests can use the place of this one. Without `timeout`, a client
    /// with a session has the usual time, and a client without one the time limit of parking.
    pub(crate) async fn ask(
        &self,
        questions: &[ClientQuestion],
        call: Resumable,
        timeout: Option<Duration>,
    ) -> Vec<Result<RawBuf, Unanswered>> {
        let offered = self.current().map(|current| current.context.capabilities);
        let is_offered =
            |question: &ClientQuestion| offered.is_none_or(|offered| (question.is_offered)(offered));
        // Checked before their turn, so that unsupported questions do not wait for others.
        let asked: Vec<&ClientQuestion> = questions.iter().filter(|question| is_offered(question)).collect();
        if asked.is_empty() {
            return questions.iter().map(|_| Err(NOT_OFFERED)).collect();
        }
        let _turn = self.asking.lock().await;
        let related = self.audit_questions(&asked);
        let task = self.current().and_then(|current| current.task.clone());
        let answers = match (self.session(), &task) {
            (None, Some(task)) => self.ask_through_task(task, &asked, timeout).await,
            (Some(session), _) => {
                self.ask_in_session(session, &asked, timeout.unwrap_or(USUAL_TIMEOUT)).await
            }
            (None, None) => match self.ask_without_session(&asked, call, timeout, related.as_ref()).await {
                Ok(answers) => answers.into_iter().map(Ok).collect(),
                Err(why) => asked.iter().map(|_| Err(why.clone())).collect::<Vec<_>>(),
            },
        };
        audit_answers(related.as_ref(), &asked, &answers);
        let mut answers = answers.into_iter();
        let in_order = |question| if is_offered(question) { answers.next() } else { None };
        questions.iter().map(in_order).map(|answer| answer.unwrap_or(Err(NOT_OFFERED))).collect()
    }

    /// Writes the audit records of the questions. Returns the data that the records of the answers share with them, which are
    /// written even if the client never comes back.
    fn audit_questions(&self, asked: &[&ClientQuestion]) -> Option<Related> {
        self.server().audit()?;
        let mut related = None;
        self.measure(|measured| related = measured.related());
        let related = related?;
        for question in asked {
            related.exchanged(Event::Question, question.method, None, &question.params);
        }
        Some(related)
    }

    async fn ask_in_session(
        &self,
        session: &Session,
        asked: &[&ClientQuestion],
        timeout: Duration,
    ) -> Vec<Result<RawBuf, Unanswered>> {
        let rest = self.rest(Place::rest);
        let mut answers = Vec::new();
        for question in asked {
            let Some(current) = self.current() else {
                answers.push(Err(Unanswered::Cancelled));
                continue;
            };
            let (request, span) = (current.in_flight.request(), self.question_span(question.method));
            let params = shape::traced(self.shown(question), span.trace());
            let answer = session.questions.ask(&**request, question.method, &params, timeout).await;
            span.end(answer.as_ref().err().map(Unanswered::error_type));
            answers.push(answer);
        }
        rest.end().await;
        answers
    }

    /// Asks through the task that the request runs for. Its process continues once all answers have arrived.
    async fn ask_through_task(
        &self,
        task: &TaskQuestions,
        asked: &[&ClientQuestion],
        timeout: Option<Duration>,
    ) -> Vec<Result<RawBuf, Unanswered>> {
        let mut pending: Vec<PendingQuestion> = asked.iter().map(|question| self.pending(question)).collect();
        if asked.iter().all(|question| question.may_be_given) {
            self.given.lock().answer(&mut pending, |question| &*question.key != UNNAMED);
        }
        let open = pending.iter().zip(asked).filter(|(question, _)| question.answer.is_none());
        let open = open.map(|(pending, question)| AskedOfTask {
            name: pending.key.clone(),
            method: question.method,
            params: self.shown(question),
        });
        let open: Vec<AskedOfTask> = open.collect();
        let rest = self.rest(Place::rest);
        let timeout = timeout.unwrap_or(self.server().parking().timeout());
        let mut answers = task.ask(open, timeout).await.into_iter();
        rest.end().await;
        let answer = |question: PendingQuestion| {
            let given = question.answer.map(Ok);
            given.or_else(|| answers.next()).unwrap_or(Err(Unanswered::Cancelled))
        };
        pending.into_iter().map(answer).collect()
    }

    async fn ask_without_session(
        &self,
        asked: &[&ClientQuestion],
        call: Resumable,
        timeout: Option<Duration>,
        related: Option<&Related>,
    ) -> Result<Vec<RawBuf>, Unanswered> {
        let mut pending: Vec<PendingQuestion> = asked.iter().map(|question| self.pending(question)).collect();
        let is_named = |question: &PendingQuestion| &*question.key != UNNAMED;
        if asked.iter().all(|question| question.may_be_given) {
            self.given.lock().answer(&mut pending, is_named);
        }
        if pending.iter().any(|question| question.answer.is_none()) {
            let longest = self.server().parking().timeout();
            let timeout = timeout.map_or(longest, |timeout| timeout.min(longest));
            let deadline = Instant::now() + timeout;
            let timed_out = |_| Unanswered::TimedOut(timeout);
            // After a question that timed out, the client still has to come back.
            let current = timeout_at(deadline, self.next_request()).await.map_err(timed_out)?;
            let current = current.ok_or(Unanswered::Cancelled)?;
            let offered = current.context.capabilities;
            if !asked.iter().all(|question| (question.is_offered)(offered)) {
                return Err(NOT_OFFERED);
            }
            let answers = self.park(&current, pending, call)?;
            drop(current);
            // The number of parked processes is limited already. Those that made room are still shutting down.
            let rest = self.rest(Place::rest_in_any_case);
            let answered = timeout_at(deadline, answers).await;
            // The script continues with or without answers.
            rest.end().await;
            pending = answered.map_err(timed_out)?.map_err(|_| Unanswered::Cancelled)?;
            self.record_continuation(related).await?;
        }
        if call.may_run_again {
            self.answered.lock().push(Round(pending.iter().map(PendingQuestion::entry).collect()));
        }
        pending.into_iter().map(|question| question.answer.ok_or(Unanswered::Cancelled)).collect()
    }

    /// Completes the audit record of the retry that continues the work, and writes that of its start. If that has to be durable
    /// and is not, answers the retry with the problem.
    async fn record_continuation(&self, earlier: Option<&Related>) -> Result<(), Unanswered> {
        if let Some(earlier) = earlier {
            self.measure(|measured| measured.continues(earlier));
        }
        if let Some(problem) = self.record_beginning().await {
            self.answer(Err(problem));
            return Err(Unanswered::Cancelled);
        }
        Ok(())
    }

    /// The params of a question as sent to the client.
    fn shown(&self, question: &ClientQuestion) -> String {
        let elicitation_id = self.server().unguessable_token();
        shape::question(question.method, &question.params, elicitation_id.as_deref(), self.revision)
    }

    fn pending(&self, question: &ClientQuestion) -> PendingQuestion {
        let ClientQuestion { name, method, params, .. } = question;
        let request = format!(r#"{{"method":"{method}","params":{}}}"#, self.shown(question));
        let key = name.clone().unwrap_or_else(|| UNNAMED.into());
        PendingQuestion { key, method, request, digest: digest(&[method, params]), answer: None }
    }

    /// The request to answer, as soon as there is one. `None` if none will come.
    async fn next_request(&self) -> Option<Arc<Current>> {
        let mut slot = self.slot.subscribe();
        let occupant = slot.wait_for(|occupant| !matches!(occupant, Occupant::Awaited)).await.ok()?;
        occupant.request()
    }

    /// Answers the request with `input_required`, so that a retry can bring the answers.
    fn park(
        &self,
        current: &Current,
        questions: Vec<PendingQuestion>,
        call: Resumable,
    ) -> Result<oneshot::Receiver<Vec<PendingQuestion>>, Unanswered> {
        if current.in_flight.request().is_clogged() {
            return Err(Unanswered::Clogged);
        }
        let earlier = call.may_run_again.then(|| self.answered.lock().clone());
        let bytes = questions.iter().map(|question| question.request.len()).sum::<usize>()
            + earlier.iter().flatten().map(Round::bytes).sum::<usize>();
        // Needs room for the parked copy and for the response. The response must not become an error, since the client would
        // not receive the questions.
        let mut held = self.budget().charge(2 * bytes)?;
        held.set(bytes);
        let (sender, answers) = oneshot::channel();
        let parked = Parked {
            caller: Arc::clone(self.caller()),
            origin: Origin::new(self.caller().name(), call.subject),
            slot: Arc::clone(&self.slot),
            questions,
            earlier,
            stage: ParkedStage::Waiting(sender),
            since: Instant::now(),
            held,
        };
        let parking = self.server().parking();
        let keys = self.server().state_keys().ok_or(Unanswered::Cancelled)?;
        let asked = parking.park(parked, keys).ok_or(Unanswered::Cancelled)?;
        current.in_flight.request().measure(Measured::asks);
        if !current.in_flight.answer(Ok(asked.members.into())) {
            // It was cancelled or answered a moment ago, so no client receives the state.
            parking.abandon(&asked.id);
        }
        Ok(answers)
    }

    /// Frees the place of this work while it waits for an answer.
    fn rest(&self, rest: fn(Place) -> Result<Resting, Place>) -> Rest<'_> {
        let mut place = self.place.lock();
        let resting = match place.take().map(rest) {
            Some(Ok(resting)) => Some(resting),
            Some(Err(kept)) => {
                *place = Some(kept);
                None
            }
            None => None,
        };
        Rest { work: self, resting }
    }
}

/// Work that waits for an answer.
struct Rest<'a> {
    work: &'a Work,
    /// `None` if it keeps its place.
    resting: Option<Resting>,
}

impl Rest<'_> {
    /// Waits for a place.
    async fn end(mut self) {
        let Some(resting) = &self.resting else { return };
        let request = self.work.current().map(|current| Arc::clone(current.in_flight.request()));
        if let Some(place) = resting.take_turn(request).await {
            self.resting = None;
            *self.work.place.lock() = Some(place);
        }
    }
}

impl Drop for Rest<'_> {
    /// Takes a place immediately if the wait was cancelled, so that the script can continue.
    fn drop(&mut self) {
        if let Some(resting) = self.resting.take() {
            *self.work.place.lock() = Some(resting.take_place_at_once());
        }
    }
}

fn audit_answers(
    related: Option<&Related>,
    asked: &[&ClientQuestion],
    answers: &[Result<RawBuf, Unanswered>],
) {
    let Some(related) = related else { return };
    for (question, answer) in asked.iter().zip(answers) {
        let text = answer.as_ref().map_or("", |answer| answer.as_raw().text());
        let (outcome, consent) = outcome_of(answer);
        related.exchanged(Event::Answer, question.method, Some((outcome, &consent)), text);
    }
}

/// The outcome of an answer in the audit record, and the user's choice.
fn outcome_of(answer: &Result<RawBuf, Unanswered>) -> (Outcome, Cow<'_, str>) {
    let (outcome, word) = match answer {
        Ok(answer) => {
            let members = Object::read(answer.as_raw(), "answer", &["action"]);
            let action = members.ok().and_then(|members| members.get("action")?.string());
            return (Outcome::Success, action.unwrap_or(Cow::Borrowed("answered")));
        }
        Err(Unanswered::TimedOut(_)) => (Outcome::Timeout, "no answer"),
        Err(Unanswered::Refused(_)) => (Outcome::Error, "error"),
        Err(Unanswered::Cancelled | Unanswered::NoAnswers) => (Outcome::Cancelled, "no answer"),
        Err(_) => (Outcome::Error, "not asked"),
    };
    (outcome, Cow::Borrowed(word))
}

const NOT_OFFERED: Unanswered = Unanswered::NotOffered("it does not say that it can be");
