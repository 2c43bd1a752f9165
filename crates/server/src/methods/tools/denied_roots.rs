//! Denied roots: roots of the client that a tool knows, but that its sandbox does not open.

use crate::handling::Work;
use mcp_bash_project::Tool;
use mcp_bash_scripts::{Denial, Outcome, ScriptRoots};
use std::path::{Path, PathBuf};

/// Records that the script has asked for the roots, so that the next call asks before it starts, and corrects the explanation
/// of a denial. `at_start` are the roots from which the sandbox was built.
pub(super) async fn learn(work: &Work, tool: &Tool, at_start: &ScriptRoots, outcome: &mut Outcome) {
    if work.has_been_asked_for_roots() {
        work.server().note_question_for_roots(&tool.name);
    }
    if let Some(denial) = &mut outcome.denial {
        correct(denial, work, tool, at_start).await;
    }
}

/// Corrects the explanation of a denial if the path is in a root of the client, because metadata should not name such a path.
async fn correct(denial: &mut Denial, work: &Work, tool: &Tool, at_start: &ScriptRoots) {
    let Some(path) = denial.unreadable.as_deref() else { return };
    let is_in = |folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
    if is_in(&work.roots().await.folders)
        && !is_in(work.opened_roots(at_start))
        && work.server().scripts().opens_roots(tool)
    {
        denial.told = told(path, work.principal().is_local());
    }
}

fn told(path: &Path, is_local: bool) -> String {
    let path = path.display();
    if is_local {
        format!(
            "Denied by its sandbox: {path}. The client named this folder after the tool had started. It is known now: call \
             the tool again."
        )
    } else {
        format!(
            "Denied by its sandbox: {path}. A sandbox opens the folders that a client names only to the user who started \
             the server. The operator opens folders to other clients with MCPBASH_ROOTS or --roots."
        )
    }
}
