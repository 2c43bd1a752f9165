//! What `install` and `uninstall` would do to a file: worked out first, shown or done later.

use crate::client::Scope;
use crate::config_file::ConfigFile;
use crate::content::{Content, FileError};
use crate::difference::difference;
use crate::edit::{At, EditError};
use crate::entry::Entry;
use crate::shown;
use serde_json::Value;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a file is left as it is.
#[derive(Debug, Error)]
pub enum Refusal {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{}: {error}; nothing was changed", path.display())]
    Edit { path: PathBuf, error: EditError },
    #[error("{} has a server called `{name}` that is not this project: {found}", path.display())]
    Taken { path: PathBuf, name: String, found: String },
}

/// What has to be done to a file.
#[derive(Debug)]
pub enum Plan {
    /// Nothing: it is as it should be.
    Nothing,
    Change(Change),
}

/// A change of one file.
#[derive(Debug)]
pub struct Change {
    content: Content,
    /// Nothing where the file goes.
    after: Option<String>,
    /// The mode of a file that is made anew.
    new_mode: u32,
}

impl Change {
    /// The lines that change, as people compare texts.
    pub fn difference(&self) -> String {
        let before = self.content.text.as_deref().unwrap_or_default();
        difference(before, self.after.as_deref().unwrap_or_default())
    }

    /// Makes it. Returns where the file that was there before is kept.
    pub fn make(self) -> Result<Option<PathBuf>, Refusal> {
        Ok(self.content.replace(self.after.as_deref(), self.new_mode)?)
    }

    /// Whether the file is made anew.
    pub fn makes_file(&self) -> bool {
        self.content.text.is_none()
    }

    /// Whether the file goes, because it held nothing else.
    pub fn removes_file(&self) -> bool {
        self.after.is_none()
    }
}

/// The change that puts an entry into a file. One of the same name that serves another project is replaced by `force`.
pub fn install(file: &ConfigFile, entry: &Entry, force: bool) -> Result<Plan, Refusal> {
    let opened = Opened::read(file)?;
    let own = file.shape().value(entry);
    let value = match opened.find(&entry.name) {
        None => own,
        Some(found) if is_same_project(file, entry, &found) => updated(&found, &own),
        Some(_) if force => own,
        Some(found) => return Err(opened.taken(&entry.name, &found)),
    };
    if opened.find(&entry.name).as_ref() == Some(&value) {
        return Ok(Plan::Nothing);
    }
    let after = opened.at.with(&opened.text, &entry.name, &value).map_err(|error| opened.refusal(error))?;
    Ok(opened.change(Some(after)))
}

/// The change that takes the entry of a name out of a file, if it serves the project in `root`.
pub fn uninstall(file: &ConfigFile, name: &str, root: &Path) -> Result<Plan, Refusal> {
    let opened = Opened::read(file)?;
    let Some(found) = opened.find(name) else { return Ok(Plan::Nothing) };
    if !file.shape().entry(name, &found).is_some_and(|entry| entry.points_at(root)) {
        return Err(opened.taken(name, &found));
    }
    // Where the file is what it became by installing, it becomes again what it was.
    let is_from = |before: &&String| {
        let had_it = opened.at.parse(before).is_ok_and(|whole| {
            let servers = opened.at.servers(&whole).into_iter().filter(|(known, _)| *known == name);
            servers
                .filter_map(|(_, value)| file.shape().entry(name, value))
                .any(|entry| entry.points_at(root))
        });
        !had_it && opened.at.with(before, name, &found).is_ok_and(|after| after == opened.text)
    };
    if let Some(before) = opened.content.backups().iter().find(is_from) {
        return Ok(opened.change(Some(before.clone())));
    }
    if is_from(&&file.beginning().to_owned()) {
        return Ok(opened.change(None));
    }
    let after = opened.at.without(&opened.text, name).map_err(|error| opened.refusal(error))?;
    Ok(opened.change(Some(after)))
}

/// A file that was read, and understood as far as its format goes.
struct Opened<'f> {
    file: &'f ConfigFile,
    content: Content,
    text: String,
    whole: Value,
    at: At,
}

impl<'f> Opened<'f> {
    fn read(file: &'f ConfigFile) -> Result<Self, Refusal> {
        let content = Content::read(&file.path)?;
        let text = content.text.clone().unwrap_or_else(|| file.beginning().to_owned());
        let refusal = |error| Refusal::Edit { path: file.path.clone(), error };
        let whole = file.at(None).parse(&text).map_err(refusal)?;
        let at = file.at(Some(&whole));
        Ok(Self { file, content, text, whole, at })
    }

    fn find(&self, name: &str) -> Option<Value> {
        let servers = self.at.servers(&self.whole);
        servers.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    }

    fn refusal(&self, error: EditError) -> Refusal {
        Refusal::Edit { path: self.file.path.clone(), error }
    }

    fn taken(&self, name: &str, found: &Value) -> Refusal {
        // Variables may be secrets.
        let entry = self.file.shape().entry(name, found);
        let shown = entry.map(|entry| shown::command_line(&entry.command, &entry.args));
        let found = shown.or_else(|| found["url"].as_str().map(shown::url));
        let found = found.unwrap_or_else(|| "it starts no command".to_owned());
        Refusal::Taken { path: self.file.path.clone(), name: name.to_owned(), found }
    }

    fn change(self, after: Option<String>) -> Plan {
        let new_mode = if self.file.scope == Scope::Project { 0o644 } else { 0o600 };
        Plan::Change(Change { content: self.content, after, new_mode })
    }
}

fn is_same_project(file: &ConfigFile, entry: &Entry, found: &Value) -> bool {
    let found = file.shape().entry(&entry.name, found);
    found.is_some_and(|found| entry.project_root().is_some_and(|root| found.points_at(Path::new(root))))
}

/// What stands there already with what we write over it: what a person added, such as a time limit, stays.
fn updated(found: &Value, own: &Value) -> Value {
    let mut value = found.clone();
    for (key, new) in own.as_object().into_iter().flatten() {
        match (value.get_mut(key), new) {
            (Some(Value::Object(old)), Value::Object(new)) => old.extend(new.clone()),
            // Whether it is switched on, for how long it may run and what it is for is not ours to say again.
            (Some(_), Value::Bool(_) | Value::Number(_)) => {}
            (Some(_), _) if key == "description" => {}
            _ => value[key] = new.clone(),
        }
    }
    value
}
