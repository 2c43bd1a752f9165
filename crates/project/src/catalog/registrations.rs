//! Registrations: the kinds of entries that a project can register, and the JSON text of each.

use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// What can be registered.
pub(crate) const KINDS: [&str; 5] = ["tools", "resources", "resourceTemplates", "prompts", "completions"];

/// What a hook registered, as JSON texts by their kind. A kind it did not speak of is not there.
pub(crate) type Registered = BTreeMap<String, Vec<Box<RawValue>>>;
