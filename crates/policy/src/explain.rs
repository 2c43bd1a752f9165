//! Explanations: what each rule says about a request, and why.

use crate::decide::{Asking, COST, Decision, Policy};
use crate::request::{Request, VARIABLES};
use crate::rule::{Action, Rule};
use mcp_bash_cel::{Budget, EvalError};

/// What each rule says about a request, and the decision.
#[derive(Debug)]
pub struct Explanation<'p> {
    pub rules: Vec<RuleTrace<'p>>,
    pub decision: Decision<'p>,
}

#[derive(Debug)]
pub struct RuleTrace<'p> {
    pub rule: &'p Rule,
    pub outcome: RuleOutcome,
    /// The values that its condition looks at, such as `args.env` and `"production"`.
    pub values: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RuleOutcome {
    Matched,
    NotMatched,
    Failed(EvalError),
    /// It is about other kinds of requests.
    OtherKind,
    /// An earlier rule has decided.
    NotReached,
}

impl Policy {
    /// Explains the decision on a request.
    pub fn explain(&self, request: &Request<'_>) -> Explanation<'_> {
        let named = request.named();
        let values = request.values(&named);
        let mut asking = Asking { kind: request.subject.kind(), values: &values, budget: Budget::new(COST) };
        let (mut has_decided, mut has_refused) = (false, false);
        let mut rules = Vec::new();
        for rule in &self.rules {
            let redacts = rule.action() == Action::Redact;
            let outcome = if has_refused || has_decided && !redacts {
                RuleOutcome::NotReached
            } else {
                match asking.matches(rule) {
                    Ok(Some(true)) => RuleOutcome::Matched,
                    Ok(Some(false)) => RuleOutcome::NotMatched,
                    Ok(None) => RuleOutcome::OtherKind,
                    Err(error) => RuleOutcome::Failed(error),
                }
            };
            let failed = matches!(outcome, RuleOutcome::Failed(_));
            let decides = outcome == RuleOutcome::Matched && !redacts;
            has_refused |= failed || decides && rule.action() == Action::Deny;
            has_decided |= decides;
            let was_looked_at = failed || matches!(outcome, RuleOutcome::Matched | RuleOutcome::NotMatched);
            let observed = match &rule.when {
                Some(when) if was_looked_at => when.observed(&VARIABLES, &values),
                _ => Vec::new(),
            };
            let shown = observed.into_iter().map(|part| {
                let value = part.value.map_or_else(|_| "missing".to_owned(), |value| value.to_string());
                (part.path, value)
            });
            rules.push(RuleTrace { rule, outcome, values: shown.collect() });
        }
        Explanation { rules, decision: self.decide(request) }
    }
}
