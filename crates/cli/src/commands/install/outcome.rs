//! Outcome for one file.

use crate::base::exit::Exit;
use mcp_bash_entries::{ConfigFile, EditError, FileError, Refusal};
use serde_json::{Value, json};
use std::path::PathBuf;

pub(super) struct Outcome {
    /// The name of the entry.
    pub(super) name: String,
    pub(super) file: ConfigFile,
    /// The text for the user to paste if we do not write.
    pub(super) snippet: String,
    pub(super) done: Result<Done, Refusal>,
}

pub(super) enum Done {
    /// There was nothing to do.
    Nothing,
    /// Nothing was done, because it was only to be shown.
    Shown {
        difference: String,
        removed_file: bool,
    },
    Changed {
        backup: Option<PathBuf>,
        removed_file: bool,
    },
}

impl Outcome {
    pub(super) fn exit(&self) -> Exit {
        match &self.done {
            Ok(_) => Exit::Done,
            Err(Refusal::File(
                FileError::Read { .. } | FileError::Write { .. } | FileError::Changed(_) | FileError::Busy(_),
            )) => Exit::Failed,
            Err(_) => Exit::Refused,
        }
    }

    /// The message about it, without the client's name.
    pub(super) fn words(&self, verb: &str) -> String {
        let (name, path) = (&self.name, self.file.path.display());
        let is_install = verb == "install";
        match &self.done {
            Ok(Done::Nothing) if is_install => format!("`{name}` is already installed in {path}"),
            Ok(Done::Nothing) => format!("`{name}` is not installed; {path} was left as it is"),
            Ok(Done::Shown { removed_file: true, .. }) => format!("would remove {path}"),
            Ok(Done::Shown { .. }) => format!("would change {path}"),
            Ok(Done::Changed { backup, removed_file }) => {
                let what = match (is_install, removed_file) {
                    (true, _) => format!("installed `{name}` in {path}"),
                    (false, true) => format!("removed {path}, which had nothing but `{name}`"),
                    (false, false) => format!("removed `{name}` from {path}"),
                };
                let kept = backup.as_ref().and_then(|backup| backup.file_name());
                kept.map_or(what.clone(), |kept| format!("{what} (before: {})", kept.to_string_lossy()))
            }
            Err(refusal) => format!("{refusal}{}", self.next_step(refusal, is_install)),
        }
    }

    fn next_step(&self, refusal: &Refusal, is_install: bool) -> String {
        match refusal {
            Refusal::Taken { .. } if is_install => {
                "; choose another name with --name, or replace it with --force".to_owned()
            }
            Refusal::Taken { found, .. } if found.contains("://") => {
                "; it was left as it is (`--http URL` removes the entry for that address)".to_owned()
            }
            Refusal::Taken { .. } => "; it was left as it is".to_owned(),
            Refusal::Edit { error: EditError::Broken(_), .. } => ": fix it first".to_owned(),
            Refusal::Edit { .. } if is_install => format!(". Paste this yourself:\n{}", self.snippet),
            Refusal::Edit { .. } => format!(". Remove `{}` yourself", self.name),
            Refusal::File(_) => String::new(),
        }
    }

    pub(super) fn json(&self, verb: &str) -> Value {
        let is_install = verb == "install";
        let status = match (&self.done, is_install) {
            (Ok(Done::Nothing), true) => "already installed",
            (Ok(Done::Nothing), false) => "not installed",
            (Ok(Done::Shown { .. }), _) => "would change",
            (Ok(Done::Changed { .. }), true) => "installed",
            (Ok(Done::Changed { .. }), false) => "uninstalled",
            (Err(_), _) if self.exit() == Exit::Refused => "refused",
            (Err(_), _) => "failed",
        };
        let mut value = json!({
            "client": self.file.client.name,
            "scope": self.file.scope.name(),
            "file": self.file.path.to_string_lossy(),
            "name": self.name,
            "status": status,
        });
        match &self.done {
            Ok(Done::Shown { difference, .. }) => value["difference"] = difference.as_str().into(),
            Ok(Done::Changed { backup: Some(backup), .. }) => {
                value["backup"] = backup.to_string_lossy().into();
            }
            Err(refusal) => value["error"] = refusal.to_string().into(),
            _ => {}
        }
        value
    }
}
