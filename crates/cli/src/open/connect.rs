//! Connections: how a command talks to a server: to that of the project, in this same process, to another one that is
//! started for it (`--command`), or to one over HTTP (`--url`).
//!
//! [`OpenProject::read`] finds the project, reads its settings and its catalog as a server does at its start, and looks for
//! the search path of scripts; nothing is checked, watched or written. [`Conversation::with_project`] serves it in memory:
//! a request takes the path of a client's request through the server. [`Conversation::with_command`] starts another server
//! as a child. Both answer [`Conversation::request`] until [`Conversation::end`], which leaves no process and no file
//! behind. Notifications and questions of the server go to a [`Host`]. The log of the project's server is not written
//! anywhere: its events reach the host as log messages.
//!
//! Ctrl-C (and `TERM`, and `HUP`) cancels the pending request, which ends with [`Failure::Interrupted`]; the conversation
//! can go on or be closed.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::end_signals::EndSignals;
use crate::open::remote_arguments::RemoteArguments;
use crate::open::search_path::SearchPath;
use crate::open::startup::{self, SettingProblems};
use crate::open::{needs, shell_words};
use mcp_bash_client::{
    Connection, Error as ClientError, Host, HttpConnection, Launch, Remote, ServerProcess, Session,
};
use mcp_bash_project::{Catalog, Diagnostic, Location, Reading};
use mcp_bash_scripts::Scripts;
use mcp_bash_server::{InMemoryConnection, Log, Server, Style};
use mcp_bash_settings::Settings;
use mcp_bash_wire::LogLevel;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::runtime::{Builder, Runtime};

/// How long scripts may take to exit when they are no longer waited for.
const GRACE: Duration = Duration::from_millis(500);

/// The timeout of the handshake.
pub(crate) const GREETING: Duration = Duration::from_secs(30);

/// The client name that servers receive.
const CLIENT: &str = "mcp-bash";

/// Which server a command talks to.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ServerArguments {
    /// Talk to the server that this command starts instead, e.g. "npx -y some-server --flag"; no shell is
    /// involved
    #[arg(long, value_name = "CMD", conflicts_with_all = ["project_root", "url"])]
    pub(crate) command: Option<String>,

    #[command(flatten)]
    pub(crate) remote: RemoteArguments,
}

impl ServerArguments {
    /// Whether the server is not that of the project.
    pub(crate) fn is_elsewhere(&self) -> bool {
        self.command.is_some() || self.remote.url.is_some()
    }

    /// A conversation with another server than that of the project, if one is named.
    pub(crate) fn connect(
        &self,
        common: &Common,
        host: &mut impl Host,
        limit: Option<Duration>,
    ) -> Result<Option<Conversation>, Error> {
        if let Some(command) = &self.command {
            return Conversation::with_command(command, common.verbose, host, limit).map(Some);
        }
        let remote = self.remote.read()?;
        remote.map(|remote| Conversation::with_remote(remote, host, limit)).transpose()
    }
}

/// Why a request has no result.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    /// Its exit code. A refusal can mean anything: the caller knows better.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Interrupted => Exit::Interrupted,
            Self::Client(ClientError::TimedOut { .. }) => Exit::TimedOut,
            Self::Client(ClientError::Refused(_) | ClientError::Unanswerable { .. }) => Exit::Failed,
            Self::Client(ClientError::Http(error)) if error.is_denied() => Exit::Refused,
            Self::Client(ClientError::Http(error)) if error.is_usage() => Exit::Usage,
            Self::Client(
                ClientError::Start { .. }
                | ClientError::Ended(_)
                | ClientError::Protocol(_)
                | ClientError::Http(_),
            ) => Exit::NoServer,
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::of_command(failure.exit(), failure)
    }
}

/// A project that was read, and can be served.
pub(crate) struct OpenProject {
    runtime: Runtime,
    pub(crate) scripts: Arc<Scripts>,
    pub(crate) catalog: Catalog,
    reading: Reading,
    /// Problems with the settings.
    problems: Vec<String>,
}

impl OpenProject {
    /// Reads the project that the command line, the environment or the current folder names. `adjust` has the last word on
    /// the settings.
    pub(crate) fn read(common: &Common, adjust: impl FnOnce(&mut Settings)) -> Result<Self, Error> {
        Self::read_after(common, adjust, || ())
    }

    /// The same for a command that will call a tool: what a call needs is prepared meanwhile.
    pub(crate) fn read_to_call(common: &Common, adjust: impl FnOnce(&mut Settings)) -> Result<Self, Error> {
        let project = Self::read_after(common, adjust, mcp_bash_runner::prepare_first_call)?;
        let settings = project.scripts.settings();
        settings.audit.check(&settings.tasks).map_err(|why| Error::Setting(why.to_string()))?;
        // The server would not tell its clients which folder it is.
        needs::check(settings.logs.temporary.as_deref())?;
        Ok(project)
    }

    /// Waits for work of its scripts.
    pub(crate) fn block_on<F: Future>(&self, work: F) -> F::Output {
        self.runtime.block_on(work)
    }

    fn read_after(
        common: &Common,
        adjust: impl FnOnce(&mut Settings),
        begin: impl FnOnce(),
    ) -> Result<Self, Error> {
        let mut problems = SettingProblems::default();
        let (location, mut settings) = startup::settings_to_serve(common, None, &mut problems)?;
        if location == Location::Embedded {
            return Err(Error::NoProject);
        }
        adjust(&mut settings);
        let (runtime, scripts) = startup::scripts(settings)?;
        begin();
        let paths = startup::paths_at(&location, &scripts)?;
        scripts.share_sdk();
        scripts.set_search_path(SearchPath::resolve(&scripts).path);
        let reading = scripts.reading(&paths);
        let catalog = startup::read_whole(&runtime, &scripts, &paths, &reading);
        if !scripts.settings().leaves_no_trace {
            catalog.store_definitions(&reading);
        }
        if let Some(why) = &catalog.failure {
            return Err(Error::of_command(Exit::Failed, why.clone()));
        }
        Ok(Self { runtime, scripts, catalog, reading, problems: problems.all })
    }

    /// What is not served, although it looks as if it was meant to be.
    pub(crate) fn skipped(&self) -> impl Iterator<Item = &Diagnostic> {
        let all = self.catalog.diagnostics.iter();
        all.filter(|diagnostic| diagnostic.tells_of_a_skip() || diagnostic.tells_of_no_project())
    }
}

/// A session with a server, and everything it needs.
pub(crate) struct Conversation {
    runtime: Runtime,
    signals: EndSignals,
    session: Session,
    /// The server of the project, if it is that one.
    server: Option<Arc<Server>>,
    /// Whether a request was abandoned whose work may still go on.
    is_busy: bool,
    /// Whether a signal asked us to exit.
    is_interrupted: bool,
}

impl Conversation {
    /// Serves a project in memory and initializes the session. The host receives log messages of that level and above.
    pub(crate) fn with_project(
        project: OpenProject,
        level: LogLevel,
        host: &mut impl Host,
    ) -> Result<Self, Error> {
        Self::with_log(project, Log::new(level, Style::Hidden), host)
    }

    /// The same with a separate log.
    pub(crate) fn with_log(project: OpenProject, log: Log, host: &mut impl Host) -> Result<Self, Error> {
        let OpenProject { runtime, scripts, catalog, reading, problems } = project;
        let signals = EndSignals::catch(&runtime)?;
        let server = Server::new(scripts, runtime.handle().clone(), catalog, reading, log);
        let server = Arc::new(server.unguarded());
        for problem in problems {
            server.log().event(LogLevel::Warning, "mcp.settings", &problem, &json!({}));
        }
        let connection = InMemoryConnection::new(&server, server.local_principal());
        Self::begin(runtime, signals, Connection::InMemory(connection), Some(server), host, GREETING)
    }

    /// Starts another server and initializes the session. Its standard error is shown only if `is_loud`.
    pub(crate) fn with_command(
        command: &str,
        is_loud: bool,
        host: &mut impl Host,
        limit: Option<Duration>,
    ) -> Result<Self, Error> {
        let words = shell_words::split(command);
        let mut words = words.map_err(|error| Error::of_command(Exit::Usage, error))?.into_iter();
        let program = words.next().unwrap_or_default().into();
        let launch = Launch {
            program,
            arguments: words.map(Into::into).collect(),
            silent: !is_loud,
            ..Launch::default()
        };
        Self::with_launch(&launch, host, limit).map_err(|error| match error {
            Error::Command { exit: Exit::NoServer, error } if !is_loud && has_started(&*error) => {
                Error::of_command(
                    Exit::NoServer,
                    format!("{error}; --verbose shows what it writes on standard error"),
                )
            }
            other => other,
        })
    }

    /// The same for a server that is started in that way.
    pub(crate) fn with_launch(
        launch: &Launch,
        host: &mut impl Host,
        limit: Option<Duration>,
    ) -> Result<Self, Error> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(start_error)?;
        let signals = EndSignals::catch(&runtime)?;
        let process = ServerProcess::start(launch).map_err(Failure::Client)?;
        let limit = limit.unwrap_or(GREETING).min(GREETING);
        Self::begin(runtime, signals, Connection::Process(process), None, host, limit)
    }

    /// Talks to a server over HTTP.
    pub(crate) fn with_remote(
        remote: Remote,
        host: &mut impl Host,
        limit: Option<Duration>,
    ) -> Result<Self, Error> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(start_error)?;
        let signals = EndSignals::catch(&runtime)?;
        let connection = {
            let _inside = runtime.enter();
            Connection::Http(HttpConnection::new(remote))
        };
        let limit = limit.unwrap_or(GREETING).min(GREETING);
        Self::begin(runtime, signals, connection, None, host, limit)
    }

    fn begin(
        runtime: Runtime,
        mut signals: EndSignals,
        connection: Connection,
        server: Option<Arc<Server>>,
        host: &mut impl Host,
        limit: Duration,
    ) -> Result<Self, Error> {
        let begun = runtime.block_on(async {
            tokio::select! {
                biased;
                () = signals.next() => Err(Failure::Interrupted),
                begun = Session::begin(connection, CLIENT, host, limit) => Ok(begun?),
            }
        });
        match begun {
            Ok(session) => {
                Ok(Self { runtime, signals, session, server, is_busy: false, is_interrupted: false })
            }
            Err(failure) => {
                end_server(&runtime, server, true);
                runtime.shutdown_background();
                Err(failure.into())
            }
        }
    }

    /// The server of the project, if it is that one.
    pub(crate) fn server(&self) -> Option<&Arc<Server>> {
        self.server.as_ref()
    }

    /// Waits for something other than the server, unless a signal asks us to exit.
    pub(crate) fn wait_for<T>(&mut self, something: impl Future<Output = T>) -> Result<T, Failure> {
        let Self { runtime, signals, .. } = self;
        let came = runtime.block_on(async {
            tokio::select! {
                biased;
                () = signals.next() => Err(Failure::Interrupted),
                came = something => Ok(came),
            }
        });
        self.is_interrupted |= came.is_err();
        came
    }

    /// Whether the conversation goes on after an interrupted request: not if a signal asked the whole process to exit.
    pub(crate) fn goes_on(&mut self) -> bool {
        let goes_on = !self.signals.is_told_to_end();
        if goes_on {
            self.is_interrupted = false;
            EndSignals::go_on();
        }
        goes_on
    }

    /// The server's `initialize` result.
    pub(crate) fn greeting(&self) -> &Value {
        self.session.greeting()
    }

    /// The revision that is spoken with the server.
    pub(crate) fn revision(&self) -> &str {
        self.session.revision()
    }

    /// The result of a request, as the text that came. Without a limit there is no timeout.
    pub(crate) fn request(
        &mut self,
        method: &str,
        params: &impl serde::Serialize,
        host: &mut impl Host,
        limit: Option<Duration>,
    ) -> Result<Box<RawValue>, Failure> {
        let Self { runtime, signals, session, is_busy, is_interrupted, .. } = self;
        let answer = runtime.block_on(async {
            tokio::select! {
                biased;
                () = signals.next() => Err(Failure::Interrupted),
                answer = session.request(method, params, host, limit) => Ok(answer?),
            }
        });
        *is_busy |=
            matches!(answer, Err(Failure::Interrupted | Failure::Client(ClientError::TimedOut { .. })));
        if matches!(answer, Err(Failure::Interrupted)) {
            *is_interrupted = true;
            // A server that is gone need not be notified.
            let _ = session.cancel_last("interrupted");
        }
        answer
    }

    /// All entries of a list: `entries("tools/list", "tools", …)`.
    pub(crate) fn entries(
        &mut self,
        method: &str,
        member: &str,
        host: &mut impl Host,
        limit: Option<Duration>,
    ) -> Result<Vec<Value>, Failure> {
        let Self { runtime, signals, session, is_interrupted, .. } = self;
        let entries = runtime.block_on(async {
            tokio::select! {
                biased;
                () = signals.next() => Err(Failure::Interrupted),
                entries = session.entries(method, member, host, limit) => Ok(entries?),
            }
        });
        *is_interrupted |= matches!(entries, Err(Failure::Interrupted));
        entries
    }

    /// Closes the session, terminates all its processes, and removes its temporary files.
    pub(crate) fn end(self) {
        let Self { runtime, mut signals, session, server, is_busy, is_interrupted } = self;
        let session_ended =
            async { if is_interrupted { session.end_now().await } else { session.end().await } };
        runtime.block_on(async {
            tokio::select! {
                () = session_ended => {}
                // After a signal the session is dropped, which kills its processes.
                () = signals.next() => {}
            }
        });
        end_server(&runtime, server, is_busy);
        // Does not wait for a thread that reads what the user types.
        runtime.shutdown_background();
    }
}

/// Shuts down a server in this process. If work is left, this waits for it, and the runtime must stay able to reap
/// children.
fn end_server(runtime: &Runtime, server: Option<Arc<Server>>, is_busy: bool) {
    match server {
        Some(server) if is_busy => {
            let _ = runtime.block_on(runtime.spawn_blocking(move || server.end(GRACE)));
        }
        Some(server) => server.end(GRACE),
        None => {}
    }
}

/// Whether there was a server that could write something.
fn has_started(error: &(dyn std::error::Error + 'static)) -> bool {
    !matches!(error.downcast_ref(), Some(Failure::Client(ClientError::Start { .. })))
}

fn start_error(source: io::Error) -> Error {
    Error::Start { source }
}
