//! Rights: what a principal may do, if that is restricted.

use mcp_bash_project::{Resource, ResourceTemplate, Tool, excerpt};
use mcp_bash_roles::{Grant, Granted, Hindrance, ToolFacts};
use mcp_bash_wire::RpcError;
use std::sync::Arc;
use std::time::SystemTime;

/// What a principal sees and may use: the grants of its credential, combined with its roles if there are roles.
#[derive(Debug, Clone, Default)]
pub struct Rights {
    /// Each of these groups has to allow an action by one of its grants.
    all_of: Vec<Vec<Arc<Grant>>>,
    /// The most concurrent calls.
    concurrency: Option<usize>,
}

impl Rights {
    /// The rights of a credential.
    pub fn of(grant: Grant) -> Self {
        Self { all_of: vec![vec![Arc::new(grant)]], concurrency: None }
    }

    /// The rights of a caller's roles, restricted by its credential.
    pub fn of_roles(granted: &Granted, credential: Option<&Self>) -> Self {
        let mut all_of = vec![granted.grants.clone()];
        all_of.extend(credential.into_iter().flat_map(|rights| rights.all_of.iter().cloned()));
        Self { all_of, concurrency: granted.concurrency }
    }

    /// No rights at all.
    pub fn nothing() -> Self {
        Self { all_of: vec![Vec::new()], concurrency: None }
    }

    pub(crate) fn concurrency(&self) -> Option<usize> {
        self.concurrency
    }

    /// Whether the tool is listed: it may be called at some hour.
    pub(crate) fn shows(&self, tool: &Tool) -> bool {
        let facts = ToolFacts { name: &tool.name, is_read_only: Some(tool.is_read_only()) };
        self.all(|grant| grant.shows(facts))
    }

    pub(crate) fn shows_prompt(&self, prompt: &str) -> bool {
        self.all(|grant| grant.allows_prompt(prompt))
    }

    pub(crate) fn shows_resource(&self, resource: &Resource) -> bool {
        self.all(|grant| grant.allows_resource(&resource.about.name, &resource.uri))
    }

    pub(crate) fn shows_template(&self, template: &ResourceTemplate) -> bool {
        self.all(|grant| grant.allows_resource(&template.about.name, template.template.as_str()))
    }

    /// Why a tool may not be called now. `is_read_only` is `None` if the tool is not known yet.
    pub(crate) fn hindrance(&self, name: &str, is_read_only: Option<bool>) -> Option<Hindrance> {
        let (facts, now) = (ToolFacts { name, is_read_only }, SystemTime::now());
        self.hindrance_by(|grant| grant.hindrance(facts, now))
    }

    /// Why a prompt may not be used now.
    pub(crate) fn prompt_hindrance(&self, prompt: &str) -> Option<Hindrance> {
        let now = SystemTime::now();
        self.hindrance_by(|grant| {
            if grant.allows_prompt(prompt) { grant.closed(now) } else { Some(Hindrance::NotListed) }
        })
    }

    /// Why no resource may be read now.
    pub(crate) fn closed(&self) -> Option<Hindrance> {
        let now = SystemTime::now();
        self.hindrance_by(|grant| grant.closed(now)).filter(|why| matches!(why, Hindrance::Closed(_)))
    }

    pub(crate) fn may_read(&self, resource: &Resource) -> bool {
        self.all_now(|grant| grant.allows_resource(&resource.about.name, &resource.uri))
    }

    pub(crate) fn may_read_template(&self, template: &ResourceTemplate) -> bool {
        self.all_now(|grant| grant.allows_resource(&template.about.name, template.template.as_str()))
    }

    /// Whether URIs may be read that belong neither to a resource nor to a template.
    pub(crate) fn may_read_others(&self) -> bool {
        self.all_now(Grant::allows_other_uris)
    }

    fn all_now(&self, allows: impl Fn(&Grant) -> bool) -> bool {
        let now = SystemTime::now();
        self.all(|grant| allows(grant) && grant.closed(now).is_none())
    }

    fn all(&self, allows: impl Fn(&Grant) -> bool) -> bool {
        self.all_of.iter().all(|any_of| any_of.iter().any(|grant| allows(grant)))
    }

    /// Why an action is not allowed, if so: the most fundamental reason of all groups.
    fn hindrance_by(&self, hinders: impl Fn(&Grant) -> Option<Hindrance>) -> Option<Hindrance> {
        let of_part =
            |any_of: &Vec<Arc<Grant>>| Hindrance::of_all(any_of.iter().map(|grant| &**grant), &hinders);
        self.all_of.iter().filter_map(of_part).min()
    }
}

/// The error for a tool that may not be called. It does not reveal whether the tool exists.
pub(crate) fn refusal(caller: &str, tool: &str, why: &Hindrance) -> RpcError {
    let tool = excerpt(tool);
    RpcError::invalid_params(match why {
        Hindrance::NotListed => {
            format!("Tool '{tool}' is not allowed: it is not in the list of tools of the caller `{caller}`")
        }
        Hindrance::NotReadOnly => format!(
            "Tool '{tool}' is not allowed: the caller `{caller}` may only call tools with `readOnlyHint`"
        ),
        Hindrance::Closed(hours) => format!(
            "Tool '{tool}' is not allowed now: the caller `{caller}` may call it at these hours: {hours}"
        ),
    })
}

/// The reason of a refusal in the log. It contains nothing that a client sent.
pub(crate) fn reason(why: &Hindrance) -> &'static str {
    match why {
        Hindrance::NotListed => "it is not in the list of the caller",
        Hindrance::NotReadOnly => "it is not read-only, and the caller may only read",
        Hindrance::Closed(_) => "the caller may use it at other hours",
    }
}

/// The error for a prompt that may not be used. It does not reveal whether the prompt exists.
pub(crate) fn prompt_refusal(caller: &str, prompt: &str, why: &Hindrance) -> RpcError {
    let prompt = excerpt(prompt);
    RpcError::invalid_params(match why {
        Hindrance::Closed(hours) => format!(
            "Prompt '{prompt}' is not allowed now: the caller `{caller}` may use it at these hours: {hours}"
        ),
        _ => format!(
            "Prompt '{prompt}' is not allowed: it is not in the list of prompts of the caller `{caller}`"
        ),
    })
}

/// The error for a read outside the hours of the caller's roles.
pub(crate) fn closed_refusal(caller: &str, why: &Hindrance) -> RpcError {
    let hours = if let Hindrance::Closed(hours) = why { hours } else { "none" };
    RpcError::invalid_params(format!(
        "Not allowed now: the caller `{caller}` may read resources at these hours: {hours}"
    ))
}
