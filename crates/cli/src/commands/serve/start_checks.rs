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
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A project with more tools than this is not checked beside a server.
const MOST_TOOLS: usize = 500;

/// The schema compiler needs more stack than a thread that reports the definitions of a file has.
const STACK: usize = 8 * 1024 * 1024;

/// The file of a finding, and the whole text.
type Told = (PathBuf, String);

pub(crate) struct StartChecks {
    scripts: Arc<Scripts>,
    /// The findings that were reported already. `None` before the first check.
    told: Mutex<Option<HashSet<Told>>>,
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
    fn tell(&self, server: &Server, told_before: &mut HashSet<Told>, known: Option<&Path>) {
        let in_progress = server.served().files_in_progress();
        let is_awaited =
            |path: &Path| Some(path) != known && in_progress.iter().any(|asked| asked.file == path);
        let found = self.examine(server).into_iter().map(|told| (told.path.clone(), told.to_string()));
        for words in new_findings(told_before, found, is_awaited) {
            server.log().project_event(LogLevel::Warning, "mcp.checks", &words, &json!({}));
        }
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

/// The texts of the findings that were not reported before, each once. A fixed problem is reported again if it comes back, and nothing
/// changes for files whose definitions are awaited.
fn new_findings(
    told: &mut HashSet<Told>,
    found: impl Iterator<Item = Told>,
    is_awaited: impl Fn(&Path) -> bool,
) -> Vec<String> {
    let (mut new, before) = (Vec::new(), std::mem::take(told));
    for finding in found.filter(|(path, _)| !is_awaited(path)) {
        let words = (!before.contains(&finding)).then(|| finding.1.clone());
        if told.insert(finding) {
            new.extend(words);
        }
    }
    told.extend(before.into_iter().filter(|(path, _)| is_awaited(path)));
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_told_once_also_while_its_file_is_asked_again() {
        let mut told = HashSet::new();
        let mut new = |found: &[&str], awaited: &str| {
            let found = found.iter().map(|name| (PathBuf::from(name), format!("{name} is wrong")));
            new_findings(&mut told, found, |path| path == Path::new(awaited))
        };
        assert_eq!(new(&["a", "a", "b"], ""), ["a is wrong", "b is wrong"]);
        assert_eq!(new(&["a", "b"], "b"), [""; 0]);
        assert_eq!(new(&["a"], "b"), [""; 0]);
        assert_eq!(new(&["a", "b"], ""), [""; 0]);
        assert_eq!(new(&["a"], ""), [""; 0]);
        assert_eq!(new(&["a", "b"], ""), ["b is wrong"]);
    }
}
