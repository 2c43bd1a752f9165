//! Health checks: runs the project's own `server.d/health-checks.sh`.

use crate::running::error::{ScriptError, system_error};
use crate::running::outcome::Outcome;
use crate::running::process::Limits;
use crate::running::processes::block_on;
use crate::running::server_script::ServerScript;
use crate::scripts::Scripts;
use mcp_bash_project::{Paths, trust};
use mcp_bash_runner::TimeLimits;
use std::time::Duration;

/// The name of the checks in messages.
const FILE: &str = "server.d/health-checks.sh";

/// The largest checks that are run, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// How much of the end of the checks' output is kept, in bytes.
const LONGEST_REPORT: usize = 64 * 1024;

/// The functions that checks are written with. Their output is for people, so it goes to standard error.
const PRELUDE: &str = r#"
exec 1>&2
_mcp_checked() { if [ "$1" = 0 ]; then printf '  ✓ %s\n' "$2"; else printf '  ✗ %s (%s)\n' "$2" "$3"; fi; return "$1"; }
mcp_health_check_command() {
	command -v "$1" >/dev/null 2>&1
	_mcp_checked $? "${2:-Required command: $1}" 'not found in PATH'
}
mcp_health_check_env() {
	[ -n "${!1:-}" ]
	_mcp_checked $? "${2:-Required env var: $1}" 'not set'
}
. /dev/stdin
"#;

impl Scripts {
    /// Runs the checks of a project, and blocks until they have exited. `None` if it has none. The standard error of the
    /// outcome is their report for people.
    pub fn check_health(&self, paths: &Paths, timeout: Duration) -> Result<Option<Outcome>, ScriptError> {
        let text = trust::read(&paths.server.join("health-checks.sh"), &paths.root, LONGEST)
            .map_err(|source| ScriptError::ServerScriptDistrusted { file: FILE, source })?;
        let Some(text) = text else { return Ok(None) };
        let script = ServerScript {
            name: "health-checks.sh",
            prelude: PRELUDE,
            words: Vec::new(),
            text: &text,
            folders: &[],
            limits: Limits {
                patience: TimeLimits::fixed(timeout),
                output: LONGEST_REPORT,
                error_tail: LONGEST_REPORT,
                budget: self.budget(),
            },
        };
        let not_run = |source| ScriptError::ServerScriptNotRun { file: FILE, source };
        let environment = block_on(self.surroundings.server_environment(paths)).map_err(not_run)??;
        let outcome = self
            .surroundings
            .processes
            .run_blocking(script.process(paths, environment))
            .map_err(system_error);
        Ok(Some(outcome.map_err(not_run)?))
    }
}
