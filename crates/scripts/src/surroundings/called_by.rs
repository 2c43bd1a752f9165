//! Caller of a script: its name, groups and claims, as scripts receive them. They contain nothing of its token.

use mcp_bash_runner::Variables;
use serde_json::{Map, Value};

/// The caller that a script runs for.
#[derive(Debug, Clone, Copy, Default)]
pub struct CalledBy<'a> {
    pub name: &'a str,
    pub groups: &'a [Box<str>],
    /// The claims that the operator passes on.
    pub claims: Option<&'a Map<String, Value>>,
}

impl<'a> CalledBy<'a> {
    /// A caller whose groups and claims are not known.
    pub fn named(name: &'a str) -> Self {
        Self { name, ..Self::default() }
    }

    /// Sets `MCP_CALLER`, and the groups and claims if there are any.
    pub(crate) fn set(&self, variables: &mut Variables) {
        variables.set("MCP_CALLER", self.name);
        if !self.groups.is_empty() {
            variables.set("MCP_CALLER_GROUPS", self.groups.join("\n"));
        }
        if let Some(claims) = self.claims_text() {
            variables.set("MCP_CALLER_CLAIMS", claims);
        }
    }

    /// The groups as the text of a JSON array, if there are any.
    pub(crate) fn groups_text(&self) -> Option<String> {
        (!self.groups.is_empty()).then(|| serde_json::to_string(self.groups).ok())?
    }

    /// The claims as the text of a JSON object, if there are any.
    pub(crate) fn claims_text(&self) -> Option<String> {
        self.claims.filter(|claims| !claims.is_empty()).and_then(|claims| serde_json::to_string(claims).ok())
    }
}
