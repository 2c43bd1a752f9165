//! JSON object as text: members are appended in order, without a parsed tree.

use mcp_bash_wire::{Raw, Scanner, write};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

/// The members of a JSON object under construction.
#[derive(Debug, Default)]
pub(crate) struct Members(String);

impl Members {
    /// Starts with existing members.
    pub(super) fn of_text(members: String) -> Self {
        Self(members)
    }

    /// Reserves `bytes`.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    pub(crate) fn raw(&mut self, name: &str, json: &str) {
        self.comma();
        for part in ["\"", name, "\":", json] {
            self.0.push_str(part);
        }
    }

    pub(crate) fn optional_raw(&mut self, name: &str, json: Option<&str>) {
        if let Some(json) = json {
            self.raw(name, json);
        }
    }

    pub(crate) fn string(&mut self, name: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.raw(name, "");
            write::push_string(&mut self.0, text);
        }
    }

    /// Adds a member without insignificant white space.
    pub(super) fn compact(&mut self, name: &str, json: &str) {
        self.raw(name, "");
        write::push_compact(&mut self.0, json);
    }

    /// Adds members that are already serialized.
    pub(crate) fn splice(&mut self, members: &str) {
        if !members.is_empty() {
            self.comma();
            self.0.push_str(members);
        }
    }

    /// Adds the members of an object, except those in `except`. Of duplicate names the last one is used, as in most JSON
    /// parsers.
    pub(crate) fn splice_object(&mut self, object: Raw<'_>, except: &[&str]) {
        let mut members = Vec::new();
        // Scanned before, so this cannot fail.
        let _ = Scanner::again(object).members(|key, value| members.push((key, value)));
        let mut later = HashSet::new();
        let name = |key: Raw<'_>| key.string().map_or_else(|| key.text().to_owned(), Cow::into_owned);
        let mut left: Vec<_> =
            members.into_iter().rev().filter(|(key, _)| later.insert(name(*key))).collect();
        left.retain(|(key, _)| key.string().is_none_or(|name| !except.contains(&&*name)));
        for (key, value) in left.iter().rev() {
            self.comma();
            let _ = write!(self.0, "{}:{}", key.text(), write::compact(value.text()));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }

    pub(crate) fn object(mut self) -> String {
        self.0.insert(0, '{');
        self.0.push('}');
        self.0
    }

    fn comma(&mut self) {
        if !self.0.is_empty() {
            self.0.push(',');
        }
    }
}
