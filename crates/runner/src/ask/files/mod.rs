//! File questions: a script moves a file into the folder of its call, or writes and closes it there. The folders are watched
//! where the system can, and polled where it cannot, or has no watches left for this user.

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
mod elsewhere;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod inotify;

#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
use elsewhere::Events;
#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
use inotify::Events;

use super::MAX_QUESTION_BYTES;
use crate::question::{AskedThrough, Question};
use mcp_bash_budget::Budget;
use mcp_bash_files::Replacement;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Sender;
use tokio::time::sleep;

/// The names of a question, of its answer, and of the answer while it is being written.
const REQUEST: &str = "elicit-request";
const RESPONSE: &str = "elicit-response";
const DRAFT: &str = "elicit-response.draft";

/// How often the folders are polled that are not watched.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Finds the questions in the folders of all calls of a runner.
#[derive(Debug)]
pub(crate) struct FileQuestions {
    calls: Mutex<Calls>,
    /// `None` if no folder can be watched.
    events: Option<Events>,
}

#[derive(Debug, Default)]
struct Calls {
    asking: HashMap<Key, Asking>,
    /// Whether a task polls.
    is_polling: bool,
}

/// Identifies the folder of a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    /// Its watch descriptor.
    Watched(i32),
    Polled(PathBuf),
}

/// A call that may ask.
#[derive(Debug, Clone)]
struct Asking {
    folder: PathBuf,
    asked: Sender<Question>,
    budget: Arc<Budget>,
}

impl FileQuestions {
    /// Must be called inside the runtime.
    pub(crate) fn start() -> Arc<Self> {
        let all = Arc::new(Self { calls: Mutex::default(), events: Events::new() });
        if all.events.is_some() {
            tokio::spawn(Arc::clone(&all).follow());
        }
        all
    }

    /// Lets a call ask through files in its folder, as long as the returned value lives. Must be called inside the runtime.
    pub(super) fn of_call(
        self: &Arc<Self>,
        folder: &Path,
        asked: Sender<Question>,
        budget: &Arc<Budget>,
    ) -> FilesOfCall {
        let descriptor = self.events.as_ref().and_then(|events| events.watch(folder));
        let key = descriptor.map_or_else(|| Key::Polled(folder.to_owned()), Key::Watched);
        let asking = Asking { folder: folder.to_owned(), asked, budget: Arc::clone(budget) };
        let mut calls = self.calls.lock();
        if matches!(key, Key::Polled(_)) && !calls.is_polling {
            calls.is_polling = true;
            tokio::spawn(Arc::clone(self).poll());
        }
        calls.asking.insert(key.clone(), asking);
        drop(calls);
        FilesOfCall {
            all: Arc::clone(self),
            key,
            request: folder.join(REQUEST),
            response: folder.join(RESPONSE),
        }
    }

    /// Takes the questions in watched folders as they come.
    async fn follow(self: Arc<Self>) {
        let Some(events) = &self.events else { return };
        while let Ok(asked) = events.next(REQUEST).await {
            for descriptor in asked {
                self.take(&Key::Watched(descriptor));
            }
        }
    }

    /// Takes the questions in the other folders, while there are such calls.
    async fn poll(self: Arc<Self>) {
        loop {
            let polled = self.polled();
            if polled.is_empty() {
                return;
            }
            for key in &polled {
                self.take(key);
            }
            sleep(POLL_INTERVAL).await;
        }
    }

    fn polled(&self) -> Vec<Key> {
        let mut calls = self.calls.lock();
        let polled = calls.asking.keys().filter(|key| matches!(key, Key::Polled(_)));
        let polled: Vec<Key> = polled.cloned().collect();
        calls.is_polling = !polled.is_empty();
        polled
    }

    /// Takes the question of the call with this folder, if there is one.
    fn take(&self, key: &Key) -> Option<()> {
        let Asking { folder, asked, budget } = self.calls.lock().asking.get(key).cloned()?;
        let request = folder.join(REQUEST);
        let text =
            mcp_bash_files::read(&request, MAX_QUESTION_BYTES as u64).ok().filter(|text| !text.is_empty())?;
        let _ = std::fs::remove_file(&request);
        let (text, held) = match budget.charge(text.len()) {
            Ok(held) => (Ok(text), Some(held)),
            Err(why) => (Err(why), None),
        };
        let (question, awaited) = Question::new(text, AskedThrough::File, held);
        // A call with too many open questions gets no answer to this one.
        asked.try_send(question).ok()?;
        tokio::spawn(async move {
            if let Ok((answer, _held)) = awaited.await {
                let _ = put(&folder, &answer);
            }
        });
        Some(())
    }
}

/// Writes the answer to a new file and renames it, so that no script reads half of it, and no file that a script has
/// put there is opened.
fn put(folder: &Path, answer: &[u8]) -> io::Result<()> {
    let mut draft = Replacement::create_again(folder.join(DRAFT), folder.join(RESPONSE), 0o600)?;
    draft.write(answer)?;
    draft.publish()
}

/// The files of one call.
#[derive(Debug)]
pub(super) struct FilesOfCall {
    all: Arc<FileQuestions>,
    key: Key,
    request: PathBuf,
    response: PathBuf,
}

impl FilesOfCall {
    pub(super) fn request(&self) -> &Path {
        &self.request
    }

    pub(super) fn response(&self) -> &Path {
        &self.response
    }
}

impl Drop for FilesOfCall {
    fn drop(&mut self) {
        self.all.calls.lock().asking.remove(&self.key);
    }
}
