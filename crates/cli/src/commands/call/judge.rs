//! Exit code of a call: which class of failure it is, if it is one.

use crate::base::exit::Exit;
use crate::open::connect::Failure;
use mcp_bash_client::Error as ClientError;
use mcp_bash_schema::Schema;
use serde_json::Value;
use serde_json::value::RawValue;

/// The error code for invalid params.
const INVALID_PARAMS: i64 = -32602;

/// The type of the error of a tool that has not the consent that it asks for.
const NOT_CONFIRMED: &str = "not_confirmed";

pub(crate) fn of_result(schema: &str, arguments: &str, result: &RawValue) -> Exit {
    // Parsed only if it may be an error: results can be large.
    if !result.get().contains("isError") {
        return Exit::Done;
    }
    let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
    if result["isError"] != true {
        Exit::Done
    } else if result["structuredContent"]["error"]["type"] == "timeout" {
        Exit::TimedOut
    } else if result["structuredContent"]["error"]["type"] == NOT_CONFIRMED {
        Exit::Refused
    } else if !fit(schema, arguments) {
        Exit::Usage
    } else {
        Exit::Failed
    }
}

/// Whether a tool asked for consent, and this client could not be asked.
pub(crate) fn is_unconfirmed(result: &Value) -> bool {
    let error = &result["structuredContent"]["error"];
    error["type"] == NOT_CONFIRMED && error["reason"] == "unavailable"
}

/// `is_refused`: our own server did not let the tool run.
pub(crate) fn of_failure(failure: &Failure, is_refused: bool) -> Exit {
    match failure {
        Failure::Client(ClientError::Refused(_)) if is_refused => Exit::Refused,
        Failure::Client(ClientError::Refused(refusal)) if refusal.code == INVALID_PARAMS => Exit::Usage,
        other => other.exit(),
    }
}

/// Whether the arguments fit the tool's schema. An unusable schema allows everything.
pub(crate) fn fit(schema: &str, arguments: &str) -> bool {
    Schema::compile(schema).map_or(true, |schema| schema.check(arguments).is_ok())
}
