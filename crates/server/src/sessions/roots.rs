//! Client roots: the folders of the client in which scripts may work. The client is asked when it is initialized, and again
//! when it reports a change.

use super::server::Server;
use crate::logging::Subscriber;
use crate::replies::Stream;
use crate::requests::Questions;
use mcp_bash_project::roots::{self, Root};
use mcp_bash_runner::on_own_thread;
use mcp_bash_scripts::ScriptRoots;
use mcp_bash_wire::{LogLevel, RawBuf};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// How long to collect changes before asking: a client that opens a workspace reports each folder.
const QUIET: Duration = Duration::from_millis(100);

/// How long calls that need roots wait until the client is initialized.
const INITIALIZED_WITHIN: Duration = Duration::from_secs(10);

/// The longest answer that is accepted, in bytes. Every script receives its content.
const LONGEST: usize = 1024 * 1024;

/// The message about an invalid answer in the operator's log. Only the client itself receives the content.
const ROOT_PROBLEM: &str =
    "the client does not say which folders scripts may work in, or names one that cannot be used";

/// Reads the roots that a client named, and the problems with the rest. `None` if the answer is not a list of roots.
pub(crate) async fn read(answer: RawBuf) -> (Option<Vec<Root>>, Vec<String>) {
    if answer.as_raw().text().len() > LONGEST {
        return (None, vec![format!("the client's roots are ignored: they have more than {LONGEST} bytes")]);
    }
    // Each root is looked up on disk, which may be slow.
    on_own_thread(move || roots::of_client(answer.as_raw().text())).await.unwrap_or_default()
}

/// The roots that scripts may use. `None` if the client named none.
pub(crate) fn usable(listed: &[Root], is_wrong: bool) -> Option<ScriptRoots> {
    if listed.is_empty() && is_wrong {
        // The client named roots, and a mistake in them must not give scripts access to other folders.
        let why = "none of the folders that the client names can be used; no path is allowed";
        return Some(ScriptRoots::refused(why.to_owned()));
    }
    (!listed.is_empty()).then(|| ScriptRoots::new(listed))
}

/// The roots that a client without a session last named. Such a client never reports changes, so they expire.
#[derive(Default)]
pub(crate) struct RememberedRoots(Mutex<Option<(Instant, Arc<ScriptRoots>)>>);

impl RememberedRoots {
    /// How long the roots are valid.
    const MEMORY: Duration = Duration::from_secs(30);

    pub(crate) fn get(&self) -> Option<Arc<ScriptRoots>> {
        let known = self.0.lock();
        let (since, roots) = known.as_ref()?;
        (since.elapsed() < Self::MEMORY).then(|| Arc::clone(roots))
    }

    pub(crate) fn set(&self, roots: Arc<ScriptRoots>) {
        *self.0.lock() = Some((Instant::now(), roots));
    }
}

/// The roots of one client.
pub(crate) struct ClientRoots {
    questions: Arc<Questions>,
    /// The stream for questions that belong to no request, and for problems.
    stream: Arc<dyn Stream>,
    subscriber: Arc<Subscriber>,
    known: watch::Sender<Known>,
    /// Answers to older questions are ignored.
    generation: AtomicU64,
}

#[derive(Clone, Default)]
enum Known {
    /// The client has not been asked.
    #[default]
    Unasked,
    /// The client has been asked for the first time, and has not answered.
    Awaited,
    /// The client has no usable answer, or named no folder.
    Nothing,
    These(Arc<ScriptRoots>),
}

impl Known {
    fn these(&self) -> Option<Arc<ScriptRoots>> {
        match self {
            Self::These(roots) => Some(Arc::clone(roots)),
            Self::Nothing | Self::Unasked | Self::Awaited => None,
        }
    }
}

impl ClientRoots {
    pub(crate) fn new(
        questions: Arc<Questions>,
        stream: Arc<dyn Stream>,
        subscriber: Arc<Subscriber>,
    ) -> Self {
        let (known, generation) = (watch::Sender::default(), AtomicU64::new(0));
        Self { questions, stream, subscriber, known, generation }
    }

    /// Asks the client. The previous roots stay in use until it answers.
    pub(crate) fn refresh(self: &Arc<Self>, server: &Arc<Server>, is_first: bool) {
        let generation = self.generation.fetch_add(1, Ordering::AcqRel) + 1;
        self.known.send_if_modified(|known| {
            let is_new = matches!(known, Known::Unasked);
            if is_new {
                *known = Known::Awaited;
            }
            is_new
        });
        let (roots, server) = (Arc::clone(self), Arc::clone(server));
        let runtime = server.runtime().clone();
        runtime.spawn(async move {
            if !is_first {
                sleep(QUIET).await;
            }
            if roots.generation.load(Ordering::Acquire) == generation {
                roots.ask(&server, generation).await;
            }
        });
    }

    async fn ask(&self, server: &Server, generation: u64) {
        let patience = server.settings().roots_timeout;
        let answer = self.questions.ask(&*self.stream, "roots/list", "{}", patience).await;
        let (listed, problems) = match answer {
            Ok(result) => read(result).await,
            Err(unanswered) => (None, vec![unanswered.to_string()]),
        };
        let is_wrong = !problems.is_empty();
        for problem in problems {
            let client = Some(&*self.subscriber);
            server.log().client_problem(client, LogLevel::Debug, "mcp.roots", ROOT_PROBLEM, &problem);
        }
        if self.generation.load(Ordering::Acquire) != generation {
            return;
        }
        let said = listed.map(|listed| usable(&listed, is_wrong));
        self.known.send_modify(|known| match (said, &*known) {
            (Some(Some(roots)), _) => *known = Known::These(Arc::new(roots)),
            (Some(None), _) | (None, Known::Unasked | Known::Awaited) => *known = Known::Nothing,
            // The previous roots are better than none.
            (None, _) => {}
        });
    }

    /// Waits for the client's roots. `None` if it has none, or does not answer in time.
    pub(crate) async fn get(&self) -> Option<Arc<ScriptRoots>> {
        let mut known = self.known.subscribe();
        // A client that never says that it is initialized is never asked.
        let asked = known.wait_for(|known| !matches!(known, Known::Unasked));
        timeout(INITIALIZED_WITHIN, asked).await.ok()?.ok()?;
        // The question has the timeout that the operator sets.
        let answered = known.wait_for(|known| !matches!(known, Known::Awaited));
        answered.await.ok()?.these()
    }
}
