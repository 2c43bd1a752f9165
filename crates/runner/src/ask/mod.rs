//! Questions of running processes.
//!
//! Each call has a socket of its own. A process connects, writes two lines, the key of the call and the question, and
//! reads one line, the answer. Any descendant of the call can do so, in any language, as often as it likes and several
//! at once. A process that closes its connection withdraws its question. The older protocol uses files: a file that a
//! script moves into the folder of its call is a question, and the answer appears as another file.

mod files;
mod socket;

use crate::child::Questions;
use crate::question::Question;
use crate::random;
pub(crate) use files::FileQuestions;
use mcp_bash_budget::{Budget, Charge};
pub(crate) use socket::AskSocket;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;

/// The longest question, in bytes.
const MAX_QUESTION_BYTES: usize = 4 * 1024 * 1024;

/// How many questions of one call are read or wait for their answers at once. Others wait in the queue of its socket.
pub(crate) const MAX_OPEN: usize = 4;

/// The questions of one call, as they arrive.
#[derive(Debug)]
pub(crate) struct CallQuestions {
    key: Arc<str>,
    socket: AsyncFd<Arc<AskSocket>>,
    /// A task for each connection whose question is being read or answered.
    connected: JoinSet<()>,
    asked: Sender<Question>,
    arriving: Receiver<Question>,
    files: files::FilesOfCall,
    /// Questions and answers are charged to it.
    budget: Arc<Budget>,
}

impl CallQuestions {
    /// Opens the questions of the call with this socket and this folder. Questions and answers are charged to `budget`.
    /// Must be called inside the runtime.
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
        let (asked, arriving) = channel(MAX_OPEN);
        let files = files.of_call(folder, asked.clone(), budget);
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

    /// The values of the environment variables that tell a process how to ask: the socket, the key, and the two files.
    pub(crate) fn variable_values(&self) -> [&Path; 4] {
        [self.socket.get_ref().path(), Path::new(&*self.key), self.files.request(), self.files.response()]
    }
}

impl Questions for CallQuestions {
    async fn next(&mut self) -> Question {
        loop {
            tokio::select! {
                Some(question) = self.arriving.recv() => return question,
                Ok(mut ready) = self.socket.readable(), if self.connected.len() < MAX_OPEN => {
                    match ready.get_inner().accept() {
                        Some(stream) => {
                            let held = Charge::nothing(&self.budget);
                            let (key, asked) = (Arc::clone(&self.key), self.asked.clone());
                            self.connected.spawn(socket::serve_asker(stream, key, asked, held));
                        }
                        None => ready.clear_ready(),
                    }
                }
                Some(_) = self.connected.join_next() => {}
            }
        }
    }
}
