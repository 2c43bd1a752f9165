//! Every setting this server reads from its environment, in one table.

mod resources;

pub use resources::ResourceSettings;

use mcp_bash_wire::{Limits, LogLevel};
use std::fmt;
use std::time::Duration;

/// What is in force. Read once, at the start.
#[expect(clippy::struct_excessive_bools, reason = "each is a switch that people set by its own name")]
#[derive(Debug, Clone)]
pub struct Settings {
    pub limits: Limits,
    pub max_concurrent: usize,
    pub max_waiting: usize,
    pub max_waiting_bytes: usize,
    pub max_unread_bytes: usize,
    /// What is held for one client at once.
    pub max_connection_bytes: usize,
    /// What is held at once in all.
    pub max_process_bytes: usize,
    pub log_level: LogLevel,
    pub minimal: bool,
    pub compat_batches: bool,
    pub default_timeout: Duration,
    pub max_timeout: Duration,
    pub progress_extends_timeout: bool,
    pub output_limit: usize,
    /// How much text one result says; 0 where it may say all of it.
    pub text_limit: usize,
    pub prompt_limit: usize,
    pub payload_threshold: usize,
    pub registration_limit: u64,
    pub registry_limit: usize,
    pub static_registry: bool,
    pub allow_hooks: bool,
    pub strict_providers: bool,
    pub provider_timeout: Duration,
    /// The folders that scripts may work in, where somebody says so.
    pub roots: Option<String>,
    pub roots_timeout: Duration,
    /// How often a project is looked at that cannot be watched.
    pub scan_interval: Duration,
    pub resources: ResourceSettings,
    pub environment_mode: EnvironmentMode,
    pub tool_policy: ToolPolicy,
    /// Where scripts find their programs, where somebody says so.
    pub search_path: Option<String>,
    pub stderr_tail: usize,
    pub progress_per_minute: u32,
    pub logs_per_minute: u32,
    pub live_progress: bool,
    pub shutdown_timeout: Duration,
    /// `None` where the server waits for its client for ever.
    pub idle_timeout: Option<Duration>,
    /// `None` where the server outlives whoever started it.
    pub orphan_check: Option<Duration>,
    pub remote_token: Option<RemoteToken>,
    pub debug_payloads: bool,
    pub preserve_state: bool,
    pub control_groups: bool,
}

/// How much of our own environment scripts get to see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvironmentMode {
    /// What every program needs, and what is ours.
    Minimal,
    /// These names as well.
    Allowlist(Vec<String>),
    /// All of it.
    Inherit,
}

/// Which tools may run at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolPolicy {
    /// The names that may run, where there is a list.
    allowed: Option<Vec<String>>,
    /// Whether tools may run where there is no list.
    by_default: bool,
}

impl ToolPolicy {
    /// Why the tool may not run, and which setting would allow it.
    pub fn blocks(&self, tool: &str) -> Option<String> {
        match &self.allowed {
            None if self.by_default => None,
            None => Some(format!(
                "MCPBASH_TOOL_ALLOW_DEFAULT is `deny` and there is no list; add `{tool}` to MCPBASH_TOOL_ALLOWLIST"
            )),
            Some(names) if names.iter().any(|name| name == tool || name == "*" || name == "all") => None,
            Some(_) => Some(format!("it is not in MCPBASH_TOOL_ALLOWLIST; add `{tool}` there to allow it")),
        }
    }
}

/// The secret that every request must carry in its `_meta`.
#[derive(Clone)]
pub struct RemoteToken {
    pub secret: String,
    pub key: String,
    pub fallback_key: String,
    pub max_failures_per_minute: u32,
}

impl fmt::Debug for RemoteToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RemoteToken").field("key", &self.key).finish_non_exhaustive()
    }
}

/// A value that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingProblem {
    pub name: &'static str,
    pub problem: String,
    /// Whether the server must not start: using the default instead would be unsafe.
    pub fatal: bool,
}

impl fmt::Display for SettingProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.name, self.problem)
    }
}

/// One row of the reference: a variable, its default, and what it does.
#[derive(Debug)]
pub struct Setting {
    pub name: &'static str,
    pub default: &'static str,
    pub meaning: &'static str,
}

const fn row(name: &'static str, default: &'static str, meaning: &'static str) -> Setting {
    Setting { name, default, meaning }
}

/// The setting that bounds what is held for one client.
pub const CONNECTION_SETTING: &str = "MCPBASH_MAX_CONNECTION_BYTES";

/// The setting that bounds what is held in all.
pub const PROCESS_SETTING: &str = "MCPBASH_MAX_PROCESS_BYTES";

/// The reference table. [`Settings::read`] refuses to look up a name that is not in it.
pub const TABLE: &[Setting] = &[
    row("MCPBASH_PROJECT_ROOT", "", "The project to serve, where `--project-root` does not say"),
    row("MCPBASH_TOOLS_DIR", "tools", "Where the tools are, relative to the project"),
    row("MCPBASH_RESOURCES_DIR", "resources", "Where the resources are, relative to the project"),
    row("MCPBASH_PROMPTS_DIR", "prompts", "Where the prompts are, relative to the project"),
    row("MCPBASH_COMPLETIONS_DIR", "completions", "Where the scripts are that complete arguments"),
    row("MCPBASH_PROVIDERS_DIR", "providers", "Where the project's own scripts are that read resources"),
    row("MCPBASH_SERVER_DIR", "server.d", "Where the settings of the project are, relative to it"),
    row("MCPBASH_REGISTRY_DIR", ".registry", "Where the registries are written, relative to the project"),
    row(
        "MCPBASH_LOG_LEVEL",
        "info",
        "The least serious events that are logged: `debug` to `emergency`; `true` means `debug`",
    ),
    row("MCPBASH_LOG_LEVEL_DEFAULT", "info", "The log level where `MCPBASH_LOG_LEVEL` is not set"),
    row("MCPBASH_MAX_CONCURRENT_REQUESTS", "16", "How many calls run side by side; the rest wait in order"),
    row("MCPBASH_MAX_WAITING_REQUESTS", "1024", "How many calls may wait; more are refused"),
    row(
        "MCPBASH_MAX_WAITING_BYTES",
        "67108864",
        "How many bytes of ids and params the waiting calls may hold together",
    ),
    row(
        "MCPBASH_MAX_UNREAD_BYTES",
        "16777216",
        "How many bytes of answers may wait for a client that does not read; then we stop reading too",
    ),
    row(
        CONNECTION_SETTING,
        "268435456",
        "How many bytes are held for one client at once: what it sends, what scripts print and ask, what waits to be read; \
         beyond, calls are refused and large results become errors that say so",
    ),
    row(PROCESS_SETTING, "1073741824", "The same for all clients together"),
    row("MCPBASH_MAX_MESSAGE_BYTES", "33554432", "The longest message a client may send"),
    row(
        "MCPBASH_MAX_JSON_DEPTH",
        "100",
        "How deep objects and arrays of a message may stand inside each other",
    ),
    row("MCPBASH_MAX_NUMBER_LENGTH", "1000", "The longest number literal in a message, in characters"),
    row(
        "MCPBASH_DEFAULT_TOOL_TIMEOUT",
        "30",
        "Seconds a tool may run, where neither its call nor its metadata says",
    ),
    row(
        "MCPBASH_MAX_TIMEOUT_SECS",
        "600",
        "The longest time that a call may ask for, and that progress may extend it to, in seconds",
    ),
    row(
        "MCPBASH_PROGRESS_EXTENDS_TIMEOUT",
        "false",
        "`true` lets progress and logs start a tool's time anew, unless its metadata says otherwise",
    ),
    row("MCPBASH_MAX_TOOL_OUTPUT_SIZE", "10485760", "The most a tool may print, in bytes"),
    row(
        "MCPBASH_MAX_RESULT_TEXT_BYTES",
        "1048576",
        "Longer texts are cut to their beginning and end, and can be read as a resource for ten minutes; 0 means never",
    ),
    row(
        "MCPBASH_MAX_PROMPT_BYTES",
        "10485760",
        "The largest template of a prompt, output of its script, or text of all its messages and files, in bytes",
    ),
    row(
        "MCPBASH_TOOL_ALLOWLIST",
        "",
        "The only tools that may run, with commas or blanks between them; `*` for all",
    ),
    row("MCPBASH_TOOL_ALLOW_DEFAULT", "allow", "`deny` lets no tool run that is not in the list"),
    row(
        "MCPBASH_PATH",
        "",
        "The `PATH` of scripts; without it the server's own, and where that is bare the login shell's as well",
    ),
    row(
        "MCPBASH_TOOL_ENV_MODE",
        "minimal",
        "What scripts see of the server's environment: `minimal`, `allowlist` or `inherit`",
    ),
    row(
        "MCPBASH_TOOL_ENV_ALLOWLIST",
        "",
        "Names that scripts see besides the minimal ones, in the mode `allowlist`",
    ),
    row("MCPBASH_TOOL_ENV_INHERIT_ALLOW", "false", "Must be `true` for the mode `inherit`"),
    row(
        "MCPBASH_REGISTRY_MAX_BYTES",
        "104857600",
        "The largest registry that is written or read back, in bytes",
    ),
    row(
        "MCPBASH_STATIC_REGISTRY",
        "false",
        "`true` serves what the registry holds without looking at the project",
    ),
    row(
        "MCP_TOOLS_TTL",
        "5",
        "Seconds between looks at the tools, where the file system does not tell of changes",
    ),
    row("MCP_RESOURCES_TTL", "5", "The same for the resources"),
    row("MCP_RESOURCES_TEMPLATES_TTL", "5", "The same for the templates of resources"),
    row(
        "MCP_RESOURCES_ROOTS",
        "",
        "Folders whose files may be read as resources besides the project's own, with colons between them",
    ),
    row(
        "MCPBASH_MAX_RESOURCE_BYTES",
        "",
        "The largest resource that is read, in bytes; without it, `MCPBASH_MAX_TOOL_OUTPUT_SIZE` counts",
    ),
    row(
        "MCPBASH_RESOURCES_POLL_INTERVAL_SECS",
        "2",
        "Seconds between looks at a subscribed resource that is no file; 0 means never",
    ),
    row(
        "MCPBASH_DEFAULT_SUBSCRIBE_TIMEOUT",
        "120",
        "Seconds the first reading of a resource may take that is subscribed to",
    ),
    row("MCPBASH_HTTPS_ALLOW_HOSTS", "", "The hosts that resources are read from over https"),
    row("MCPBASH_HTTPS_DENY_HOSTS", "", "Hosts that are never read from over https"),
    row("MCPBASH_HTTPS_ALLOW_ALL", "false", "`true` reads from every public host where no list names some"),
    row("MCPBASH_HTTPS_TIMEOUT", "15", "Seconds a resource may take over https, at most 60"),
    row("MCPBASH_HTTPS_MAX_BYTES", "10485760", "The largest resource over https, in bytes, at most 20 MiB"),
    row("MCPBASH_HTTPS_USER_AGENT", "", "What https servers are told about who asks"),
    row("MCPBASH_ENABLE_GIT_PROVIDER", "false", "`true` reads resources from repositories (`git+https:`)"),
    row("MCPBASH_GIT_ALLOW_HOSTS", "", "The hosts that repositories are read from"),
    row("MCPBASH_GIT_DENY_HOSTS", "", "Hosts that repositories are never read from"),
    row("MCPBASH_GIT_ALLOW_ALL", "false", "`true` reads from every public host where no list names some"),
    row("MCPBASH_GIT_TIMEOUT", "30", "Seconds a resource may take from a repository, at most 60"),
    row("MCPBASH_GIT_MAX_KB", "51200", "The largest repository that is read, in KB, at most 1048576"),
    row(
        "MCPBASH_PROVIDER_ENV_MODE",
        "isolate",
        "What `providers/` scripts see of the server's environment: `isolate`, `allowlist` or `inherit`",
    ),
    row(
        "MCPBASH_PROVIDER_ENV_ALLOWLIST",
        "",
        "Names that they see besides the minimal ones, in the mode `allowlist`",
    ),
    row("MCPBASH_PROVIDER_ENV_INHERIT_ALLOW", "false", "Must be `true` for the mode `inherit` of providers"),
    row("MCP_PROMPTS_TTL", "5", "The same for the prompts; the shortest of these times counts for all"),
    row(
        "MCPBASH_ROOTS",
        "",
        "The folders that scripts may work in where the client names none, with colons between them; relative to the project",
    ),
    row(
        "MCPBASH_ROOTS_REQUEST_TIMEOUT",
        "5",
        "Seconds the client may take to say which folders scripts may work in",
    ),
    row("MCPBASH_HEALTH_TIMEOUT_SECS", "5", "Seconds that `server.d/health-checks.sh` may take"),
    row("MCPBASH_PROVIDER_TIMEOUT", "10", "Seconds an executable may take to say which tools it provides"),
    row(
        "MCPBASH_STRICT_PROVIDERS",
        "false",
        "`true` makes `tools/list` fail when an executable does not say which tools it provides",
    ),
    row("MCPBASH_ALLOW_PROJECT_HOOKS", "false", "`true` lets `server.d/register.sh` run"),
    row(
        "MCPBASH_MAX_MANUAL_REGISTRY_BYTES",
        "1048576",
        "The longest `server.d/register.json`, and the most `register.sh` may print, in bytes",
    ),
    row(
        "MCPBASH_ENV_PAYLOAD_THRESHOLD",
        "65536",
        "Arguments, metadata and roots of more bytes reach a script as files, not as variables; at most 131000",
    ),
    row(
        "MCPBASH_TOOL_STDERR_TAIL_LIMIT",
        "4096",
        "How much of the end of a tool's standard error is reported, in bytes",
    ),
    row(
        "MCPBASH_MAX_PROGRESS_PER_MIN",
        "100",
        "Progress notifications per request and minute; the last one is always sent; 0 means no limit",
    ),
    row("MCPBASH_MAX_LOGS_PER_MIN", "100", "Log notifications per request and minute; 0 means no limit"),
    row(
        "MCPBASH_ENABLE_LIVE_PROGRESS",
        "true",
        "`false` keeps progress and logs until just before the answer",
    ),
    row("MCPBASH_SHUTDOWN_TIMEOUT", "5", "Seconds between `shutdown` and the end, if `exit` does not come"),
    row(
        "MCPBASH_IDLE_TIMEOUT",
        "3600",
        "Seconds without a message from the client before the server ends; 0 means never",
    ),
    row("MCPBASH_IDLE_TIMEOUT_ENABLED", "true", "`false` switches the idle timeout off"),
    row(
        "MCPBASH_ORPHAN_CHECK_ENABLED",
        "true",
        "`false` lets the server outlive the process that started it",
    ),
    row(
        "MCPBASH_ORPHAN_CHECK_INTERVAL",
        "30",
        "Seconds between looks for the parent, where its end cannot be awaited",
    ),
    row("MCPBASH_CI_MODE", "false", "`true` switches the idle timeout and the orphan check off"),
    row("MCPBASH_FORCE_MINIMAL", "false", "`true` serves lifecycle, ping and logging only"),
    row("MCPBASH_COMPAT_BATCHES", "false", "`true` accepts batches whatever the revision"),
    row(
        "MCPBASH_REMOTE_TOKEN",
        "",
        "A secret of at least 32 characters that every request must carry in its `_meta`",
    ),
    row("MCPBASH_REMOTE_TOKEN_KEY", "mcpbash/remoteToken", "Where in `_meta` the secret stands"),
    row("MCPBASH_REMOTE_TOKEN_FALLBACK_KEY", "remoteToken", "Where else it may stand; empty for nowhere"),
    row(
        "MCPBASH_REMOTE_TOKEN_MAX_FAILURES_PER_MIN",
        "10",
        "Wrong secrets per minute before their answers are slowed down; 0 means never",
    ),
    row(
        "MCPBASH_DEBUG_PAYLOADS",
        "false",
        "`true` writes every message, with secrets removed, to a private folder",
    ),
    row("MCPBASH_PRESERVE_STATE", "false", "`true` keeps the private folder when the server ends"),
    row(
        "MCPBASH_CONTROL_GROUPS",
        "true",
        "`false` makes no control groups (cgroup v2) for calls, where the server may make them",
    ),
];

impl Settings {
    /// Reads the settings from `lookup`. What cannot be used is reported, and its default stands.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> (Self, Vec<SettingProblem>) {
        let mut reader = Reader { lookup, problems: Vec::new() };
        let settings = reader.settings();
        (settings, reader.problems)
    }
}

struct Reader<L> {
    lookup: L,
    problems: Vec<SettingProblem>,
}

impl<L: Fn(&str) -> Option<String>> Reader<L> {
    fn settings(&mut self) -> Settings {
        let ci = self.flag("MCPBASH_CI_MODE");
        let idle = self.seconds("MCPBASH_IDLE_TIMEOUT", 0, YEAR);
        let idle_enabled = self.flag("MCPBASH_IDLE_TIMEOUT_ENABLED") && !ci && !idle.is_zero();
        let orphan = self.seconds("MCPBASH_ORPHAN_CHECK_INTERVAL", 1, YEAR);
        let orphan_enabled = match self.given("MCPBASH_ORPHAN_CHECK_ENABLED") {
            Some(_) => self.flag("MCPBASH_ORPHAN_CHECK_ENABLED"),
            None => !ci,
        };
        Settings {
            limits: Limits {
                message_bytes: self.size("MCPBASH_MAX_MESSAGE_BYTES", 1024),
                depth: self.size("MCPBASH_MAX_JSON_DEPTH", 4),
                number_length: self.size("MCPBASH_MAX_NUMBER_LENGTH", 20),
            },
            max_concurrent: self.size("MCPBASH_MAX_CONCURRENT_REQUESTS", 1),
            max_waiting: self.size("MCPBASH_MAX_WAITING_REQUESTS", 0),
            max_waiting_bytes: self.size("MCPBASH_MAX_WAITING_BYTES", 0),
            max_unread_bytes: self.size("MCPBASH_MAX_UNREAD_BYTES", 4096),
            max_connection_bytes: self.size(CONNECTION_SETTING, 1024 * 1024),
            max_process_bytes: self.size(PROCESS_SETTING, 1024 * 1024),
            log_level: self.log_level(),
            minimal: self.flag("MCPBASH_FORCE_MINIMAL"),
            compat_batches: self.flag("MCPBASH_COMPAT_BATCHES"),
            default_timeout: self.seconds("MCPBASH_DEFAULT_TOOL_TIMEOUT", 1, YEAR),
            max_timeout: self.seconds("MCPBASH_MAX_TIMEOUT_SECS", 1, YEAR),
            progress_extends_timeout: self.flag("MCPBASH_PROGRESS_EXTENDS_TIMEOUT"),
            output_limit: self.size("MCPBASH_MAX_TOOL_OUTPUT_SIZE", 1),
            text_limit: self.size("MCPBASH_MAX_RESULT_TEXT_BYTES", 0),
            prompt_limit: self.size("MCPBASH_MAX_PROMPT_BYTES", 1),
            payload_threshold: self.size("MCPBASH_ENV_PAYLOAD_THRESHOLD", 0).min(LARGEST_VARIABLE),
            resources: self.resources(),
            environment_mode: self.environment_mode(),
            tool_policy: self.tool_policy(),
            search_path: self.given("MCPBASH_PATH"),
            registry_limit: self.size("MCPBASH_REGISTRY_MAX_BYTES", 1024),
            static_registry: self.flag("MCPBASH_STATIC_REGISTRY"),
            allow_hooks: self.flag("MCPBASH_ALLOW_PROJECT_HOOKS"),
            strict_providers: self.flag("MCPBASH_STRICT_PROVIDERS"),
            roots: self.given("MCPBASH_ROOTS"),
            roots_timeout: self.seconds("MCPBASH_ROOTS_REQUEST_TIMEOUT", 1, 600),
            provider_timeout: self.seconds("MCPBASH_PROVIDER_TIMEOUT", 1, YEAR),
            scan_interval: [
                "MCP_TOOLS_TTL",
                "MCP_RESOURCES_TTL",
                "MCP_RESOURCES_TEMPLATES_TTL",
                "MCP_PROMPTS_TTL",
            ]
            .map(|name| self.seconds(name, 1, YEAR))
            .into_iter()
            .fold(Duration::MAX, Duration::min),
            registration_limit: self.number("MCPBASH_MAX_MANUAL_REGISTRY_BYTES", 1, 1 << 40),
            stderr_tail: self.size("MCPBASH_TOOL_STDERR_TAIL_LIMIT", 0),
            progress_per_minute: self.rate("MCPBASH_MAX_PROGRESS_PER_MIN"),
            logs_per_minute: match self.given("MCPBASH_MAX_LOGS_PER_MIN") {
                Some(_) => self.rate("MCPBASH_MAX_LOGS_PER_MIN"),
                None => self.rate("MCPBASH_MAX_PROGRESS_PER_MIN"),
            },
            live_progress: self.flag("MCPBASH_ENABLE_LIVE_PROGRESS"),
            shutdown_timeout: self.seconds("MCPBASH_SHUTDOWN_TIMEOUT", 1, YEAR),
            idle_timeout: idle_enabled.then_some(idle),
            orphan_check: orphan_enabled.then_some(orphan),
            remote_token: self.remote_token(),
            debug_payloads: self.flag("MCPBASH_DEBUG_PAYLOADS"),
            preserve_state: self.flag("MCPBASH_PRESERVE_STATE"),
            control_groups: self.flag("MCPBASH_CONTROL_GROUPS"),
        }
    }

    fn given(&self, name: &str) -> Option<String> {
        debug_assert!(TABLE.iter().any(|setting| setting.name == name), "{name} is not in the table");
        (self.lookup)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    fn text(&self, name: &'static str) -> String {
        self.given(name).unwrap_or_else(|| default_of(name).to_owned())
    }

    fn refuse(&mut self, name: &'static str, problem: String) {
        if !self.problems.iter().any(|known| known.name == name) {
            self.problems.push(SettingProblem { name, problem, fatal: false });
        }
    }

    fn flag(&mut self, name: &'static str) -> bool {
        let default = default_of(name) == "true";
        let Some(value) = self.given(name) else { return default };
        match value.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => true,
            "false" | "0" | "no" | "off" => false,
            _ => {
                self.refuse(name, format!("must be `true` or `false`, not `{value}`; `{default}` is used"));
                default
            }
        }
    }

    fn number(&mut self, name: &'static str, least: u64, most: u64) -> u64 {
        let default = default_of(name).parse().unwrap_or(least);
        let Some(value) = self.given(name) else { return default };
        match value.parse() {
            Ok(number) if (least..=most).contains(&number) => number,
            _ => {
                let range = format!("must be a whole number from {least} to {most}");
                self.refuse(name, format!("{range}, not `{value}`; {default} is used"));
                default
            }
        }
    }

    fn size(&mut self, name: &'static str, least: u64) -> usize {
        usize::try_from(self.number(name, least, 1 << 40)).unwrap_or(usize::MAX)
    }

    fn rate(&mut self, name: &'static str) -> u32 {
        u32::try_from(self.number(name, 0, u32::MAX.into())).unwrap_or(u32::MAX)
    }

    fn seconds(&mut self, name: &'static str, least: u64, most: u64) -> Duration {
        Duration::from_secs(self.number(name, least, most))
    }

    fn log_level(&mut self) -> LogLevel {
        let name = if self.given("MCPBASH_LOG_LEVEL").is_some() {
            "MCPBASH_LOG_LEVEL"
        } else {
            "MCPBASH_LOG_LEVEL_DEFAULT"
        };
        let value = self.text(name).to_ascii_lowercase();
        let known = match value.as_str() {
            "true" | "1" => Some(LogLevel::Debug),
            "false" | "0" => Some(LogLevel::Info),
            "warn" => Some(LogLevel::Warning),
            other => LogLevel::parse(other),
        };
        known.unwrap_or_else(|| {
            self.refuse(name, format!("must be one of {}, not `{value}`; `info` is used", LogLevel::names()));
            LogLevel::Info
        })
    }

    fn environment_mode(&mut self) -> EnvironmentMode {
        const MODE: &str = "MCPBASH_TOOL_ENV_MODE";
        match self.text(MODE).to_ascii_lowercase().as_str() {
            "minimal" => EnvironmentMode::Minimal,
            "allowlist" => EnvironmentMode::Allowlist(names(&self.text("MCPBASH_TOOL_ENV_ALLOWLIST"))),
            "inherit" if self.flag("MCPBASH_TOOL_ENV_INHERIT_ALLOW") => EnvironmentMode::Inherit,
            "inherit" => {
                let problem =
                    "is `inherit`, which needs MCPBASH_TOOL_ENV_INHERIT_ALLOW=true; `minimal` is used";
                self.refuse(MODE, problem.to_owned());
                EnvironmentMode::Minimal
            }
            other => {
                let problem =
                    format!("must be `minimal`, `allowlist` or `inherit`, not `{other}`; `minimal` is used");
                self.refuse(MODE, problem);
                EnvironmentMode::Minimal
            }
        }
    }

    fn tool_policy(&mut self) -> ToolPolicy {
        let allowed = self.given("MCPBASH_TOOL_ALLOWLIST").map(|list| names(&list));
        let by_default = match self.text("MCPBASH_TOOL_ALLOW_DEFAULT").to_ascii_lowercase().as_str() {
            "allow" | "all" => true,
            "deny" => false,
            other => {
                // What was meant as a restriction must not end as none.
                let problem = format!("must be `allow` or `deny`, not `{other}`; `deny` is used");
                self.refuse("MCPBASH_TOOL_ALLOW_DEFAULT", problem);
                false
            }
        };
        ToolPolicy { allowed, by_default }
    }

    fn remote_token(&mut self) -> Option<RemoteToken> {
        const LEAST: usize = 32;
        let secret = self.given("MCPBASH_REMOTE_TOKEN")?;
        if secret.chars().count() < LEAST {
            // The value is a secret, if a weak one: it is not repeated.
            self.problems.push(SettingProblem {
                name: "MCPBASH_REMOTE_TOKEN",
                problem: format!(
                    "must have at least {LEAST} characters; the server does not start with a weak one"
                ),
                fatal: true,
            });
        }
        Some(RemoteToken {
            secret,
            key: self.text("MCPBASH_REMOTE_TOKEN_KEY"),
            // Set to nothing on purpose, it means nowhere.
            fallback_key: (self.lookup)("MCPBASH_REMOTE_TOKEN_FALLBACK_KEY")
                .unwrap_or_else(|| default_of("MCPBASH_REMOTE_TOKEN_FALLBACK_KEY").to_owned()),
            max_failures_per_minute: self.rate("MCPBASH_REMOTE_TOKEN_MAX_FAILURES_PER_MIN"),
        })
    }
}

/// The names of a list with commas or blanks between them.
fn names(list: &str) -> Vec<String> {
    list.split([',', ' ', '\t', '\n']).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// No process can be given a variable of 128 KiB, its name included.
const LARGEST_VARIABLE: usize = 131_000;

const YEAR: u64 = 365 * 24 * 3600;

fn default_of(name: &str) -> &'static str {
    TABLE.iter().find(|setting| setting.name == name).map_or("", |setting| setting.default)
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
    fn what_cannot_be_used_is_named_and_the_default_stands() {
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
}
