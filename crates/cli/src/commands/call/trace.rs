//! Access trace of a call: the sandbox that is offered, and how it gets into the metadata of the tool.

use super::error::CallError;
use super::trace_table;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::connect::OpenProject;
use mcp_bash_entries::with_member;
use mcp_bash_files::Replacement;
use mcp_bash_project::{Tool, metadata_beside};
use mcp_bash_sandbox::{Attempts, Declaration, Mode, Offer, TracedCall};
use mcp_bash_scripts::AccessTrace;
use mcp_bash_terminal::{can_ask, confirm, harmless_line, tell};
use serde_json::Value;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Longer than any metadata, in bytes.
const LONGEST_METADATA: u64 = 4 * 1024 * 1024;

pub(super) struct Trace {
    accesses: Arc<AccessTrace>,
    name: String,
    /// The tool's own declaration.
    declared: Option<Declaration>,
    /// Whether the project has a default.
    has_default: bool,
    metadata: Option<PathBuf>,
    root: PathBuf,
}

impl Trace {
    /// Traces a tool of the project from now on.
    pub(super) fn begin(project: &OpenProject, name: &str) -> Result<Self, Error> {
        let tool = project.catalog.tools.get(name);
        let tool = tool.ok_or_else(|| {
            Error::of_command(Exit::NotFound, CallError::not_found("tool", name, &[], "tools"))
        })?;
        let trace = project.scripts.trace_access(tool);
        let trace = trace.map_err(|why| Error::of_command(Exit::Failed, CallError::NoTrace(why)))?;
        Ok(Self {
            accesses: trace,
            name: harmless_line(name),
            declared: tool.options.sandbox.clone(),
            has_default: matches!(&project.scripts.settings().project_sandbox, Ok(Some(_))),
            metadata: metadata_of(tool),
            root: project.catalog.paths.root.clone(),
        })
    }

    /// Shows what was touched on standard error, and writes the offered sandbox if the user accepts it.
    pub(super) fn report(&self, accepts: bool) -> Result<(), Error> {
        let Some((call, attempts)) = self.accesses.result() else {
            tell("No process of the tool was started, so there is nothing to list.");
            return Ok(());
        };
        tell(&format!("\nAccesses of `{}`, {}:", self.name, self.ran_under()));
        tell(&trace_table::of(&call, &attempts));
        let offered = |with_denied| self.offered(&call, &attempts, with_denied);
        let (narrow, wide) = (offered(false), offered(true));
        tell(&format!("\nThe narrowest sandbox for what was allowed:\n{}", shown(&narrow)));
        let has_more = narrow != wide;
        if has_more {
            tell(&format!("\nThe same with what was denied:\n{}", shown(&wide)));
        }
        let asks = !accepts && can_ask();
        let allow = "Allow what was denied too?";
        let takes_denied = has_more && (accepts || asks && confirm(allow).unwrap_or(false));
        let sandbox = if takes_denied { wide } else { narrow };
        if self.is_declared(&sandbox) {
            tell("\nThe tool declares this sandbox already.");
            return Ok(());
        }
        match self.metadata.as_deref().filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        {
            Some(path) => self.write(path, &sandbox, accepts, asks),
            None if accepts => {
                let problem = format!("the sandbox was not written: {}", self.by_hand());
                Err(Error::of_command(Exit::Failed, problem))
            }
            None => {
                tell(&format!("\nTo use it, {}.", self.by_hand()));
                Ok(())
            }
        }
    }

    fn write(&self, path: &Path, sandbox: &Value, accepts: bool, asks: bool) -> Result<(), Error> {
        let short = path.strip_prefix(&self.root).unwrap_or(path);
        let short = harmless_line(&short.to_string_lossy());
        if !accepts && !asks {
            tell(&format!("\nTo use it, write it as `sandbox` into {short}, or add --yes."));
            return Ok(());
        }
        if !accepts && !confirm(&format!("Write this sandbox into {short}?")).unwrap_or(false) {
            return Ok(());
        }
        let failed = |why: &dyn std::fmt::Display| {
            Error::of_command(Exit::Failed, format!("failed to write `sandbox` into {short}: {why}"))
        };
        let text = mcp_bash_files::read_text(path, LONGEST_METADATA).map_err(|error| failed(&error))?;
        let text = with_member(&text, "sandbox", sandbox).map_err(|error| failed(&error))?;
        replace(path, &text).map_err(|error| failed(&error))?;
        tell(&format!("\nWritten into {short}."));
        Ok(())
    }

    /// Completes "accesses of a tool, …".
    fn ran_under(&self) -> String {
        match &self.declared {
            Some(declared) if declared.effective_mode() == Mode::Off => {
                "which declares the sandbox \"off\" and ran under \"on\"".to_owned()
            }
            Some(_) => "which ran under the sandbox that it declares".to_owned(),
            None if self.has_default => "which ran under the sandbox of the project".to_owned(),
            None => "which declares no sandbox and ran under \"on\"".to_owned(),
        }
    }

    fn offered(&self, call: &TracedCall, attempts: &Attempts, with_denied: bool) -> Value {
        Offer::new(call, attempts, with_denied, Path::exists).sandbox(self.declared.as_ref())
    }

    fn is_declared(&self, sandbox: &Value) -> bool {
        let declared =
            self.declared.as_ref().map(|declared| serde_json::from_str::<Value>(declared.written()));
        declared.and_then(Result::ok).as_ref() == Some(sandbox)
    }

    fn by_hand(&self) -> String {
        match &self.metadata {
            Some(path) => {
                let short = path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy();
                format!("write it as `sandbox` into {} by hand, which is not JSON", harmless_line(&short))
            }
            None => "write it as `sandbox` where the tool is described: it has no metadata file".to_owned(),
        }
    }
}

/// The file that describes a tool, if it has one. Functions describe themselves.
fn metadata_of(tool: &Tool) -> Option<PathBuf> {
    if tool.is_function() {
        return None;
    }
    metadata_beside(&tool.script)
}

fn shown(sandbox: &Value) -> String {
    format!("\"sandbox\": {sandbox:#}")
}

/// Replaces a file, and keeps its permissions.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = mcp_bash_files::look::canonical(path)?;
    let mode = mcp_bash_files::look::metadata(&path)?.permissions().mode() & 0o777;
    let mut draft = path.clone().into_os_string();
    draft.push(format!(".{}.draft", std::process::id()));
    let mut replacement = Replacement::create(draft.into(), path, mode)?;
    replacement.write(text.as_bytes())?;
    replacement.publish()
}
