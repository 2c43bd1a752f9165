//! Judging: the decision of a project's policy about one request.

use super::listing::Snapshot;
use crate::callers::Principal;
use mcp_bash_budget::{SMALL, tree_bytes};
use mcp_bash_policy::{CallerFacts, Decision, Part, Redactions, Refusal, Request, Subject, Timestamp};
use mcp_bash_project::{PolicyFile, Tool};
use mcp_bash_scripts::ScriptRoots;
use mcp_bash_wire::RpcError;
use serde_json::{Value, json};
use std::time::SystemTime;
use thiserror::Error;

/// The subject of a request.
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
    /// Only the operator can fix this.
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
    pub(crate) fn rule(&self) -> Option<&str> {
        match self {
            Self::Decided(refusal) => refusal.rule(),
            Self::Unconfirmed { rule, .. } => Some(rule),
            _ => None,
        }
    }

    /// Whether a different call may be allowed, so that a model should read the refusal.
    pub(crate) fn is_about_the_call(&self) -> bool {
        !matches!(self, Self::Unusable(_) | Self::Missing)
    }
}

impl From<PolicyRefusal> for RpcError {
    fn from(refusal: PolicyRefusal) -> Self {
        Self::invalid_params(refusal.to_string())
    }
}

/// The decision about a request that is not refused.
#[derive(Default)]
pub(crate) struct Ruling {
    /// The redactions for the result.
    pub(crate) redactions: Redactions,
    /// The question for the user whose consent is required.
    pub(crate) question: Option<String>,
    /// The rule that decided, if any.
    pub(crate) rule: Option<String>,
}

/// The caller of a request, and its client.
pub(crate) struct Asker<'a> {
    pub(crate) principal: &'a Principal,
    /// The name of the client; empty without a session.
    pub(crate) client: &'a str,
}

impl Asker<'_> {
    fn facts(&self) -> CallerFacts<'_> {
        let identity = &self.principal.identity;
        CallerFacts {
            name: &identity.name,
            groups: &identity.groups,
            scopes: &identity.scopes,
            claims: &identity.claims,
            known_by: identity.known_by.word(),
            address: self.principal.address.as_deref().unwrap_or_default(),
        }
    }
}

impl Snapshot {
    /// Whether there is no policy, and none is required.
    pub(crate) fn has_no_policy(&self, is_required: bool) -> bool {
        matches!(self.catalog.policy, PolicyFile::Absent) && !is_required
    }

    /// Whether the policy checks the client's roots.
    pub(crate) fn polices_roots(&self) -> bool {
        matches!(&self.catalog.policy, PolicyFile::Usable(policy) if policy.looks_at(Part::Roots))
    }

    /// Asks the policy about a request. `may_wait` tells whether the request can wait for consent.
    pub(crate) fn judge(
        &self,
        asker: &Asker<'_>,
        policed: &Policed<'_>,
        may_wait: bool,
    ) -> Result<Ruling, PolicyRefusal> {
        let policy = match &self.catalog.policy {
            PolicyFile::Absent => return Err(PolicyRefusal::Missing),
            PolicyFile::Unusable(why) => return Err(PolicyRefusal::Unusable(why.clone())),
            PolicyFile::Usable(policy) => policy,
        };
        let (arguments, roots) = match policed {
            Policed::Tool { arguments, roots, .. } => (*arguments, roots.paths.as_str()),
            Policed::Prompt { arguments, .. } => (*arguments, ""),
            Policed::Resource { uri } if has_dots(uri) => return Err(PolicyRefusal::Dots),
            Policed::Resource { .. } => ("null", ""),
        };
        // Most policies use a few parts of a request; the others are not built.
        let if_named = |part: Part, describe: &dyn Fn() -> Value| {
            if policy.looks_at(part) { describe() } else { Value::Null }
        };
        let arguments = if policy.looks_at(Part::Arguments) { arguments } else { "null" };
        let unreadable = |why: &dyn ToString| PolicyRefusal::Unreadable(why.to_string());
        let cost = tree_bytes(arguments);
        let held = (cost > SMALL).then(|| asker.principal.caller.budget().charge(cost)).transpose();
        let _held = held.map_err(|why| unreadable(&why))?;
        let args: Value = serde_json::from_str(arguments).map_err(|why| unreadable(&why))?;
        let caller = if_named(Part::Caller, &|| asker.facts().json());
        let client = if_named(Part::Client, &|| json!({ "name": asker.client }));
        let roots = if_named(Part::Roots, &|| roots.lines().collect());
        let spelled;
        let subject = match policed {
            Policed::Tool { tool, .. } => {
                Subject::Tool(self.facts(tool).map_or(&Value::Null, |facts| facts.for_policy(tool)))
            }
            Policed::Resource { uri } => {
                spelled = self.catalog.judged_uri(uri);
                Subject::Resource(&spelled)
            }
            Policed::Prompt { name, .. } => Subject::Prompt(name),
        };
        let now = Timestamp::from(SystemTime::now());
        let request = Request { subject, args: &args, caller: &caller, client: &client, roots: &roots, now };
        match policy.decide(&request) {
            Decision::Allow { rule, redactions } => {
                Ok(Ruling { redactions, question: None, rule: rule.map(str::to_owned) })
            }
            Decision::Deny(refusal) => Err(refusal.into()),
            Decision::Confirm { rule, message, redactions } if may_wait => {
                Ok(Ruling { redactions, question: Some(message), rule: Some(rule.to_owned()) })
            }
            Decision::Confirm { rule, message, .. } => {
                Err(PolicyRefusal::Unconfirmed { rule: rule.to_owned(), message })
            }
        }
    }
}

/// Whether a URI has a `.` or `..` segment, so that a rule about its prefix would be wrong. The one that makes a `file:` URI
/// relative to the project is none.
fn has_dots(uri: &str) -> bool {
    let path = uri.strip_prefix("file://./").unwrap_or(uri);
    let plain = path.to_ascii_lowercase().replace("%2e", ".").replace("%2f", "/").replace("%5c", "/");
    plain.split(['/', '\\', '?', '#']).any(|segment| matches!(segment, "." | ".."))
}
