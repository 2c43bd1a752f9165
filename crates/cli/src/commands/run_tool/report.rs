//! Report of `run-tool`: the result of a call with the name of the tool, or an object that says why there is none.

use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::call::callee::{Callee, Unanswered};
use crate::commands::call::error::CallError;
use crate::open::connect::Failure;
use crate::terminal::print::print_json;
use mcp_bash_client::Error as ClientError;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The error code for invalid params.
const INVALID_PARAMS: i64 = -32602;

/// The result as it came, with the members that programs expect: whether it is an error, the tool's name, the exit code.
pub(super) fn result(callee: &Callee, result: &RawValue) -> String {
    let text = result.get().trim();
    let Some(members) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) else {
        return text.to_owned();
    };
    let has = |name: &str| members_of(text).iter().any(|member| member == name);
    let mut whole = vec![members.trim().to_owned()];
    if !has("isError") {
        whole.push(r#""isError":false"#.to_owned());
    }
    if !has("name") {
        whole.push(format!(r#""name":{}"#, Value::from(callee.name.as_str())));
    }
    if !has("_meta") && callee.is_own {
        whole.push(r#""_meta":{"exitCode":0}"#.to_owned());
    }
    whole.retain(|member| !member.is_empty());
    format!("{{{}}}", whole.join(","))
}

/// The names of the members of an object.
fn members_of(text: &str) -> Vec<String> {
    #[derive(serde::Deserialize)]
    #[serde(transparent)]
    struct Names<'a>(#[serde(borrow)] std::collections::BTreeMap<String, &'a RawValue>);
    serde_json::from_str::<Names<'_>>(text).map(|names| names.0.into_keys().collect()).unwrap_or_default()
}

/// The error of a call without a result, which programs also receive on standard output.
pub(super) fn failed(Unanswered { exit, failure }: Unanswered) -> Error {
    if let Failure::Client(ClientError::Refused(refusal)) = &failure {
        print(refusal.code, &refusal.message, Some(refusal.data()).filter(|data| !data.is_null()));
    }
    // `--allow-self` is about the lists of tools only.
    let is_unlisted = exit == Exit::Refused && failure.to_string().contains("MCPBASH_TOOL_ALLOWLIST");
    if is_unlisted {
        return Error::of_command(exit, format!("{failure}; --allow-self allows it for this run"));
    }
    Error::of_command(exit, failure)
}

/// The same if there is no such tool.
pub(super) fn not_called(error: Error) -> Error {
    if let Error::Command { error, .. } = &error
        && let Some(not_found @ CallError::NotFound { .. }) = error.downcast_ref()
    {
        print(INVALID_PARAMS, &not_found.to_string(), None);
    }
    error
}

fn print(code: i64, message: &str, data: Option<Value>) {
    let mut report = json!({ "_mcpToolError": true, "code": code, "message": message });
    if let Some(data) = data {
        report["data"] = data;
    }
    // The message goes to standard error as well, and the exit code says it too.
    let _ = print_json(&report.to_string());
}
