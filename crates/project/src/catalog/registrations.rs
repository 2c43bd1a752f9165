//! Registrations: the kinds of entries that a project can register, and the JSON text of each.

use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The kinds that can be registered.
pub(crate) const KINDS: [&str; 5] = ["tools", "resources", "resourceTemplates", "prompts", "completions"];

/// Entries registered by a hook, as JSON texts by kind. A kind that the hook did not mention is absent.
pub(crate) type Registered = BTreeMap<String, Vec<Box<RawValue>>>;
