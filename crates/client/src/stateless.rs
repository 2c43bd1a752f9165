//! Requests to a server without sessions: each says everything about the client, and is repeated with the answers if the
//! server has questions.

use crate::error::Error;
use crate::host::Host;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The params of a request. Their values stay as they are written, so that `1.10` stays `1.10`.
pub(crate) type Params = BTreeMap<String, Box<RawValue>>;

/// The params of a request with what it says about us.
pub(crate) fn with_meta(params: &RawValue, meta: &Map<String, Value>) -> Result<Params, Error> {
    let mut params: Params = serde_json::from_str(params.get()).map_err(unwritable)?;
    let own = params.get("_meta").and_then(|own| serde_json::from_str(own.get()).ok());
    let mut all: Map<String, Value> = own.unwrap_or_default();
    all.extend(meta.clone());
    params.insert("_meta".to_owned(), to_raw_value(&all).map_err(unwritable)?);
    Ok(params)
}

/// A result that asks for something before there is a real one.
#[derive(Deserialize)]
pub(crate) struct InputRequired {
    #[serde(rename = "resultType")]
    result_type: String,
    #[serde(rename = "inputRequests", default)]
    requests: BTreeMap<String, Question>,
    #[serde(rename = "requestState")]
    state: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Question {
    method: String,
    #[serde(default)]
    params: Value,
}

impl InputRequired {
    /// `None` if it is a real result.
    pub(crate) fn read(result: &RawValue) -> Option<Self> {
        let asked: Self = serde_json::from_str(result.get()).ok()?;
        (asked.result_type == "input_required").then_some(asked)
    }

    /// The params of the request that brings the answers.
    pub(crate) async fn answered(self, mut params: Params, host: &mut impl Host) -> Result<Params, Error> {
        let mut responses = Map::new();
        for (key, Question { method, params }) in self.requests {
            let answer = match host.asked(&method, &params).await {
                Ok(answer) => answer,
                Err(_) if method == "elicitation/create" => json!({ "action": "cancel" }),
                Err(why) => return Err(Error::Unanswerable { method, why }),
            };
            responses.insert(key, answer);
        }
        params.insert("inputResponses".to_owned(), to_raw_value(&responses).map_err(unwritable)?);
        match self.state {
            Some(state) => params.insert("requestState".to_owned(), state),
            None => params.remove("requestState"),
        };
        Ok(params)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes it so")]
fn unwritable(error: serde_json::Error) -> Error {
    Error::Protocol(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_about_us_joins_what_the_request_says() {
        let params = r#"{"name":"x","arguments":{"n":1.10},"_meta":{"progressToken":1}}"#;
        let params = RawValue::from_string(params.to_owned()).unwrap();
        let meta = Map::from_iter([("v".to_owned(), json!("2026"))]);
        let written = serde_json::to_string(&with_meta(&params, &meta).unwrap()).unwrap();
        assert_eq!(written, r#"{"_meta":{"progressToken":1,"v":"2026"},"arguments":{"n":1.10},"name":"x"}"#);
    }
}
