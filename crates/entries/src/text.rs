//! Configuration text, as far as its format is understood: which entries it has, and what it becomes with one more or
//! one less. Nothing is read or written here.

use crate::client::{Dialect, Format};
use crate::config_file::ConfigFile;
use crate::edit::json::escaped;
use crate::edit::{At, EditError};
use crate::entry::Entry;
use crate::refusal::Refusal;
use crate::remote::Remote;
use crate::shape::PASSED;
use crate::shown;
use crate::variables::inputs;
use crate::variables::supply::Supply;
use serde_json::Value;
use std::path::Path;

/// What an entry has to lead to, so that it is ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target<'t> {
    /// It starts a server for the project in this folder.
    Project(&'t Path),
    /// It connects to this address.
    Address(&'t str),
}

#[derive(Debug)]
pub struct ConfigText<'f> {
    file: &'f ConfigFile,
    text: String,
    whole: Value,
    at: At,
}

impl<'f> ConfigText<'f> {
    pub fn read(file: &'f ConfigFile, text: String) -> Result<Self, Refusal> {
        let refusal = |error| Refusal::Edit { path: file.path.clone(), error };
        let whole = file.at(None).parse(&text).map_err(refusal)?;
        let at = file.at(Some(&whole));
        Ok(Self { file, text, whole, at })
    }

    /// The entries that start a command.
    pub fn entries(&self) -> Vec<Entry> {
        let servers = self.at.servers(&self.whole).into_iter();
        servers.filter_map(|(name, value)| self.file.shape().entry(name, value)).collect()
    }

    /// The text with an entry; `None` if it has it already. With `force` it replaces an entry of the same name that
    /// serves another project.
    pub fn with(&self, entry: &Entry, force: bool) -> Result<Option<String>, Refusal> {
        let own = self.file.shape().value(entry);
        let found = self.find(&entry.name);
        let value = match &found {
            None => own,
            Some(found) if self.is_same_project(entry, found) => updated(found, &own),
            Some(_) if force => own,
            Some(found) => return Err(self.taken(&entry.name, found)),
        };
        if found.as_ref() == Some(&value) {
            return Ok(None);
        }
        let written = self.escaping(&self.file.shape().value(entry), &value);
        let written = written.and_then(|at| at.with(&self.text, &entry.name, &value));
        let written = written.and_then(|text| match self.prompting_dialect() {
            Some(dialect) => inputs::with_inputs(text, dialect, &entry.name, &entry.env),
            None => Ok(text),
        });
        written.map(Some).map_err(|error| self.refusal(error))
    }

    /// The text with an entry for a server at an address; `None` if it has it already. An entry of the same name with another
    /// address is replaced only with `force`. A reference to a variable must stay one, so that nothing is escaped.
    pub(crate) fn with_remote(
        &self,
        remote: &Remote,
        own: &Value,
        force: bool,
    ) -> Result<Option<String>, Refusal> {
        let name = remote.name.as_str();
        let found = self.find(name);
        let value = match &found {
            Some(found) if address(found) == address(own) => updated(found, own),
            Some(found) if !force => return Err(self.taken(name, found)),
            _ => own.clone(),
        };
        if found.as_ref() == Some(&value) {
            return Ok(None);
        }
        let written = self.at.with(&self.text, name, &value);
        let written = written.and_then(|text| match (self.prompting_dialect(), &remote.token) {
            (Some(dialect), Some(token)) => inputs::with_token(text, dialect, name, &token.variable),
            _ => Ok(text),
        });
        written.map(Some).map_err(|error| self.refusal(error))
    }

    /// How an entry is written: with escapes if our part of it, or the part that was kept, needs them.
    fn escaping(&self, own: &Value, value: &Value) -> Result<At, EditError> {
        let beginnings = self.file.escapes();
        let (in_own, in_all) = (count(own, beginnings), count(value, beginnings));
        let with = |escaped| Ok(At { escaped, ..self.at.clone() });
        if in_all == in_own {
            return with(if in_own > 0 { beginnings } else { &[] });
        }
        // The user's text stays what it is, a reference or a text. One entry cannot have both.
        let is_plain = beginnings.iter().any(|beginning| self.text.contains(beginning));
        let is_hidden = beginnings.iter().any(|beginning| self.text.contains(&escaped(beginning)));
        match (in_own > 0, is_hidden, is_plain) {
            (_, true, false) => with(beginnings),
            (false, false, _) => with(&[]),
            _ => Err(EditError::Unsafe),
        }
    }

    /// The text without the entry of a name.
    pub fn without(&self, name: &str) -> Result<String, Refusal> {
        self.at.without(&self.text, name).map_err(|error| self.refusal(error))
    }

    pub(crate) fn find(&self, name: &str) -> Option<Value> {
        let servers = self.at.servers(&self.whole);
        servers.into_iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
    }

    /// The same file without the inputs of the entry of a name.
    pub(crate) fn without_inputs(self, name: &str) -> Result<Self, Refusal> {
        let (Some(dialect), Some(found)) = (self.prompting_dialect(), self.find(name)) else {
            return Ok(self);
        };
        let members = ["env", "headers"].into_iter().filter_map(|key| found[key].as_object());
        let values = members.flat_map(|members| members.values()).filter_map(Value::as_str);
        let text = inputs::without_inputs(self.text.clone(), dialect, values);
        Self::read(self.file, text.map_err(|error| self.refusal(error))?)
    }

    /// The dialect of the file, if its client asks for inputs.
    fn prompting_dialect(&self) -> Option<Dialect> {
        match self.at.format {
            Format::Json(dialect) if self.file.client.supply() == Some(Supply::Prompt) => Some(dialect),
            _ => None,
        }
    }

    /// Whether the entry of a name leads to `target`.
    pub(crate) fn leads_to(&self, name: &str, target: Target<'_>) -> bool {
        self.has_entry_for(&self.whole, name, target)
    }

    /// Whether installing an entry turns another text, which had none for the project, into this one.
    pub(crate) fn came_from(&self, before: &str, name: &str, target: Target<'_>, entry: &Value) -> bool {
        let had_it = self.at.parse(before).is_ok_and(|whole| self.has_entry_for(&whole, name, target));
        let made_by = |escaped| At { escaped, ..self.at.clone() }.with(before, name, entry);
        let makes_this = |escaped| made_by(escaped).is_ok_and(|after| after == self.text);
        !had_it && (makes_this(&[]) || makes_this(self.file.escapes()))
    }

    /// Whether another text of the file holds anything but the entry of a name.
    pub(crate) fn holds_more_than(&self, text: &str, name: &str) -> bool {
        self.at.holds_more_than(text, name)
    }

    /// The refusal to touch an entry that is not ours.
    pub(crate) fn taken(&self, name: &str, found: &Value) -> Refusal {
        // Variables may be secrets.
        let entry = self.file.shape().entry(name, found);
        let shown = entry.map(|entry| shown::command_line(&entry.command, &entry.args));
        let found = shown.or_else(|| address(found).map(shown::url));
        let found = found.unwrap_or_else(|| "it starts no command".to_owned());
        Refusal::Taken { path: self.file.path.clone(), name: name.to_owned(), found }
    }

    fn has_entry_for(&self, whole: &Value, name: &str, target: Target<'_>) -> bool {
        let mut servers = self.at.servers(whole).into_iter().filter(|(known, _)| *known == name);
        servers.any(|(_, value)| match target {
            Target::Project(root) => {
                self.file.shape().entry(name, value).is_some_and(|entry| entry.points_at(root))
            }
            Target::Address(url) => address(value) == Some(url),
        })
    }

    fn is_same_project(&self, entry: &Entry, found: &Value) -> bool {
        let found = self.file.shape().entry(&entry.name, found);
        found.is_some_and(|found| entry.project_root().is_some_and(|root| found.points_at(Path::new(root))))
    }

    fn refusal(&self, error: EditError) -> Refusal {
        Refusal::Edit { path: self.file.path.clone(), error }
    }
}

/// The address in an entry for a server over HTTP, in any form.
fn address(value: &Value) -> Option<&str> {
    ["url", "serverUrl", "httpUrl", "uri"].into_iter().find_map(|key| value[key].as_str())
}

/// How many strings of a value contain one of these texts.
fn count(value: &Value, texts: &[&str]) -> usize {
    match value {
        Value::String(text) => usize::from(texts.iter().any(|part| text.contains(part))),
        Value::Array(items) => items.iter().map(|item| count(item, texts)).sum(),
        Value::Object(members) => members.values().map(|member| count(member, texts)).sum(),
        _ => 0,
    }
}

/// An existing value with our members written over it: what a user added, such as a timeout, stays.
fn updated(found: &Value, own: &Value) -> Value {
    let mut value = found.clone();
    for (key, new) in own.as_object().into_iter().flatten() {
        match (value.get_mut(key), new) {
            (Some(Value::Object(old)), Value::Object(new)) => old.extend(new.clone()),
            // The user may have listed more of them.
            (Some(Value::Array(old)), Value::Array(new)) if key == PASSED => {
                let added: Vec<Value> = new.iter().filter(|name| !old.contains(name)).cloned().collect();
                old.extend(added);
            }
            // Whether it is enabled, how long it may run and what it is for are the user's choice.
            (Some(_), Value::Bool(_) | Value::Number(_)) => {}
            (Some(_), _) if key == "description" => {}
            _ => value[key] = new.clone(),
        }
    }
    value
}
