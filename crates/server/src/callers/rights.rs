//! Rights: what a caller may do, if that is not everything.

use mcp_bash_project::{Resource, ResourceTemplate, Tool, excerpt};
use mcp_bash_settings::AllowedNames;
use mcp_bash_wire::RpcError;

/// What a caller sees and may use. Where there is no list, that is everything.
#[derive(Debug, Clone, Default)]
pub struct Rights {
    pub tools: Option<AllowedNames>,
    /// Names or URIs of resources and of their templates. With a list, no other URI can be read.
    pub resources: Option<AllowedNames>,
    pub prompts: Option<AllowedNames>,
    /// Whether only tools that say they are read-only (`readOnlyHint`) may be called.
    pub read_only: bool,
}

impl Rights {
    /// Whether a tool of that name may be called, as far as its name tells.
    pub(crate) fn may_call_name(&self, tool: &str) -> bool {
        holds(self.tools.as_ref(), tool)
    }

    pub(crate) fn may_call(&self, tool: &Tool) -> bool {
        self.may_call_name(&tool.name) && (!self.read_only || tool.is_read_only())
    }

    pub(crate) fn may_get(&self, prompt: &str) -> bool {
        holds(self.prompts.as_ref(), prompt)
    }

    pub(crate) fn may_read(&self, resource: &Resource) -> bool {
        self.may_read_either(&resource.about.name, &resource.uri)
    }

    pub(crate) fn may_read_template(&self, template: &ResourceTemplate) -> bool {
        self.may_read_either(&template.about.name, template.template.as_str())
    }

    /// Whether URIs that are neither a resource nor of a template may be read.
    pub(crate) fn may_read_others(&self) -> bool {
        self.resources.is_none()
    }

    fn may_read_either(&self, name: &str, uri: &str) -> bool {
        let Some(allowed) = &self.resources else { return true };
        allowed.hold(name) || allowed.hold(uri)
    }
}

fn holds(allowed: Option<&AllowedNames>, name: &str) -> bool {
    allowed.is_none_or(|allowed| allowed.hold(name))
}

/// The refusal to call a tool that is not on the caller's list. It does not reveal whether the tool exists.
pub(crate) fn refusal(caller: &str, tool: &str) -> RpcError {
    RpcError::invalid_params(format!(
        "Tool '{}' is not allowed: it is not in the list of tools of the caller `{caller}`",
        excerpt(tool)
    ))
}

/// The refusal to call a tool that is not read-only. It does not reveal whether the tool exists.
pub(crate) fn read_only_refusal(caller: &str, tool: &str) -> RpcError {
    RpcError::invalid_params(format!(
        "Tool '{}' is not allowed: the caller `{caller}` may only call tools with `readOnlyHint`",
        excerpt(tool)
    ))
}

/// The refusal to get a prompt that is not on the caller's list.
pub(crate) fn prompt_refusal(caller: &str, prompt: &str) -> RpcError {
    RpcError::invalid_params(format!(
        "Prompt '{}' is not allowed: it is not in the list of prompts of the caller `{caller}`",
        excerpt(prompt)
    ))
}
