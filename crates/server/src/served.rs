//! What is served: the project as it was last read, and how it is read again.

use crate::listing::Snapshot;
use crate::log::Log;
use crate::subscriber::ListChange;
use arc_swap::ArcSwap;
use mcp_bash_project::{Catalog, Changes, Diagnostic, Paths, Reading, RegistryError, Surroundings};
use mcp_bash_wire::LogLevel;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

pub struct Served {
    snapshot: ArcSwap<Snapshot>,
    reading: Reading,
    log: Arc<Log>,
    /// Whether changes were noticed that are not read yet.
    has_news: watch::Sender<bool>,
}

/// How long whoever needs what has changed waits until it is read.
const PATIENCE: Duration = Duration::from_secs(2);

impl Served {
    /// `catalog` was read as `reading` says.
    pub(crate) fn new(catalog: Catalog, reading: Reading, log: Arc<Log>) -> Self {
        report(&log, &catalog);
        Self {
            snapshot: ArcSwap::from_pointee(Snapshot::new(catalog)),
            reading,
            log,
            has_news: watch::Sender::new(false),
        }
    }

    /// What is served now. Whoever holds it goes on with it, whatever is served next.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// Where the project is.
    pub fn paths(&self) -> Paths {
        self.snapshot().catalog.paths.clone()
    }

    /// Looks at what is served now.
    pub fn look<T>(&self, look: impl FnOnce(&Catalog) -> T) -> T {
        look(&self.snapshot().catalog)
    }

    /// What the checks find in what is served now; nothing where it has more than `most` tools.
    pub fn examine(&self, surroundings: Surroundings<'_>, most: usize) -> Vec<Diagnostic> {
        let snapshot = self.snapshot();
        if snapshot.catalog.tools.len() > most {
            return Vec::new();
        }
        mcp_bash_project::examine(&snapshot.catalog, surroundings)
    }

    /// Notes that the project has changed and will be read again.
    pub fn note_change(&self) {
        self.has_news.send_replace(true);
    }

    /// Whether changes were noticed that are not read yet.
    pub(crate) fn is_about_to_change(&self) -> bool {
        *self.has_news.borrow()
    }

    /// Waits until the changes that were noticed are read, but not for long.
    pub(crate) async fn settled(&self) {
        let mut has_news = self.has_news.subscribe();
        let read = has_news.wait_for(|has_news| !has_news);
        // Either way what is served then is what there is.
        let _ = tokio::time::timeout(PATIENCE, read).await;
    }

    /// Reads the project again, as far as it changed, and tells the clients of each kind that has. A project that cannot be
    /// served any more does not take the place of one that can.
    pub fn reload(&self, changes: &Changes) {
        self.read_again(changes);
        self.has_news.send_replace(false);
    }

    fn read_again(&self, changes: &Changes) {
        let before = self.snapshot();
        let catalog = before.catalog.read_again(&self.reading, changes);
        if catalog.failure.is_some() && before.catalog.failure.is_none() {
            report(&self.log, &catalog);
            self.log.event(
                LogLevel::Error,
                "mcp.project",
                "the last good state of the project is served",
                &json!({}),
            );
            return;
        }
        let news = [
            (!catalog.tells_the_same_tools_as(&before.catalog), ListChange::TOOLS),
            (!catalog.tells_the_same_resources_as(&before.catalog), ListChange::RESOURCES),
            (!catalog.tells_the_same_prompts_as(&before.catalog), ListChange::PROMPTS),
        ];
        let news: Vec<_> = news.into_iter().filter_map(|(is_news, list)| is_news.then_some(list)).collect();
        if catalog.diagnostics != before.catalog.diagnostics {
            report(&self.log, &catalog);
        }
        self.snapshot.store(Arc::new(Snapshot::new(catalog)));
        if news.is_empty() {
            return;
        }
        let catalog = &self.snapshot().catalog;
        let details = json!({
            "tools": catalog.tools.len(),
            "resources": catalog.resources.len(),
            "prompts": catalog.prompts.len(),
        });
        self.store_registry();
        for list in news {
            let message = format!("the {} have changed", list.kind);
            self.log.event(LogLevel::Info, "mcp.project", &message, &details);
            self.log.audience().announce(list);
        }
    }

    /// Writes the registry. A project that cannot be written to is served all the same.
    pub fn store_registry(&self) {
        if let Err(error) = self.snapshot().catalog.store(&self.reading) {
            let level = if matches!(error, RegistryError::TooLarge { .. }) {
                LogLevel::Error
            } else {
                LogLevel::Debug
            };
            self.log.event(level, "mcp.registry", &error.to_string(), &json!({}));
        }
    }
}

/// Logs what is wrong with a project.
fn report(log: &Log, catalog: &Catalog) {
    for diagnostic in &catalog.diagnostics {
        log.event(LogLevel::Warning, "mcp.project", &diagnostic.to_string(), &json!({}));
    }
    if catalog.tools.len() > MANY {
        let details = json!({ "tools": catalog.tools.len() });
        log.event(
            LogLevel::Warning,
            "mcp.project",
            "so many tools are better registered in register.json",
            &details,
        );
    }
    let details = json!({ "project": catalog.paths.root, "tools": catalog.tools.len(), "prompts": catalog.prompts.len() });
    log.event(LogLevel::Debug, "mcp.project", "project read", &details);
}

/// How many tools are worth a warning.
const MANY: usize = 500;
