//! `server.d/register.json`: what a project registers instead of being searched. It is data only, and strict: one mistake
//! makes the whole file invalid, and is reported.

use crate::catalog::registrations::{KINDS, Registered};
use crate::declarations::error::EntryError;
use crate::declarations::metadata::Metadata;
use crate::declarations::values::relative;
use crate::ground::diagnostic::without_place;
use crate::ground::json::require_shallow;
use crate::ground::stamp::{Stamp, Stamps};
use crate::trust::{self, Distrust};
use crate::walk::entry::Entry;
use crate::walk::sighting::Sighting;
use crate::{Diagnostic, Paths, Tool};
use mcp_bash_files::look;
use mcp_bash_spelling::nearest_or_longer;
use mcp_bash_wire::{ScanError, surrogates};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use thiserror::Error;

/// Why a registration cannot be used. The messages complete "server.d/register.json ..." or "... register.sh ...".
#[derive(Debug, Error)]
pub(crate) enum RegistrationError {
    #[error("cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    #[error("is not trusted: {0}")]
    Distrusted(#[from] Distrust),
    #[error("has more than {0} bytes; MCPBASH_MAX_MANUAL_REGISTRY_BYTES sets the limit")]
    TooLarge(u64),
    #[error("starts with a byte-order mark; save it as UTF-8 without one")]
    ByteOrderMark,
    #[error("is not valid UTF-8")]
    NotUtf8,
    #[error("is not valid JSON: {0}")]
    NotJson(serde_json::Error),
    #[error("cannot be used: {0}")]
    TooDeep(#[from] ScanError),
    #[error("must be an object with `\"version\": 1`")]
    Version,
    #[error("has the unknown key `{0}`; {1}")]
    UnknownKey(String, String),
    #[error("must have an array or null as `{0}`")]
    NotAnArray(&'static str),
    #[error("must have an object as `_meta`")]
    Meta,
    /// A position would be one in the entry, not in the file.
    #[error("registers `{kind}[{index}]`, which cannot be used: {}", without_place(source.to_string()).0)]
    Entry { kind: &'static str, index: usize, source: Box<EntryError> },
}

impl RegistrationError {
    fn of_entry(kind: &'static str, index: usize, error: EntryError) -> Self {
        Self::Entry { kind, index, source: error.into() }
    }
}

const KNOWN: &str = "version, tools, resources, resourceTemplates, prompts, completions, _meta";

/// The entries of a registration, as JSON texts by kind. An absent kind is searched for; an empty one is switched off.
#[derive(Debug, Default)]
pub(crate) struct Registration(BTreeMap<String, Vec<Box<RawValue>>>);

impl Registration {
    /// Reads `register.json`. `None` if there is none.
    pub(crate) fn read(paths: &Paths, limit: u64) -> Result<Option<Self>, RegistrationError> {
        let path = paths.server.join("register.json");
        let Some(file) = trust::open(&path, &paths.root)? else { return Ok(None) };
        let text = read_text(&file, limit)?;
        let mut kinds = BTreeMap::new();
        for (name, raw) in members(&surrogates::repaired(&text))? {
            if KINDS.contains(&&*name) && raw.get() != "null" {
                let entries = serde_json::from_str(raw.get()).map_err(RegistrationError::NotJson)?;
                kinds.insert(name, entries);
            }
        }
        Ok(Some(Self(kinds)))
    }

    /// The entries that `register.sh` registered.
    pub(crate) fn hooked(registered: Registered) -> Self {
        Self(registered)
    }

    pub(crate) fn has(&self, kind: &str) -> bool {
        self.0.contains_key(kind)
    }

    /// The registered executables that are asked for their tools.
    pub(crate) fn providers(&self, paths: &Paths) -> Result<Vec<Sighting>, RegistrationError> {
        let kind = Tool::KIND;
        let marked =
            self.0.get(kind).into_iter().flatten().enumerate().filter(|(_, entry)| marks_provider(entry));
        let sighted = marked.map(|(index, entry)| {
            provider(entry, paths).map_err(|error| RegistrationError::of_entry(kind, index, error))
        });
        sighted.collect()
    }

    /// The entries of one kind, if it is registered.
    pub(crate) fn entries<T: Entry>(
        &self,
        paths: &Paths,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Option<Vec<Arc<T>>>, RegistrationError> {
        let Some(texts) = self.0.get(T::KIND) else { return Ok(None) };
        let mut entries = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            if T::KIND == Tool::KIND && marks_provider(text) {
                continue;
            }
            let mut problems = Vec::new();
            let entry = T::registered(text.get(), paths, &mut problems);
            let entry = entry.map_err(|error| RegistrationError::of_entry(T::KIND, index, error))?;
            let path = T::folder(paths).join(entry.path());
            diagnostics.extend(problems.into_iter().map(|problem| Diagnostic::new(&path, problem)));
            entries.push(Arc::new(entry));
        }
        Ok(Some(entries))
    }
}

/// Whether a registered tool is an executable to ask for its tools.
fn marks_provider(entry: &RawValue) -> bool {
    entry.get().contains("\"provider\"")
        && Metadata::from_json(entry.get()).is_ok_and(|entry| entry.provides_tools())
}

/// The executable that a registered entry names.
fn provider(entry: &RawValue, paths: &Paths) -> Result<Sighting, EntryError> {
    let path = Metadata::from_json(entry.get())?.path;
    let path = relative(path.as_deref(), "tools folder")?;
    let file = paths.tools.join(path);
    let unreadable = |source| EntryError::Unreadable { name: file.display().to_string(), source };
    let stat = look::stat(&file).map_err(unreadable)?;
    let stamps = Stamps { file: Stamp::of(&stat), metadata: None };
    if !stamps.file.is_executable() {
        return Err(EntryError::NotExecutable(file));
    }
    Ok(Sighting { path: path.components().collect(), metadata: None, stamps })
}

fn read_text(file: &File, limit: u64) -> Result<String, RegistrationError> {
    let bytes = match mcp_bash_files::read_all(file, limit) {
        Err(error) if error.kind() == ErrorKind::FileTooLarge => {
            return Err(RegistrationError::TooLarge(limit));
        }
        read => read?,
    };
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        return Err(RegistrationError::ByteOrderMark);
    }
    String::from_utf8(bytes).map_err(|_| RegistrationError::NotUtf8)
}

/// The key that an unknown one was probably meant to be, otherwise all known keys.
fn meant(key: &str) -> String {
    match nearest_or_longer(key, &KINDS) {
        Some(meant) => format!("write `{meant}` if that is what you mean"),
        None => format!("known are {KNOWN}"),
    }
}

fn members(text: &str) -> Result<BTreeMap<String, &RawValue>, RegistrationError> {
    serde_json::from_str::<&RawValue>(text).map_err(RegistrationError::NotJson)?;
    require_shallow(text)?;
    let value: Value = serde_json::from_str(text).map_err(RegistrationError::NotJson)?;
    let object = value.as_object().ok_or(RegistrationError::Version)?;
    if object.get("version").and_then(Value::as_f64) != Some(1.0) {
        return Err(RegistrationError::Version);
    }
    for (key, value) in object {
        match KINDS.iter().find(|kind| *kind == key) {
            Some(_) if value.is_array() || value.is_null() => {}
            Some(kind) => return Err(RegistrationError::NotAnArray(kind)),
            // Tells an editor where the schema of this file is.
            None if key == "version" || key == "$schema" => {}
            None if key == "_meta" && (value.is_object() || value.is_null()) => {}
            None if key == "_meta" => return Err(RegistrationError::Meta),
            None => return Err(RegistrationError::UnknownKey(key.clone(), meant(key))),
        }
    }
    serde_json::from_str(text).map_err(RegistrationError::NotJson)
}
