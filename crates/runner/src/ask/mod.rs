//! Where running processes ask questions.
//!
//! Each call has a socket of its own: whoever connects writes two lines, the key of the call and the question, and reads
//! one, the answer. Any descendant of the call can do so, in any language, as often as it likes and several at once. A
//! process that hangs up has withdrawn its question. Beside it there is an older way: a file that a script moves into
//! place is a question, and the answer appears as another file.

mod files;
mod socket;

use crate::random;
pub(crate) use files::FileQuestions;
use mcp_bash_budget::{Budget, Charge, NoRoom};
pub(crate) use socket::AskSocket;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// The longest question, in bytes.
const LONGEST: usize = 4 * 1024 * 1024;

/// How many questions of one call are read or wait for their answers at once. Others wait in the queue of its socket.
pub(crate) const MOST_OPEN: usize = 4;

/// What a process wants to know. Dropped without an answer, its asker is told that there is none.
#[derive(Debug)]
pub struct Question {
    /// What it wrote, which is its own affair; or why that could not be taken.
    pub text: Result<Vec<u8>, NoRoom>,
    pub way: Way,
    /// What the text costs, for as long as the question is open.
    pub(crate) held: Option<Charge>,
    answer: oneshot::Sender<Answer>,
}

/// A line, and what it costs until its asker has it.
pub(crate) type Answer = (Vec<u8>, Option<Charge>);

/// How a question was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Socket,
    File,
}

impl Question {
    pub(crate) fn new(
        text: Result<Vec<u8>, NoRoom>,
        way: Way,
        held: Option<Charge>,
    ) -> (Self, oneshot::Receiver<Answer>) {
        let (answer, awaited) = oneshot::channel();
        (Self { text, way, held, answer }, awaited)
    }

    /// Answers with one line.
    pub fn answer(mut self, line: Vec<u8>) {
        if let Some(held) = &mut self.held {
            held.set(line.len());
        }
        // One that has hung up does not want to know.
        let _ = self.answer.send((line, self.held));
    }

    /// Completes when the asker does not wait any more.
    pub async fn withdrawn(&mut self) {
        self.answer.closed().await;
    }
}

/// The questions of one call, as they arrive.
#[derive(Debug)]
pub(crate) struct CallQuestions {
    key: Arc<str>,
    socket: AsyncFd<Arc<AskSocket>>,
    /// Those who have connected, and are being heard or wait for an answer.
    connected: JoinSet<()>,
    asked: Sender<Question>,
    arriving: Receiver<Question>,
    files: files::FilesOfCall,
    /// What questions and answers are charged to.
    budget: Arc<Budget>,
}

impl CallQuestions {
    /// Lets the call that has this socket and this folder ask. What it asks and is answered is charged to `budget`. To be called within
    /// the runtime.
    pub(crate) fn open(
        socket: Arc<AskSocket>,
        folder: &Path,
        files: &Arc<FileQuestions>,
        budget: &Arc<Budget>,
    ) -> io::Result<Self> {
        #[expect(
            deprecated,
            reason = "its successor is unsafe, for types that do not own their descriptor as ours does"
        )]
        let socket = AsyncFd::with_interest(socket, tokio::io::Interest::READABLE)?;
        let (asked, arriving) = channel(MOST_OPEN);
        let files = files.of_call(folder, asked.clone(), budget)?;
        Ok(Self {
            key: random::hex::<16>()?.into(),
            socket,
            connected: JoinSet::new(),
            asked,
            arriving,
            files,
            budget: Arc::clone(budget),
        })
    }

    /// The next question. Safe to drop half-way.
    pub(crate) async fn next(&mut self) -> Question {
        loop {
            tokio::select! {
                Some(question) = self.arriving.recv() => return question,
                Ok(mut ready) = self.socket.readable(), if self.connected.len() < MOST_OPEN => {
                    match ready.get_inner().accept() {
                        Some(stream) => {
                            let held = Charge::nothing(&self.budget);
                            let (key, asked) = (Arc::clone(&self.key), self.asked.clone());
                            self.connected.spawn(socket::hear(stream, key, asked, held));
                        }
                        None => ready.clear_ready(),
                    }
                }
                Some(_) = self.connected.join_next() => {}
            }
        }
    }

    /// What a process has to know to ask: the socket, the key, and the two files.
    pub(crate) fn directions(&self) -> [&Path; 4] {
        [self.socket.get_ref().path(), Path::new(&*self.key), self.files.request(), self.files.response()]
    }
}
