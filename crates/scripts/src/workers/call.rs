//! Worker call as a value: the request, its caller, and the limits.

use crate::ScriptRoots;
use crate::TraceVariables;
use crate::running::process::Limits;
use crate::surroundings::called_by::CalledBy;
use mcp_bash_project::{Paths, Worker};
use mcp_bash_sandbox::Declaration;
use mcp_bash_secrets::Needs;
use std::path::{Path, PathBuf};

/// A request to a worker. Names are those of its definitions; arguments are the text of a JSON object.
#[derive(Debug, Clone, Copy)]
pub enum Request<'a> {
    Tool {
        name: &'a str,
        arguments: &'a str,
    },
    Prompt {
        name: &'a str,
        /// A JSON object whose values are strings.
        arguments: &'a str,
    },
    Resource {
        uri: &'a str,
        name: &'a str,
        /// The variables of the template that matched the URI.
        variables: &'a str,
    },
}

impl<'a> Request<'a> {
    pub(super) fn arguments(self) -> &'a str {
        match self {
            Self::Tool { arguments, .. } | Self::Prompt { arguments, .. } => arguments,
            Self::Resource { variables, .. } => variables,
        }
    }
}

#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct WorkerCall<'a> {
    /// The subject of error messages, as in "Tool 'x'".
    pub what: String,
    pub worker: &'a Worker,
    /// The script of the worker, which may be a file of functions.
    pub script: &'a Path,
    /// The variables of the server's environment that the worker needs.
    pub variables: &'a [String],
    /// The sandbox of the worker, if one is declared.
    pub sandbox: Option<&'a Declaration>,
    /// The secrets that the worker is started with.
    pub secrets: &'a Needs,
    pub paths: &'a Paths,
    pub request: Request<'a>,
    pub caller: CalledBy<'a>,
    /// The caller's `_meta`: the text of a JSON object.
    pub meta: &'a str,
    /// The state of the caller's session, the text of a JSON object; `None` without a session.
    pub session_state: Option<&'a str>,
    pub trace: &'a TraceVariables,
    pub roots: &'a ScriptRoots,
    /// The folders that `roots` in a sandbox stands for.
    pub opened_roots: &'a [PathBuf],
    /// Whether the client has roots of its own that it was not asked for yet.
    pub has_unasked_roots: bool,
    /// Whether the client wants progress.
    pub wants_progress: bool,
    /// Whether the caller can be asked anything.
    pub may_ask: bool,
    /// Whether its user can be asked.
    pub may_elicit: bool,
    pub limits: Limits<'a>,
}
