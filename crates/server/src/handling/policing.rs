//! Policing: the project's `policy.yaml`, asked about one request.

use super::work::Work;
use crate::logging::Facts;
use crate::offered::Snapshot;
use mcp_bash_budget::{SMALL, tree_bytes};
use mcp_bash_policy::{CallerFacts, Decision, Redactions, Refusal, Request, Subject, Timestamp};
use mcp_bash_project::{PolicyFile, Tool};
use mcp_bash_scripts::ScriptRoots;
use mcp_bash_wire::{LogLevel, RpcError};
use serde_json::{Value, json};
use std::time::SystemTime;
use thiserror::Error;

/// What a request is about.
pub(crate) enum Policed<'a> {
    Tool { tool: &'a Tool, arguments: &'a str, roots: &'a ScriptRoots },
    Resource { uri: &'a str },
    Prompt { name: &'a str, arguments: &'a str },
}

/// Why a request is refused.
#[derive(Debug, Error)]
pub(crate) enum PolicyRefusal {
    #[error("Blocked by policy: {0}")]
    Decided(#[from] Refusal),
    #[error(
        "Blocked by policy: rule `{rule}` asks for consent (\"{message}\"), which only calls of tools can wait for"
    )]
    Unconfirmed { rule: String, message: String },
    /// The operator has to act.
    #[error("Blocked by policy, which lets nothing run: {0}")]
    Unusable(String),
    #[error(
        "Blocked by policy: there is no server.d/policy.yaml, and MCPBASH_POLICY requires one; the operator can add it"
    )]
    Missing,
    #[error("Blocked by policy: the arguments cannot be judged: {0}")]
    Unreadable(String),
    #[error("Blocked by policy: the URI has a segment `.` or `..`; write the path without it")]
    Dots,
}

impl PolicyRefusal {
    fn rule(&self) -> Option<&str> {
        match self {
            Self::Decided(refusal) => refusal.rule(),
            Self::Unconfirmed { rule, .. } => Some(rule),
            _ => None,
        }
    }

    /// Whether another call may be allowed, so that a model should read it.
    pub(crate) fn is_about_the_call(&self) -> bool {
        !matches!(self, Self::Unusable(_) | Self::Missing)
    }
}

impl From<PolicyRefusal> for RpcError {
    fn from(refusal: PolicyRefusal) -> Self {
        Self::invalid_params(refusal.to_string())
    }
}

/// What the policy says of a request that it does not refuse.
#[derive(Default)]
pub(crate) struct Ruling<'s> {
    /// What is redacted in the result.
    pub(crate) redactions: Redactions<'s>,
    /// The question for the person whose consent it takes.
    pub(crate) question: Option<String>,
}

impl Work {
    /// Asks the policy of the project about a request that cannot wait for consent. Returns what is redacted in the result.
    pub(crate) fn police<'s>(
        &self,
        snapshot: &'s Snapshot,
        policed: &Policed<'_>,
    ) -> Result<Redactions<'s>, PolicyRefusal> {
        self.police_with(snapshot, policed, false).map(|ruling| ruling.redactions)
    }

    /// Asks the policy of the project about a request that can wait for consent.
    pub(crate) fn rule_on<'s>(
        &self,
        snapshot: &'s Snapshot,
        policed: &Policed<'_>,
    ) -> Result<Ruling<'s>, PolicyRefusal> {
        self.police_with(snapshot, policed, true)
    }

    fn police_with<'s>(
        &self,
        snapshot: &'s Snapshot,
        policed: &Policed<'_>,
        may_wait: bool,
    ) -> Result<Ruling<'s>, PolicyRefusal> {
        if matches!(snapshot.catalog.policy, PolicyFile::Absent) && !self.server().settings().policy_required
        {
            return Ok(Ruling::default());
        }
        let decided = self.asked_policy(snapshot, policed, may_wait);
        if let Err(refusal) = &decided {
            self.server().note_refusal();
            let mut facts = match policed {
                Policed::Tool { tool, .. } => Facts::of_tool(tool),
                Policed::Resource { uri } => Facts::of_resource(&snapshot.catalog.resources, uri),
                Policed::Prompt { name, .. } => snapshot
                    .catalog
                    .prompts
                    .get(name)
                    .map_or_else(Facts::none, |prompt| Facts::of_prompt(prompt)),
            };
            if let Some(rule) = refusal.rule() {
                facts = facts.policy_rule(rule);
            }
            self.measure(|measured| {
                measured.note("policy.rule", || refusal.rule());
                measured.refused("policy");
            });
            let log = self.server().log();
            log.request_event(LogLevel::Warning, "mcp.policy", "the policy refused a request", facts);
        }
        decided
    }

    fn asked_policy<'s>(
        &self,
        snapshot: &'s Snapshot,
        policed: &Policed<'_>,
        may_wait: bool,
    ) -> Result<Ruling<'s>, PolicyRefusal> {
        let policy = match &snapshot.catalog.policy {
            PolicyFile::Absent => return Err(PolicyRefusal::Missing),
            PolicyFile::Unusable(why) => return Err(PolicyRefusal::Unusable(why.clone())),
            PolicyFile::Usable(policy) => policy,
        };
        let (arguments, roots) = match policed {
            Policed::Tool { arguments, roots, .. } => (*arguments, roots.paths.lines().collect()),
            Policed::Prompt { arguments, .. } => (*arguments, Vec::new()),
            Policed::Resource { uri } if has_dots(uri) => return Err(PolicyRefusal::Dots),
            Policed::Resource { .. } => ("null", Vec::new()),
        };
        let unreadable = |why: &dyn ToString| PolicyRefusal::Unreadable(why.to_string());
        let cost = tree_bytes(arguments);
        let held = (cost > SMALL).then(|| self.budget().charge(cost)).transpose();
        let _held = held.map_err(|why| unreadable(&why))?;
        let args: Value = serde_json::from_str(arguments).map_err(|why| unreadable(&why))?;
        let (identity, principal) = (self.identity(), self.principal());
        let caller = CallerFacts {
            name: &identity.name,
            groups: &identity.groups,
            scopes: &identity.scopes,
            claims: &identity.claims,
            known_by: identity.known_by.word(),
            address: principal.address.as_deref().unwrap_or_default(),
        };
        let (caller, client, roots) = (caller.json(), json!({ "name": self.client_name() }), json!(roots));
        let facts = match policed {
            Policed::Tool { tool, .. } => tool.policy_facts(),
            Policed::Resource { .. } | Policed::Prompt { .. } => Value::Null,
        };
        let subject = match policed {
            Policed::Tool { .. } => Subject::Tool(&facts),
            Policed::Resource { uri } => Subject::Resource(uri),
            Policed::Prompt { name, .. } => Subject::Prompt(name),
        };
        let now = Timestamp::from(SystemTime::now());
        let request = Request { subject, args: &args, caller: &caller, client: &client, roots: &roots, now };
        match policy.decide(&request) {
            Decision::Allow(redactions) => Ok(Ruling { redactions, question: None }),
            Decision::Deny(refusal) => Err(refusal.into()),
            Decision::Confirm { rule, message, redactions } if may_wait => {
                self.measure(|measured| measured.note("policy.rule", || Some(rule)));
                Ok(Ruling { redactions, question: Some(message) })
            }
            Decision::Confirm { rule, message, .. } => {
                Err(PolicyRefusal::Unconfirmed { rule: rule.to_owned(), message })
            }
        }
    }
}

/// Whether a segment of the URI means another one, so that a rule about its beginning would be wrong.
fn has_dots(uri: &str) -> bool {
    let plain = uri.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/").replace("%5c", "/");
    plain.split(['/', '\\', '?', '#']).any(|segment| matches!(segment, "." | ".."))
}
