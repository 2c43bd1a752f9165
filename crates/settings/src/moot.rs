//! Moot variables of the reference implementation: they are known, and change nothing.

/// The name, and why it is moot.
pub static MOOT: &[(&str, &str)] = &[
    (
        "MCPBASH_MAX_TOOL_STDERR_SIZE",
        "standard error is never held as a whole: its end is kept, whatever its length",
    ),
    (
        "MCPBASH_TOOL_TIMEOUT_CAPTURE",
        "a timeout tells as much as any other failure; see `MCPBASH_TOOL_STDERR_CAPTURE`",
    ),
    (
        "MCPBASH_STATE_DIR",
        "the private folder has a name of its own; scripts find a folder of theirs under this name",
    ),
    ("MCPBASH_LOCK_ROOT", "there are no lock files"),
    ("MCPBASH_PROGRESS_FLUSH_INTERVAL", "progress is sent as it comes"),
    ("MCPBASH_CORRUPTION_WINDOW", "no script can write to the output of the server"),
    ("MCPBASH_CORRUPTION_THRESHOLD", "no script can write to the output of the server"),
    ("MCPBASH_JSON_TOOL", "JSON needs no other program, and scripts find a `jq`"),
    ("MCPBASH_JSON_TOOL_BIN", "JSON needs no other program, and scripts find a `jq`"),
    ("MCPBASH_ALLOW_JSON_TOOL_OVERRIDE_FOR_ROOT", "JSON needs no other program"),
    ("MCPBASH_LOG_JSON_TOOL", "JSON needs no other program, so there is none to name"),
    ("MCPBASH_DEBUG", "the SDK names the line that failed, always"),
    ("MCPBASH_DEBUG_ALL_EXITS", "the log level `debug` tells of each call that ends"),
    ("MCPBASH_LOG_STARTUP", "the log level `info` tells of the start"),
    (
        "MCPBASH_RUN_TOOL_SOURCE_SERVER_ENV",
        "`server.d/env.sh` always counts for scripts; `run-tool` takes it for `--with-server-env`",
    ),
    ("MCPBASH_FRAMEWORK_VERSION", "scripts find the version of this program under this name"),
    ("MCPBASH_HOME", "scripts find the folder with the SDK under this name"),
];
