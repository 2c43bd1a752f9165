//! Start checks: the findings of `--health`, in the log of a running server: once after its start, and again for changed
//! files. They are for the operator, who can fix them; clients receive what discovery skipped.
//!
//! The checks read more than the start of a server does, so they run a moment later and in the thread that follows the
//! project. A project with very many tools is checked by `--health` only.

use crate::open::search_path::SearchPath;
use mcp_bash_project::{Changes, Diagnostic, Surroundings};
use mcp_bash_scripts::Scripts;
use mcp_bash_server::Server;
use mcp_bash_wire::LogLevel;
use serde_json::json;
use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A project with more tools than this is not checked beside a server.
const MOST_TOOLS: usize = 500;

/// The schema compiler needs more stack than the thread that follows the project has.
const STACK: usize = 8 * 1024 * 1024;

pub(crate) struct StartChecks {
    scripts: Arc<Scripts>,
    /// The findings that were reported already. `None` before the first check.
    told: Mutex<Option<HashSet<String>>>,
}

impl StartChecks {
    pub(crate) fn new(scripts: Arc<Scripts>) -> Self {
        Self { scripts, told: Mutex::default() }
    }

    /// Checks what is served, and reports new findings.
    pub(crate) fn run(&self, server: &Server, changes: &Changes) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        // Without change events, the project is read again and again: checking it once is enough.
        if !changes.is_anywhere() || told.is_none() {
            self.tell(server, told.get_or_insert_default(), None);
        }
    }

    /// Checks again, now that the definitions of `file` are known; unless the first check is still to come.
    pub(crate) fn run_again(&self, server: &Server, file: &Path) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(told) = &mut *told {
            self.tell(server, told, Some(file));
        }
    }

    /// Reports nothing about files that are being asked for their definitions, except `known`.
    fn tell(&self, server: &Server, told_before: &mut HashSet<String>, known: Option<&Path>) {
        let in_progress = server.served().files_in_progress();
        let is_awaited = |told: &Diagnostic| {
            Some(&*told.path) != known && in_progress.iter().any(|asked| asked.file == told.path)
        };
        let found = self.examine(server).into_iter().filter(|told| !is_awaited(told));
        let found: Vec<String> = found.map(|told| told.to_string()).collect();
        for words in found.iter().filter(|words| !told_before.contains(*words)) {
            server.log().project_event(LogLevel::Warning, "mcp.checks", words, &json!({}));
        }
        // A fixed problem is reported again if it comes back.
        *told_before = found.into_iter().collect();
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
