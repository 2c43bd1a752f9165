//! Settings table: one row for each setting, in the order of the reference.

use crate::kind::{
    Bytes, Count, File, Flag, Folder, Folders, Hosts, LARGEST, Names, Optional, PerMinute, Place, Seconds,
    Secret, Text, TextOrNothing, Word, YEAR, bytes, count, kilobytes, per_minute, seconds,
};
use crate::row::{Row, Setting, row, row_like};
use crate::words::{
    ALLOW_OR_DENY, CLIENT_NAMES, ClientName, Mode, ON_AUDIT_ERROR, POLICY_MODES, PROVIDER_MODES,
    RECORDED_ARGUMENTS, REQUIRED_OR_OPTIONAL, RecordedArguments, SANDBOX_MODES, TOOL_MODES,
};
use mcp_bash_audit::OnError;
use mcp_bash_sandbox::Mode as SandboxMode;
use mcp_bash_wire::LogLevel;

/// Each row becomes a constant by which it is read, and all of them together become the table.
macro_rules! table {
    ($($constant:ident: $kind:ty = $row:expr;)*) => {
        $(pub(crate) static $constant: Row<$kind> = $row;)*

        /// Every setting.
        pub static TABLE: &[&dyn Setting] = &[$(&$constant),*];
    };
}

/// The beginning of the name of each setting.
pub(crate) const PREFIX: &str = "MCP";

/// The setting that limits the memory of one client.
pub const CONNECTION_SETTING: &str = MAX_CONNECTION_BYTES.name;

/// The setting that limits memory in all.
pub const PROCESS_SETTING: &str = MAX_PROCESS_BYTES.name;

/// No process can be given a variable of 128 KiB or more, including its name.
const LARGEST_VARIABLE: u64 = 131_000;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

const LEVELS: Word<LogLevel> = Word {
    words: &[
        ("debug", LogLevel::Debug),
        ("info", LogLevel::Info),
        ("notice", LogLevel::Notice),
        ("warning", LogLevel::Warning),
        ("error", LogLevel::Error),
        ("critical", LogLevel::Critical),
        ("alert", LogLevel::Alert),
        ("emergency", LogLevel::Emergency),
    ],
    synonyms: &[
        ("true", LogLevel::Debug),
        ("1", LogLevel::Debug),
        ("false", LogLevel::Info),
        ("0", LogLevel::Info),
        ("warn", LogLevel::Warning),
    ],
    instead: None,
};

table! {
    PROJECT_ROOT: Optional<Folder> = row("MCPBASH_PROJECT_ROOT", Optional(Folder), "",
        "The project to serve, where `--project-root` does not say");
    TOOLS_DIR: Folder = row("MCPBASH_TOOLS_DIR", Folder, "tools",
        "Where the tools are, relative to the project");
    RESOURCES_DIR: Folder = row("MCPBASH_RESOURCES_DIR", Folder, "resources",
        "Where the resources are, relative to the project");
    PROMPTS_DIR: Folder = row("MCPBASH_PROMPTS_DIR", Folder, "prompts",
        "Where the prompts are, relative to the project");
    COMPLETIONS_DIR: Folder = row("MCPBASH_COMPLETIONS_DIR", Folder, "completions",
        "Where the scripts are that complete arguments");
    PROVIDERS_DIR: Folder = row("MCPBASH_PROVIDERS_DIR", Folder, "providers",
        "Where the project's own scripts are that read resources");
    SERVER_DIR: Folder = row("MCPBASH_SERVER_DIR", Folder, "server.d",
        "Where the settings of the project are, relative to it");
    REGISTRY_DIR: Folder = row("MCPBASH_REGISTRY_DIR", Folder, ".registry",
        "Where the registries are written, relative to the project");

    LOG_LEVEL: Word<LogLevel> = row_like("MCPBASH_LOG_LEVEL", LEVELS, &LOG_LEVEL_DEFAULT,
        "The least serious events that are logged; `true` means `debug`");
    LOG_LEVEL_DEFAULT: Word<LogLevel> = row("MCPBASH_LOG_LEVEL_DEFAULT", LEVELS, "info",
        "The log level where `MCPBASH_LOG_LEVEL` is not set");
    LOG_VERBOSE: Flag = row("MCPBASH_LOG_VERBOSE", Flag, "false",
        "`true` tells clients absolute paths, and not only those relative to the project");

    LOG_TIMESTAMP: Flag = row("MCPBASH_LOG_TIMESTAMP", Flag, "false",
        "`true` begins log lines on a terminal with the time, as all other log lines have it anyway");
    LOG_DIR: Optional<Folder> = row("MCPBASH_LOG_DIR", Optional(Folder), "",
        "A folder for `mcp-bash.log`, for `script-output.log`, which has what scripts print, and for the files of single calls");
    AUDIT: Optional<Text> = row("MCPBASH_AUDIT", Optional(Text), "",
        "Where the audit log goes (`--audit`): a file, `syslog`, `journal`, `stderr`, or `store` for the database that servers share; empty or `off` for nowhere");
    AUDIT_ARGUMENTS: Word<RecordedArguments> = row("MCPBASH_AUDIT_ARGUMENTS", RECORDED_ARGUMENTS, "hash",
        "What the audit log has of arguments: a keyed `hash`, all of them (`full`) or `none`; a project can select some (`audit` in server.meta.json)");
    AUDIT_DURABLE: Flag = row("MCPBASH_AUDIT_DURABLE", Flag, "false",
        "`true` sends an answer only when its line in the audit file or the store survives a loss of power");
    AUDIT_ON_ERROR: Word<OnError> = row("MCPBASH_AUDIT_ON_ERROR", ON_AUDIT_ERROR, "refuse",
        "What happens to calls while the audit log cannot be written: `refuse` or `continue`");
    AUDIT_MAX_BYTES: Bytes = row("MCPBASH_AUDIT_MAX_BYTES", bytes(4 * KIB, LARGEST), "67108864",
        "How large an audit file may become before a new one is begun");
    AUDIT_MAX_AGE: Count = row("MCPBASH_AUDIT_MAX_AGE_HOURS", count(0), "0",
        "After how many hours a new audit file is begun; 0 means never");
    AUDIT_KEEP_FILES: Count = row("MCPBASH_AUDIT_KEEP_FILES", count(1), "10",
        "How many audit files are kept besides the one that is written to");
    TMP_ROOT: Optional<Folder> = row("MCPBASH_TMP_ROOT", Optional(Folder), "",
        "Where the private folder of the server is made, in place of `TMPDIR`");

    MAX_CONCURRENT_REQUESTS: Count = row("MCPBASH_MAX_CONCURRENT_REQUESTS", count(1), "16",
        "How many calls run side by side; the rest wait in order");
    MAX_WAITING_REQUESTS: Count = row("MCPBASH_MAX_WAITING_REQUESTS", count(0), "1024",
        "How many calls may wait; more are refused");
    MAX_WAITING_BYTES: Bytes = row("MCPBASH_MAX_WAITING_BYTES", bytes(0, LARGEST), "67108864",
        "How many bytes of ids and params the waiting calls may hold together");
    MAX_PARKED_CALLS: Count = row("MCPBASH_MAX_PARKED_CALLS", count(1), "256",
        "How many calls wait for an answer of their user or its model without a place among the running ones; beyond, the \
         oldest of the caller that has the most is ended");
    MAX_PARKED_CALLS_PER_CALLER: Count = row("MCPBASH_MAX_PARKED_CALLS_PER_CALLER", count(1), "64",
        "The same for one caller, whose oldest is ended");
    PARKED_TIMEOUT: Seconds = row("MCPBASH_PARKED_TIMEOUT_SECS", seconds(1, YEAR), "600",
        "How long a client of 2026-07-28 may take to come back with an answer");
    STATE_TIMEOUT: Seconds = row("MCPBASH_STATE_TIMEOUT_SECS", seconds(1, YEAR), "3600",
        "The same for a script that may be run again (`replay`), whose process may be gone by then");
    STATE_KEYS_FILE: Optional<Text> = row("MCPBASH_STATE_KEYS_FILE", Optional(Text), "",
        "A file with the keys that seal `requestState`, one `ID:base64` a line, which only its owner may read; else they \
         are made at the start, and no other process can open what this one has sealed");
    STORE: Optional<Place> = row("MCPBASH_STORE", Optional(Place), "",
        "The folder that keeps tasks, which only its owner may use, or the address of a database that several servers share \
         (`postgres://USER@HOST/DATABASE`); else a folder for each project beneath `$XDG_STATE_HOME/mcp-bash` \
         (`~/.local/state/mcp-bash`)");
    TASK_TTL: Seconds = row("MCPBASH_TASK_TTL_SECS", seconds(1, YEAR), "3600",
        "How long a task and its result are kept after its call; a client of 2025-11-25 may ask for less");
    MAX_TASKS_PER_CALLER: Count = row("MCPBASH_MAX_TASKS_PER_CALLER", count(1), "1000",
        "How many tasks of one caller are kept at once; more are refused");
    MAX_RUNNING_TASKS: Count = row("MCPBASH_MAX_RUNNING_TASKS", count(0), "0",
        "How many tasks run at a time in all servers that share a store; others wait for their turn. 0 is no limit");
    MAX_RUNNING_TASKS_PER_CALLER: Count = row("MCPBASH_MAX_RUNNING_TASKS_PER_CALLER", count(0), "0",
        "The same for the tasks of one caller");
    MAX_UNREAD_BYTES: Bytes = row("MCPBASH_MAX_UNREAD_BYTES", bytes(4 * KIB, LARGEST), "16777216",
        "How many bytes of answers may wait for a client that does not read; then we stop reading too");
    MAX_CONNECTION_BYTES: Bytes = row("MCPBASH_MAX_CONNECTION_BYTES", bytes(MIB, LARGEST), "268435456",
        "How many bytes are held for one client at once: what it sends, what scripts print and ask, what \
         waits to be read; beyond, calls are refused and large results become errors that say so");
    MAX_PROCESS_BYTES: Bytes = row("MCPBASH_MAX_PROCESS_BYTES", bytes(MIB, LARGEST), "1073741824",
        "The same for all clients together");
    MAX_MESSAGE_BYTES: Bytes = row("MCPBASH_MAX_MESSAGE_BYTES", bytes(KIB, LARGEST), "33554432",
        "The longest message a client may send");
    MAX_JSON_DEPTH: Count = row("MCPBASH_MAX_JSON_DEPTH", count(4), "100",
        "How deep objects and arrays of a message may stand inside each other");
    MAX_NUMBER_LENGTH: Count = row("MCPBASH_MAX_NUMBER_LENGTH", count(20), "1000",
        "The longest number literal in a message, in characters");

    DEFAULT_TOOL_TIMEOUT: Seconds = row("MCPBASH_DEFAULT_TOOL_TIMEOUT", seconds(1, YEAR), "30",
        "How long a tool may run, where neither its call nor its metadata says");
    MAX_TIMEOUT: Seconds = row("MCPBASH_MAX_TIMEOUT_SECS", seconds(1, YEAR), "600",
        "The longest time that a call may ask for, and that progress extends it to without `maxTimeoutSecs`");
    PROGRESS_EXTENDS_TIMEOUT: Flag = row("MCPBASH_PROGRESS_EXTENDS_TIMEOUT", Flag, "false",
        "`true` lets progress and logs restart a tool's timeout, unless its metadata says otherwise");
    MAX_TOOL_OUTPUT_SIZE: Bytes = row("MCPBASH_MAX_TOOL_OUTPUT_SIZE", bytes(1, LARGEST), "10485760",
        "The most a tool may print");
    MAX_RESULT_TEXT_BYTES: Bytes = row("MCPBASH_MAX_RESULT_TEXT_BYTES", bytes(0, LARGEST), "100000",
        "Longer texts are cut to their beginning and end, and can be read as a resource for ten minutes; \
         0 means never");
    MAX_PROMPT_BYTES: Bytes = row("MCPBASH_MAX_PROMPT_BYTES", bytes(1, LARGEST), "10485760",
        "The largest template of a prompt, output of its script, or text of all its messages and files");
    WORKER_START: Seconds = row("MCPBASH_WORKER_START_SECS", seconds(1, YEAR), "60",
        "How long a worker may take until it is ready for its first call");
    LIST_WAIT: Seconds = row("MCPBASH_LIST_WAIT_SECS", seconds(0, YEAR), "5",
        "How long a list waits for function files that are being loaded and providers that are being asked; what comes \
         later is announced");
    WORKER_PROCESSES: Optional<Count> = row("MCPBASH_WORKER_PROCESSES", Optional(count(1)), "",
        "How many workers of one script there may be at once, where its author does not say; without it one for each \
         processor, and 2 to 8");
    WORKER_IDLE: Seconds = row("MCPBASH_WORKER_IDLE_SECS", seconds(0, YEAR), "300",
        "How long a worker stays without a call, where its author does not say; 0 means for ever");
    WORKER_MEMORY: Count = row("MCPBASH_WORKER_MEMORY_MB", count(1), "1024",
        "A worker that needs more megabytes after a call is replaced, and one that needs twice as much is killed, where its \
         author does not say");
    TOOL_ALLOWLIST: Optional<Names> = row("MCPBASH_TOOL_ALLOWLIST", Optional(Names), "",
        "The only tools that may run; `*` for all");
    TOOL_ALLOW_DEFAULT: Word<bool> = row("MCPBASH_TOOL_ALLOW_DEFAULT", ALLOW_OR_DENY, "allow",
        "`deny` lets no tool run that is not in the list");
    POLICY: Word<bool> = row("MCPBASH_POLICY", POLICY_MODES, "optional",
        "`required` serves no tool, resource or prompt while the project has no `server.d/policy.yaml`");
    ALLOW_UNCONFIRMED: Names = row("MCPBASH_ALLOW_UNCONFIRMED", Names, "",
        "The tools that run without the consent they ask for (`confirm`) where the client cannot ask its user; `true` for all");
    SEARCH_PATH: Optional<Folders> = row("MCPBASH_PATH", Optional(Folders), "",
        "The `PATH` of scripts; without it the server's own, and where that is bare the login shell's as well");
    PROJECT_PROGRAMS: Flag = row("MCPBASH_PROJECT_PROGRAMS", Flag, "true",
        "`false` keeps `.venv/bin`, `venv/bin` and `node_modules/.bin` of the project off the `PATH` of its scripts");
    TOOL_ENV_MODE: Word<Mode> = row("MCPBASH_TOOL_ENV_MODE", TOOL_MODES, "minimal",
        "What scripts see of the server's environment");
    TOOL_ENV_ALLOWLIST: Names = row("MCPBASH_TOOL_ENV_ALLOWLIST", Names, "",
        "What scripts see besides the minimal variables; set alone, it means the mode `allowlist`");
    TOOL_ENV_INHERIT_ALLOW: Flag = row("MCPBASH_TOOL_ENV_INHERIT_ALLOW", Flag, "false",
        "Must be `true` for the mode `inherit`; else no script is run in it");
    SANDBOX: Optional<Word<SandboxMode>> = row("MCPBASH_SANDBOX", Optional(SANDBOX_MODES), "",
        "The sandbox of every script, whatever the project says: `on` gives one to those that declare `off` or nothing, `strict` also refuses what this machine cannot enforce, `off` turns all off");
    SANDBOX_USAGE: Optional<File> = row("MCPBASH_SANDBOX_USAGE", Optional(File), "",
        "A file to which is added what each process used of its sandbox, as lines of JSON; `validate --run-tests` reads such a file");
    LAUNCHERS: Optional<Names> = row("MCPBASH_LAUNCHERS", Optional(Names), "",
        "The only launchers that tools may use: a name, or `ssh:HOST`; `off` for none. A tool with another is refused, and not run here instead");
    SECRETS_FILE: Optional<File> = row("MCPBASH_SECRETS_FILE", Optional(File), "",
        "The operator's own file of secrets, which `mcp-bash secret set` writes; without it `mcp-bash/secrets.json` in `XDG_CONFIG_HOME` or `~/.config`");

    REGISTRY_MAX_BYTES: Bytes = row("MCPBASH_REGISTRY_MAX_BYTES", bytes(1, LARGEST), "104857600",
        "The largest registry that is written or read back");
    STATIC_REGISTRY: Flag = row("MCPBASH_STATIC_REGISTRY", Flag, "false",
        "`true` serves what the registry holds without looking at the project");
    REGISTRY_REFRESH_PATH: Optional<Folder> = row("MCPBASH_REGISTRY_REFRESH_PATH", Optional(Folder), "",
        "The only part of the project that `registry refresh` reads, where `--filter` does not say");
    TOOLS_TTL: Seconds = row("MCP_TOOLS_TTL", seconds(0, YEAR), "5",
        "Time between looks at the tools, where the file system does not tell of changes; 0 means each second");
    RESOURCES_TTL: Seconds = row("MCP_RESOURCES_TTL", seconds(0, YEAR), "5",
        "The same for the resources");
    RESOURCES_TEMPLATES_TTL: Seconds = row("MCP_RESOURCES_TEMPLATES_TTL", seconds(0, YEAR), "5",
        "The same for the templates of resources");
    PROMPTS_TTL: Seconds = row("MCP_PROMPTS_TTL", seconds(0, YEAR), "5",
        "The same for the prompts; the shortest of these times counts for all");

    RESOURCES_ROOTS: Optional<Folders> = row("MCP_RESOURCES_ROOTS", Optional(Folders), "",
        "The only folders whose files may be read as resources, in place of the project's own");
    MAX_RESOURCE_BYTES: Bytes =
        row_like("MCPBASH_MAX_RESOURCE_BYTES", bytes(1, LARGEST), &MAX_TOOL_OUTPUT_SIZE,
        "The largest resource that is read");
    RESOURCES_POLL_INTERVAL: Seconds = row("MCPBASH_RESOURCES_POLL_INTERVAL_SECS", seconds(0, YEAR), "2",
        "Time between looks at a subscribed resource that is no file; 0 means never");
    SUBSCRIBE_TIMEOUT: Seconds = row("MCPBASH_DEFAULT_SUBSCRIBE_TIMEOUT", seconds(1, YEAR), "120",
        "How long the first reading of a resource may take that is subscribed to");
    HTTPS_ALLOW_HOSTS: Hosts = row("MCPBASH_HTTPS_ALLOW_HOSTS", Hosts::Allowed, "",
        "The hosts that resources are read from over https");
    HTTPS_DENY_HOSTS: Hosts = row("MCPBASH_HTTPS_DENY_HOSTS", Hosts::Denied, "",
        "Hosts that are never read from over https");
    HTTPS_ALLOW_ALL: Flag = row("MCPBASH_HTTPS_ALLOW_ALL", Flag, "false",
        "`true` reads from every public host where no list names some");
    HTTPS_TIMEOUT: Seconds = row("MCPBASH_HTTPS_TIMEOUT", seconds(1, 60).capped(), "15",
        "How long a resource may take over https");
    HTTPS_MAX_BYTES: Bytes = row("MCPBASH_HTTPS_MAX_BYTES", bytes(1, 20 * MIB).capped(), "10485760",
        "The largest resource over https, within `MCPBASH_MAX_RESOURCE_BYTES`");
    HTTPS_USER_AGENT: Optional<Text> = row("MCPBASH_HTTPS_USER_AGENT", Optional(Text), "",
        "What https servers are told about who asks");
    ENABLE_GIT_PROVIDER: Flag = row("MCPBASH_ENABLE_GIT_PROVIDER", Flag, "false",
        "`true` reads resources from repositories (`git+https:`)");
    GIT_ALLOW_HOSTS: Hosts = row("MCPBASH_GIT_ALLOW_HOSTS", Hosts::Allowed, "",
        "The hosts that repositories are read from");
    GIT_DENY_HOSTS: Hosts = row("MCPBASH_GIT_DENY_HOSTS", Hosts::Denied, "",
        "Hosts that repositories are never read from");
    GIT_ALLOW_ALL: Flag = row("MCPBASH_GIT_ALLOW_ALL", Flag, "false",
        "`true` reads from every public host where no list names some");
    GIT_TIMEOUT: Seconds = row("MCPBASH_GIT_TIMEOUT", seconds(1, 60).capped(), "30",
        "How long a resource may take from a repository");
    GIT_MAX_KB: Count = row("MCPBASH_GIT_MAX_KB", kilobytes(1, 1_048_576).capped(), "51200",
        "The largest repository that is read");
    PROVIDER_ENV_MODE: Word<Mode> = row("MCPBASH_PROVIDER_ENV_MODE", PROVIDER_MODES, "isolate",
        "What `providers/` scripts see of the server's environment");
    PROVIDER_ENV_ALLOWLIST: Names = row("MCPBASH_PROVIDER_ENV_ALLOWLIST", Names, "",
        "What they see besides the minimal variables; set alone, it means the mode `allowlist`");
    PROVIDER_ENV_INHERIT_ALLOW: Flag = row("MCPBASH_PROVIDER_ENV_INHERIT_ALLOW", Flag, "false",
        "Must be `true` for the mode `inherit` of providers; else none is run in it");

    ROOTS: Optional<Folders> = row("MCPBASH_ROOTS", Optional(Folders), "",
        "The folders that scripts may work in where the client names none; relative to the project");
    ROOTS_REQUEST_TIMEOUT: Seconds = row("MCPBASH_ROOTS_REQUEST_TIMEOUT", seconds(1, 600), "5",
        "How long the client may take to say which folders scripts may work in");
    HEALTH_TIMEOUT: Seconds = row("MCPBASH_HEALTH_TIMEOUT_SECS", seconds(1, YEAR), "5",
        "How long `server.d/health-checks.sh` may take");
    PROVIDER_TIMEOUT: Seconds = row("MCPBASH_PROVIDER_TIMEOUT", seconds(1, YEAR), "10",
        "How long an executable may take to say which tools it provides");
    ASK_ALL_EXECUTABLES: Flag = row("MCPBASH_ASK_ALL_EXECUTABLES", Flag, "false",
        "`true` runs each executable directly in `tools/` that is not described with `list`, to learn which tools \
         it provides; otherwise only those that speak of `inputSchema` or are marked");
    STRICT_PROVIDERS: Flag = row("MCPBASH_STRICT_PROVIDERS", Flag, "false",
        "`true` makes `tools/list` fail when an executable does not say which tools it provides");
    ALLOW_PROJECT_HOOKS: Flag = row("MCPBASH_ALLOW_PROJECT_HOOKS", Flag, "false",
        "`true` lets `server.d/register.sh` run");
    MAX_MANUAL_REGISTRY_BYTES: Bytes =
        row("MCPBASH_MAX_MANUAL_REGISTRY_BYTES", bytes(1, LARGEST), "1048576",
        "The longest `server.d/register.json`, and the most `register.sh` may print");
    ENV_PAYLOAD_THRESHOLD: Bytes =
        row("MCPBASH_ENV_PAYLOAD_THRESHOLD", bytes(0, LARGEST_VARIABLE).capped(), "65536",
        "Arguments, metadata and roots of more bytes reach a script as files, not as variables");
    TOOL_STDERR_TAIL_LIMIT: Bytes = row("MCPBASH_TOOL_STDERR_TAIL_LIMIT", bytes(0, LARGEST), "4096",
        "How much of the end of a tool's standard error is reported");
    TOOL_STDERR_CAPTURE: Flag = row("MCPBASH_TOOL_STDERR_CAPTURE", Flag, "true",
        "`false` reports nothing of a tool's standard error, to clients and in `script-output.log`");
    RESULT_META_ALWAYS: Flag = row("MCPBASH_RESULT_META_ALWAYS", Flag, "false",
        "`true` adds `_meta.exitCode` and `_meta.stderr` to every result of a script, not only to failures");
    MAX_PROGRESS_PER_MINUTE: PerMinute = row("MCPBASH_MAX_PROGRESS_PER_MIN", per_minute(), "100",
        "Progress notifications of a request; the last one is sent besides, unless this is 1; 0 means no limit");
    MAX_LOGS_PER_MINUTE: PerMinute =
        row_like("MCPBASH_MAX_LOGS_PER_MIN", per_minute(), &MAX_PROGRESS_PER_MINUTE,
        "Log notifications of a request; 0 means no limit");
    ENABLE_LIVE_PROGRESS: Flag = row("MCPBASH_ENABLE_LIVE_PROGRESS", Flag, "true",
        "`false` keeps progress and logs until just before the answer");

    SHUTDOWN_TIMEOUT: Seconds = row("MCPBASH_SHUTDOWN_TIMEOUT", seconds(1, YEAR), "5",
        "Time between `shutdown` and the end, if `exit` does not come");
    IDLE_TIMEOUT: Seconds = row("MCPBASH_IDLE_TIMEOUT", seconds(0, YEAR), "3600",
        "Time without a message from the client before the server ends; 0 means never");
    IDLE_TIMEOUT_ENABLED: Flag = row("MCPBASH_IDLE_TIMEOUT_ENABLED", Flag, "true",
        "`false` switches the idle timeout off");
    ORPHAN_CHECK_ENABLED: Flag = row("MCPBASH_ORPHAN_CHECK_ENABLED", Flag, "true",
        "`false` lets the server outlive the process that started it");
    ORPHAN_CHECK_INTERVAL: Seconds = row("MCPBASH_ORPHAN_CHECK_INTERVAL", seconds(1, YEAR), "30",
        "Time between looks for the parent, where its end cannot be awaited");
    CI_MODE: Flag = row("MCPBASH_CI_MODE", Flag, "false",
        "`true` is for builds: no idle timeout and no orphan check, logs are kept in a folder of their own, with \
         `failure-summary.jsonl` and `env-snapshot.json`");
    CI_VERBOSE: Flag = row("MCPBASH_CI_VERBOSE", Flag, "false",
        "`true` starts with the log level `debug` in builds");
    FORCE_MINIMAL: Flag = row("MCPBASH_FORCE_MINIMAL", Flag, "false",
        "`true` serves lifecycle, ping and logging only");
    COMPAT_BATCHES: Flag = row("MCPBASH_COMPAT_BATCHES", Flag, "false",
        "`true` accepts batches whatever the revision");

    REMOTE_TOKEN: Optional<Secret> =
        row("MCPBASH_REMOTE_TOKEN", Optional(Secret { least_characters: 32 }), "",
        "What every request must carry in its `_meta`");
    REMOTE_TOKEN_KEY: Text = row("MCPBASH_REMOTE_TOKEN_KEY", Text, "mcpbash/remoteToken",
        "Where in `_meta` the secret is");
    REMOTE_TOKEN_FALLBACK_KEY: TextOrNothing =
        row("MCPBASH_REMOTE_TOKEN_FALLBACK_KEY", TextOrNothing, "remoteToken",
        "Where else it may stand; empty for nowhere");
    REMOTE_TOKEN_MAX_FAILURES: PerMinute =
        row("MCPBASH_REMOTE_TOKEN_MAX_FAILURES_PER_MIN", per_minute(), "10",
        "Wrong secrets before their answers are slowed down; 0 means never");

    HTTP_ADDRESS: Names = row("MCPBASH_HTTP_ADDRESS", Names, "127.0.0.1:8765",
        "Where `serve --http` awaits clients if the flag does not say: `PORT`, `ADDRESS:PORT`, `unix:/PATH`, `systemd`");
    HTTP_ALLOW_HOSTS: Names = row("MCPBASH_HTTP_ALLOW_HOSTS", Names, "",
        "Names under which clients may reach the server besides those of this machine (`--allow-host`); `*` for any");
    HTTP_ALLOW_ORIGINS: Names = row("MCPBASH_HTTP_ALLOW_ORIGINS", Names, "",
        "Web pages that may use the server, such as `https://app.example.com` (`--allow-origin`); `*` for any");
    HTTP_TOKENS: Optional<File> = row("MCPBASH_HTTP_TOKENS", Optional(File), "",
        "The file of the tokens that callers must show (`--tokens`); `mcp-bash token` writes it");
    HTTP_ROLES: Optional<File> = row("MCPBASH_HTTP_ROLES", Optional(File), "",
        "The file that says which callers may use what (`--roles`); without it, `server.d/roles.yaml` of the project if there is one");
    HTTP_TLS_CERT: Optional<File> = row("MCPBASH_HTTP_TLS_CERT", Optional(File), "",
        "The certificate of the server and those between it and its authority, in PEM (`--tls-cert`)");
    HTTP_TLS_KEY: Optional<File> = row("MCPBASH_HTTP_TLS_KEY", Optional(File), "",
        "The key of the certificate, in PEM (`--tls-key`)");
    HTTP_ISSUERS: Names = row("MCPBASH_HTTP_ISSUERS", Names, "",
        "OAuth issuers whose tokens are accepted, to the letter as tokens name them (`--issuer`)");
    HTTP_RESOURCE: Optional<Text> = row("MCPBASH_HTTP_RESOURCE", Optional(Text), "",
        "The public URL of the server, for which tokens must be issued (`--resource`)");
    HTTP_AUDIENCES: Names = row("MCPBASH_HTTP_AUDIENCES", Names, "",
        "Audiences of tokens that are accepted besides the public URL, such as the id of an application");
    HTTP_REQUIRED_SCOPES: Names = row("MCPBASH_HTTP_REQUIRED_SCOPES", Names, "",
        "Scopes that every token of an issuer must have");
    HTTP_SCOPE_HIERARCHY: Names = row("MCPBASH_HTTP_SCOPE_HIERARCHY", Names, "",
        "Scopes that include others, the widest first: `admin>files:write>files:read`");
    HTTP_NAME_CLAIM: Text = row("MCPBASH_HTTP_NAME_CLAIM", Text, "sub",
        "The claim that names the caller; it must be unique and never change");
    HTTP_GROUPS_CLAIM: Optional<Text> = row("MCPBASH_HTTP_GROUPS_CLAIM", Optional(Text), "",
        "The claim that lists the groups of the caller, such as `groups` or `realm_access.roles`");
    HTTP_PASSED_CLAIMS: Names = row("MCPBASH_HTTP_PASSED_CLAIMS", Names, "",
        "Claims that scripts receive in `MCP_CALLER_CLAIMS`");
    HTTP_JWKS_URL: Optional<Text> = row("MCPBASH_HTTP_JWKS_URL", Optional(Text), "",
        "Where the keys of the issuer are, if it publishes no metadata");
    HTTP_INTROSPECTION_URL: Optional<Text> = row("MCPBASH_HTTP_INTROSPECTION_URL", Optional(Text), "",
        "Where the issuer is asked about opaque tokens");
    HTTP_INTROSPECTION_CLIENT: Optional<Text> = row("MCPBASH_HTTP_INTROSPECTION_CLIENT", Optional(Text), "",
        "The client id with which the issuer is asked");
    HTTP_INTROSPECTION_SECRET: Optional<File> = row("MCPBASH_HTTP_INTROSPECTION_SECRET", Optional(File), "",
        "The file of the secret of that client");
    HTTP_TOKEN_HEADER: Optional<Text> = row("MCPBASH_HTTP_TOKEN_HEADER", Optional(Text), "",
        "A header in which a proxy brings the token of an issuer, such as `Cf-Access-Jwt-Assertion`");
    HTTP_CLIENT_CA: Optional<File> = row("MCPBASH_HTTP_CLIENT_CA", Optional(File), "",
        "The authorities whose client certificates are accepted, in PEM (`--client-ca`)");
    HTTP_CLIENT_CRL: Optional<File> = row("MCPBASH_HTTP_CLIENT_CRL", Optional(File), "",
        "The certificates that they have revoked, in PEM");
    HTTP_CLIENT_CERTS: Word<bool> = row("MCPBASH_HTTP_CLIENT_CERTS", REQUIRED_OR_OPTIONAL, "required",
        "Whether a connection without a client certificate is refused, or may show a token");
    HTTP_CLIENT_NAME: Word<ClientName> = row("MCPBASH_HTTP_CLIENT_NAME", CLIENT_NAMES, "cn",
        "The part of a client certificate that names the caller: its common name or an alternative name");
    HTTP_PROXY_HEADER: Optional<Text> = row("MCPBASH_HTTP_PROXY_HEADER", Optional(Text), "",
        "The header in which a trusted proxy names the caller, such as `X-Forwarded-User`");
    HTTP_PROXY_GROUPS_HEADER: Optional<Text> = row("MCPBASH_HTTP_PROXY_GROUPS_HEADER", Optional(Text), "",
        "The header in which it lists the groups of the caller, with commas between them");
    HTTP_PROXY_USERS: Names = row("MCPBASH_HTTP_PROXY_USERS", Names, "",
        "The proxy is a process of these users (ids), connected to a Unix socket");
    HTTP_PROXY_CERTIFICATES: Names = row("MCPBASH_HTTP_PROXY_CERTIFICATES", Names, "",
        "The proxy shows a client certificate with one of these names");
    HTTP_PROXY_KEY: Optional<File> = row("MCPBASH_HTTP_PROXY_KEY", Optional(File), "",
        "The proxy signs its headers with the key in this file");
    HTTP_BEHIND_PROXY: Flag = row("MCPBASH_HTTP_BEHIND_PROXY", Flag, "false",
        "`true` says that all callers come through a proxy that speaks TLS with them (`--behind-proxy`)");
    HTTP_METRICS: Optional<Text> = row("MCPBASH_HTTP_METRICS", Optional(Text), "",
        "Where `/livez`, `/readyz` and `/metrics` are served, to everybody who can connect (`--metrics`)");
    HTTP_LEGACY_SSE: Flag = row("MCPBASH_HTTP_LEGACY_SSE", Flag, "false",
        "`true` serves the HTTP+SSE transport of 2024-11-05 too (`--legacy-sse`)");
    HTTP_MAX_BODY_BYTES: Bytes = row("MCPBASH_HTTP_MAX_BODY_BYTES", bytes(KIB, LARGEST), "4194304",
        "The longest body of a request");
    HTTP_MAX_HEADER_BYTES: Bytes = row("MCPBASH_HTTP_MAX_HEADER_BYTES", bytes(8 * KIB, MIB), "65536",
        "The longest request line and headers together");
    HTTP_MAX_CONNECTIONS: Count = row("MCPBASH_HTTP_MAX_CONNECTIONS", count(1), "4096",
        "How many connections may be open at once; more are closed at once");
    HTTP_MAX_STREAMS: Count = row("MCPBASH_HTTP_MAX_STREAMS", count(1), "2048",
        "How many streams of events a caller may have open at once");
    HTTP_MAX_SESSIONS: Count = row("MCPBASH_HTTP_MAX_SESSIONS", count(1), "10000",
        "How many sessions there may be at once");
    HTTP_MAX_SESSIONS_PER_MINUTE: PerMinute = row("MCPBASH_HTTP_MAX_SESSIONS_PER_MIN", per_minute(), "600",
        "How many sessions a caller may begin in a minute, with or without a token; 0 means no limit");
    HTTP_SESSION_IDLE_TIMEOUT: Seconds = row("MCPBASH_HTTP_SESSION_IDLE_TIMEOUT", seconds(1, YEAR), "1800",
        "How long an unused session lives");
    HTTP_MAX_REQUESTS_PER_MINUTE: PerMinute = row("MCPBASH_HTTP_MAX_REQUESTS_PER_MIN", per_minute(), "0",
        "How many requests a caller may make whose token names no rate; 0 means no limit");
    HTTP_HEADER_TIMEOUT: Seconds = row("MCPBASH_HTTP_HEADER_TIMEOUT", seconds(1, 3600), "10",
        "How long a client may take for its TLS handshake, and for the headers of a request");
    HTTP_STALL_TIMEOUT: Seconds = row("MCPBASH_HTTP_STALL_TIMEOUT", seconds(1, 3600), "30",
        "How long a client may take for each 256 KB of a body, or go without reading its answer");
    HTTP_KEEP_ALIVE: Seconds = row("MCPBASH_HTTP_KEEP_ALIVE", seconds(1, 3600), "75",
        "How long a connection stays open between requests; longer than that of a proxy before the server");
    HTTP_STREAM_TIME: Seconds = row("MCPBASH_HTTP_STREAM_SECS", seconds(0, YEAR), "0",
        "After how long a stream of a call is closed to be resumed, where the client can do that; 0 means never");
    HTTP_DRAIN_TIMEOUT: Seconds = row("MCPBASH_HTTP_DRAIN_TIMEOUT", seconds(0, YEAR), "25",
        "How long requests may take to finish after `SIGTERM`");

    DEBUG_PAYLOADS: Flag = row("MCPBASH_DEBUG_PAYLOADS", Flag, "false",
        "`true` writes every message, with secrets removed, to a private folder");
    PRESERVE_STATE: Flag = row("MCPBASH_PRESERVE_STATE", Flag, "false",
        "`true` keeps the private folder when the server ends");
    KEEP_LOGS: Flag = row("MCPBASH_KEEP_LOGS", Flag, "false",
        "The same as `MCPBASH_PRESERVE_STATE`; `true` in builds (`MCPBASH_CI_MODE`)");
    DEBUG_ERRORS: Flag = row("MCPBASH_DEBUG_ERRORS", Flag, "false",
        "`true` adds tool, exit code, end of standard error and last traced command to the error of a result that \
         breaks its `outputSchema`");
    TRACE_TOOLS: Flag = row("MCPBASH_TRACE_TOOLS", Flag, "false",
        "`true` records each command of tools that are bash scripts (`set -x`), a file for each call, in the folder of \
         logs or the private one; secrets that a script handles may be among them");
    TRACE_PS4: Text = row("MCPBASH_TRACE_PS4", Text, "+ ${BASH_SOURCE[0]##*/}:${LINENO}: ",
        "The prefix of each recorded command");
    TRACE_MAX_BYTES: Bytes = row("MCPBASH_TRACE_MAX_BYTES", bytes(1, LARGEST), "1048576",
        "How much of the end of a record is kept when the call has ended");
    CONTROL_GROUPS: Flag = row("MCPBASH_CONTROL_GROUPS", Flag, "true",
        "`false` makes no control groups (cgroup v2) for calls, where the server may make them");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_name_is_in_one_row_and_is_one_of_ours() {
        let mut names = HashSet::new();
        for setting in TABLE {
            let name = setting.name();
            assert!(name.starts_with("MCPBASH_") || name.starts_with("MCP_"), "{name}");
            assert!(names.insert(name), "{name} stands twice");
            assert!(!setting.meaning().is_empty(), "{name}");
        }
    }

    #[test]
    fn every_log_level_has_its_word() {
        let words: Vec<_> = LEVELS.words.iter().map(|(word, level)| (*word, *level)).collect();
        assert_eq!(words, LogLevel::ALL.map(|level| (level.as_str(), level)));
    }
}
