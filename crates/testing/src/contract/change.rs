//! Contract change: one difference between what clients see now and what was recorded.

use serde_json::{Value, json};

/// The effect of a change on users of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Something that worked before may no longer work.
    Breaking,
    /// Nothing stops working, but a model or a client may choose differently.
    Wording,
    /// Everything that worked still does.
    Compatible,
}

impl Class {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Wording => "wording",
            Self::Compatible => "compatible",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) class: Class,
    /// `tool`, `prompt`, `resource` or `resource template`.
    pub(super) kind: &'static str,
    /// The name or the URI of the changed entry.
    pub(super) name: String,
    /// The place in its definition: `inputSchema.properties.name`; empty for the whole.
    pub(super) place: String,
    /// The change, for people.
    pub(super) words: String,
}

impl Change {
    pub(super) fn json(&self) -> Value {
        json!({
            "class": self.class.word(),
            "kind": self.kind,
            "name": self.name,
            "place": self.place,
            "change": self.words,
        })
    }
}

/// The changes of one entry.
#[derive(Debug)]
pub(super) struct Changes<'a> {
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) all: &'a mut Vec<Change>,
}

impl Changes<'_> {
    pub(super) fn add(&mut self, class: Class, place: &str, words: impl Into<String>) {
        let change = Change {
            class,
            kind: self.kind,
            name: self.name.clone(),
            place: place.to_owned(),
            words: words.into(),
        };
        self.all.push(change);
    }
}
