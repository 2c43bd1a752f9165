//! The folders that a client lets scripts work in: asked for when it is ready, and again when it says they changed.

use crate::questions::Questions;
use crate::server::Server;
use mcp_bash_project::roots;
use mcp_bash_scripts::ScriptRoots;
use mcp_bash_wire::LogLevel;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

/// How long changes may follow each other before we ask: a client that opens a workspace tells of each folder.
const QUIET: Duration = Duration::from_millis(100);

/// The longest answer that is read, in bytes. Every script is given what it says.
const LONGEST: usize = 1024 * 1024;

/// The roots of one client.
pub(crate) struct ClientRoots {
    known: watch::Sender<Known>,
    /// Answers to older questions than this are not listened to.
    generation: AtomicU64,
}

#[derive(Clone, Default)]
enum Known {
    /// The client has not been asked, or has not answered.
    #[default]
    Awaited,
    /// It does not say.
    Nothing,
    These(Arc<ScriptRoots>),
}

impl ClientRoots {
    pub(crate) fn new() -> Self {
        Self { known: watch::Sender::default(), generation: AtomicU64::new(0) }
    }

    /// Asks the client. What was known stays until it answers.
    pub(crate) fn refresh(
        self: &Arc<Self>,
        server: &Arc<Server>,
        questions: &Arc<Questions>,
        is_first: bool,
    ) {
        let generation = self.generation.fetch_add(1, Ordering::AcqRel) + 1;
        let (roots, server, questions) = (Arc::clone(self), Arc::clone(server), Arc::clone(questions));
        let runtime = server.runtime().clone();
        runtime.spawn(async move {
            if !is_first {
                sleep(QUIET).await;
            }
            if roots.generation.load(Ordering::Acquire) == generation {
                roots.ask(&server, &questions, generation).await;
            }
        });
    }

    async fn ask(&self, server: &Server, questions: &Questions, generation: u64) {
        let answer = questions.ask("roots/list", "{}", server.settings().roots_timeout).await;
        let (listed, problems) = match answer {
            Ok(result) if result.as_raw().text().len() > LONGEST => {
                (None, vec![format!("the client's roots are ignored: they have more than {LONGEST} bytes")])
            }
            // Each of them is looked at on a disk, which may take its time.
            Ok(result) => {
                spawn_blocking(move || roots::of_client(result.as_raw().text())).await.unwrap_or_default()
            }
            Err(unanswered) => (None, vec![unanswered.to_string()]),
        };
        for problem in problems {
            server.log().event(LogLevel::Debug, "mcp.roots", &problem, &json!({}));
        }
        if self.generation.load(Ordering::Acquire) != generation {
            return;
        }
        self.known.send_modify(|known| match (listed, &*known) {
            (Some(listed), _) => *known = Known::These(Arc::new(ScriptRoots::new(&listed))),
            (None, Known::Awaited) => *known = Known::Nothing,
            // What it said before is better than nothing.
            (None, _) => {}
        });
    }

    /// What the client says, as soon as it has said it. Nothing where it does not.
    pub(crate) async fn get(&self) -> Option<Arc<ScriptRoots>> {
        let mut known = self.known.subscribe();
        let said = known.wait_for(|known| !matches!(known, Known::Awaited));
        // A client that was never ready is never asked; then it is not waited for either.
        match timeout(Duration::from_secs(10), said).await {
            Ok(Ok(known)) => match &*known {
                Known::These(roots) => Some(Arc::clone(roots)),
                Known::Nothing | Known::Awaited => None,
            },
            _ => None,
        }
    }
}
