//! Where running processes ask questions.
//!
//! One socket for all calls: whoever connects writes two lines, the key of its call and the question, and reads one, the
//! answer. Any descendant of a call can do so, in any language, as often as it likes and all at once. A process that
//! hangs up has withdrawn its question. Beside it there is an older way: a file that a script moves into place is a
//! question, and the answer appears as another file.

mod files;
mod socket;

use crate::{StateDir, random};
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

/// The longest question, in bytes.
const LONGEST: usize = 4 * 1024 * 1024;

/// What a process wants to know. Dropped without an answer, its asker is told that there is none.
#[derive(Debug)]
pub struct Question {
    /// What it wrote, which is its own affair.
    pub text: Vec<u8>,
    pub way: Way,
    answer: oneshot::Sender<Vec<u8>>,
}

/// How a question was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Socket,
    File,
}

impl Question {
    pub(crate) fn new(text: Vec<u8>, way: Way) -> (Self, oneshot::Receiver<Vec<u8>>) {
        let (answer, awaited) = oneshot::channel();
        (Self { text, way, answer }, awaited)
    }

    /// Answers with one line.
    pub fn answer(self, line: Vec<u8>) {
        // One that has hung up does not want to know.
        let _ = self.answer.send(line);
    }

    /// Completes when the asker does not wait any more.
    pub async fn withdrawn(&mut self) {
        self.answer.closed().await;
    }
}

/// The desk of one runner, where the questions of all its calls arrive.
#[derive(Debug)]
pub(crate) struct Desk {
    socket: PathBuf,
    folder: PathBuf,
    calls: Mutex<HashMap<String, Asking>>,
}

#[derive(Debug, Clone)]
struct Asking {
    questions: UnboundedSender<Question>,
    response_file: PathBuf,
}

impl Desk {
    /// Opens the desk. To be called within the runtime.
    pub(crate) fn open(state_dir: &StateDir) -> io::Result<Arc<Self>> {
        let folder = state_dir.path()?;
        let socket = folder.join("ask.socket");
        let desk = Arc::new(Self { socket, folder, calls: Mutex::default() });
        socket::listen(&desk)?;
        files::watch(&desk)?;
        Ok(desk)
    }

    /// A place for the questions of one call.
    pub(crate) fn place(self: &Arc<Self>) -> io::Result<Place> {
        let key = random::hex::<16>()?;
        let (questions, arriving) = unbounded_channel();
        let request_file = self.folder.join(format!("{key}{}", files::SUFFIX));
        let response_file = self.folder.join(format!("{key}.response"));
        self.lock().insert(key.clone(), Asking { questions, response_file: response_file.clone() });
        Ok(Place { desk: Arc::clone(self), key, arriving, request_file, response_file })
    }

    fn find(&self, key: &str) -> Option<Asking> {
        self.lock().get(key).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Asking>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the questions of one call arrive. Its files vanish with this value.
#[derive(Debug)]
pub(crate) struct Place {
    desk: Arc<Desk>,
    key: String,
    arriving: UnboundedReceiver<Question>,
    request_file: PathBuf,
    response_file: PathBuf,
}

impl Place {
    /// The next question. Safe to drop half-way.
    pub(crate) async fn next(&mut self) -> Option<Question> {
        self.arriving.recv().await
    }

    /// What a process has to know to ask: the socket, its key, and the two files.
    pub(crate) fn directions(&self) -> [&Path; 4] {
        [&self.desk.socket, Path::new(&self.key), &self.request_file, &self.response_file]
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.desk.lock().remove(&self.key);
        for file in [&self.request_file, &self.response_file] {
            let _ = std::fs::remove_file(file);
        }
    }
}
