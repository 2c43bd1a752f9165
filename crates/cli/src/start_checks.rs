//! What `--health` would find, told in the log of a server that runs: once after its start, and again of what is saved.
//! It is for the operator, who can mend it; clients hear of what discovery skipped.
//!
//! The checks read more than the start of a server does, so they are made a moment later and in the thread that follows
//! the project. A project of very many tools is checked by `--health` alone.

use crate::search_path::SearchPath;
use mcp_bash_project::{Changes, Diagnostic, Surroundings};
use mcp_bash_scripts::Scripts;
use mcp_bash_server::Server;
use mcp_bash_wire::LogLevel;
use serde_json::json;
use std::collections::HashSet;
use std::sync::Arc;

/// More tools than this are not checked beside a server.
const MOST_TOOLS: usize = 500;

/// The compiler of schemas needs more stack than the thread that follows the project has.
const STACK: usize = 8 * 1024 * 1024;

pub(crate) struct StartChecks {
    scripts: Arc<Scripts>,
    is_first: bool,
    /// What was told already.
    told: HashSet<String>,
}

impl StartChecks {
    pub(crate) fn new(scripts: Arc<Scripts>) -> Self {
        Self { scripts, is_first: true, told: HashSet::new() }
    }

    /// Checks what is served, and tells what was not told before.
    pub(crate) fn run(&mut self, server: &Server, changes: &Changes) {
        // Where nobody tells of changes, the project is looked at again and again: once is enough for this.
        if changes.is_anywhere() && !std::mem::take(&mut self.is_first) {
            return;
        }
        let found: Vec<String> = self.examine(server).iter().map(ToString::to_string).collect();
        for words in found.iter().filter(|words| !self.told.contains(*words)) {
            server.log().project_event(LogLevel::Warning, "mcp.checks", words, &json!({}));
        }
        // What was mended is told again when it breaks again.
        self.told = found.into_iter().collect();
    }

    fn examine(&self, server: &Server) -> Vec<Diagnostic> {
        let path = SearchPath::resolve(&self.scripts).for_project(&server.served().paths());
        let examine = || server.served().examine(Surroundings { search_path: &path }, MOST_TOOLS);
        std::thread::scope(|scope| {
            let checks = std::thread::Builder::new().name("checks".into()).stack_size(STACK);
            // Without a thread to spare nothing is checked.
            let examined = checks.spawn_scoped(scope, examine).ok().and_then(|checks| checks.join().ok());
            examined.unwrap_or_default()
        })
    }
}
