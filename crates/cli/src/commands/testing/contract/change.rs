//! One difference between what clients see now and what was recorded.

use serde_json::{Value, json};

/// What a change means to those who use the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// What worked before may not work any more.
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
    /// The name or the URI of what has changed.
    pub(super) name: String,
    /// Where in its definition: `inputSchema.properties.name`; nothing for the whole.
    pub(super) place: String,
    /// What changed, in words.
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

/// The changes of one thing.
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
