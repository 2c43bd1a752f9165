//! Decisions: the first rule that matches.

use crate::redact::{Redaction, Redactions};
use crate::request::{Kind, Part, Request, VARIABLES};
use crate::rule::{Effect, Rule};
use mcp_bash_cel::{Budget, EvalError, Value};
use std::sync::Arc;
use thiserror::Error;

/// The units that all rules of one decision share.
pub(crate) const COST: u64 = 250_000;

/// A policy that can be asked.
#[derive(Debug)]
pub struct Policy {
    pub(crate) allows_by_default: bool,
    pub(crate) rules: Vec<Rule>,
    /// Whether any rule names a variable, by its number.
    pub(crate) named: [bool; VARIABLES.len()],
}

/// What a policy says about a request.
#[derive(Debug)]
pub enum Decision<'p> {
    /// Allowed by that rule, or else with the first one that redacts; none if no rule matched.
    Allow {
        rule: Option<&'p str>,
        redactions: Redactions,
    },
    Deny(Refusal),
    /// Allowed if the user agrees.
    Confirm {
        rule: &'p str,
        message: String,
        redactions: Redactions,
    },
}

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// A rule says so, in the words of its author.
    #[error("{message}")]
    Rule { rule: String, message: String },
    #[error("no rule of server.d/policy.yaml allows it")]
    Default,
    #[error("rule `{rule}` of server.d/policy.yaml could not be evaluated: {error}")]
    Failed { rule: String, error: EvalError },
}

impl Refusal {
    /// The rule that refuses, if it is one.
    pub fn rule(&self) -> Option<&str> {
        match self {
            Self::Rule { rule, .. } | Self::Failed { rule, .. } => Some(rule),
            Self::Default => None,
        }
    }
}

/// One decision in progress.
pub(crate) struct Asking<'p, 'v> {
    pub(crate) kind: Kind,
    pub(crate) values: &'v [Value<'p>; VARIABLES.len()],
    pub(crate) budget: Budget,
}

impl<'p> Asking<'p, '_> {
    /// Whether a rule matches; `None` if it is about other requests.
    pub(crate) fn matches(&mut self, rule: &'p Rule) -> Result<Option<bool>, EvalError> {
        if !rule.kinds.contains(&self.kind) {
            return Ok(None);
        }
        rule.when.as_ref().map_or(Ok(true), |when| when.holds(self.values, &mut self.budget)).map(Some)
    }
}

impl Policy {
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether requests that no rule decides are allowed.
    pub fn allows_by_default(&self) -> bool {
        self.allows_by_default
    }

    /// Whether a rule looks at this part of a request. A part that no rule looks at may be null.
    pub fn looks_at(&self, part: Part) -> bool {
        self.named[part.variable()]
    }

    /// Decides on a request.
    pub fn decide(&self, request: &Request<'_>) -> Decision<'_> {
        let named = request.named();
        let values = request.values(&named);
        let asking = Asking { kind: request.subject.kind(), values: &values, budget: Budget::new(COST) };
        let Walk { decides, redacts } = match walk(&self.rules, asking) {
            Ok(walk) => walk,
            Err(refusal) => return Decision::Deny(refusal),
        };
        let redactions =
            || Redactions::new(redacts.iter().filter_map(|number| self.redactions(*number)).collect());
        let allowed = || {
            let rule = decides.or(redacts.first().copied()).map(|number| &*self.rules[number].name);
            Decision::Allow { rule, redactions: redactions() }
        };
        let Some(rule) = decides.map(|number| &self.rules[number]) else {
            return if self.allows_by_default { allowed() } else { Decision::Deny(Refusal::Default) };
        };
        match &rule.effect {
            Effect::Deny(message) => {
                let message = message.render(&values);
                Decision::Deny(Refusal::Rule { rule: rule.name.clone(), message })
            }
            Effect::Confirm(message) => {
                let message = message.render(&values);
                Decision::Confirm { rule: &rule.name, message, redactions: redactions() }
            }
            Effect::Allow | Effect::Redact(_) => allowed(),
        }
    }

    fn redactions(&self, rule: usize) -> Option<Arc<[Redaction]>> {
        match &self.rules[rule].effect {
            Effect::Redact(redactions) => Some(Arc::clone(redactions)),
            Effect::Allow | Effect::Deny(_) | Effect::Confirm(_) => None,
        }
    }
}

/// The rules that matched, by their numbers.
struct Walk {
    /// The first one that decides.
    decides: Option<usize>,
    /// All that redact, before and after it.
    redacts: Vec<usize>,
}

fn walk<'p>(rules: &'p [Rule], mut asking: Asking<'p, '_>) -> Result<Walk, Refusal> {
    let mut walk = Walk { decides: None, redacts: Vec::new() };
    for (number, rule) in rules.iter().enumerate() {
        let redacts = matches!(rule.effect, Effect::Redact(_));
        if walk.decides.is_some() && !redacts {
            continue;
        }
        let matches = asking.matches(rule);
        let matches = matches.map_err(|error| Refusal::Failed { rule: rule.name.clone(), error })?;
        if matches != Some(true) {
            continue;
        }
        if redacts {
            walk.redacts.push(number);
        } else {
            walk.decides = Some(number);
            if matches!(rule.effect, Effect::Deny(_)) {
                break;
            }
        }
    }
    Ok(walk)
}
