//! Drafts: the dialects of JSON Schema that are known here, from the oldest to the newest.

use crate::SchemaError;
use crate::excerpt::clip;
use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Draft {
    Draft4,
    Draft6,
    Draft7,
    Draft201909,
    Draft202012,
}

impl Draft {
    pub(crate) const ALL: [Self; 5] =
        [Self::Draft4, Self::Draft6, Self::Draft7, Self::Draft201909, Self::Draft202012];

    /// The address of its meta-schema, without a fragment.
    pub(crate) fn address(self) -> &'static str {
        match self {
            Self::Draft4 => "http://json-schema.org/draft-04/schema",
            Self::Draft6 => "http://json-schema.org/draft-06/schema",
            Self::Draft7 => "http://json-schema.org/draft-07/schema",
            Self::Draft201909 => "https://json-schema.org/draft/2019-09/schema",
            Self::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    /// The draft whose meta-schema has this address. `http` and `https` count as the same: both are in use.
    pub(crate) fn at(address: &str) -> Option<Self> {
        let bare = |address: &str| {
            let address = address.trim_end_matches('#');
            let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
            rest.unwrap_or(address).to_owned()
        };
        Self::ALL.into_iter().find(|draft| bare(draft.address()) == bare(address))
    }

    /// The draft that `$schema` names, and 2020-12 without it.
    pub(crate) fn of(schema: &Value) -> Result<Self, SchemaError> {
        let Some(address) = schema.get("$schema").and_then(Value::as_str) else {
            return Ok(Self::Draft202012);
        };
        Self::at(address).ok_or_else(|| SchemaError::UnknownDialect(clip(address, 200).into_owned()))
    }

    /// The keyword that names a schema.
    pub(crate) fn id_keyword(self) -> &'static str {
        if self == Self::Draft4 { "id" } else { "$id" }
    }

    /// Whether a reference disables all keywords beside it.
    pub(crate) fn refers_alone(self) -> bool {
        self <= Self::Draft7
    }

    /// The address that a schema gives itself, as it is written.
    pub(crate) fn id(self, schema: &Map<String, Value>) -> Option<&str> {
        if self.refers_alone() && schema.contains_key("$ref") {
            return None;
        }
        schema.get(self.id_keyword()).and_then(Value::as_str)
    }

    /// The draft of a schema within another one of this draft: only a schema with an address may name its own.
    pub(crate) fn within(self, schema: &Map<String, Value>) -> Self {
        let named = schema.get("$schema").and_then(Value::as_str).and_then(Self::at);
        named.filter(|own| own.id(schema).is_some()).unwrap_or(self)
    }
}
