//! Project of the fleet: tools that write each of their runs into one journal.

use serde_json::{Value, json};
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Tells a script which server runs it.
pub(super) const SERVER_VARIABLE: &str = "FLEET_SERVER";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    /// Works for a while, and must not run twice.
    Works,
    /// Works for a while, and may run again.
    Again,
    /// Asks a question, and may run again.
    Asks,
    /// Asks a question, and must not run twice.
    AsksOnce,
    /// Says more than fits into an answer.
    Says,
}

impl Tool {
    const ALL: [Self; 5] = [Self::Works, Self::Again, Self::Asks, Self::AsksOnce, Self::Says];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Again => "again",
            Self::Asks => "asks",
            Self::AsksOnce => "asks_once",
            Self::Says => "says",
        }
    }

    /// The tool of a call, and whether the call is a task, from the word of the call.
    pub(super) fn of_word(word: &str) -> Option<(Self, bool)> {
        let mut parts = word.split('-');
        let name = parts.next()?;
        let tool = Self::ALL.into_iter().find(|tool| tool.name() == name)?;
        Some((tool, parts.next()? == "task"))
    }

    pub(super) fn is_repeatable(self) -> bool {
        matches!(self, Self::Again | Self::Asks)
    }

    fn body(self) -> &'static str {
        match self {
            Self::Works | Self::Again => {
                "for ((n = 0; n < beats; n++)); do\n\tsleep 0.2\n\tnote beat\ndone\necho \"$word\"\n"
            }
            Self::Asks | Self::AsksOnce => {
                ". \"${MCP_SDK:?}/tool-sdk.sh\"\nname=$(mcp_elicit_string 'Who?' name | jq -r .content.name)\n\
                 echo \"$word $name\"\n"
            }
            Self::Says => "echo \"$word\"\nseq 1 40000\n",
        }
    }

    fn metadata(self) -> Value {
        json!({
            "name": self.name(),
            "description": "A tool of the fleet",
            "timeoutSecs": 300,
            "replay": self.is_repeatable(),
            "execution": { "taskSupport": "optional" },
        })
    }
}

/// The common start: the arguments, and lines for the journal, which are written at once.
const PRELUDE: &str = r#"#!/usr/bin/env bash
args=$MCP_TOOL_ARGS_JSON
word=${args#*\"word\":\"}
word=${word%%\"*}
beats=${args#*\"beats\":}
beats=${beats%%[!0-9]*}
note() { echo "$1 $word ${FLEET_SERVER:?} $$ ${EPOCHREALTIME/[.,]/}" >>"@JOURNAL@"; }
note start
"#;

pub(super) fn root(folder: &Path) -> PathBuf {
    folder.join("project")
}

pub(super) fn journal(folder: &Path) -> PathBuf {
    folder.join("journal")
}

pub(super) fn write(folder: &Path) -> io::Result<()> {
    let prelude = PRELUDE.replace("@JOURNAL@", &journal(folder).display().to_string());
    fs::create_dir(folder.join("tmp"))?;
    fs::write(journal(folder), "")?;
    for tool in Tool::ALL {
        let files = root(folder).join("tools").join(tool.name());
        fs::create_dir_all(&files)?;
        let script = files.join("tool.sh");
        fs::write(&script, format!("{prelude}{}note end\n", tool.body()))?;
        fs::set_permissions(&script, Permissions::from_mode(0o755))?;
        fs::write(files.join("tool.meta.json"), tool.metadata().to_string())?;
    }
    let settings = root(folder).join("server.d");
    fs::create_dir_all(&settings)?;
    fs::write(settings.join("server.meta.json"), json!({ "name": "fleet" }).to_string())
}

/// Writes a file that only its owner may read.
pub(super) fn write_private(file: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?.write_all(text.as_bytes())
}
