//! Server: the state that all clients and requests share.

use super::assembly::{own_roots, record_payloads, report_missing_sdk, report_sandbox_shortfall};
use crate::callers::{Caller, Callers, Consents, Guard, Identity, Principal, Rights, RightsSource};
use crate::deferred::{Deferred, open_stores};
use crate::logging::{AuditLog, Log, Measurements, Meter, Observer, Observers, Tracer, worker_news};
use crate::offered::{Resources, Served, Snapshot, Subscriptions};
use crate::replies::ShortPaths;
use crate::replies::definitions::server_capabilities;
use crate::requests::{Admission, AdmissionLimits, KeyRing, Pace, Parking, ParkingLimits};
use crate::stores::Store;
use mcp_bash_audit::ChainStore;
use mcp_bash_budget::Budget;
use mcp_bash_postgres::Taken;
use mcp_bash_project::{Catalog, Changes, Diagnostic, Reading, language_of_file};
use mcp_bash_runner::StateDir;
use mcp_bash_scripts::{ScriptRoots, Scripts};
use mcp_bash_settings::{CONNECTION_SETTING, Settings};
use mcp_bash_wire::{LogLevel, Revision};
use parking_lot::Mutex;
use serde_json::json;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Builder;
use std::time::Duration;
use tokio::runtime::Handle;

/// The number of requests, by stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    pub running: usize,
    pub waiting: usize,
    pub parked: usize,
}

pub struct Server {
    settings: Arc<Settings>,
    served: Arc<Served>,
    scripts: Arc<Scripts>,
    admission: Arc<Admission>,
    guard: Option<Guard>,
    observers: Observers,
    meter: OnceLock<Arc<dyn Meter>>,
    /// Set if requests are measured for metrics.
    measurements: OnceLock<Arc<Measurements>>,
    /// Set if spans are exported.
    tracer: OnceLock<Arc<Tracer>>,
    rights_source: Arc<RightsSource>,
    audit: Option<Arc<AuditLog>>,
    callers: Callers,
    resources: Arc<Resources>,
    subscriptions: Arc<Subscriptions>,
    log: Arc<Log>,
    short_paths: Arc<ShortPaths>,
    runtime: Handle,
    /// Parked processes that wait for answers in the stateless era.
    parking: Parking,
    /// Seals request states and session ids. Created on first use, unless it was set.
    state_keys: OnceLock<KeyRing>,
    store: Arc<Store>,
    /// The calls that callers without a session have consented to for a limited time.
    consents: Consents,
    own_roots: Arc<ScriptRoots>,
    /// The tools that received arguments although they declare none.
    given_unread: Mutex<HashSet<String>>,
    /// The tools that printed JSON which is sent as text.
    printed_unread: Mutex<HashSet<String>>,
    /// The tools whose scripts have asked for the roots of a client.
    asking_for_roots: Mutex<HashSet<String>>,
    /// Calls that outlive their requests (tasks). `None` if there is no folder to keep them.
    deferred: Option<Arc<Deferred>>,
    has_refused: AtomicBool,
}

impl Server {
    /// Creates a server for `catalog`, which was read with `reading`. Handlers run on `runtime`.
    pub fn new(scripts: Arc<Scripts>, runtime: Handle, catalog: Catalog, reading: Reading, log: Log) -> Self {
        let settings = Arc::clone(scripts.settings());
        let short_paths = ShortPaths::new(&settings, &catalog.paths, scripts.state_dir().parent());
        let short_paths = Arc::new(short_paths);
        let log = log.with_known_secrets(Arc::clone(scripts.known_secrets()));
        let log = Arc::new(log.with_short_paths(Arc::clone(&short_paths)));
        let admission = Admission::new(
            runtime.clone(),
            AdmissionLimits {
                places: settings.max_concurrent,
                waiting: settings.max_waiting,
                waiting_bytes: settings.max_waiting_bytes,
                resting: settings.parking.most,
                resting_per_caller: settings.parking.most_per_caller,
            },
        );
        let parking = ParkingLimits {
            most: settings.parking.most,
            most_per_caller: settings.parking.most_per_caller,
            timeout: settings.parking.patience,
            replay_timeout: settings.parking.replay_patience,
        };
        report_missing_sdk(&scripts, &log);
        report_sandbox_shortfall(&scripts, &log);
        worker_news::report(&scripts, &log, &catalog.paths);
        let (tasks, store) = open_stores(&settings.tasks, &catalog.paths.root, scripts.state_dir(), &log);
        let deferred = tasks.map(|tasks| Deferred::new(tasks, &settings.tasks, Arc::clone(&log)));
        let service = [&*catalog.identity.name, &*catalog.identity.version];
        let shared = store.shared().cloned().map(|shared| Arc::new(shared) as Arc<dyn ChainStore>);
        let secrets = scripts.known_secrets();
        let audit = AuditLog::new(&settings.audit, shared, service, &log, secrets, runtime.clone());
        let own_roots = Arc::new(own_roots(&settings, &catalog.paths, &log));
        let served = Served::new(catalog, reading, scripts.files_in_progress(), Arc::clone(&log));
        let served = Arc::new(served);
        let resources = Resources::new(Arc::clone(&served), Arc::clone(&scripts), Arc::clone(&store));
        let resources = Arc::new(resources);
        let rights_source = Arc::<RightsSource>::default();
        let subscriptions =
            Subscriptions::new(Arc::clone(&resources), Arc::clone(&rights_source), runtime.clone());
        let mut observers = Observers::default();
        if let Some(payloads) = record_payloads(&settings, scripts.state_dir(), &log) {
            observers.add(Arc::new(payloads));
        }
        Self {
            guard: settings.remote_token.as_ref().map(Guard::new),
            observers,
            meter: OnceLock::new(),
            measurements: OnceLock::new(),
            tracer: OnceLock::new(),
            audit,
            callers: Callers::default(),
            subscriptions: Arc::new(subscriptions),
            rights_source,
            resources,
            served,
            scripts,
            admission: Arc::new(admission),
            settings,
            log,
            short_paths,
            runtime,
            parking: Parking::new(parking, Arc::clone(&store)),
            store,
            state_keys: OnceLock::new(),
            consents: Consents::of_callers(),
            own_roots,
            given_unread: Mutex::default(),
            printed_unread: Mutex::default(),
            asking_for_roots: Mutex::default(),
            deferred,
            has_refused: AtomicBool::new(false),
        }
    }

    /// Records that a request was refused.
    pub(crate) fn note_refusal(&self) {
        self.has_refused.store(true, Ordering::Relaxed);
    }

    /// Whether a call was refused so far: by a setting, by the policy, or because the tool is group- or world-writable. The
    /// error that the caller receives does not show it, since policies and tools choose their own codes.
    pub fn has_refused_a_call(&self) -> bool {
        self.has_refused.load(Ordering::Relaxed)
    }

    /// Whether this is the first time that this tool, which declares no arguments, receives some.
    pub(crate) fn is_first_unread(&self, tool: &str) -> bool {
        self.given_unread.lock().insert(tool.to_owned())
    }

    /// Whether this tool was already reported for JSON that is sent as text.
    pub(crate) fn is_reported_unread(&self, tool: &str) -> bool {
        self.printed_unread.lock().contains(tool)
    }

    /// Records that report. False if it was already recorded.
    pub(crate) fn note_reported_unread(&self, tool: &str) -> bool {
        self.printed_unread.lock().insert(tool.to_owned())
    }

    /// Records that the script of a tool has asked for the roots of its client. It is kept outside of snapshots: a call that
    /// waited for the answer may end after its snapshot was replaced.
    pub(crate) fn note_question_for_roots(&self, tool: &str) {
        let mut asking = self.asking_for_roots.lock();
        if !asking.contains(tool) {
            asking.insert(tool.to_owned());
        }
    }

    pub(crate) fn has_asked_for_roots(&self, tool: &str) -> bool {
        self.asking_for_roots.lock().contains(tool)
    }

    /// Logs the tools whose programs are missing. Call it when the search path of programs is known.
    pub fn report_missing_programs(&self) {
        for problem in self.scripts.missing_programs(&self.snapshot().catalog) {
            self.log.event(LogLevel::Warning, "mcp.project", &problem, &json!({}));
        }
    }

    /// Reloads function files that could not be loaded, if more programs are found now than before.
    pub fn load_functions_again(&self) {
        let catalog = &self.snapshot().catalog;
        let has_failed = |told: &Diagnostic| language_of_file(&told.path).is_some();
        if self.scripts.finds_more_programs() && catalog.diagnostics.iter().any(has_failed) {
            self.served.reload(&Changes::anywhere());
        }
    }

    /// Starts the workers that are wanted before their first call, and terminates those that are not needed any more. Call it
    /// when the search path of programs is known, and when the project has changed.
    pub fn start_workers_ahead(&self) {
        let (scripts, snapshot) = (Arc::clone(&self.scripts), self.snapshot());
        self.runtime.spawn(async move { scripts.start_workers_ahead(&snapshot.catalog).await });
    }

    /// Runs blocking work on its own thread, or on this thread if the system has no other. (Tokio would panic.)
    pub fn in_background(self: &Arc<Self>, work: impl FnOnce(&Self) + Send + 'static) {
        let (server, work) = (Arc::clone(self), Arc::new(Mutex::new(Some(work))));
        let taken = Arc::clone(&work);
        let run = move || {
            let work = taken.lock().take();
            if let Some(work) = work {
                work(&server);
            }
        };
        if Builder::new().name("background".into()).spawn(run).is_err()
            && let Some(work) = work.lock().take()
        {
            work(self);
        }
    }

    /// Runs a future in the background.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(work);
    }

    /// The roots for scripts whose client names none.
    pub(crate) fn own_roots(&self) -> &Arc<ScriptRoots> {
        &self.own_roots
    }

    pub(crate) fn consents(&self) -> &Consents {
        &self.consents
    }

    pub(crate) fn parking(&self) -> &Parking {
        &self.parking
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// The keys that seal request states. `None` only if the system has no random numbers.
    pub(crate) fn state_keys(&self) -> Option<&KeyRing> {
        if self.state_keys.get().is_none() {
            let _ = self.state_keys.set(KeyRing::of_this_process().ok()?);
        }
        self.state_keys.get()
    }

    /// An unguessable token; `None` only if the system has no random numbers.
    pub fn unguessable_token(&self) -> Option<String> {
        self.state_dir().unguessable_token().ok()
    }

    /// Why no call can be served now, if so. May block on files.
    pub fn unready(&self) -> Option<String> {
        let unready = self.scripts.unready(&self.served.paths()).or_else(|| self.served.staleness());
        let unready = unready.or_else(|| self.audit.as_ref().and_then(|audit| audit.unready()));
        unready.or_else(|| self.log.problem().map(|why| format!("the log cannot be written: {why}")))
    }

    /// Whether the shared store is available, or why not. `None` if no store is shared.
    pub fn shared_store(&self) -> Option<Result<(), String>> {
        let problem = self.store.shared()?.availability().borrow().clone();
        Some(problem.map_or(Ok(()), Err))
    }

    /// Takes requests from a rate limit that all servers with the same store share, as [`Taken`] describes. `None` if no store
    /// is shared, or it does not answer in time.
    pub async fn take_of_shared_rate(
        &self,
        counter: &str,
        cost: Duration,
        credit: Duration,
        most: u32,
    ) -> Option<Taken> {
        self.store.shared()?.take(counter, cost, credit, most).await.ok()
    }

    /// The budget of all callers together.
    pub fn budget(&self) -> &Arc<Budget> {
        self.scripts.budget()
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The user who started this process and uses its standard streams.
    pub fn local_principal(&self) -> Arc<Principal> {
        Arc::new(self.principal(Arc::new(Identity::local()), None))
    }

    /// The principal of an identity, and its address.
    pub fn principal(&self, identity: Arc<Identity>, address: Option<Arc<str>>) -> Principal {
        let (caller, rights) = (self.caller(&identity.name), identity.rights.clone());
        Principal { caller, identity, rights, address }
    }

    /// The caller of this name.
    pub fn caller(&self, name: &str) -> Arc<Caller> {
        let budget = || self.scripts.budget().part(self.settings.max_connection_bytes, CONNECTION_SETTING);
        let denials = self.settings.remote_token.as_ref().map_or(0, |token| token.max_failures_per_minute);
        self.callers.get(name, budget, denials)
    }

    /// Continues what was held back. Call it when a stream is no longer congested.
    pub fn relieved(&self) {
        self.log.audience().send_withheld();
        self.subscriptions.send_withheld();
        self.admission.go_on();
    }

    /// Accepts requests without the secret: for a server that only this process uses, whose user has the secret.
    #[must_use]
    pub fn unguarded(mut self) -> Self {
        self.guard = None;
        self
    }

    /// Adds an observer, which sees every message.
    #[must_use]
    pub fn with_observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.add(observer);
        self
    }

    /// Measures every request from now on with `meter`, unless there is a meter already.
    pub fn measure_by(&self, meter: Arc<dyn Meter>) {
        let _ = self.meter.set(meter);
    }

    /// The measurements of all requests since the first call of this method.
    pub fn measurements(&self) -> &Arc<Measurements> {
        self.measurements.get_or_init(|| {
            let measurements = Arc::new(Measurements::default());
            self.measure_by(Arc::clone(&measurements) as _);
            measurements
        })
    }

    pub(super) fn set_tracer(&self, tracer: Tracer) {
        let _ = self.tracer.set(Arc::new(tracer));
    }

    pub(crate) fn tracer(&self) -> Option<&Arc<Tracer>> {
        self.tracer.get()
    }

    /// The audit log, if there is one.
    pub fn audit(&self) -> Option<&Arc<AuditLog>> {
        self.audit.as_ref()
    }

    /// Whether requests are measured, traced or audited.
    pub(crate) fn is_measured(&self) -> bool {
        self.audit.is_some() || self.meter.get().is_some() || self.tracer.get().is_some()
    }

    /// Opens the log files again, under their current names.
    pub fn reopen_logs(&self) {
        self.log.reopen();
        if let Some(audit) = &self.audit {
            audit.reopen();
        }
    }

    /// Sets the source of current rights, unless one is set already.
    pub fn set_rights_source(
        &self,
        rights_of: impl Fn(&Identity) -> Option<Arc<Rights>> + Send + Sync + 'static,
    ) {
        self.rights_source.set(rights_of);
    }

    /// The current rights of a principal, which may have changed since its request arrived.
    pub(crate) fn rights_now(&self, principal: &Principal) -> Option<Arc<Rights>> {
        self.rights_source.now(principal)
    }

    pub(crate) fn meter(&self) -> Option<&Arc<dyn Meter>> {
        self.meter.get()
    }

    /// Sets keys for request states and session ids, which other processes may share.
    #[must_use]
    pub fn with_state_keys(mut self, keys: KeyRing) -> Self {
        self.state_keys = OnceLock::from(keys);
        self
    }

    /// The number of running, waiting and parked requests.
    pub fn load(&self) -> Load {
        let (running, waiting) = self.admission.counts();
        Load { running, waiting, parked: self.parking.count() }
    }

    pub fn log(&self) -> &Log {
        &self.log
    }

    /// How paths are shortened for clients.
    pub(crate) fn short_paths(&self) -> &ShortPaths {
        &self.short_paths
    }

    /// Completes when no task runs here.
    pub async fn tasks_ended(&self) {
        if let Some(deferred) = &self.deferred {
            deferred.idle().await;
        }
    }

    /// Ends everything: the calls, and then the audit log.
    pub fn end(&self, grace: Duration) {
        self.end_calls(grace);
        self.close_audit();
    }

    /// Terminates all processes of all calls, and removes temporary state.
    pub fn end_calls(&self, grace: Duration) {
        if let Some(deferred) = &self.deferred {
            deferred.stop(grace);
        }
        self.served.store_definitions();
        self.scripts.end(grace);
    }

    /// Writes the last line of the audit log. All requests should have theirs.
    pub fn close_audit(&self) {
        if let Some(audit) = &self.audit {
            audit.close();
        }
    }

    /// The served project, and its reloads.
    pub fn served(&self) -> &Served {
        &self.served
    }

    /// The current snapshot. A request keeps its snapshot, even if a newer one is served.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.served.snapshot()
    }

    pub(crate) fn resources(&self) -> &Resources {
        &self.resources
    }

    pub(crate) fn subscriptions(&self) -> &Arc<Subscriptions> {
        &self.subscriptions
    }

    /// The runner of the project's scripts.
    pub(crate) fn scripts(&self) -> &Scripts {
        &self.scripts
    }

    pub(crate) fn state_dir(&self) -> &StateDir {
        self.scripts.state_dir()
    }

    pub(crate) fn admission(&self) -> &Arc<Admission> {
        &self.admission
    }

    pub(crate) fn guard(&self) -> Option<&Guard> {
        self.guard.as_ref()
    }

    pub(crate) fn observers(&self) -> &Observers {
        &self.observers
    }

    pub(crate) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    pub(crate) fn pace(&self) -> Pace {
        Pace {
            progress_per_minute: self.settings.progress_per_minute,
            logs_per_minute: self.settings.logs_per_minute,
            live: self.settings.live_progress,
        }
    }

    /// The capabilities of this server, as JSON object.
    pub(crate) fn capabilities(&self, revision: Revision) -> String {
        server_capabilities(revision, self.settings.minimal, self.tasks_offered().is_some())
    }

    /// Calls that outlive their requests (tasks), if there is a folder to keep them.
    pub(crate) fn deferred(&self) -> Option<&Arc<Deferred>> {
        self.deferred.as_ref()
    }

    /// The same, if a tool of the project can be called as a task: only then are tasks offered.
    pub(crate) fn tasks_offered(&self) -> Option<&Arc<Deferred>> {
        self.deferred.as_ref().filter(|_| self.snapshot().has_tasks())
    }
}
