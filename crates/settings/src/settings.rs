//! Settings: the effective values of all rows.

use crate::environment::EnvironmentMode;
use crate::folders::ProjectFolders;
use crate::given::Source;
use crate::http::HttpSettings;
use crate::logs::LogSettings;
use crate::logs::audit::AuditSettings;
use crate::parking::ParkingSettings;
use crate::policy::{AllowedNames, ToolPolicy};
use crate::problem::SettingProblem;
use crate::project::ProjectSettings;
use crate::reader::Reader;
use crate::resources::ResourceSettings;
use crate::table::{self, PREFIX};
use crate::tasks::TaskSettings;
use crate::token::RemoteToken;
use crate::workers::WorkerSettings;
use mcp_bash_launchers::Launchers;
use mcp_bash_sandbox::{Declaration, Mode};
use mcp_bash_secrets::Sources;
use mcp_bash_wire::{Limits, LogLevel};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

/// The effective settings. Read once, at the start.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that people set by its own name")]
#[derive(Debug, Clone)]
pub struct Settings {
    /// The project to serve, if set.
    pub project_root: Option<PathBuf>,
    pub folders: ProjectFolders,
    pub limits: Limits,
    pub max_concurrent: usize,
    pub max_waiting: usize,
    pub max_waiting_bytes: usize,
    pub parking: ParkingSettings,
    pub tasks: TaskSettings,
    pub max_unread_bytes: usize,
    /// The most memory that is held for one client.
    pub max_connection_bytes: usize,
    /// The most memory that is held in all.
    pub max_process_bytes: usize,
    pub log_level: LogLevel,
    /// Whether that level is set explicitly.
    pub has_log_level: bool,
    /// Whether clients receive absolute paths.
    pub log_verbose: bool,
    pub minimal: bool,
    /// Whether clients of the handshake era must begin with `initialize`. No setting changes it: without it, a client
    /// gets what its revision does not know.
    pub needs_handshake: bool,
    pub compat_batches: bool,
    pub default_timeout: Duration,
    pub max_timeout: Duration,
    pub progress_extends_timeout: bool,
    pub output_limit: usize,
    /// The longest text of one result; 0 for no limit.
    pub text_limit: usize,
    pub prompt_limit: usize,
    pub payload_threshold: usize,
    pub workers: WorkerSettings,
    pub registration_limit: u64,
    pub registry_limit: usize,
    pub static_registry: bool,
    pub registry_refresh_path: Option<PathBuf>,
    pub allow_hooks: bool,
    pub ask_all_executables: bool,
    pub strict_providers: bool,
    pub provider_timeout: Duration,
    /// How long a list waits for files that report their own entries.
    pub list_wait: Duration,
    /// The timeout of the project's own health checks.
    pub health_timeout: Duration,
    /// The folders that scripts may work in, if set.
    pub roots: Option<String>,
    pub roots_timeout: Duration,
    /// How often a project that cannot be watched is scanned.
    pub scan_interval: Duration,
    pub resources: ResourceSettings,
    pub environment_mode: EnvironmentMode,
    pub tool_policy: ToolPolicy,
    /// Whether nothing is served without `server.d/policy.yaml`.
    pub policy_required: bool,
    /// The tools that need no consent where the client cannot ask for it.
    pub unconfirmed: AllowedNames,
    /// The sandbox of every script, if the operator decides it.
    pub sandbox: Option<Mode>,
    /// The file to which is added what processes used of their sandboxes.
    pub sandbox_usage: Option<PathBuf>,
    /// The sandbox of scripts that declare none, according to the project; or why that is not known.
    pub project_sandbox: Result<Option<Declaration>, String>,
    /// The only launchers that tools may use, if the operator decides it.
    pub allowed_launchers: Option<Vec<String>>,
    /// What starts tools on other hosts, according to the project; or why that is not known.
    pub project_launchers: Result<Launchers, String>,
    /// The operator's file of secrets, if it is not in the usual place.
    pub secrets_file: Option<PathBuf>,
    /// Where secrets are according to the project.
    pub project_secrets: Sources,
    /// Where scripts find their programs, if set.
    pub search_path: Option<String>,
    /// Whether scripts find the programs that their project contains.
    pub project_programs: bool,
    /// The variables that, according to the project, all of its scripts need.
    pub project_variables: Vec<String>,
    /// Whether the project stays as it is: no registry and no compiled Python files are written.
    pub leaves_no_trace: bool,
    /// The variables of our own environment that were chosen for scripts at the start: `server.d/env.sh` does not
    /// change them.
    pub chosen_variables: Vec<String>,
    pub stderr_tail: usize,
    /// Whether the results of successful scripts say how their process ended.
    pub result_meta_always: bool,
    pub progress_per_minute: u32,
    pub logs_per_minute: u32,
    pub live_progress: bool,
    pub shutdown_timeout: Duration,
    /// `None` if the server waits for its client for ever.
    pub idle_timeout: Option<Duration>,
    /// `None` if the server outlives the process that started it.
    pub orphan_check: Option<Duration>,
    pub remote_token: Option<RemoteToken>,
    pub http: HttpSettings,
    pub debug_payloads: bool,
    pub logs: LogSettings,
    pub audit: AuditSettings,
    pub control_groups: bool,
}

impl Settings {
    /// Reads the settings from our environment. A value that cannot be used is reported, and its default is used.
    pub fn from_environment() -> (Self, Vec<SettingProblem>) {
        let variables = own_variables();
        let mut reader = Reader::new(&variables);
        (Self::from_rows(&mut reader), reader.problems)
    }

    /// The same, including project settings, which count if no variable is set.
    pub fn from_environment_and(project: &ProjectSettings) -> (Self, Vec<SettingProblem>) {
        Self::read_with_project(own_variables(), project)
    }

    pub(crate) fn read_with_project(
        variables: impl Fn(&str) -> Option<OsString>,
        project: &ProjectSettings,
    ) -> (Self, Vec<SettingProblem>) {
        let mut reader = Reader::with_project(&variables, Some(project.values()));
        (Self::from_rows(&mut reader), reader.problems)
    }

    /// Reads the settings from `lookup` instead.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> (Self, Vec<SettingProblem>) {
        let lookup = |name: &str| lookup(name).map(Into::into);
        let mut reader = Reader::new(&lookup);
        (Self::from_rows(&mut reader), reader.problems)
    }

    /// The largest resource that is read, in bytes.
    pub fn max_resource_bytes(&self) -> u64 {
        self.resources.max_bytes as u64
    }

    pub(crate) fn from_rows(reader: &mut Reader<'_>) -> Self {
        let ci = reader.value(&table::CI_MODE);
        let (idle_timeout, orphan_check) = watchers(reader, ci);
        Self {
            project_root: reader.value(&table::PROJECT_ROOT),
            folders: ProjectFolders::from_rows(reader),
            limits: Limits {
                message_bytes: reader.value(&table::MAX_MESSAGE_BYTES),
                depth: reader.value(&table::MAX_JSON_DEPTH),
                number_length: reader.value(&table::MAX_NUMBER_LENGTH),
            },
            max_concurrent: reader.value(&table::MAX_CONCURRENT_REQUESTS),
            max_waiting: reader.value(&table::MAX_WAITING_REQUESTS),
            max_waiting_bytes: reader.value(&table::MAX_WAITING_BYTES),
            parking: ParkingSettings::from_rows(reader),
            tasks: TaskSettings::from_rows(reader),
            max_unread_bytes: reader.value(&table::MAX_UNREAD_BYTES),
            max_connection_bytes: reader.value(&table::MAX_CONNECTION_BYTES),
            max_process_bytes: reader.value(&table::MAX_PROCESS_BYTES),
            log_level: log_level(reader, ci),
            has_log_level: reader.is_set(&table::LOG_LEVEL),
            log_verbose: reader.value(&table::LOG_VERBOSE),
            minimal: reader.value(&table::FORCE_MINIMAL),
            needs_handshake: true,
            compat_batches: reader.value(&table::COMPAT_BATCHES),
            default_timeout: reader.value(&table::DEFAULT_TOOL_TIMEOUT),
            max_timeout: reader.value(&table::MAX_TIMEOUT),
            progress_extends_timeout: reader.value(&table::PROGRESS_EXTENDS_TIMEOUT),
            output_limit: reader.value(&table::MAX_TOOL_OUTPUT_SIZE),
            text_limit: reader.value(&table::MAX_RESULT_TEXT_BYTES),
            prompt_limit: reader.value(&table::MAX_PROMPT_BYTES),
            workers: WorkerSettings::from_rows(reader),
            payload_threshold: reader.value(&table::ENV_PAYLOAD_THRESHOLD),
            registration_limit: reader.value(&table::MAX_MANUAL_REGISTRY_BYTES) as u64,
            registry_limit: reader.value(&table::REGISTRY_MAX_BYTES),
            static_registry: reader.value(&table::STATIC_REGISTRY),
            registry_refresh_path: reader.value(&table::REGISTRY_REFRESH_PATH),
            allow_hooks: reader.value(&table::ALLOW_PROJECT_HOOKS),
            ask_all_executables: reader.value(&table::ASK_ALL_EXECUTABLES),
            strict_providers: reader.value(&table::STRICT_PROVIDERS),
            provider_timeout: reader.value(&table::PROVIDER_TIMEOUT),
            list_wait: reader.value(&table::LIST_WAIT),
            health_timeout: reader.value(&table::HEALTH_TIMEOUT),
            roots: reader.value(&table::ROOTS),
            roots_timeout: reader.value(&table::ROOTS_REQUEST_TIMEOUT),
            scan_interval: scan_interval(reader),
            resources: ResourceSettings::from_rows(reader),
            environment_mode: EnvironmentMode::of_tools(reader),
            tool_policy: ToolPolicy::from_rows(reader),
            policy_required: reader.value(&table::POLICY),
            unconfirmed: AllowedNames::unconfirmed(reader),
            search_path: reader.value(&table::SEARCH_PATH),
            project_programs: reader.value(&table::PROJECT_PROGRAMS),
            sandbox: reader.value(&table::SANDBOX),
            sandbox_usage: reader.value(&table::SANDBOX_USAGE),
            project_sandbox: Ok(None),
            allowed_launchers: reader.value(&table::LAUNCHERS),
            project_launchers: Ok(Launchers::default()),
            secrets_file: reader.value(&table::SECRETS_FILE),
            project_secrets: Sources::default(),
            project_variables: Vec::new(),
            leaves_no_trace: false,
            chosen_variables: Vec::new(),
            stderr_tail: stderr_tail(reader),
            result_meta_always: reader.value(&table::RESULT_META_ALWAYS),
            progress_per_minute: reader.value(&table::MAX_PROGRESS_PER_MINUTE),
            logs_per_minute: reader.value(&table::MAX_LOGS_PER_MINUTE),
            live_progress: reader.value(&table::ENABLE_LIVE_PROGRESS),
            shutdown_timeout: reader.value(&table::SHUTDOWN_TIMEOUT),
            idle_timeout,
            orphan_check,
            remote_token: RemoteToken::from_rows(reader),
            http: HttpSettings::from_rows(reader),
            debug_payloads: reader.value(&table::DEBUG_PAYLOADS),
            logs: LogSettings::from_rows(reader, ci),
            audit: AuditSettings::from_rows(reader),
            control_groups: reader.value(&table::CONTROL_GROUPS),
        }
    }
}

/// The variables of our environment that can be settings, read once: asking the system for each setting takes longer.
fn own_variables() -> impl Fn(&str) -> Option<OsString> {
    let ours = |name: &OsStr| name.as_encoded_bytes().starts_with(PREFIX.as_bytes());
    let variables: Vec<_> = std::env::vars_os().filter(|(name, _)| ours(name)).collect();
    move |name| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
}

/// After how long without a message the server shuts down, and how often it checks its parent.
fn watchers(reader: &mut Reader<'_>, ci: bool) -> (Option<Duration>, Option<Duration>) {
    let by_ci = Source::Variable(table::CI_MODE.name);
    let idle = reader.value(&table::IDLE_TIMEOUT);
    let mut ends_idle = reader.value(&table::IDLE_TIMEOUT_ENABLED);
    if ci {
        reader.overrule(&table::IDLE_TIMEOUT_ENABLED, "false", by_ci);
        ends_idle = false;
    }
    let interval = reader.value(&table::ORPHAN_CHECK_INTERVAL);
    let mut ends_orphaned = reader.value(&table::ORPHAN_CHECK_ENABLED);
    // An explicit value counts, whatever the mode.
    let has_own_value =
        reader.is_set(&table::ORPHAN_CHECK_ENABLED) || reader.is_refused(&table::ORPHAN_CHECK_ENABLED);
    if ci && !has_own_value {
        reader.overrule(&table::ORPHAN_CHECK_ENABLED, "false", by_ci);
        ends_orphaned = false;
    }
    ((ends_idle && !idle.is_zero()).then_some(idle), ends_orphaned.then_some(interval))
}

fn log_level(reader: &mut Reader<'_>, ci: bool) -> LogLevel {
    // It is the default of the other; reading it by itself reports its problems.
    reader.value(&table::LOG_LEVEL_DEFAULT);
    let (level, verbose) = (reader.value(&table::LOG_LEVEL), reader.value(&table::CI_VERBOSE));
    let is_set = reader.is_set(&table::LOG_LEVEL) || reader.is_set(&table::LOG_LEVEL_DEFAULT);
    if !ci || !verbose || is_set {
        return level;
    }
    reader.overrule(&table::LOG_LEVEL, "debug", Source::Variable(table::CI_VERBOSE.name));
    LogLevel::Debug
}

/// How many bytes of the end of standard error are kept.
fn stderr_tail(reader: &mut Reader<'_>) -> usize {
    let limit = reader.value(&table::TOOL_STDERR_TAIL_LIMIT);
    if reader.value(&table::TOOL_STDERR_CAPTURE) {
        return limit;
    }
    reader.overrule(&table::TOOL_STDERR_TAIL_LIMIT, "0", Source::Variable(table::TOOL_STDERR_CAPTURE.name));
    0
}

/// The shortest scan interval counts for all kinds. More than one scan a second helps nothing.
fn scan_interval(reader: &mut Reader<'_>) -> Duration {
    let rows =
        [&table::TOOLS_TTL, &table::RESOURCES_TTL, &table::RESOURCES_TEMPLATES_TTL, &table::PROMPTS_TTL];
    rows.map(|row| reader.value(row))
        .into_iter()
        .fold(Duration::MAX, Duration::min)
        .max(Duration::from_secs(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &[(&str, &str)]) -> (Settings, Vec<SettingProblem>) {
        Settings::read(|name| {
            given.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn defaults_are_those_of_the_table() {
        let (settings, problems) = read(&[]);
        assert!(problems.is_empty(), "{problems:?}");
        assert_eq!(settings.max_concurrent, 16);
        assert_eq!(settings.limits.message_bytes, Limits::default().message_bytes);
        assert_eq!(settings.idle_timeout, Some(Duration::from_secs(3600)));
        assert_eq!(settings.orphan_check, Some(Duration::from_secs(30)));
        assert!(settings.live_progress && !settings.minimal);
    }

    #[test]
    fn an_invalid_value_is_named_and_the_default_applies() {
        let (settings, problems) = read(&[
            ("MCPBASH_MAX_CONCURRENT_REQUESTS", "many"),
            ("MCPBASH_FORCE_MINIMAL", "perhaps"),
            ("MCPBASH_LOG_LEVEL", "loud"),
        ]);
        assert_eq!(
            (settings.max_concurrent, settings.minimal, settings.log_level),
            (16, false, LogLevel::Info)
        );
        let named: Vec<_> = problems.iter().map(|problem| problem.name).collect();
        assert_eq!(named.len(), 3, "{problems:?}");
        assert!(problems.iter().all(|problem| !problem.fatal));
    }

    #[test]
    fn an_invalid_value_is_named_even_if_nothing_depends_on_it() {
        let (_, problems) = read(&[
            ("MCPBASH_TOOL_ENV_INHERIT_ALLOW", "maybe"),
            ("MCPBASH_REMOTE_TOKEN_MAX_FAILURES_PER_MIN", "-1"),
            ("MCPBASH_LOG_LEVEL_DEFAULT", "loud"),
            ("MCPBASH_LOG_LEVEL", "error"),
        ]);
        assert_eq!(problems.len(), 3, "{problems:?}");
    }

    #[test]
    fn a_weak_token_is_fatal_and_not_repeated() {
        let (_, problems) = read(&[("MCPBASH_REMOTE_TOKEN", "hunter2")]);
        assert!(problems[0].fatal);
        assert!(!problems[0].to_string().contains("hunter2"));
    }

    #[test]
    fn zero_and_ci_mode_switch_the_watchers_off() {
        assert_eq!(read(&[("MCPBASH_IDLE_TIMEOUT", "0")]).0.idle_timeout, None);
        let (ci, _) = read(&[("MCPBASH_CI_MODE", "true")]);
        assert_eq!((ci.idle_timeout, ci.orphan_check), (None, None));
        let (ci, _) = read(&[("MCPBASH_CI_MODE", "true"), ("MCPBASH_ORPHAN_CHECK_ENABLED", "true")]);
        assert!(ci.orphan_check.is_some());
    }

    #[test]
    fn the_log_level_is_its_default_where_it_is_not_set() {
        assert_eq!(read(&[("MCPBASH_LOG_LEVEL_DEFAULT", "error")]).0.log_level, LogLevel::Error);
        for (text, level) in [("true", LogLevel::Debug), ("0", LogLevel::Info), ("WARN", LogLevel::Warning)] {
            let given = [("MCPBASH_LOG_LEVEL", text), ("MCPBASH_LOG_LEVEL_DEFAULT", "error")];
            assert_eq!(read(&given).0.log_level, level);
        }
    }

    #[test]
    fn the_shortest_time_between_looks_counts() {
        let (settings, _) = read(&[("MCP_TOOLS_TTL", "9"), ("MCP_PROMPTS_TTL", "3")]);
        assert_eq!(settings.scan_interval, Duration::from_secs(3));
        let (settings, problems) = read(&[("MCP_RESOURCES_TTL", "0")]);
        assert_eq!((settings.scan_interval, problems.len()), (Duration::from_secs(1), 0));
    }
}
