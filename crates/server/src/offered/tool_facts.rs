//! Tool facts: facts that every call of a tool needs, computed on first use and kept as long as the catalog is served.

use mcp_bash_project::Tool;
use mcp_bash_sandbox::Declaration;
use mcp_bash_scripts::Scripts;
use serde_json::Value;
use std::sync::OnceLock;

#[derive(Default)]
pub(crate) struct ToolFacts {
    for_policy: OnceLock<Value>,
    sandbox: OnceLock<Box<str>>,
    uses_roots_in_sandbox: OnceLock<bool>,
}

impl ToolFacts {
    /// The tool as the rules of a policy see it.
    pub(crate) fn for_policy(&self, tool: &Tool) -> &Value {
        self.for_policy.get_or_init(|| tool.policy_facts())
    }

    /// A short description of the sandbox. Neither the settings nor the machine change while the server runs.
    pub(crate) fn sandbox(&self, tool: &Tool, scripts: &Scripts) -> &str {
        self.sandbox.get_or_init(|| scripts.sandbox_words(tool.options.sandbox.as_ref()).into())
    }

    /// Whether its sandbox opens the client's roots, and the tool seems to use them: its author lists them, or its script
    /// refers to them. Roots that arrive after the start would be too late, because a running sandbox cannot be extended.
    pub(crate) fn uses_roots_in_sandbox(&self, tool: &Tool, scripts: &Scripts) -> bool {
        let lists_roots = || tool.options.sandbox.as_ref().is_some_and(Declaration::lists_roots);
        let is_expected = || scripts.opens_roots(tool) && (lists_roots() || tool.names_roots());
        *self.uses_roots_in_sandbox.get_or_init(is_expected)
    }
}
