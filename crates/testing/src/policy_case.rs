//! Policy cases: compare the decision of `server.d/policy.yaml` with the one that a case expects, and run nothing.

use crate::cases::case::{Case, ExpectedDecision, Step, Subject as CaseSubject};
use crate::expect::Mismatch;
use crate::result::Places;
use mcp_bash_policy::{Action, CallerFacts, Decision, Request, Subject, Timestamp};
use mcp_bash_project::{Catalog, PolicyFile};
use mcp_bash_schema::{Defaults, Schema};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::SystemTime;

/// The policy of a project, and what its rules see of each tool.
#[derive(Debug)]
pub(crate) struct PolicyCases {
    file: PolicyFile,
    tools: BTreeMap<String, PolicedTool>,
}

#[derive(Debug)]
struct PolicedTool {
    facts: Value,
    schema: String,
}

impl PolicyCases {
    pub(crate) fn of(catalog: &Catalog) -> Self {
        let tools = catalog.tools.items().iter().map(|tool| {
            let schema = tool.input_schema.get().to_owned();
            (tool.name.clone(), PolicedTool { facts: tool.policy_facts(), schema })
        });
        Self { file: PolicyFile::read(&catalog.paths, &mut Vec::new()), tools: tools.collect() }
    }

    /// How the decision differs from what a step expects.
    pub(crate) fn mismatches(
        &self,
        case: &Case,
        step: &Step,
        expected: &ExpectedDecision,
        places: &Places,
    ) -> Vec<Mismatch> {
        match self.decided(case, step, places) {
            Ok((action, rule, words)) => {
                let is_expected =
                    action == expected.action && (expected.rule.is_none() || expected.rule == rule);
                if is_expected {
                    Vec::new()
                } else {
                    vec![Mismatch::new(difference(expected, action, rule.as_deref(), &words))]
                }
            }
            Err(problem) => vec![Mismatch::new(problem)],
        }
    }

    /// The decision, the rule that makes it, and its words; or why there is none.
    fn decided(
        &self,
        case: &Case,
        step: &Step,
        places: &Places,
    ) -> Result<(Action, Option<String>, String), String> {
        let policy = match &self.file {
            PolicyFile::Usable(policy) => policy,
            PolicyFile::Absent => return Err("the project has no server.d/policy.yaml".to_owned()),
            PolicyFile::Unusable(why) => return Err(format!("the policy lets nothing run: {why}")),
        };
        let given = places.filled(&step.arguments.to_string());
        let (subject, args) = match &step.subject {
            CaseSubject::Tool(name) => {
                let tool = self.tools.get(name).ok_or_else(|| format!("there is no tool `{name}`"))?;
                (Subject::Tool(&tool.facts), completed(&tool.schema, &given)?)
            }
            CaseSubject::Resource(uri) => (Subject::Resource(uri), Value::Null),
            CaseSubject::Prompt(name) => (Subject::Prompt(name), read(&given)?),
            CaseSubject::Completion { .. } => {
                return Err("a policy does not decide on completions".to_owned());
            }
        };
        let asker = &case.asker;
        let none = Map::new();
        let caller = CallerFacts {
            name: &asker.name,
            groups: &asker.groups,
            scopes: &asker.scopes,
            claims: asker.claims.as_object().unwrap_or(&none),
            known_by: &asker.known_by,
            address: &asker.address,
        };
        let roots = case.roots.clone().unwrap_or_default();
        let (caller, client, roots) = (caller.json(), json!({ "name": "mcp-bash test" }), json!(roots));
        let now = asker.at.unwrap_or_else(|| Timestamp::from(SystemTime::now()));
        let request = Request { subject, args: &args, caller: &caller, client: &client, roots: &roots, now };
        Ok(match policy.decide(&request) {
            Decision::Allow { .. } => (Action::Allow, None, String::new()),
            Decision::Deny(refusal) => (Action::Deny, refusal.rule().map(str::to_owned), refusal.to_string()),
            Decision::Confirm { rule, message, .. } => (Action::Confirm, Some(rule.to_owned()), message),
        })
    }
}

/// The arguments as the tool would receive them.
fn completed(written: &str, given: &str) -> Result<Value, String> {
    let schema = Schema::compile(written).map_err(|error| error.to_string())?;
    let checked = schema.check(given).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        format!("the arguments are refused: {}", problems.join("; "))
    })?;
    read(&Defaults::of(written).complete(checked.text))
}

fn read(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn difference(expected: &ExpectedDecision, action: Action, rule: Option<&str>, words: &str) -> String {
    let name = |action: Action, rule: Option<&str>| match rule {
        Some(rule) => format!("{} {rule}", action.word()),
        None => action.word().to_owned(),
    };
    let wanted = name(expected.action, expected.rule.as_deref());
    let got = name(action, rule);
    let words = if words.is_empty() { String::new() } else { format!(": {words}") };
    format!("the policy should `{wanted}`, and decides `{got}`{words}")
}
