//! Planned change: what `install` and `uninstall` would do to a file, worked out first, shown or made later.

use crate::client::Scope;
use crate::config_file::ConfigFile;
use crate::content::{Content, FileError};
use crate::difference::difference;
use crate::entry::Entry;
use crate::refusal::Refusal;
use crate::remote::Remote;
use crate::text::{ConfigText, Target};
use serde_json::Value;
use std::path::PathBuf;

/// What has to be done to a file.
#[derive(Debug)]
pub enum Plan {
    /// Nothing: the file is as it should be.
    Nothing,
    Change(Change),
}

/// A change of one file.
#[derive(Debug)]
pub struct Change {
    content: Content,
    /// `None` if the file is removed.
    after: Option<String>,
    /// The mode of a new file.
    new_mode: u32,
}

impl Change {
    /// The lines that change, as a diff.
    pub fn difference(&self) -> String {
        let before = self.content.text.as_deref().unwrap_or_default();
        difference(before, self.after.as_deref().unwrap_or_default())
    }

    /// Makes the change. Returns the path of the backup, if there was a file before.
    pub fn make(self) -> Result<Option<PathBuf>, Refusal> {
        Ok(self.content.replace(self.after.as_deref(), self.new_mode)?)
    }

    /// Whether the file is new.
    pub fn makes_file(&self) -> bool {
        self.content.text.is_none()
    }

    /// Whether the file is removed, because it held nothing else.
    pub fn removes_file(&self) -> bool {
        self.after.is_none()
    }
}

/// The change that adds an entry to a file. With `force` it replaces an entry of the same name that serves another
/// project.
pub fn install(file: &ConfigFile, entry: &Entry, force: bool) -> Result<Plan, Refusal> {
    let (content, text) = read(file)?;
    refuse_emptied(&content, &text, &entry.name)?;
    Ok(match text.with(entry, force)? {
        None => Plan::Nothing,
        Some(after) => change(file, content, Some(after)),
    })
}

/// The change that adds an entry for a server at an address, in the form `value` that its client wants. With `force` it
/// replaces an entry of the same name.
pub fn install_remote(
    file: &ConfigFile,
    remote: &Remote,
    value: &Value,
    force: bool,
) -> Result<Plan, Refusal> {
    let (content, text) = read(file)?;
    refuse_emptied(&content, &text, &remote.name)?;
    Ok(match text.with_remote(remote, value, force)? {
        None => Plan::Nothing,
        Some(after) => change(file, content, Some(after)),
    })
}

/// The change that removes the entry of a name from a file, if it leads to `target`.
pub fn uninstall(file: &ConfigFile, name: &str, target: Target<'_>) -> Result<Plan, Refusal> {
    let (content, text) = read(file)?;
    let Some(found) = text.find(name) else { return Ok(Plan::Nothing) };
    if !text.leads_to(name, target) {
        return Err(text.taken(name, &found));
    }
    let text = text.without_inputs(name)?;
    // If the file is exactly what installing made it, it is restored to what it was.
    let is_from = |before: &&String| text.came_from(before, name, target, &found);
    let backups = content.backups();
    if let Some(before) = backups.iter().map(|(_, before)| before).find(is_from) {
        return Ok(change(file, content, Some(before.clone())));
    }
    if is_from(&&file.beginning().to_owned()) {
        return Ok(change(file, content, None));
    }
    let after = text.without(name)?;
    Ok(change(file, content, Some(after)))
}

/// A file that is to be changed.
fn read(file: &ConfigFile) -> Result<(Content, ConfigText<'_>), Refusal> {
    let content = Content::read_settled(&file.path, &|text| file.at(None).is_whole(text))?;
    let text = content.text.clone().unwrap_or_else(|| file.beginning().to_owned());
    Ok((content, ConfigText::read(file, text)?))
}

/// Refuses a file that has lost everything since its last backup: its client may be about to write it.
fn refuse_emptied(content: &Content, text: &ConfigText<'_>, name: &str) -> Result<(), FileError> {
    let last = content.is_blank().then(|| content.backups().into_iter().next()).flatten();
    match last {
        Some((backup, before)) if text.holds_more_than(&before, name) => {
            Err(FileError::Emptied { path: content.path().to_owned(), backup })
        }
        _ => Ok(()),
    }
}

fn change(file: &ConfigFile, content: Content, after: Option<String>) -> Plan {
    let new_mode = if file.scope == Scope::Project { 0o644 } else { 0o600 };
    Plan::Change(Change { content, after, new_mode })
}
