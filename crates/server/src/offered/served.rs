//! Served project: the snapshot of the project, and its reloads.

use super::listing::Snapshot;
use crate::logging::{ListChange, Log};
use arc_swap::ArcSwap;
use mcp_bash_project::{
    Catalog, Changes, Diagnostic, Paths, Pauses, Reading, RegistryError, STILL, Surroundings,
};
use mcp_bash_scripts::FileInProgress;
use mcp_bash_wire::LogLevel;
use parking_lot::Mutex;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

pub struct Served {
    snapshot: ArcSwap<Snapshot>,
    reading: Reading,
    log: Arc<Log>,
    /// Whether changes were detected that are not read yet.
    has_news: watch::Sender<bool>,
    /// Files that are being loaded: the snapshot lacks their entries, or has the previous ones.
    in_progress: watch::Receiver<Vec<FileInProgress>>,
    /// Files that were loaded, and whose entries are not served yet.
    answered: Mutex<Vec<PathBuf>>,
    /// Held during a reload: two concurrent reloads would undo each other.
    is_being_read: Mutex<()>,
    /// Start times of the slow files that were already reported to the operator.
    told_late: Mutex<Vec<Instant>>,
    /// Whether clients are notified of changes: a client has received a list, or everything that was missing at the start is
    /// served.
    is_known_to_clients: AtomicBool,
    /// Whether entries are served that the registry lacks.
    has_unsaved: AtomicBool,
    /// Whether the registry was written since the start.
    was_stored: AtomicBool,
    /// Held while the registry is written.
    is_being_saved: Mutex<()>,
    /// Whether the project is reloaded when it changes.
    is_followed: AtomicBool,
    /// Why changes of the project are not detected, if they should be.
    unwatched: Mutex<Option<String>>,
    shortage: Mutex<Option<Shortage>>,
    /// The path of the project as given at the start, if it is a link.
    link: OnceLock<PathBuf>,
}

/// The resource that the system lacked when the project was last read.
struct Shortage {
    what: String,
    pauses: Pauses,
}

impl Shortage {
    fn new(what: String) -> Self {
        Self { what, pauses: Pauses::new(Duration::from_millis(250), Duration::from_secs(4)) }
    }
}

/// The outcome of a reload.
struct Reread {
    /// The lists that changed.
    news: Vec<ListChange>,
    /// How long to wait before the next attempt.
    again: Option<Duration>,
}

/// How long a request waits for a reload of changed entries.
const TIMEOUT: Duration = Duration::from_secs(2);

impl Served {
    /// Serves `catalog`, which was read with `reading`, and lacks the entries of the files `in_progress`.
    pub(crate) fn new(
        catalog: Catalog,
        reading: Reading,
        in_progress: watch::Receiver<Vec<FileInProgress>>,
        log: Arc<Log>,
    ) -> Self {
        report(&log, &catalog, &[]);
        let is_complete = in_progress.borrow().is_empty();
        if let Some(what) = &catalog.shortage {
            report_shortage(&log, what, "what was found is served");
        }
        Self {
            shortage: Mutex::new(catalog.shortage.clone().map(Shortage::new)),
            is_followed: AtomicBool::new(false),
            unwatched: Mutex::default(),
            link: OnceLock::new(),
            snapshot: ArcSwap::from_pointee(Snapshot::new(catalog)),
            reading,
            log,
            has_news: watch::Sender::new(false),
            in_progress,
            answered: Mutex::default(),
            is_being_read: Mutex::default(),
            told_late: Mutex::default(),
            is_known_to_clients: AtomicBool::new(is_complete),
            has_unsaved: AtomicBool::new(false),
            was_stored: AtomicBool::new(false),
            is_being_saved: Mutex::default(),
        }
    }

    /// The current snapshot. It stays valid for its holder after a reload.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// The paths of the project.
    pub fn paths(&self) -> Paths {
        self.snapshot().catalog.paths.clone()
    }

    /// Calls `look` with the current catalog.
    pub fn look<T>(&self, look: impl FnOnce(&Catalog) -> T) -> T {
        look(&self.snapshot().catalog)
    }

    /// The findings of the checks in the current catalog; none if it has more than `most` tools.
    pub fn examine(&self, surroundings: Surroundings<'_>, most: usize) -> Vec<Diagnostic> {
        let snapshot = self.snapshot();
        if snapshot.catalog.tools.len() > most {
            return Vec::new();
        }
        mcp_bash_project::examine(&snapshot.catalog, surroundings)
    }

    /// Records that changes of the project are detected from now on, or why they are not.
    pub fn note_watching(&self, unwatched: Option<String>) {
        self.is_followed.store(true, Ordering::Relaxed);
        *self.unwatched.lock() = unwatched;
    }

    /// Records the path of the project as given at the start. If it is a link, its target may change.
    pub fn note_named_path(&self, path: &Path) {
        if path != self.snapshot().catalog.paths.root {
            let _ = self.link.set(path.to_owned());
        }
    }

    /// A message if the link points to another folder now.
    fn other_project(&self) -> Option<String> {
        let (link, root) = (self.link.get()?, self.paths().root);
        let there = link.canonicalize().ok().filter(|there| *there != root)?;
        let (link, there, root) = (link.display(), there.display(), root.display());
        Some(format!(
            "{link} leads to {there} now, and {root} is served; restart the server to serve the other"
        ))
    }

    /// Why the snapshot may be stale, if so.
    pub(crate) fn staleness(&self) -> Option<String> {
        if let Some(other) = self.other_project() {
            return Some(other);
        }
        if let Some(why) = &*self.unwatched.lock() {
            return Some(format!("changes of the project are not noticed: {why}"));
        }
        let short = self.shortage.lock();
        short.as_ref().map(|short| format!("the project cannot be read now: {}", short.what))
    }

    /// Records that the project has changed and will be reloaded.
    pub fn note_change(&self) {
        self.has_news.send_replace(true);
    }

    /// Whether a list has to wait for files that are being loaded. It waits for each of them no longer than `patience` after
    /// its start.
    pub(crate) fn is_awaited(&self, patience: Duration) -> bool {
        youngest(&self.in_progress.borrow()).is_some_and(|youngest| youngest.elapsed() < patience)
    }

    /// The files that are being loaded.
    pub fn files_in_progress(&self) -> Vec<FileInProgress> {
        self.in_progress.borrow().clone()
    }

    /// Waits for the files that are being loaded, for each no longer than `patience` after its start.
    pub(crate) async fn complete(&self, patience: Duration) {
        self.snapshot_with(patience, |_, in_progress| in_progress.is_empty()).await;
    }

    /// Logs once for each file that a list is sent without its entries.
    fn report_late(&self, late: &[FileInProgress]) {
        let mut told = self.told_late.lock();
        for late in late.iter().filter(|late| !told.contains(&late.since)) {
            let message = format!(
                "{} takes long to say what it has: lists are answered without it, and changed lists announced when it has; \
                 MCPBASH_LIST_WAIT_SECS lets them wait longer",
                late.file.display()
            );
            self.log.event(LogLevel::Warning, "mcp.project", &message, &json!({}));
        }
        *told = late.iter().map(|late| late.since).collect();
    }

    /// Records that a client gets a list: from now on clients are notified of changes.
    pub(crate) fn note_listing(&self) {
        // Set before the list is built, so that every later change is announced.
        self.is_known_to_clients.store(true, Ordering::SeqCst);
        let late = self.in_progress.borrow();
        if !late.is_empty() {
            self.report_late(&late);
        }
    }

    /// The snapshot, as soon as `has` accepts it. Otherwise waits for a reload of detected changes, and for files that are
    /// being loaded, until `patience` has passed since the last of them was started.
    pub(crate) async fn snapshot_with(
        &self,
        patience: Duration,
        has: impl Fn(&Snapshot, &[FileInProgress]) -> bool,
    ) -> Arc<Snapshot> {
        let snapshot = self.snapshot();
        if has(&snapshot, &self.in_progress.borrow()) {
            return snapshot;
        }
        let (mut in_progress, mut has_news) = (self.in_progress.clone(), self.has_news.subscribe());
        let noticed_until = Instant::now() + TIMEOUT;
        loop {
            let (asked, is_noticed) =
                (in_progress.borrow_and_update().clone(), *has_news.borrow_and_update());
            let snapshot = self.snapshot();
            let asked_until = youngest(&asked).map(|youngest| youngest + patience);
            let until = asked_until.max(is_noticed.then_some(noticed_until));
            let Some(until) = until.filter(|until| *until > Instant::now()) else { return snapshot };
            // During a reload, a changed file is no longer being loaded and not yet started again.
            if !is_noticed && has(&snapshot, &asked) {
                return snapshot;
            }
            tokio::select! {
                _ = in_progress.changed(), if !asked.is_empty() => {}
                _ = has_news.changed() => {}
                () = sleep_until(until) => {}
            }
        }
    }

    /// Reloads the changed parts of the project, and notifies clients of each list that changed. A project that cannot be
    /// served does not replace one that can. Returns how long to wait before the next attempt, if something could not be read
    /// now.
    pub fn reload(&self, changes: &Changes) -> Option<Duration> {
        let reading = self.is_being_read.lock();
        if let Some(run) = &self.reading.run {
            run.ask_again();
        }
        let Reread { news, again } = self.read_again(changes);
        if !news.is_empty() {
            self.store_registry();
        }
        self.announce(&news);
        drop(reading);
        self.has_news.send_replace(false);
        again
    }

    /// Serves the entries of a loaded file, and of others that were loaded meanwhile. Returns how long to wait before the next
    /// attempt, if something could not be read now.
    pub fn take_in(&self, file: &Path) -> Option<Duration> {
        self.answered.lock().push(file.to_owned());
        let _reading = self.is_being_read.lock();
        let answered = std::mem::take(&mut *self.answered.lock());
        if answered.is_empty() {
            return None;
        }
        let Reread { news, again } = self.read_again(&Changes::to_files(answered.iter().map(|file| &**file)));
        self.has_unsaved.store(true, Ordering::Release);
        // Entries that were missing at the start are not announced to clients that have not listed.
        if self.is_known_to_clients.load(Ordering::SeqCst) {
            self.announce(&news);
        }
        if self.in_progress.borrow().iter().all(|asked| answered.contains(&asked.file)) {
            self.is_known_to_clients.store(true, Ordering::SeqCst);
        }
        again
    }

    /// Reads the project and serves it.
    fn read_again(&self, changes: &Changes) -> Reread {
        let before = self.snapshot();
        let reading =
            Reading { is_followed: self.is_followed.load(Ordering::Relaxed), ..self.reading.clone() };
        let catalog = before.catalog.read_again(&reading, changes);
        let pause = self.note_shortage(catalog.shortage.as_deref());
        if pause.is_some() && before.catalog.shortage.is_none() {
            return Reread { news: Vec::new(), again: pause };
        }
        let again = pause.or(catalog.is_unsettled.then_some(STILL));
        if catalog.failure.is_some() && before.catalog.failure.is_none() {
            report(&self.log, &catalog, &before.catalog.diagnostics);
            self.log.event(
                LogLevel::Error,
                "mcp.project",
                "the last good state of the project is served",
                &json!({}),
            );
            return Reread { news: Vec::new(), again };
        }
        let news = [
            (!catalog.tells_the_same_tools_as(&before.catalog), ListChange::TOOLS),
            (!catalog.tells_the_same_resources_as(&before.catalog), ListChange::RESOURCES),
            (!catalog.tells_the_same_prompts_as(&before.catalog), ListChange::PROMPTS),
        ];
        let news = news.into_iter().filter_map(|(is_news, list)| is_news.then_some(list)).collect();
        if catalog.diagnostics != before.catalog.diagnostics {
            report(&self.log, &catalog, &before.catalog.diagnostics);
        }
        self.snapshot.store(Arc::new(Snapshot::new(catalog)));
        Reread { news, again }
    }

    /// Records a shortage of the system, if there is one. Returns how long to wait before the next attempt.
    fn note_shortage(&self, what: Option<&str>) -> Option<Duration> {
        let mut shortage = self.shortage.lock();
        let Some(what) = what else {
            if shortage.take().is_some() {
                let message = "the project could be read again";
                self.log.event(LogLevel::Notice, "mcp.project", message, &json!({}));
            }
            return None;
        };
        let short = shortage.get_or_insert_with(|| {
            report_shortage(&self.log, what, "the last good state is served");
            Shortage::new(what.to_owned())
        });
        Some(short.pauses.lengthen())
    }

    fn announce(&self, news: &[ListChange]) {
        if news.is_empty() {
            return;
        }
        let catalog = &self.snapshot().catalog;
        let details = json!({
            "tools": catalog.tools.len(),
            "resources": catalog.resources.len(),
            "prompts": catalog.prompts.len(),
        });
        for list in news {
            let message = format!("the {} have changed", list.kind);
            self.log.event(LogLevel::Info, "mcp.project", &message, &details);
            self.log.audience().announce(*list);
        }
    }

    /// Writes the reported entries of files to the registry, if it lacks them.
    pub fn store_definitions(&self) {
        let _saving = self.is_being_saved.lock();
        let is_short = self.snapshot().catalog.shortage.is_some();
        if !is_short && self.has_unsaved.swap(false, Ordering::AcqRel) {
            self.snapshot().catalog.store_definitions(&self.reading);
        }
    }

    /// Writes the registry if it was not written since the start: a short session may end before the first reload.
    pub fn store_registry_once(&self) {
        if !self.was_stored.load(Ordering::Acquire) {
            self.store_registry();
        }
    }

    /// Writes the registry. A project that is not writable is served anyway.
    pub fn store_registry(&self) {
        let _saving = self.is_being_saved.lock();
        if self.snapshot().catalog.shortage.is_some() {
            // The catalog lacks what could not be read.
            return;
        }
        self.has_unsaved.store(false, Ordering::Release);
        self.was_stored.store(true, Ordering::Release);
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

fn report_shortage(log: &Log, what: &str, meanwhile: &str) {
    let message =
        format!("the project cannot be read now: {what}; {meanwhile}, and the reading is tried again");
    log.event(LogLevel::Warning, "mcp.project", &message, &json!({}));
}

/// The start time of the last of them.
fn youngest(in_progress: &[FileInProgress]) -> Option<Instant> {
    in_progress.iter().map(|asked| asked.since).max()
}

/// Logs the problems of a project, except those in `told`.
fn report(log: &Log, catalog: &Catalog, told: &[Diagnostic]) {
    for diagnostic in catalog.diagnostics.iter().filter(|diagnostic| !told.contains(diagnostic)) {
        log.event(LogLevel::Warning, "mcp.project", &diagnostic.to_string(), &json!({}));
    }
    for (kind, count) in [
        ("tools", catalog.tools.len()),
        ("resources", catalog.resources.len()),
        ("resource templates", catalog.templates.len()),
        ("prompts", catalog.prompts.len()),
    ] {
        if count > MANY {
            let message = format!("so many {kind} are better registered in register.json");
            log.event(LogLevel::Warning, "mcp.project", &message, &json!({ "count": count }));
        }
    }
    let details = json!({ "project": catalog.paths.root, "tools": catalog.tools.len(), "prompts": catalog.prompts.len() });
    log.event(LogLevel::Debug, "mcp.project", "project read", &details);
}

/// More entries of one kind than this cause a warning.
const MANY: usize = 500;
