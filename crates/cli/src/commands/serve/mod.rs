//! `mcp-bash`: serves a project over standard input and output.

pub(crate) mod command;
pub(crate) mod http;
mod identity;
pub(crate) mod start_checks;
mod telemetry;
pub(crate) mod upkeep;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::commands::dev::{Holdings, View};
use crate::commands::serve::http::HttpArguments;
use crate::commands::serve::start_checks::StartChecks;
use crate::commands::welcome;
use crate::open::log_files::{self, LogFiles};
use crate::open::startup::{self, SettingProblems};
use crate::open::{needs, search_path};
use mcp_bash_files::shortage::is_shortage;
use mcp_bash_project::{Catalog, Changes, Location, Paths, Pauses, SentWarnings, Tool, no_project};
use mcp_bash_scripts::Scripts;
use mcp_bash_server::{KeyRing, Log, Server, StorePlace, Style};
use mcp_bash_settings::Settings;
use mcp_bash_terminal::tell;
use mcp_bash_transport::{Ending, Host, stdio};
use mcp_bash_wire::LogLevel;
use serde_json::json;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// What the first answer does not need begins so long after the start.
const AFTER_START: Duration = Duration::from_millis(10);

pub(crate) const EXAMPLES: &str = "\
Examples:
  mcp-bash serve ~/my-project                 over standard input and output, for a client that starts it
  mcp-bash serve --log-file /tmp/server.log   with a copy of the log
  mcp-bash serve --http                       over HTTP for programs on this machine, at http://127.0.0.1:8765/mcp
  mcp-bash serve --http unix:/run/user/1000/mcp.sock
  mcp-bash serve --http 0.0.0.0:8443 --tokens tokens --tls-cert cert.pem --tls-key key.pem
  mcp-bash serve --http 0.0.0.0:8080 --tokens tokens --behind-proxy --allow-host mcp.example.com

Exit codes: 0 the client closed the connection, or the server was asked to end and has answered everybody,
1 failed, 2 usage or a wrong setting. docs/http.md has more about HTTP.";

#[derive(Debug, Default, clap::Args)]
pub(crate) struct Arguments {
    /// The folder to serve, as with `--project-root`
    #[arg(value_name = "DIR", conflicts_with = "project_root")]
    pub(crate) folder: Option<PathBuf>,

    /// Also write the log to this file, which is created readable only by its owner
    #[arg(long, value_name = "FILE")]
    pub(crate) log_file: Option<PathBuf>,

    /// Write an audit log: to a file, or to `syslog`, `journal`, `stderr` or `store` [default: `MCPBASH_AUDIT`]
    #[arg(long, value_name = "WHERE")]
    pub(crate) audit: Option<String>,

    /// Comma-separated folders that scripts may work in, if the client names none
    #[arg(long, value_name = "DIRS")]
    roots: Option<String>,

    /// Keep tasks in this folder, or in a database that several servers share (`postgres://USER@HOST/DATABASE`)
    /// [default: `MCPBASH_STORE`, or a folder for each project]
    #[arg(long, value_name = "PLACE")]
    store: Option<PathBuf>,
}

impl Arguments {
    /// A folder that is named to be served is the project.
    pub(crate) fn take_folder(&mut self, common: &mut Common) -> Result<(), Error> {
        let Some(folder) = self.folder.take() else { return Ok(()) };
        match folder.metadata() {
            Ok(found) if found.is_dir() => common.project_root = Some(folder),
            Err(source) if is_shortage(&source) => return Err(Error::Start { source }),
            _ => return Err(Error::NoFolder(folder)),
        }
        Ok(())
    }
}

/// Creates the view that shows everything to the user.
pub(crate) type MakeView<'a> = &'a dyn Fn(&Settings) -> Result<View, Error>;

/// How a command that serves differs from the default.
#[derive(Default)]
pub(crate) struct Manner<'a> {
    /// Overrides settings, whatever the user has set.
    pub(crate) adjust: Option<&'a dyn Fn(&mut Settings)>,
    /// Creates the view that shows everything to the user.
    pub(crate) view: Option<MakeView<'a>>,
    /// Serves over HTTP, if these flags say so.
    pub(crate) http: Option<&'a HttpArguments>,
    /// The text for a user who starts it by hand.
    pub(crate) welcome: Option<fn(&Location, &Catalog) -> String>,
}

impl Manner<'_> {
    /// Applies what the command line says to the settings.
    fn apply(&self, arguments: &Arguments, settings: &mut Settings) {
        if let Some(audit) = &arguments.audit {
            settings.audit.send_to(audit);
        }
        if let Some(store) = &arguments.store {
            settings.tasks.store = Some(store.clone());
        }
        if let Some(adjust) = self.adjust {
            adjust(settings);
        }
    }

    /// An error that prevents it from serving. Over standard input and output a client waits for an answer.
    pub(crate) fn failed(&self, error: Error) -> Error {
        let is_over_http = self.http.is_some_and(HttpArguments::is_asked_for);
        if is_over_http { error } else { Error::Serving(error.into()) }
    }
}

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    run_as(common, arguments, &Manner::default())
}

pub(crate) fn run_as(common: &Common, arguments: &Arguments, manner: &Manner<'_>) -> Result<ExitCode, Error> {
    serve(common, arguments, manner).map_err(|error| manner.failed(error))
}

fn serve(common: &Common, arguments: &Arguments, manner: &Manner<'_>) -> Result<ExitCode, Error> {
    mcp_bash_memory::keep_little();
    let mut problems = SettingProblems::default();
    let (location, mut settings) =
        startup::settings_to_serve(common, arguments.roots.as_deref(), &mut problems)?;
    manner.apply(arguments, &mut settings);
    settings.audit.check(&settings.tasks).map_err(|why| Error::Setting(why.to_string()))?;
    let http = manner.http.map(|http| http.options(&settings.http)).transpose()?.flatten();
    let view = manner.view.map(|view| view(&settings)).transpose()?.map(Arc::new);
    let temporary = settings.logs.temporary.as_deref();
    // A folder that a setting names is created with those of the log.
    if temporary.is_none_or(Path::exists) {
        needs::check(temporary)?;
    }
    let mut log = open_log(&settings, arguments.log_file.as_ref(), view.as_ref())?;
    report_settings(&log, problems.all);
    if location == Location::Embedded {
        let here = std::env::current_dir().ok();
        log.event(
            LogLevel::Notice,
            "mcp.project",
            &no_project(here.as_deref()),
            &json!({ "serves": "built-in" }),
        );
    }
    let (runtime, scripts) = startup::scripts(settings)?;
    let paths = startup::paths_at(&location, &scripts)?;
    if let Err(error) = log_files::describe_surroundings(&scripts) {
        let details = json!({ "error": error.to_string() });
        log.event(LogLevel::Warning, "mcp.logs", "env-snapshot.json cannot be written", &details);
    }
    // Over HTTP many people share one client name, and each must receive them.
    if http.is_none() && location != Location::Embedded && !scripts.settings().static_registry {
        log = log.with_sent_warnings(SentWarnings::new(&paths));
    }
    let reading = scripts.reading(&paths);
    let keys = state_keys(scripts.settings())?;
    // A database may be away now, but its address and its certificate have to be readable.
    let named_by = if arguments.store.is_some() { "--store" } else { "MCPBASH_STORE" };
    StorePlace::of(&scripts.settings().tasks, &paths.root)
        .and_then(|place| place.map(StorePlace::tasks).transpose())
        .map_err(|error| Error::Setting(format!("{named_by}: {error}")))?;
    // Files that need a missing program wait until the search path is known.
    search_path::set_if_known(&scripts);
    let catalog = Catalog::read(&paths, &reading);
    if http.is_none() && std::io::stdin().is_terminal() {
        let in_progress = scripts.files_in_progress();
        let text = match manner.welcome {
            Some(welcome) => welcome(&location, &catalog),
            None => welcome::text(&location, &catalog, &in_progress.borrow(), scripts.settings().minimal),
        };
        tell(text.trim_end());
    }

    let needing = catalog.tools.items().iter().filter(|tool| !tool.options.variables.is_empty()).cloned();
    let needing: Vec<Arc<Tool>> = needing.collect();
    let mut server = Server::new(Arc::clone(&scripts), runtime.handle().clone(), catalog, reading, log);
    if let Some(keys) = keys {
        server = server.with_state_keys(keys);
    }
    if let Some(view) = &view {
        server = server.with_observer(Arc::clone(view) as _);
    }
    let server = Arc::new(server);
    report_panics(&server);
    telemetry::start(&server, http.as_ref());
    if let Some(named) = common.project_root.as_deref().or(server.settings().project_root.as_deref()) {
        server.served().note_named_path(named);
    }
    let watch = follow_project(&server, &scripts, view, &location);
    if http.is_some() {
        // A server that cannot watch is not ready.
        watch();
    } else {
        runtime.spawn(async move {
            tokio::time::sleep(AFTER_START).await;
            watch();
        });
    }
    upkeep::keep_private_folder(&scripts, runtime.handle());
    server.tend_tasks();
    let told = Arc::clone(&server);
    search_path::resolve_for(scripts, runtime.handle(), AFTER_START, move |scripts| {
        mcp_bash_runner::note_memory_kills();
        report_environment(&told, scripts, &paths, &needing);
        told.report_missing_programs();
        told.load_functions_again();
        told.start_workers_ahead();
        // Last, and in the background: no answer waits for it.
        scripts.state_dir().remove_folders_of_dead_servers();
    });
    let host = Host { give_up: exit, give_memory_back: mcp_bash_memory::give_memory_back };
    let ending = match http {
        None => {
            let ending = stdio::serve(Arc::clone(&server), &runtime, host);
            let ending = ending.map_err(|source| Error::Start { source })?;
            if ending.exit_code() == 0 && !server.settings().static_registry {
                server.served().store_registry_once();
            }
            ending
        }
        Some(options) => http::serve(common, &server, &runtime, options, host)?,
    };
    server.end_telemetry();
    // Here and not by returning: work that is still running in threads of the runtime is of no use any more.
    exit(ending)
}

/// Logs settings that have wrong values or unknown names.
fn report_settings(log: &Log, problems: Vec<String>) {
    let unknown = startup::unknown_names().into_iter().map(|unknown| unknown.to_string());
    for problem in problems.into_iter().chain(unknown) {
        log.event(LogLevel::Warning, "mcp.settings", &problem, &json!({}));
    }
}

/// The log, with the requested copies.
fn open_log(settings: &Settings, copy: Option<&PathBuf>, view: Option<&Arc<View>>) -> Result<Log, Error> {
    let style = match (std::io::stderr().is_terminal(), settings.logs.timestamps) {
        (true, true) => Style::Timed,
        (true, false) => Style::Plain,
        (false, _) => Style::Json,
    };
    let mut log = Log::new(settings.log_level, style);
    let files = log_files::make_folders(&settings.logs);
    let files = files.map_err(|(path, source)| Error::LogFile { path, source })?;
    let failed = |path: &Path| {
        let path = path.to_owned();
        |source| Error::LogFile { path, source }
    };
    if let Some(path) = copy.or(files.as_ref().map(|files| &files.log)) {
        log = log.with_file(path).map_err(failed(path))?;
    }
    if let Some(LogFiles { script_output, .. }) = &files {
        log = log.with_script_output(script_output).map_err(failed(script_output))?;
    }
    if let Some(view) = view {
        log = log.with_operator(view.operator());
    }
    Ok(log)
}

fn exit(ending: Ending) -> ! {
    #[cfg(all(target_os = "linux", not(mcp_bash_portable)))]
    mcp_bash_runner::release_watches_in_background();
    std::process::exit(ending.exit_code())
}

/// The keys that seal the state that clients of the stateless era bring back, if they are configured.
fn state_keys(settings: &Settings) -> Result<Option<KeyRing>, Error> {
    let keys = settings.parking.keys_file.as_deref().map(KeyRing::read).transpose();
    keys.map_err(|error| Error::Setting(format!("MCPBASH_STATE_KEYS_FILE: {error}")))
}

/// Keeps what is served in sync with the project, and the registry in sync with what is served: definitions from now on, other
/// changes when the returned function is called.
pub(crate) fn follow_project(
    server: &Arc<Server>,
    scripts: &Arc<Scripts>,
    view: Option<Arc<View>>,
    location: &Location,
) -> impl FnOnce() + Send + use<> {
    let checks = Arc::new(StartChecks::new(Arc::clone(scripts)));
    take_in_definitions(server, scripts, view.clone(), Arc::downgrade(&checks));
    let (staged, location) = (Arc::clone(scripts), location.clone());
    let restore: Restore = Arc::new(move |paths| startup::stage_again(&location, &staged, paths));
    let server = Arc::clone(server);
    move || {
        if !server.settings().static_registry {
            keep_watching(&server, view, checks, restore);
        }
    }
}

/// Starts to watch the project, and tries again if the system does not let us.
fn keep_watching(server: &Arc<Server>, view: Option<Arc<View>>, checks: Arc<StartChecks>, restore: Restore) {
    let Err(error) = watch_project(server, view.as_ref(), &checks, &restore) else { return };
    let details = json!({ "error": error.to_string() });
    let message = "changes of the project are not noticed; it is tried again";
    server.log().event(LogLevel::Error, "mcp.project", message, &details);
    let trying = Arc::clone(server);
    server.spawn(async move {
        let mut pauses = Pauses::new(Duration::from_secs(1), Duration::from_secs(5));
        loop {
            tokio::time::sleep(pauses.lengthen()).await;
            if watch_project(&trying, view.as_ref(), &checks, &restore).is_ok() {
                let message = "changes of the project are noticed";
                return trying.log().event(LogLevel::Notice, "mcp.project", message, &json!({}));
            }
        }
    });
}

/// Restores our own files of the project if they are gone.
type Restore = Arc<dyn Fn(&Paths) + Send + Sync>;

/// Starts the thread that follows the changes of the project.
fn watch_project(
    server: &Arc<Server>,
    view: Option<&Arc<View>>,
    checks: &Arc<StartChecks>,
    restore: &Restore,
) -> std::io::Result<()> {
    let (restore, paths) = (Arc::clone(restore), server.served().paths());
    let (watched, noticing) = (Arc::clone(server), Arc::clone(server));
    let (view, checks) = (view.cloned(), Arc::clone(checks));
    let mut first = true;
    let started = mcp_bash_project::watch(
        server.served().paths(),
        server.settings().scan_interval,
        move || noticing.served().note_change(),
        move |changes| {
            restore(&paths);
            let again = show_change(&watched, view.as_deref(), || watched.served().reload(changes));
            if std::mem::take(&mut first) {
                watched.served().store_registry();
            } else {
                watched.start_workers_ahead();
            }
            checks.run(&watched, changes);
            again
        },
    );
    server.served().note_watching(started.as_ref().err().map(ToString::to_string));
    started
}

/// Serves the definitions of each file as soon as it has reported them, and stores them after that.
fn take_in_definitions(
    server: &Arc<Server>,
    scripts: &Scripts,
    view: Option<Arc<View>>,
    checks: Weak<StartChecks>,
) {
    // The scripts belong to the server, and must not keep it alive.
    let server = Arc::downgrade(server);
    scripts.on_definitions(move |file| {
        let Some(server) = server.upgrade() else { return };
        let mut again = show_change(&server, view.as_deref(), || server.served().take_in(file));
        if again.is_some() {
            // The file was asked while it was being written, or its answer could not be applied: it is asked once more.
            let changes = Changes::to_files([file]);
            server.in_background(move |server| {
                while let Some(pause) = again {
                    std::thread::sleep(pause);
                    again = server.served().reload(&changes);
                }
            });
        }
        server.start_workers_ahead();
        // No answer waits for the disk.
        let (file, checks) = (file.to_owned(), checks.upgrade());
        server.in_background(move |server| {
            server.served().store_definitions();
            if let Some(checks) = checks {
                checks.run_again(server, &file);
            }
        });
    });
}

/// Shows the effect of a change on what is served.
fn show_change<T>(server: &Server, view: Option<&View>, change: impl FnOnce() -> T) -> T {
    let Some(view) = view else { return change() };
    let before = server.served().look(Holdings::of);
    let changed = change();
    view.reloaded(&before, &server.served().look(Holdings::of));
    changed
}

/// Reports once what would prevent scripts from running, or from finding what they need.
fn report_environment(server: &Server, scripts: &Scripts, paths: &Paths, tools: &[Arc<Tool>]) {
    let problems = scripts.environment_problems(paths, tools.iter().map(|tool| &**tool));
    if let Some(why) = problems.refusal {
        server.log().event(LogLevel::Error, "mcp.environment", &why, &json!({}));
    }
    for problem in problems.missing {
        server.log().event(LogLevel::Warning, "mcp.environment", &problem, &json!({}));
    }
}

/// A panic is logged like any other event: where it happened, not its message.
fn report_panics(server: &Arc<Server>) {
    let server = Arc::clone(server);
    std::panic::set_hook(Box::new(move |panic| {
        let place = panic.location().map(ToString::to_string);
        server.log().event(LogLevel::Critical, "mcp.panic", "a handler panicked", &json!({ "place": place }));
    }));
}
