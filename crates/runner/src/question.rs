//! Question of a process, and its answer.

use mcp_bash_budget::{Charge, NoRoom};
use tokio::sync::oneshot;

/// A question of a process. When it is dropped without an answer, the connection to the asker is closed.
#[derive(Debug)]
pub struct Question {
    /// The text, which the runner does not interpret; an error if the budget had no room for it.
    pub text: Result<Vec<u8>, NoRoom>,
    pub asked_through: AskedThrough,
    /// The charge for the text, for as long as the question is open.
    pub(crate) held: Option<Charge>,
    answer: oneshot::Sender<AnswerLine>,
}

/// A line that answers a question, and the charge for it until it is written to the asker.
pub type AnswerLine = (Vec<u8>, Option<Charge>);

/// How a question was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedThrough {
    Socket,
    File,
}

impl Question {
    /// A question, and the channel on which its answer arrives.
    pub fn new(
        text: Result<Vec<u8>, NoRoom>,
        asked_through: AskedThrough,
        held: Option<Charge>,
    ) -> (Self, oneshot::Receiver<AnswerLine>) {
        let (answer, awaited) = oneshot::channel();
        (Self { text, asked_through, held, answer }, awaited)
    }

    /// Answers with one line.
    pub fn answer(mut self, line: Vec<u8>) {
        if let Some(held) = &mut self.held {
            held.set(line.len());
        }
        // It fails when the asker has closed its connection.
        let _ = self.answer.send((line, self.held));
    }

    /// Completes when the asker no longer waits.
    pub async fn withdrawn(&mut self) {
        self.answer.closed().await;
    }
}
