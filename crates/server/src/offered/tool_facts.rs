//! Facts about a tool that every call of it needs: described when they are first needed, and kept as long as the catalog is
//! served.

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

    /// The sandbox of the tool in a few words. Neither the settings nor the machine change while the server runs.
    pub(crate) fn sandbox(&self, tool: &Tool, scripts: &Scripts) -> &str {
        self.sandbox.get_or_init(|| scripts.sandbox_words(tool.options.sandbox.as_ref()).into())
    }

    /// Whether its sandbox opens the folders of the client, and it seems to use them: its author lists them, or its script
    /// names what reads them. An answer after the start would come too late, because a sandbox cannot be opened any more.
    pub(crate) fn uses_roots_in_sandbox(&self, tool: &Tool, scripts: &Scripts) -> bool {
        let lists_roots = || tool.options.sandbox.as_ref().is_some_and(Declaration::lists_roots);
        let is_expected = || scripts.opens_roots(tool) && (lists_roots() || tool.names_roots());
        *self.uses_roots_in_sandbox.get_or_init(is_expected)
    }
}
