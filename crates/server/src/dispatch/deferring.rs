//! Deferring: decides which calls become tasks, and starts the inner request of a task. Tasks that a dead server left behind
//! are restarted here as well.

use super::arrival::{Arrival, Dispatched};
use crate::callers::{Handshake, Principal, RequestContext, Stage};
use crate::deferred::{Begin, Deferred, Keeper, NewTask, NotMade, TaskReply, View, owner_of};
use crate::logging::Subscriber;
use crate::methods::undeclared;
use crate::replies::{Answer, Members, Reply};
use crate::sessions::{Client, Server, TaskRole};
use mcp_bash_project::{TaskExecution, TaskSupport};
use mcp_bash_runner::on_own_thread;
use mcp_bash_scripts::ScriptRoots;
use mcp_bash_tasks::{Lease, StoreError, TaskId, TaskRecord, Turn};
use mcp_bash_wire::{Line, LogLevel, Object, Raw, Revision, RpcError, code};
use serde_json::json;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// A call that becomes a task.
pub(super) struct Deferral {
    tool: String,
    /// How long the client wants the task to be kept.
    ttl: Option<Duration>,
    /// Whether it may run again if its server dies.
    is_repeatable: bool,
    execution: TaskExecution,
    /// Whether it continues a process that has already started.
    has_begun: bool,
}

impl Arrival<'_, '_> {
    /// Whether the request becomes a task. An error if the tool requires a task and the client does not support tasks, or if
    /// the tool forbids tasks and the client requests one.
    pub(super) fn deferral(
        &self,
        context: &RequestContext,
        has_state: bool,
    ) -> Result<Option<Deferral>, RpcError> {
        let (server, revision) = (&self.client.server, context.revision);
        let knows_tasks = revision.has_task_extension() || revision.has_requested_tasks();
        if !knows_tasks || self.request.method_name() != "tools/call" || self.client.is_task() {
            return Ok(None);
        }
        let snapshot = server.snapshot();
        if !snapshot.has_tasks() || server.deferred().is_none() {
            return Ok(None);
        }
        let Some((tool, _)) = self.request.tool(&snapshot) else { return Ok(None) };
        let support = snapshot.catalog.task_support(tool);
        let ttl = if revision.has_task_extension() {
            match (support, context.capabilities.tasks) {
                (TaskSupport::Forbidden, _) | (TaskSupport::Optional, false) => return Ok(None),
                (TaskSupport::Required, false) => return Err(undeclared()),
                // The call itself asks its first questions.
                (_, true) if tool.options.tasks.asks_first && !has_state => return Ok(None),
                (_, true) => None,
            }
        } else {
            match (support, Requested::read(self.request.params())?) {
                (TaskSupport::Forbidden | TaskSupport::Optional, None) => return Ok(None),
                (TaskSupport::Required, None) => {
                    return Err(misused(&tool.name, "can only be called as a task"));
                }
                (TaskSupport::Forbidden, Some(_)) => {
                    return Err(misused(&tool.name, "cannot be called as a task"));
                }
                (_, Some(Requested { ttl })) => ttl,
            }
        };
        // A call that continues a parked process cannot be restarted from its params.
        let is_repeatable = tool.options.may_run_again && !has_state;
        let execution = tool.options.tasks;
        Ok(Some(Deferral { tool: tool.name.clone(), ttl, is_repeatable, execution, has_begun: has_state }))
    }

    /// Turns the request into a task, and answers as soon as its record is durable.
    pub(super) fn defer(&self, context: RequestContext, deferral: Deferral) -> Result<Dispatched, RpcError> {
        let server = &self.client.server;
        let deferred = server.deferred().cloned();
        let deferred = deferred.ok_or_else(|| RpcError::internal("Tasks cannot be kept here"))?;
        let id = server.unguessable_token().and_then(|token| TaskId::parse(&token));
        let id = id.ok_or_else(|| RpcError::internal(NotMade::NoId.to_string()))?;
        let held = self.client.caller().budget().charge(2 * self.held_bytes(&context));
        let held = held.map_err(|why| RpcError::internal(format!("Server busy: {why}")))?;
        let in_flight = self.begin()?;
        in_flight.request().measure(|measured| measured.note("task.id", || Some(id.as_str().to_owned())));
        let params = self.request.params().map_or_else(|| "{}".to_owned(), |params| params.text().to_owned());
        let turn = turn(&deferred, deferral.execution);
        let turn = turn.map(|turn| Turn { waits: !deferral.has_begun, ..turn });
        let waits = turn.is_some_and(|turn| turn.waits);
        let is_kept = deferral.is_repeatable || waits;
        let request = is_kept.then(|| without_secret(server, self.request.params()));
        let client = Arc::clone(self.client);
        server.runtime().spawn(async move {
            let _held = held;
            let RequestContext { principal, revision, .. } = context;
            let (server, maker) = (&client.server, Arc::clone(&principal));
            let made = on_own_thread(move || {
                let Deferral { tool, ttl, is_repeatable, .. } = deferral;
                let request = request.as_deref();
                let call = NewTask { tool: &tool, revision, ttl, is_repeatable, turn, request };
                deferred.create(&maker, id, &call)
            });
            let (lease, record) = match made.await {
                Some(Ok(made)) => made,
                Some(Err(why)) => {
                    in_flight.answer(Err(not_made(&why)));
                    return;
                }
                None => return,
            };
            server.tend_tasks();
            let snapshot = server.snapshot();
            let answer = created(record.clone(), revision).render(revision, &snapshot.catalog.identity);
            let is_answered = in_flight.answer(Ok(answer));
            drop((in_flight, snapshot));
            if !is_answered {
                // The client has disconnected, so nobody knows the id.
                if let Some(deferred) = server.deferred() {
                    let _ = deferred.store().remove(lease);
                }
                return;
            }
            let handshake = client.handshake().filter(|_| !revision.has_task_extension());
            let roots = known_roots(&client, handshake).await;
            let session = told_session(&client, revision);
            let params = Some(params).filter(|_| !waits);
            start(server, &principal, Start { lease, record, params, handshake, roots, session });
        });
        Ok(Dispatched::Later)
    }
}

/// The task that a client of the handshake era requests.
struct Requested {
    /// How long it is to be kept.
    ttl: Option<Duration>,
}

impl Requested {
    /// Reads the params of a call. `None` if the client requests no task.
    fn read(params: Option<Raw<'_>>) -> Result<Option<Self>, RpcError> {
        let Some(params) = params else { return Ok(None) };
        let task = Object::read(params, "params", &["task"])?.optional_object("task")?;
        let Some(task) = task else { return Ok(None) };
        let task = Object::read(task, "task", &["ttl"])?;
        let Some(ttl) = task.get("ttl").filter(|ttl| !ttl.is_null()) else {
            return Ok(Some(Self { ttl: None }));
        };
        let wrong = || {
            RpcError::invalid_params("Invalid params: `task.ttl` must be a number of milliseconds above 0")
        };
        // Clients in languages without integers may send `60000.0`.
        let milliseconds: f64 = ttl.text().parse().map_err(|_| wrong())?;
        let ttl = Duration::try_from_secs_f64(milliseconds / 1000.0).ok().filter(|ttl| !ttl.is_zero());
        Ok(Some(Self { ttl: Some(ttl.ok_or_else(wrong)?) }))
    }
}

fn misused(tool: &str, what: &str) -> RpcError {
    RpcError::new(code::METHOD_NOT_FOUND, format!("The tool `{tool}` {what}"))
}

/// Paths are only for the operator, whose log contains them.
fn not_made(why: &NotMade) -> RpcError {
    let reason = match why {
        NotMade::Store(
            StoreError::Folder { source, .. }
            | StoreError::Write { source, .. }
            | StoreError::Read { source, .. },
        ) => format!("the task store cannot be used ({source}); MCPBASH_STORE names its folder"),
        NotMade::Store(StoreError::NotPrivate { problem, .. }) => {
            format!("the task store cannot be used ({problem}); MCPBASH_STORE names its folder")
        }
        NotMade::Store(StoreError::Database(_) | StoreError::Away(_)) => {
            "the task store cannot be used; try again later".to_owned()
        }
        why => why.to_string(),
    };
    RpcError::internal(format!("The call was not made: {reason}"))
}

/// The params of a request as they are stored: without the shared secret.
fn without_secret(server: &Server, params: Option<Raw<'_>>) -> String {
    let Some(params) = params else { return "{}".to_owned() };
    let Some(guard) = server.guard() else { return params.text().to_owned() };
    let meta = Object::read(params, "params", &["_meta"]).ok().and_then(|params| params.get("_meta"));
    let mut kept = Members::default();
    kept.splice_object(params, &["_meta"]);
    kept.optional_raw("_meta", meta.map(|meta| guard.without_secret(meta)).as_deref());
    kept.object()
}

/// The response to a call that has become a task.
fn created(record: TaskRecord, revision: Revision) -> Answer {
    let task = View { record }.members(revision);
    if revision.has_task_extension() {
        return Answer { is_task: true, ..Answer::members(task.into_text()) };
    }
    let mut members = Members::default();
    members.raw("task", &task.object());
    Answer::members(members.into_text())
}

/// The roots of a session's client, if it has any.
async fn known_roots(client: &Client, handshake: Option<Handshake>) -> Option<Arc<ScriptRoots>> {
    let has_roots = handshake.is_some_and(|handshake| handshake.capabilities.roots);
    let session = client.session().filter(|_| has_roots)?;
    session.roots.get().await
}

/// The session that receives changes of its tasks. The task extension has listening requests instead.
fn told_session(client: &Client, revision: Revision) -> Option<Arc<Subscriber>> {
    let session = client.session().filter(|_| revision.has_requested_tasks())?;
    Some(Arc::clone(&session.subscriber))
}

/// The parts that start the inner request of a task.
struct Start {
    lease: Lease,
    record: TaskRecord,
    /// `None` if the task waits for its turn: then the store has the params.
    params: Option<String>,
    handshake: Option<Handshake>,
    roots: Option<Arc<ScriptRoots>>,
    session: Option<Arc<Subscriber>>,
}

/// Starts the inner request of a task, and its keeper.
fn start(server: &Arc<Server>, principal: &Arc<Principal>, start: Start) {
    let Some(deferred) = server.deferred() else { return };
    let Start { lease, record, params, handshake, roots, session } = start;
    let running = deferred.enter(&record);
    let role = TaskRole { questions: Arc::clone(&running.questions), handshake };
    let client = Arc::new(Client::for_task(Arc::clone(server), Arc::clone(principal), role));
    if let Some(roots) = roots {
        client.remembered_roots.set(roots);
    }
    let (reply, events) = TaskReply::new();
    let reply: Arc<dyn Reply> = Arc::new(reply);
    let (id, inner, caller) = (record.id.clone(), Arc::clone(&client), Arc::clone(principal));
    let begin: Begin = Box::new(move |params| {
        let line = format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"tools/call","params":{params}}}"#);
        drop(params);
        inner.receive_from(&caller, &Line::Whole(line.as_bytes()), None, &reply);
    });
    let cancelled = Arc::clone(&client);
    let cancel = Box::new(move || cancelled.abandon());
    let deferred = Arc::clone(deferred);
    let keeper = |begin| Keeper { deferred, running, lease, record, events, session, begin, cancel };
    match params {
        None => drop(server.runtime().spawn(keeper(Some(begin)).run())),
        Some(params) => {
            server.runtime().spawn(keeper(None).run());
            begin(params);
        }
    }
}

/// How a task of a tool takes turns, if a limit applies to it.
fn turn(deferred: &Deferred, execution: TaskExecution) -> Option<Turn> {
    deferred.turn(execution.priority.number(), execution.most.map(NonZeroU32::get))
}

impl Server {
    /// Takes care of an abandoned task in the background, as this principal.
    pub(crate) async fn settle_task(self: &Arc<Self>, principal: &Arc<Principal>, id: TaskId) {
        let client = Arc::new(Client::without_session(Arc::clone(self), Arc::clone(principal)));
        settle(&client, principal, id).await;
    }
}

/// Takes care of a task whose server may have died: it fails, or restarts as this principal if it belongs to the principal and
/// may run again.
pub(super) async fn settle(client: &Arc<Client>, principal: &Arc<Principal>, id: TaskId) {
    let server = &client.server;
    if server.tasks_offered().is_none() {
        return;
    }
    let Some(deferred) = server.deferred().cloned() else { return };
    let (owner, snapshot) = (owner_of(&principal.identity), server.snapshot());
    let settled = on_own_thread(move || {
        let may_run_again = |record: &TaskRecord| record.owner == owner;
        let (lease, mut record) = deferred.settle(&id, may_run_again)?;
        let options = snapshot.tool(&record.tool).map(|(tool, _)| &tool.options);
        let is_allowed = options.is_some_and(|options| options.may_run_again || record.waits());
        let fresh = options.and_then(|options| turn(&deferred, options.tasks));
        match deferred.store().request(&id) {
            Ok(Some(params)) if is_allowed && deferred.rejoin(&lease, &mut record, fresh).is_ok() => {
                let params = Some(params).filter(|_| !record.waits());
                Some((lease, record, params))
            }
            _ => {
                deferred.fail_abandoned(&lease, record);
                None
            }
        }
    });
    let Some(Some((lease, record, params))) = settled.await else { return };
    let revision = Revision::parse(&record.revision);
    let details = json!({ "tool": record.tool, "attempt": record.attempt });
    server.log().project_event(
        LogLevel::Notice,
        "mcp.tasks",
        "a task goes on here, since its server is gone",
        &details,
    );
    let handshake = client.handshake().filter(|handshake| Some(handshake.revision) == revision);
    let handshake = handshake.or_else(|| {
        let revision = revision.filter(|revision| !revision.has_task_extension())?;
        Some(Handshake { stage: Stage::Ready, revision, ..Handshake::fresh(LogLevel::Info) })
    });
    let roots = known_roots(client, handshake).await;
    let session = revision.and_then(|revision| told_session(client, revision));
    start(server, principal, Start { lease, record, params, handshake, roots, session });
}
