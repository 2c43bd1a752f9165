//! Task questions: a task's process keeps running while its questions are open. Every client that gets the task sees them, and
//! any later request can answer them, one by one.

use super::questions::Unanswered;
use mcp_bash_tasks::Question;
use mcp_bash_wire::RawBuf;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, timeout_at};

/// A question that is asked through a task.
pub(crate) struct AskedOfTask {
    /// The name that the author gave it, or the default name.
    pub(crate) name: Box<str>,
    pub(crate) method: &'static str,
    /// The text of a JSON object.
    pub(crate) params: String,
}

/// The open questions of one task.
pub(crate) struct TaskQuestions {
    state: Mutex<State>,
    /// Notified when questions are asked, and when their round ends.
    changed: Arc<Notify>,
}

#[derive(Default)]
struct State {
    open: Vec<(Question, oneshot::Sender<Result<RawBuf, Unanswered>>)>,
    /// Every key used so far: keys are unique within a task.
    used: HashSet<String>,
}

impl TaskQuestions {
    /// Starts without questions. `used` are the keys of an earlier run of the task.
    pub(crate) fn new(used: &[String], changed: Arc<Notify>) -> Self {
        let state = State { used: used.iter().cloned().collect(), ..State::default() };
        Self { state: Mutex::new(state), changed }
    }

    /// Asks all questions in one round, and waits for their answers.
    pub(crate) async fn ask(
        &self,
        questions: Vec<AskedOfTask>,
        timeout: Duration,
    ) -> Vec<Result<RawBuf, Unanswered>> {
        let deadline = Instant::now() + timeout;
        let (mut receivers, mut asked) = (Vec::new(), Asked { questions: self, keys: Vec::new() });
        {
            let mut state = self.state.lock();
            for AskedOfTask { name, method, params } in questions {
                let (sender, receiver) = oneshot::channel();
                let key = state.unused_key(&name);
                asked.keys.push(key.clone());
                state.open.push((Question { key, method: method.to_owned(), params }, sender));
                receivers.push(receiver);
            }
        }
        self.changed.notify_one();
        let mut answers = Vec::new();
        for receiver in receivers {
            answers.push(match timeout_at(deadline, receiver).await {
                Ok(Ok(answer)) => answer,
                Ok(Err(_)) => Err(Unanswered::Cancelled),
                Err(_) => Err(Unanswered::TimedOut(timeout)),
            });
        }
        drop(asked);
        answers
    }

    /// Delivers the answer to a question. Answers to unknown keys are ignored.
    pub(crate) fn answer(&self, key: &str, answer: Result<RawBuf, Unanswered>) {
        let mut state = self.state.lock();
        if let Some(place) = state.open.iter().position(|(question, _)| question.key == key) {
            let (_, sender) = state.open.remove(place);
            let _ = sender.send(answer);
        }
    }

    /// The open questions, and every key used so far.
    pub(crate) fn open(&self) -> (Vec<Question>, Vec<String>) {
        let state = self.state.lock();
        let open = state.open.iter().map(|(question, _)| question.clone()).collect();
        let mut used: Vec<String> = state.used.iter().cloned().collect();
        used.sort();
        (open, used)
    }
}

impl State {
    fn unused_key(&mut self, name: &str) -> String {
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        let key = names.find(|key| !self.used.contains(key)).unwrap_or_default();
        self.used.insert(key.clone());
        key
    }
}

/// The questions of a round. They are withdrawn when the round ends or is cancelled.
struct Asked<'a> {
    questions: &'a TaskQuestions,
    keys: Vec<String>,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let mut state = self.questions.state.lock();
        state.open.retain(|(question, _)| !self.keys.contains(&question.key));
        drop(state);
        self.questions.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_bash_wire::{Limits, Scanner};

    fn question(name: &str) -> AskedOfTask {
        AskedOfTask { name: name.into(), method: "elicitation/create", params: "{}".to_owned() }
    }

    fn text(json: &str) -> RawBuf {
        Scanner::new(json, Limits::NONE).whole_value().unwrap().into()
    }

    fn keys(questions: &TaskQuestions) -> Vec<String> {
        questions.open().0.into_iter().map(|question| question.key).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn answers_come_one_at_a_time_and_no_key_is_used_twice() {
        let questions = TaskQuestions::new(&["a".to_owned()], Arc::default());
        let asking = questions.ask(vec![question("a"), question("b")], Duration::from_secs(60));
        let answering = async {
            assert_eq!(keys(&questions), ["a-2", "b"]);
            questions.answer("b", Ok(text("{\"n\":2}")));
            questions.answer("b", Ok(text("{\"n\":3}")));
            questions.answer("unknown", Ok(text("{}")));
            assert_eq!(keys(&questions), ["a-2"]);
            questions.answer("a-2", Ok(text("{\"n\":1}")));
        };
        let (answers, ()) = tokio::join!(asking, answering);
        let answers: Vec<_> =
            answers.into_iter().map(|answer| answer.unwrap().as_raw().text().to_owned()).collect();
        assert_eq!(answers, ["{\"n\":1}", "{\"n\":2}"]);
        let again = questions.ask(vec![question("a")], Duration::from_secs(1));
        let (answers, open) = tokio::join!(again, async { keys(&questions) });
        assert_eq!(open, ["a-3"]);
        assert_eq!(answers, [Err(Unanswered::TimedOut(Duration::from_secs(1)))]);
        assert_eq!(keys(&questions), [""; 0], "withdrawn");
    }
}
