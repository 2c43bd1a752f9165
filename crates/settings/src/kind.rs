//! What a setting may be. Each kind says in words what it accepts, and makes a value of a text or refuses it.

mod file;
mod flag;
mod folder;
mod list;
mod number;
mod optional;
mod text;
mod word;

pub(crate) use file::File;
pub(crate) use flag::Flag;
pub(crate) use folder::Folder;
pub(crate) use list::{Folders, Hosts, Names};
pub(crate) use number::{Bytes, Count, Seconds, bytes, count, kilobytes, per_minute, seconds};
pub(crate) use number::{LARGEST, PerMinute, YEAR};
pub(crate) use optional::Optional;
pub(crate) use text::{Secret, Text, TextOrNothing};
pub(crate) use word::Word;

use std::borrow::Cow;
use std::ffi::OsStr;

/// The type of a setting.
pub(crate) trait Kind: Sync + 'static {
    type Value;

    /// Whether a variable that is set to nothing has a value. For other kinds it is as good as not set.
    const EMPTY_COUNTS: bool = false;

    /// Type and range, for the reference.
    fn description(&self) -> Cow<'static, str>;

    /// The value that a text stands for. There are no blanks around the text.
    fn parse(&self, text: &str) -> Result<Self::Value, Refusal<Self::Value>>;

    /// The value of a variable, and `None` where it is as good as not set.
    fn parse_variable(&self, given: &OsStr) -> Option<Result<Self::Value, Refusal<Self::Value>>> {
        let Some(text) = given.to_str() else {
            // It may have been meant as a restriction, and what it was meant to be cannot be known.
            return Some(Err(Refusal::fatal("is not valid UTF-8; the server does not start".to_owned())));
        };
        let text = text.trim();
        (Self::EMPTY_COUNTS || !text.is_empty()).then(|| self.parse(text))
    }

    /// How a text that was accepted is shown to people.
    fn shown(&self, text: &str) -> String {
        text.to_owned()
    }
}

/// Why a text is no value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal<V> {
    pub(crate) problem: String,
    /// What stands in place of the value, and how it is shown, where the default would be unsafe.
    pub(crate) instead: Option<(V, &'static str)>,
    pub(crate) fatal: bool,
}

impl<V> Refusal<V> {
    /// The default stands.
    fn default_stands(problem: String) -> Self {
        Self { problem, instead: None, fatal: false }
    }

    /// Another value than the default stands, as the problem says.
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
