//! Workers: processes that serve many calls. They are started once, and receive each call in a frame.
//!
//! # Theory of operation
//!
//! Each script has a pool of workers (`pool.rs`). A call takes a free worker, or is queued while one is started or serves
//! others. It writes its frame directly to the pipe of the worker, and waits for the frames about it (`conversation.rs`). A
//! task for each process (`serving.rs`) reads the worker's frames, passes each on to its call, checks after each call whether
//! the process may stay, and terminates it. So a call costs one write, one read, and a check of the script, the memory and the
//! children of the worker; no thread, no file, and no registration with the runtime.
//!
//! A worker that breaks the protocol is terminated with everything that it has started, and its open calls receive the reason.
//! Nothing of it is passed to another call.

mod bounds;
mod call;
mod call_log;
mod conversation;
mod definitions;
mod fault;
mod frame;
mod news;
mod pool;
mod ready;
mod serving;
mod spares;
mod stamps;
mod starting;
mod supervisor;
mod which;

pub use call::{Request, WorkerCall};
pub use call_log::{CallLog, LogEntry};
pub use news::WorkerNews;

use crate::confining::command::CommandLine;
use crate::confining::confined::{Confined, NotConfined};
use crate::interpreters;
use crate::running::error::ScriptError;
use crate::running::outcome::Outcome;
use crate::running::redacting;
use crate::running::start_failure::StartFailure;
use crate::surroundings::Surroundings;
use bounds::Bounds;
use conversation::{Conversed, converse};
use fault::{Fault, Why};
use mcp_bash_project::{Catalog, Worker};
use mcp_bash_runner::{ProcessEnding, Question, StartError, WorkerInvocation};
use mcp_bash_sandbox::{Confinement, Declaration};
use mcp_bash_secrets::Needs;
use parking_lot::Mutex;
use pool::{Lease, Pool, StartPermit, Taken, Turn};
use spares::{Spares, StartOfWorker};
use stamps::Stamps;
use starting::StartingWorker;
use std::collections::HashMap;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::timeout;
use which::Which;

/// How many workers a call is sent to, if each ends before it has read the call.
const MOST_ATTEMPTS: usize = 3;

/// How many turns a call gets: a turn is lost when a worker could not be used or started.
const MOST_TURNS: usize = 10;

/// A frame contains more than the output of a tool.
const ROOM_IN_FRAME: usize = 64 * 1024;

/// All workers of a process.
pub(crate) struct Workers {
    surroundings: Arc<Surroundings>,
    /// The runtime of their tasks.
    runtime: Handle,
    pools: Mutex<HashMap<PathBuf, Vec<Arc<Pool>>>>,
    /// Workers that were started before their first call.
    spares: Spares,
    tell: Arc<OnceLock<Tell>>,
}

type Tell = Box<dyn Fn(&WorkerNews<'_>) + Send + Sync>;

impl Workers {
    pub(crate) fn new(surroundings: Arc<Surroundings>, runtime: Handle) -> Self {
        Self {
            surroundings,
            runtime,
            pools: Mutex::default(),
            spares: Spares::default(),
            tell: Arc::default(),
        }
    }

    pub(crate) fn runtime(&self) -> &Handle {
        &self.runtime
    }

    fn pool_of(&self, which: Which<'_>) -> Arc<Pool> {
        let mut pools = self.pools.lock();
        let is_meant = |pool: &&Arc<Pool>| pool.is_of(which);
        if let Some(pool) = pools.get(which.script).and_then(|pools| pools.iter().find(is_meant)) {
            return Arc::clone(pool);
        }
        let bounds = Bounds::new(&which.worker.options, &self.surroundings.settings().workers);
        let pool = Arc::new(Pool::new(which, bounds));
        pools.entry(which.script.to_owned()).or_default().push(Arc::clone(&pool));
        pool
    }
}

impl Workers {
    /// Sets a callback for messages to the operator about workers.
    pub(crate) fn on_news(&self, tell: impl Fn(&WorkerNews<'_>) + Send + Sync + 'static) {
        let _ = self.tell.set(Box::new(tell));
    }

    /// Starts a worker in advance for each script whose author wants that, and retires the workers that nothing in the catalog
    /// uses any more.
    pub(crate) async fn start_ahead(&self, catalog: &Catalog) {
        let tools = catalog.tools.items();
        let served = || tools.iter().filter_map(|tool| Some((&**tool, tool.worker()?)));
        self.pools.lock().retain(|script, pools| {
            let is_served = |pool: &Arc<Pool>| {
                let functions = catalog.function_files();
                let starts_like = |worker: &Worker, sandbox: &Option<Declaration>, secrets: &Needs| {
                    *worker == pool.worker && *sandbox == pool.sandbox && *secrets == pool.secrets
                };
                served().any(|(tool, worker)| {
                    let options = &tool.options;
                    tool.script == *script && starts_like(worker, &options.sandbox, &options.secrets)
                }) || functions
                    .iter()
                    .map(|file| &file.served_by)
                    .any(|by| by.file == *script && starts_like(&by.worker, &by.sandbox, &by.secrets))
            };
            pools.retain(|pool| {
                let is_needed = is_served(pool);
                if !is_needed {
                    pool.retire_all();
                }
                is_needed
            });
            !pools.is_empty()
        });
        for (tool, worker) in
            served().filter(|(tool, worker)| worker.options.start_ahead && tool.distrust.is_none())
        {
            let which = Which {
                script: &tool.script,
                worker,
                variables: &tool.options.variables,
                sandbox: tool.options.sandbox.as_ref(),
                secrets: &tool.options.secrets,
                roots: &[],
                paths: &catalog.paths,
            };
            if let Some(permit) = self.pool_of(which).permit_ahead()
                && let Err(error) = self.start_worker(which, permit).await
                && let Some(tell) = self.tell.get()
            {
                tell(&WorkerNews::NotStarted { script: which.script, why: error.to_string(), trace: "" });
            }
        }
    }

    /// Calls a worker. `on_line` receives its notifications while the call runs, and `on_question` its questions. If the worker
    /// answered, the outcome says so; otherwise there is an error with a message for the caller.
    pub(crate) async fn converse(
        &self,
        call: WorkerCall<'_>,
        cancelled: impl Future<Output = ()>,
        mut on_line: impl FnMut(&[u8]),
        mut on_question: impl FnMut(Question),
    ) -> Result<Outcome, ScriptError> {
        let error_tail = call.limits.error_tail;
        let mut log = CallLog::new(error_tail);
        let known = &*self.surroundings.processes.known_secrets;
        let mut notifications = redacting::Notifications::new(known);
        let on_line = |line: &[u8]| {
            notifications.pass_on(line, |line| {
                log.note(line);
                on_line(line);
            });
        };
        let on_question = |question| on_question(redacting::question(known, question));
        let (script, what) = (call.script, call.what.clone());
        let ended = self.try_workers(call, cancelled, on_line, on_question).await;
        if !log.is_empty()
            && let Some(tell) = self.tell.get()
        {
            tell(&WorkerNews::CallLogged { script, what: &what, log: &log });
        }
        match ended {
            Ok(outcome) => Ok(redacting::outcome(known, outcome, error_tail)),
            Err(ScriptError::Worker { what, kind, told }) => {
                let (kind, told) = (known.redacted_text(kind), known.redacted_text(told));
                Err(ScriptError::Worker { what, kind, told })
            }
            Err(other) => Err(other),
        }
    }

    async fn try_workers(
        &self,
        call: WorkerCall<'_>,
        cancelled: impl Future<Output = ()>,
        mut on_line: impl FnMut(&[u8]),
        mut on_question: impl FnMut(Question),
    ) -> Result<Outcome, ScriptError> {
        tokio::pin!(cancelled);
        let failed = |fault: &Fault| worker_error(&call.what, fault);
        for _ in 0..MOST_ATTEMPTS {
            let Some(lease) = self.lease(&call, cancelled.as_mut()).await? else {
                return Ok(Outcome::of_ending(ProcessEnding::Cancelled, call.limits.budget));
            };
            match converse(lease, &call, cancelled.as_mut(), &mut on_line, &mut on_question).await? {
                Conversed::Outcome(outcome) => return Ok(*outcome),
                Conversed::Failed(fault) => return Err(failed(&fault)),
                Conversed::Untaken => {}
            }
        }
        let how = format!("ended {MOST_ATTEMPTS} times before it had read the call");
        Err(ScriptError::worker(&call.what, how))
    }

    /// A place in a worker. `None` if the call was cancelled meanwhile.
    async fn lease(
        &self,
        call: &WorkerCall<'_>,
        mut cancelled: Pin<&mut impl Future<Output = ()>>,
    ) -> Result<Option<Lease>, ScriptError> {
        let which = Which {
            script: call.script,
            worker: call.worker,
            variables: call.variables,
            sandbox: call.sandbox,
            secrets: call.secrets,
            roots: self.surroundings.processes.sandboxes.roots_of(call.sandbox, call.opened_roots),
            paths: call.paths,
        };
        let pool = self.pool_of(which);
        let (mut turn, mut start, are_busy) = loop {
            match pool.take() {
                Taken::Lease(lease) if lease.worker.stamps.are_current() => return Ok(Some(lease)),
                Taken::Lease(lease) => pool.retire(&lease.worker),
                Taken::Wait { turn, start, are_busy } => break (turn, start, are_busy),
            }
        };
        let patience = call.limits.patience.limit;
        let patience = if are_busy { patience } else { patience.max(pool.bounds.start) };
        let too_late = || ScriptError::worker(&call.what, busy(&pool, patience));
        let wait = async {
            let mut why = Why::ServerEnds;
            for _ in 0..MOST_TURNS {
                if let Some(permit) = start.take() {
                    // If this takes long, it does not count as time of the worker.
                    self.surroundings
                        .environment_in_time(|| call.what.clone(), &call.limits, call.paths)
                        .await?;
                    self.start_worker(which, permit).await?;
                }
                match (&mut turn).await {
                    Ok(Turn::Take(lease)) if lease.worker.stamps.are_current() => return Ok(lease),
                    Ok(Turn::Take(lease)) => {
                        pool.retire(&lease.worker);
                        drop(lease);
                        why = Why::NeverCurrent;
                        (turn, start) = pool.wait_again();
                    }
                    Ok(Turn::Start(permit)) => {
                        (turn, start) = pool.wait_again();
                        // A call needs only one permit.
                        start = Some(permit).or(start);
                    }
                    Ok(Turn::Failed(fault)) => {
                        return Err(worker_error(&call.what, &fault));
                    }
                    Err(_) => (turn, start) = pool.wait_again(),
                }
            }
            Err(ScriptError::worker(&call.what, why.to_string()))
        };
        tokio::select! {
            biased;
            () = &mut cancelled => Ok(None),
            taken = timeout(patience, wait) => taken.map_err(|_| too_late())?.map(Some),
        }
    }

    /// Starts a worker, which serves the next queued call as soon as it is ready; or takes over a spare one.
    async fn start_worker(&self, which: Which<'_>, permit: StartPermit) -> Result<(), ScriptError> {
        let mut starting = self.starting_worker(which).await?;
        let start = self.start_of(which, &starting);
        // A spare worker was not started with a trace.
        let is_traced = self.surroundings.processes.sandboxes.traces(which.script);
        let permit = if is_traced { Some(permit) } else { self.spares.take_over(&start, permit) };
        if let Some(permit) = permit {
            self.confine(which, &mut starting).await?;
            self.runtime().spawn(starting.start_and_serve(permit));
        }
        Ok(())
    }

    async fn starting_worker(&self, which: Which<'_>) -> Result<StartingWorker, ScriptError> {
        let stamps = Stamps::of(which.script);
        self.pool_of(which).judge_loaded(&which.paths.root).map_err(|source| {
            let what = which.script.strip_prefix(&which.paths.root).unwrap_or(which.script);
            ScriptError::Distrusted { what: what.display().to_string(), source }
        })?;
        let invocation = self.worker_invocation(which).await?;
        let (told, script) = (Arc::clone(&self.tell), which.script.to_owned());
        let tell = move |news: &WorkerNews<'_>| {
            if let Some(tell) = told.get() {
                tell(news);
            }
        };
        Ok(StartingWorker {
            runner: Arc::clone(self.surroundings.runner()),
            script,
            root: which.paths.root.clone(),
            invocation,
            sandbox: None,
            stamps,
            budget: Arc::clone(self.surroundings.budget()),
            tell: Arc::new(tell),
            shutdown: Box::pin(self.surroundings.processes.ended()),
        })
    }

    fn start_of(&self, which: Which<'_>, starting: &StartingWorker) -> StartOfWorker {
        let sandbox = self.surroundings.processes.sandboxes.in_force(which.sandbox).ok().flatten();
        StartOfWorker::of(&starting.invocation, sandbox, which.roots)
    }

    /// Applies its sandbox to a worker that is about to be started.
    async fn confine(&self, which: Which<'_>, starting: &mut StartingWorker) -> Result<(), ScriptError> {
        let invocation = &mut starting.invocation;
        let confined = Confined {
            declaration: which.sandbox,
            roots: which.roots,
            paths: which.paths,
            script: which.script,
        };
        let sandboxes = &self.surroundings.processes.sandboxes;
        let lease = sandboxes.lease(confined, &invocation.program, &invocation.environment, self.runtime());
        let refused = |why: NotConfined| ScriptError::Start {
            what: which.script.strip_prefix(&which.paths.root).unwrap_or(which.script).display().to_string(),
            source: StartFailure::Other(StartError::Confinement(why.to_string())),
        };
        if let Some(mut lease) = lease.await.map_err(refused)? {
            lease.set_variables(&mut invocation.environment);
            let command =
                CommandLine { program: &mut invocation.program, arguments: &mut invocation.arguments };
            let confinement = lease.confine(None, command).map_err(|error| refused(error.into()))?;
            let lease = Arc::new(lease);
            starting.sandbox = Some(Arc::clone(&lease));
            invocation.confinement = confinement.keeping(lease);
        }
        Ok(())
    }

    async fn worker_invocation(&self, which: Which<'_>) -> Result<WorkerInvocation, ScriptError> {
        let start =
            interpreters::start_of(&self.surroundings, which.script, which.worker.program, which.paths)
                .await?;
        let mut environment = self.surroundings.common_environment(which.paths).await?;
        if let Some(language) = which.worker.program.language() {
            let sandbox = self.surroundings.processes.sandboxes.in_force(which.sandbox);
            let is_confined = sandbox.is_ok_and(|sandbox| sandbox.is_some());
            let worker = (is_confined, &environment);
            interpreters::compile_if_worker_cannot(&self.surroundings, &start, language, worker, which.paths)
                .await;
        }
        self.surroundings.add_needed(&mut environment, which.variables);
        let what =
            || which.script.strip_prefix(&which.paths.root).unwrap_or(which.script).display().to_string();
        self.surroundings.give_secrets(what, which.secrets, which.paths, &mut environment).await?;
        let settings = self.surroundings.settings();
        // With it, a worker can refuse a result that we would not accept, and goes on.
        environment.set("MCPBASH_MAX_TOOL_OUTPUT_SIZE", settings.output_limit.to_string());
        environment.set("MCP_WORKER", "1");
        environment.set("MCP_WORKER_OUTPUT", "/dev/fd/3");
        Ok(WorkerInvocation {
            program: start.program,
            arguments: start.arguments,
            directory: which.paths.root.clone(),
            environment,
            frame_limit: settings.output_limit.saturating_add(ROOM_IN_FRAME),
            error_tail: settings.stderr_tail,
            confinement: Confinement::default(),
        })
    }
}

/// The error of a failed worker, for the caller.
fn worker_error(what: &str, fault: &Fault) -> ScriptError {
    ScriptError::Worker { what: what.to_owned(), kind: fault.kind(), told: fault.told() }
}

fn busy(pool: &Pool, waited: Duration) -> String {
    format!(
        "was not free within {} s: all {} processes serve other calls, or are not ready; {}, or \
         MCPBASH_WORKER_PROCESSES, gives it more",
        waited.as_secs(),
        pool.bounds.processes,
        pool.worker.program.place_of_option("processes")
    )
}
