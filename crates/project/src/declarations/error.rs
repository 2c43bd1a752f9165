//! Errors of declarations: why an entry that an author has declared cannot be used.

use crate::declarations::mapping::error::MappingError;
use crate::ground::json::JsonError;
use crate::trust::Distrust;
use mcp_bash_launchers::LauncherError;
use mcp_bash_sandbox::DeclarationError;
use mcp_bash_secrets::NeedError;
use mcp_bash_wire::{ObjectError, ScanError};
use std::error::Error as StdError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why an entry cannot be used. The messages complete "is skipped: ..."; the text after the last `; ` is the fix.
#[derive(Debug, Error)]
pub(crate) enum EntryError {
    #[error(transparent)]
    Json(#[from] JsonError),
    #[error(transparent)]
    Scan(#[from] ScanError),
    #[error(transparent)]
    Object(#[from] ObjectError),
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Distrusted(#[from] Distrust),
    #[error(transparent)]
    Mapping(#[from] MappingError),
    #[error(transparent)]
    Sandbox(#[from] DeclarationError),
    #[error(transparent)]
    Launcher(#[from] LauncherError),
    #[error(transparent)]
    Secrets(#[from] NeedError),
    #[error("{0}; fix the YAML")]
    Yaml(String),
    #[error("the `mcp:` line: {0}")]
    Inline(JsonError),
    #[error("the `mcp:` line: line {0} is not UTF-8 text; save the file as UTF-8")]
    InlineNotText(usize),
    #[error("`{key}`: {source}")]
    Within { key: String, source: Box<dyn StdError + Send + Sync> },
    #[error("`{0}` is missing")]
    Missing(&'static str),
    #[error("`{0}` must be an object; write it between `{{` and `}}`")]
    NotAnObject(&'static str),
    #[error("`{0}` must be above 0; leave it out for the default")]
    NotPositive(&'static str),
    /// `remedy` begins with `; `, unless it is empty.
    #[error("`{key}` must {wanted}, not {found}{remedy}")]
    WrongValue { key: &'static str, wanted: &'static str, found: String, remedy: &'static str },
    #[error("`path` must stay below the {folder}: {path}")]
    Outside { folder: &'static str, path: String },
    #[error("`uri` must begin with a scheme, as `file:` is one, and is `{0}`")]
    NoScheme(String),
    #[error("`uriTemplate` has no variable, as `{{name}}` is one: {0}")]
    NoVariable(String),
    #[error("there is no provider `{name}`; there are {}, and executables of that name in {}", ours.join(", "), folder.display())]
    NoProvider { name: String, ours: &'static [&'static str], folder: PathBuf },
    #[error("there is no file {}", .0.display())]
    NoFile(PathBuf),
    #[error("{} is not executable; run `chmod +x` on it", .0.display())]
    NotExecutable(PathBuf),
    #[error("{name}: {source}")]
    Unreadable { name: String, source: io::Error },
    #[error("{0} is outside the project")]
    OutsideProject(String),
    #[error("{0}: its type is not known; say it in `mimeType`")]
    UnknownType(String),
    #[error("it said what is no list of its functions: {0}")]
    NotFunctions(serde_json::Error),
    /// A file could not report its functions; the words are those of its interpreter.
    #[error("{0}")]
    NotLoaded(String),
    /// An executable could not list its tools.
    #[error("asked `list`, it {0}")]
    NotListed(String),
    #[error("asked `list`, it printed what is no JSON ({source}): {excerpt}")]
    ListedNoJson { source: serde_json::Error, excerpt: String },
    #[error("asked `list`, it printed a definition that cannot be used ({source}): {excerpt}")]
    ListedUnusable { source: Box<Self>, excerpt: String },
    /// A rule about the entry as a whole.
    #[error("{0}")]
    Rule(&'static str),
}

impl From<&'static str> for EntryError {
    fn from(rule: &'static str) -> Self {
        Self::Rule(rule)
    }
}

/// The error of a key with a value of the wrong kind.
pub(crate) fn wrong_value(
    key: &'static str,
    wanted: &'static str,
    found: impl Into<String>,
    remedy: &'static str,
) -> EntryError {
    EntryError::WrongValue { key, wanted, found: found.into(), remedy }
}

/// Names the key whose value an error is about.
pub(crate) fn within<E: Into<Box<dyn StdError + Send + Sync>>>(
    key: impl Into<String>,
) -> impl FnOnce(E) -> EntryError {
    move |error| EntryError::Within { key: key.into(), source: error.into() }
}
