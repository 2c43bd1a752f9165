//! File questions: a script moves a file into the folder of its call, or writes and closes it there.

use super::MAX_QUESTION_BYTES;
use crate::question::{AskedThrough, Question};
use mcp_bash_budget::Budget;
use mcp_bash_files::Replacement;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc::Sender;

/// The names of a question, of its answer, and of the answer while it is being written.
const REQUEST: &str = "elicit-request";
const RESPONSE: &str = "elicit-response";
const DRAFT: &str = "elicit-response.draft";

/// Watches the folders of all calls of a runner for questions.
#[derive(Debug)]
pub(crate) struct FileQuestions {
    calls: Mutex<HashMap<Key, Asking>>,
    watch: system::Watch,
}

/// Identifies the folder of an event.
type Key = system::Key;

/// A call that may ask.
#[derive(Debug, Clone)]
struct Asking {
    folder: PathBuf,
    asked: Sender<Question>,
    budget: Arc<Budget>,
}

impl FileQuestions {
    /// Must be called inside the runtime.
    pub(crate) fn start() -> io::Result<Arc<Self>> {
        let all = Arc::new(Self { calls: Mutex::default(), watch: system::Watch::new()? });
        system::follow(&all);
        Ok(all)
    }

    /// Lets a call ask through files in its folder, as long as the returned value lives.
    pub(super) fn of_call(
        self: &Arc<Self>,
        folder: &Path,
        asked: Sender<Question>,
        budget: &Arc<Budget>,
    ) -> io::Result<FilesOfCall> {
        let key = self.watch.add(folder)?;
        let asking = Asking { folder: folder.to_owned(), asked, budget: Arc::clone(budget) };
        self.calls.lock().insert(key.clone(), asking);
        Ok(FilesOfCall {
            all: Arc::clone(self),
            key,
            request: folder.join(REQUEST),
            response: folder.join(RESPONSE),
        })
    }

    /// Takes the question of the call with this folder, if there is one.
    fn take(&self, key: &Key) -> Option<()> {
        let Asking { folder, asked, budget } = self.calls.lock().get(key).cloned()?;
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
        self.all.calls.lock().remove(&self.key);
    }
}

#[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
mod system {
    use super::{FileQuestions, REQUEST};
    use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
    use std::io;
    use std::os::fd::OwnedFd;
    use std::path::Path;
    use std::sync::Arc;
    use tokio::io::unix::AsyncFd;

    /// The watch descriptor of a folder.
    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    pub(super) struct Key(i32);

    /// The inotify instance that watches the folders of calls.
    #[derive(Debug)]
    pub(super) struct Watch(AsyncFd<OwnedFd>);

    impl Watch {
        pub(super) fn new() -> io::Result<Self> {
            let events = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
            #[expect(
                deprecated,
                reason = "its successor is unsafe, for types that do not own their descriptor as ours does"
            )]
            Ok(Self(AsyncFd::with_interest(events, tokio::io::Interest::READABLE)?))
        }

        /// Watches a folder until it is removed. A folder that is watched already keeps its key.
        pub(super) fn add(&self, folder: &Path) -> io::Result<Key> {
            let events = WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
            Ok(Key(add_watch(self.0.get_ref(), folder, events)?))
        }
    }

    pub(super) fn follow(all: &Arc<FileQuestions>) {
        let all = Arc::clone(all);
        tokio::spawn(async move {
            while let Ok(mut ready) = all.watch.0.readable().await {
                let asked = asked(all.watch.0.get_ref());
                ready.clear_ready();
                for key in asked {
                    all.take(&key);
                }
            }
        });
    }

    /// The folders for which the events report a question.
    fn asked(events: &OwnedFd) -> Vec<Key> {
        let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(events, &mut buffer);
        let mut asked = Vec::new();
        while let Ok(event) = reader.next() {
            let is_question = event.file_name().is_some_and(|name| name.to_bytes() == REQUEST.as_bytes());
            asked.extend(is_question.then(|| Key(event.wd())));
        }
        asked
    }
}

/// Other systems: the folders are polled.
#[cfg(any(not(target_os = "linux"), mcp_bash_portable))]
mod system {
    use super::FileQuestions;
    use std::io;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    pub(super) type Key = PathBuf;

    #[derive(Debug)]
    pub(super) struct Watch;

    impl Watch {
        #[expect(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
        pub(super) fn new() -> io::Result<Self> {
            Ok(Self)
        }

        #[expect(
            clippy::unnecessary_wraps,
            clippy::unused_self,
            reason = "on Linux it can fail, and needs the watch"
        )]
        pub(super) fn add(&self, folder: &Path) -> io::Result<Key> {
            Ok(folder.to_owned())
        }
    }

    pub(super) fn follow(all: &Arc<FileQuestions>) {
        let all = Arc::downgrade(all);
        tokio::spawn(async move {
            while let Some(all) = all.upgrade() {
                let folders: Vec<Key> = all.calls.lock().keys().cloned().collect();
                for folder in folders {
                    all.take(&folder);
                }
                drop(all);
                tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            }
        });
    }
}
