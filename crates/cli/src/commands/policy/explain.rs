//! `mcp-bash policy explain`: what each rule says about a request, with the values that decided.

use super::ExplainArguments;
use super::check::one_line;
use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::call::callee::Callee;
use crate::commands::call::given::{Pair, assembled};
use crate::commands::call::parameters::Parameters;
use crate::open::connect::OpenProject;
use crate::terminal::print::{print, print_json};
use mcp_bash_policy::{CallerFacts, Decision, Explanation, Policy, Request, RuleOutcome, Subject, Timestamp};
use mcp_bash_project::{PolicyFile, roots};
use mcp_bash_schema::{Defaults, Schema};
use mcp_bash_server::local_name;
use mcp_bash_terminal::harmless_line;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::SystemTime;

pub(super) fn run(common: &Common, arguments: &ExplainArguments) -> Result<ExitCode, Error> {
    let project = OpenProject::read(common, |settings| settings.leaves_no_trace = true)?;
    let refused = |why: String| Error::of_command(Exit::Refused, why);
    let policy = match &project.catalog.policy {
        PolicyFile::Usable(policy) => policy,
        PolicyFile::Unusable(why) => return Err(refused(format!("the policy lets nothing run: {why}"))),
        PolicyFile::Absent if project.scripts.settings().policy_required => {
            return Err(refused(
                "there is no server.d/policy.yaml, and MCPBASH_POLICY requires one".to_owned(),
            ));
        }
        PolicyFile::Absent => {
            print("allow: there is no server.d/policy.yaml\n")?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let asks_script = arguments.resource.is_none()
        && arguments.prompt.is_none()
        && mcp_bash_files::look::link_metadata(&project.catalog.paths.policy()).is_ok();
    explain(&project, policy, arguments, asks_script)
}

fn explain(
    project: &OpenProject,
    policy: &Policy,
    arguments: &ExplainArguments,
    asks_script: bool,
) -> Result<ExitCode, Error> {
    let usage = |words: String| Error::of_command(Exit::Usage, words);
    let pairs = |words: &[String]| -> Result<Vec<Pair>, Error> {
        let pairs: Result<Vec<Pair>, _> = words.iter().map(|word| Pair::read(word)).collect();
        pairs.map_err(|error| Error::of_command(Exit::Usage, error))
    };
    let untyped = |of: &str, words: &[String]| -> Result<Value, Error> {
        let text = assembled(of, &Parameters::of(&Value::Null), None, &pairs(words)?);
        let text = text.map_err(|error| Error::of_command(Exit::Usage, error))?;
        Ok(serde_json::from_str(&text).unwrap_or_default())
    };
    let mut tool = Value::Null;
    let uri = arguments.resource.as_ref().map(|uri| project.catalog.judged_uri(uri));
    let (subject, args) = match (&uri, &arguments.prompt, arguments.words.split_first()) {
        (Some(uri), _, None) => (Subject::Resource(uri), Value::Null),
        (Some(_), _, Some(_)) => return Err(usage("a resource takes no arguments".to_owned())),
        (None, Some(prompt), _) => (Subject::Prompt(prompt), untyped("the prompt", &arguments.words)?),
        (None, None, Some((name, words))) => {
            let callee = Callee::of_project(project, name)?;
            if let Some(found) = project.catalog.tools.get(&callee.name) {
                tool = found.policy_facts();
            }
            let args = tool_arguments(&callee, &pairs(words)?)?;
            (Subject::Tool(&tool), args)
        }
        (None, None, None) => {
            return Err(usage("name a tool, or --resource URI, or --prompt NAME".to_owned()));
        }
    };
    let now = match &arguments.at {
        None => Timestamp::from(SystemTime::now()),
        Some(text) => Timestamp::parse(text)
            .ok_or_else(|| usage(format!("--at takes a time such as 2026-07-01T06:00:00Z, not `{text}`")))?,
    };
    let caller = caller(arguments, untyped("the caller", &arguments.claim)?);
    let roots = roots::of_project(
        &project.catalog.paths,
        project.scripts.settings().roots.as_deref(),
        &mut Vec::new(),
    );
    let roots: Vec<_> = roots.unwrap_or_default().into_iter().map(|root| root.path).collect();
    let (client, roots) = (json!({ "name": "mcp-bash" }), json!(roots));
    let request = Request { subject, args: &args, caller: &caller, client: &client, roots: &roots, now };
    let explanation = policy.explain(&request);
    if arguments.json {
        print_json(&format!("{:#}", to_json(&explanation, asks_script)))?;
    } else {
        print(&text(&explanation, asks_script))?;
    }
    let is_refused = matches!(explanation.decision, Decision::Deny(_));
    Ok(if is_refused { Exit::Refused } else { Exit::Done }.into())
}

/// The arguments as the tool would receive them: checked and completed by its schema.
fn tool_arguments(callee: &Callee, pairs: &[Pair]) -> Result<Value, Error> {
    let schema: Value = serde_json::from_str(&callee.schema).unwrap_or_default();
    let of = format!("`{}`", harmless_line(&callee.name));
    let given = assembled(&of, &Parameters::of(&schema), None, pairs);
    let given = given.map_err(|error| Error::of_command(Exit::Usage, error))?;
    let wrong = |words: String| Error::of_command(Exit::Usage, words);
    let compiled = Schema::compile(&callee.schema).map_err(|error| wrong(error.to_string()))?;
    let checked = compiled.check(&given).map_err(|problems| {
        let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
        wrong(format!("the arguments do not fit the tool: {}", problems.join("; ")))
    })?;
    let completed = Defaults::of(&callee.schema).complete(checked.text);
    Ok(serde_json::from_str(&completed).unwrap_or_default())
}

fn caller(arguments: &ExplainArguments, claims: Value) -> Value {
    let boxed = |texts: &[String]| texts.iter().map(|text| text.as_str().into()).collect::<Vec<Box<str>>>();
    let (groups, scopes) = (boxed(&arguments.group), boxed(&arguments.scope));
    let claims = match claims {
        Value::Object(claims) => claims,
        _ => Map::new(),
    };
    let name = arguments.caller.clone().unwrap_or_else(|| local_name().to_owned());
    let known_by = if arguments.caller.is_some() { "token" } else { "local" };
    CallerFacts { name: &name, groups: &groups, scopes: &scopes, claims: &claims, known_by, address: "" }
        .json()
}

fn outcome_word(outcome: &RuleOutcome) -> &'static str {
    match outcome {
        RuleOutcome::Matched => "matches",
        RuleOutcome::NotMatched => "does not match",
        RuleOutcome::Failed(_) => "fails",
        RuleOutcome::OtherKind => "is about other requests",
        RuleOutcome::NotReached => "is not reached",
    }
}

fn text(explanation: &Explanation<'_>, asks_script: bool) -> String {
    let mut text = String::new();
    for trace in &explanation.rules {
        let (name, action) = (trace.rule.name(), trace.rule.action().word());
        let _ =
            writeln!(text, "{name} ({action}, line {}) {}", trace.rule.line(), outcome_word(&trace.outcome));
        if let Some(condition) = trace.rule.condition() {
            let _ = writeln!(text, "    when {}", one_line(condition));
        }
        for (path, value) in &trace.values {
            let _ = writeln!(text, "    {} = {}", harmless_line(path), harmless_line(value));
        }
        if let RuleOutcome::Failed(error) = &trace.outcome {
            let _ = writeln!(text, "    {}", harmless_line(&error.to_string()));
        }
    }
    let decision = match &explanation.decision {
        Decision::Allow { redactions, .. } if redactions.is_empty() => "allow".to_owned(),
        Decision::Allow { .. } => "allow, and redact the result".to_owned(),
        Decision::Deny(refusal) => format!("deny: {refusal}"),
        Decision::Confirm { message, .. } => format!("confirm: {message}"),
    };
    let _ = writeln!(text, "\n{}", harmless_line(&decision));
    if asks_script {
        text.push_str(
            "server.d/policy.sh is asked before, and must allow the call too; it was not run here\n",
        );
    }
    text
}

fn to_json(explanation: &Explanation<'_>, asks_script: bool) -> Value {
    let rules: Vec<Value> = explanation
        .rules
        .iter()
        .map(|trace| {
            let values: Map<String, Value> =
                trace.values.iter().map(|(path, value)| (path.clone(), json!(value))).collect();
            let error = match &trace.outcome {
                RuleOutcome::Failed(error) => Some(error.to_string()),
                _ => None,
            };
            json!({
                "name": trace.rule.name(),
                "line": trace.rule.line(),
                "action": trace.rule.action().word(),
                "when": trace.rule.condition(),
                "outcome": outcome_word(&trace.outcome),
                "error": error,
                "values": values,
            })
        })
        .collect();
    let (decision, rule, message, redacts) = match &explanation.decision {
        Decision::Allow { rule, redactions } => ("allow", *rule, None, !redactions.is_empty()),
        Decision::Deny(refusal) => ("deny", refusal.rule(), Some(refusal.to_string()), false),
        Decision::Confirm { rule, message, redactions } => {
            ("confirm", Some(*rule), Some(message.clone()), !redactions.is_empty())
        }
    };
    json!({
        "decision": decision, "rule": rule, "message": message, "redacts": redacts, "policyScript": asks_script,
        "rules": rules,
    })
}
