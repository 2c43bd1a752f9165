//! Setting kinds: each says in words what it accepts, and parses a text or refuses it.

mod file;
mod flag;
mod folder;
mod list;
mod number;
mod optional;
mod place;
mod text;
mod word;

pub(crate) use file::File;
pub(crate) use flag::Flag;
pub(crate) use folder::Folder;
pub(crate) use list::{Folders, Hosts, Names};
pub(crate) use number::{Bytes, Count, Seconds, bytes, count, kilobytes, per_minute, seconds};
pub(crate) use number::{LARGEST, PerMinute, YEAR};
pub(crate) use optional::Optional;
pub(crate) use place::Place;
pub(crate) use text::{Secret, Text, TextOrNothing};
pub(crate) use word::Word;

use std::borrow::Cow;
use std::ffi::OsStr;

/// The type of a setting.
pub(crate) trait Kind: Sync + 'static {
    type Value;

    /// Whether an empty variable counts as a value. For other kinds it counts as not set.
    const EMPTY_COUNTS: bool = false;

    /// Type and range, for the reference.
    fn description(&self) -> Cow<'static, str>;

    /// Parses a text, which has no white space around it.
    fn parse(&self, text: &str) -> Result<Self::Value, Refusal<Self::Value>>;

    /// Parses the value of a variable; `None` if it counts as not set.
    fn parse_variable(&self, given: &OsStr) -> Option<Result<Self::Value, Refusal<Self::Value>>> {
        let Some(text) = given.to_str() else {
            // It may have been meant as a restriction, and there is no way to tell which.
            return Some(Err(Refusal::fatal("is not valid UTF-8; the server does not start".to_owned())));
        };
        let text = text.trim();
        (Self::EMPTY_COUNTS || !text.is_empty()).then(|| self.parse(text))
    }

    /// How an accepted text is shown to users.
    fn shown(&self, text: &str) -> String {
        text.to_owned()
    }
}

/// Why a text is not a value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal<V> {
    pub(crate) problem: String,
    /// The value that is used instead, and how it is shown, if the default would be unsafe.
    pub(crate) instead: Option<(V, &'static str)>,
    pub(crate) fatal: bool,
}

impl<V> Refusal<V> {
    /// The default is used.
    fn default_stands(problem: String) -> Self {
        Self { problem, instead: None, fatal: false }
    }

    /// Another value than the default is used, as the problem says.
    fn instead(problem: String, value: V, shown: &'static str) -> Self {
        Self { problem, instead: Some((value, shown)), fatal: false }
    }

    /// The server must not start.
    fn fatal(problem: String) -> Self {
        Self { problem, instead: None, fatal: true }
    }

    fn map<W>(self, convert: impl FnOnce(V) -> W) -> Refusal<W> {
        let instead = self.instead.map(|(value, shown)| (convert(value), shown));
        Refusal { problem: self.problem, instead, fatal: self.fatal }
    }
}
