//! Served projects: honest scripts that name the call they serve, hostile ones, and entries that come and go
//! while servers run.

mod asking;
mod entries;
mod gardener;
mod honest;
mod hostile;

pub(crate) use gardener::Gardener;
pub(crate) use honest::{LAST_PROGRESS, LOGS};
pub(crate) use hostile::{HOSTILE, Hostile};

use crate::planted;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Held while a process is started, and while an executable is written: between fork and exec a process holds
/// a copy of every open descriptor, and a file that is open for writing cannot be executed.
pub(crate) static STARTING: Mutex<()> = Mutex::new(());

/// The common start of every tool script: its word, and functions to send messages.
const PRELUDE: &str = r#"#!/bin/sh
args=${MCP_TOOL_ARGS_JSON-}
[ -n "$args" ] || args=$(cat "$MCP_TOOL_ARGS_FILE")
word=${args#*\"word\":\"}
word=${word%%\"*}
number() { value=${args#*\"$1\":}; value=${value%%[!0-9.]*}; echo "$value"; }
tell() { [ -z "${MCP_PROGRESS_STREAM-}" ] || printf '%s\n' "$1" >>"$MCP_PROGRESS_STREAM"; }
progress() { tell "{\"method\":\"notifications/progress\",\"params\":{\"progress\":$1,\"total\":3,\"message\":\"$word at $1\"}}"; }
log() { tell "{\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"logger\":\"soak\",\"data\":{\"word\":\"$word\",\"line\":$1}}}"; }
"#;

/// A folder that servers serve.
#[derive(Debug)]
pub(crate) struct Project {
    root: PathBuf,
}

impl Project {
    pub(crate) fn write(root: PathBuf) -> io::Result<Self> {
        let project = Self { root };
        for (name, timeout, body) in honest::TOOLS {
            project.tool(name, *timeout, &format!("{PRELUDE}{body}"))?;
        }
        project.tool(honest::TELLS_SECRET.0, 50, &format!("{PRELUDE}{}", honest::TELLS_SECRET.1))?;
        project.file(
            &format!("tools/{}/tool.meta.json", honest::TELLS_SECRET.0),
            &metadata(honest::TELLS_SECRET.0, 50, &json!({ planted::VARIABLE: planted::NAME })),
        )?;
        for (name, body) in asking::TOOLS {
            project.tool(name, 20, &format!("{}{body}", asking::PRELUDE))?;
        }
        for hostile in HOSTILE {
            project.tool(hostile.name, 3, &format!("{PRELUDE}{}", hostile.body))?;
        }
        for (path, text) in entries::SCRIPTS {
            project.script(path, text)?;
        }
        for (path, text) in entries::FILES {
            project.file(path, text)?;
        }
        Ok(project)
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A tool that takes a word and more arguments.
    fn tool(&self, name: &str, timeout: u32, script: &str) -> io::Result<()> {
        self.script(&format!("tools/{name}/tool.sh"), script)?;
        self.file(&format!("tools/{name}/tool.meta.json"), &metadata(name, timeout, &json!({})))
    }

    /// Writes a file and renames it into place, so that no process reads half of it.
    pub(crate) fn file(&self, path: &str, text: &str) -> io::Result<()> {
        self.place(path, text, 0o644)
    }

    fn script(&self, path: &str, text: &str) -> io::Result<()> {
        let _alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        self.place(path, text, 0o755)
    }

    fn place(&self, path: &str, text: &str, mode: u32) -> io::Result<()> {
        let target = self.root.join(path);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder)?;
        }
        let name = std::thread::current().id();
        let draft = self.root.join(format!(".draft-{name:?}"));
        fs::write(&draft, text)?;
        fs::set_permissions(&draft, Permissions::from_mode(mode))?;
        fs::rename(&draft, &target)
    }
}

fn metadata(name: &str, timeout: u32, secrets: &Value) -> String {
    let metadata = json!({
        "name": name,
        "description": "A tool of the soak",
        "inputSchema": { "type": "object", "properties": { "word": { "type": "string" } }, "required": ["word"] },
        "timeoutSecs": timeout,
        "secrets": secrets,
    });
    metadata.to_string()
}
