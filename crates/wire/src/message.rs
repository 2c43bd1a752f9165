//! Message decoding: reads one line into a message, or says why it is not one.

use crate::{Id, Limits, Object, ObjectError, Raw, RpcError, ScanError, Scanner, code};
use std::borrow::Cow;

/// The content of one line.
#[derive(Debug)]
pub enum Decoded<'a> {
    One(Incoming<'a>),
    /// The elements of a JSON array, each to be read with [`decode_element`].
    Batch(Vec<Raw<'a>>),
}

#[derive(Debug)]
pub enum Incoming<'a> {
    Request(Request<'a>),
    Notification(Notification<'a>),
    Response(Response<'a>),
    /// A malformed notification. Notifications are never answered, not even to refuse one.
    Ignored(&'static str),
}

#[derive(Debug)]
pub struct Request<'a> {
    pub id: Id,
    pub method: Cow<'a, str>,
    /// An object, if there are any.
    pub params: Option<Raw<'a>>,
}

#[derive(Debug)]
pub struct Notification<'a> {
    pub method: Cow<'a, str>,
    /// An object, if there are any.
    pub params: Option<Raw<'a>>,
}

/// An answer to a request of ours.
#[derive(Debug)]
pub struct Response<'a> {
    pub id: Option<Id>,
    pub result: Option<Raw<'a>>,
    pub error: Option<Raw<'a>>,
}

/// The answer to something that is not a message. Without an id it is answered with `null`.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    pub id: Option<Id>,
    pub error: RpcError,
}

impl Refusal {
    fn new(id: Option<Id>, error: RpcError) -> Self {
        Self { id, error }
    }

    fn parse_error(detail: &dyn std::fmt::Display) -> Self {
        Self::new(None, RpcError::with_reason(code::PARSE_ERROR, "Parse error", &detail.to_string()))
    }

    /// An error that only a faulty client causes.
    fn malformed(id: Option<Id>, reason: &str) -> Self {
        Self::new(id, RpcError::with_reason(code::INVALID_REQUEST, "Invalid Request", reason))
    }

    /// A well-formed message over a limit. Any client may send one, and most clients show only the message.
    fn too_much(id: Option<Id>, detail: &str) -> Self {
        Self::new(id, RpcError::invalid_request(format!("Invalid Request: {detail}")))
    }
}

/// Reads a line. A byte-order mark and surrounding white space are tolerated; an empty line is `Ok(None)`.
pub fn decode(line: &[u8], limits: Limits) -> Result<Option<Decoded<'_>>, Refusal> {
    let line = trim(line);
    let text = std::str::from_utf8(line).map_err(|_| Refusal::parse_error(&"the line is not valid UTF-8"))?;
    match text.as_bytes().first() {
        None => Ok(None),
        Some(b'[') => decode_batch(text, limits).map(Some),
        Some(_) => decode_object(text, limits).map(|incoming| Some(Decoded::One(incoming))),
    }
}

/// Reads one element of a batch, whose text was checked with the batch.
pub fn decode_element(element: Raw<'_>) -> Result<Incoming<'_>, Refusal> {
    decode_object(element.text(), Limits::NONE)
}

/// The answer to a line over the limit, of which only the start was kept.
pub fn refuse_oversized(start: &[u8], limits: Limits) -> Refusal {
    let start = trim(start);
    let known = match std::str::from_utf8(start) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&start[..error.valid_up_to()]).unwrap_or_default(),
    };
    let mut id = None;
    // The text is truncated, so this ends with an error; only the members before that matter.
    let _ = Scanner::new(known, Limits::NONE).members(|key, value| {
        if key.text() == "\"id\"" {
            id = Id::read(value);
        }
    });
    let limit = limits.message_bytes;
    Refusal::too_much(
        id,
        &format!("the message exceeds {limit} bytes; MCPBASH_MAX_MESSAGE_BYTES sets the limit"),
    )
}

/// The most messages of one batch. Each is owed an answer, however short it is itself.
const MOST_IN_BATCH: usize = 10_000;

fn decode_batch(text: &str, limits: Limits) -> Result<Decoded<'_>, Refusal> {
    let mut elements = Vec::new();
    let mut count = 0;
    let mut scanner = Scanner::new(text, limits);
    let all = scanner.elements(|element| {
        count += 1;
        if count <= MOST_IN_BATCH {
            elements.push(element);
        }
    });
    match all.and_then(|()| scanner.end()) {
        Ok(()) if count > MOST_IN_BATCH => {
            let detail = format!("a batch holds at most {MOST_IN_BATCH} messages, not {count}");
            Err(Refusal::too_much(None, &detail))
        }
        Ok(()) => Ok(Decoded::Batch(elements)),
        Err(error) => Err(refuse(text, error)),
    }
}

fn decode_object(text: &str, limits: Limits) -> Result<Incoming<'_>, Refusal> {
    const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
    if !text.starts_with('{') {
        return Err(match Scanner::new(text, limits).whole_value() {
            Ok(value) => Refusal::malformed(None, &format!("a message is an object, not {}", value.kind())),
            Err(error) => refuse(text, error),
        });
    }
    let mut scanner = Scanner::new(text, limits);
    let object = Object::scan(&mut scanner, &MEMBERS);
    if !matches!(object, Err(ObjectError::Scan(_))) {
        scanner.end().map_err(|error| refuse(text, error))?;
    }
    match object {
        Ok(object) => classify(&object),
        Err(ObjectError::Scan(error)) => Err(refuse(text, error)),
        Err(error) => Err(Refusal::malformed(None, &error.to_string())),
    }
}

/// Distinguishes text that is not JSON from JSON that exceeds a limit.
fn refuse(text: &str, error: ScanError) -> Refusal {
    if !error.is_limit() {
        return Refusal::parse_error(&error);
    }
    let setting = match error {
        ScanError::TooDeep(_) => "MCPBASH_MAX_JSON_DEPTH",
        _ => "MCPBASH_MAX_NUMBER_LENGTH",
    };
    // The text is read again without limits: to answer the request by its id, and because it may break further on.
    match decode_unlimited(text) {
        Ok(id) => Refusal::too_much(id, &format!("{error}; {setting} sets the limit")),
        Err(error) => Refusal::parse_error(&error),
    }
}

fn decode_unlimited(text: &str) -> Result<Option<Id>, ScanError> {
    let whole = Scanner::new(text, Limits::NONE).whole_value()?;
    let members = Object::read(whole, "the message", &["id"]).ok();
    Ok(members.and_then(|members| members.get("id")).and_then(Id::read))
}

fn classify<'a>(object: &Object<'a, '_>) -> Result<Incoming<'a>, Refusal> {
    let written_id = object.get("id");
    let id = written_id.and_then(Id::read);
    let versioned = object.get("jsonrpc").is_some_and(|version| version.text() == "\"2.0\"");

    let Some(method) = object.get("method") else {
        let (result, error) = (object.get("result"), object.get("error"));
        if result.is_none() && error.is_none() {
            return Err(Refusal::malformed(id, "Missing method"));
        }
        return Ok(Incoming::Response(Response { id, result, error }));
    };
    let Some(method) = method.string() else {
        let detail = format!("`method` must be a string, not {}", method.kind());
        return Err(Refusal::malformed(id, &detail));
    };
    let params = object.get("params").filter(|params| !params.is_null());

    let Some(written_id) = written_id else {
        return Ok(match params {
            _ if !versioned => Incoming::Ignored("`jsonrpc` must be \"2.0\""),
            Some(params) if !params.is_object() => Incoming::Ignored("`params` must be an object"),
            params => Incoming::Notification(Notification { method, params }),
        });
    };
    let Some(id) = id else {
        return Err(Refusal::malformed(None, &wrong_id(written_id)));
    };
    if !versioned {
        return Err(Refusal::malformed(Some(id), "`jsonrpc` must be \"2.0\""));
    }
    match params {
        // JSON-RPC has positional parameters, MCP does not: well formed, but not what any method takes.
        Some(params) if params.is_array() => Err(Refusal::new(
            Some(id),
            RpcError::invalid_params("Invalid params: params must be an object, not an array"),
        )),
        Some(params) if !params.is_object() => {
            Err(Refusal::malformed(Some(id), &format!("`params` must be an object, not {}", params.kind())))
        }
        params => Ok(Incoming::Request(Request { id, method, params })),
    }
}

fn wrong_id(raw: Raw<'_>) -> String {
    let found = match raw.kind() {
        "a number" | "a string" if raw.text().len() > Id::LONGEST => {
            return format!("`id` is longer than {} bytes", Id::LONGEST);
        }
        "a number" => "a fraction",
        "a string" => "broken Unicode",
        kind => kind,
    };
    format!("`id` must be a string or an integer, not {found}")
}

/// Strips a byte-order mark and the white space around it, including a carriage return.
fn trim(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii();
    line.strip_prefix(b"\xEF\xBB\xBF").map_or(line, <[u8]>::trim_ascii_start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn refusal(line: &str) -> (Option<String>, i32) {
        let refusal = decode(line.as_bytes(), Limits::default()).unwrap_err();
        (refusal.id.map(|id| id.as_json().to_owned()), refusal.error.code)
    }

    fn one(line: &str) -> Incoming<'_> {
        match decode(line.as_bytes(), Limits::default()) {
            Ok(Some(Decoded::One(incoming))) => incoming,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn tolerates_what_surrounds_a_message() {
        for line in ["", "   ", "\r", "\u{feff}", "\u{feff} \t\r"] {
            assert!(decode(line.as_bytes(), Limits::default()).unwrap().is_none(), "{line:?}");
        }
        let Incoming::Request(request) = one("\u{feff} {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r")
        else {
            panic!()
        };
        assert_eq!(request.method, "ping");
    }

    #[test]
    fn tells_broken_json_from_broken_requests() {
        assert_eq!(refusal("{"), (None, -32700));
        assert_eq!(refusal("{\"id\":1,}"), (None, -32700));
        assert_eq!(refusal("{\"id\":1} x"), (None, -32700));
        assert_eq!(refusal("[1,"), (None, -32700));
        assert_eq!(refusal("nonsense"), (None, -32700));
        assert_eq!(refusal("5"), (None, -32600));
        assert_eq!(refusal("\"ping\""), (None, -32600));
        assert_eq!(refusal("{}"), (None, -32600));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":7}"#), (Some("7".into()), -32600));
        assert_eq!(refusal(r#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#), (Some("\"a\"".into()), -32600));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":7,"method":5}"#), (Some("7".into()), -32600));
        assert_eq!(refusal(r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}"#), (None, -32600));
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":1}"#),
            (Some("7".into()), -32600)
        );
        assert_eq!(
            refusal(r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}"#),
            (Some("7".into()), -32602)
        );
        for id in ["null", "1.5", "1.0", "1e3", "true", "{}", "[]"] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            assert_eq!(refusal(&line), (None, -32600), "{id}");
        }
        assert_eq!(decode(b"\xff\xfe", Limits::default()).unwrap_err().error.code, -32700);
    }

    #[test]
    fn notifications_and_answers_are_never_refused() {
        assert!(matches!(one(r#"{"jsonrpc":"1.0","method":"x"}"#), Incoming::Ignored(_)));
        assert!(matches!(one(r#"{"jsonrpc":"2.0","method":"x","params":[1]}"#), Incoming::Ignored(_)));
        assert!(matches!(one(r#"{"jsonrpc":"2.0","method":"x"}"#), Incoming::Notification(_)));
        assert!(matches!(one(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1}}"#), Incoming::Response(_)));
    }

    #[test]
    fn limits_are_named_and_the_id_is_kept() {
        let deep = format!(
            r#"{{"jsonrpc":"2.0","method":"x","params":{{"a":{}1{}}},"id":3}}"#,
            "[".repeat(200),
            "]".repeat(200)
        );
        let refused = decode(deep.as_bytes(), Limits::default()).unwrap_err();
        assert_eq!(refused.id.unwrap().as_json(), "3");
        assert!(refused.error.message.contains("MCPBASH_MAX_JSON_DEPTH"), "{}", refused.error.message);
        let long = format!(r#"{{"jsonrpc":"2.0","id":{},"method":"x"}}"#, "1".repeat(2000));
        assert!(
            decode(long.as_bytes(), Limits::default())
                .unwrap_err()
                .error
                .message
                .contains("MAX_NUMBER_LENGTH")
        );
        let broken = format!("{} oops", "[".repeat(300));
        assert_eq!(refusal(&broken), (None, -32700));
    }

    #[test]
    fn long_ids_and_long_batches_are_refused() {
        let line = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "x".repeat(Id::LONGEST));
        let refused = decode(line.as_bytes(), Limits::default()).unwrap_err();
        let reason = refused.error.data.as_deref().unwrap_or_default();
        assert!(refused.id.is_none() && reason.contains("`id` is longer than"), "{refused:?}");
        let batch = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
        assert!(decode(batch(MOST_IN_BATCH).as_bytes(), Limits::default()).is_ok());
        let refused = decode(batch(MOST_IN_BATCH + 1).as_bytes(), Limits::default()).unwrap_err();
        assert_eq!(refused.error.code, code::INVALID_REQUEST);
    }

    #[test]
    fn an_oversized_message_keeps_an_early_id() {
        let id = |start: &str| {
            refuse_oversized(start.as_bytes(), Limits::default()).id.map(|id| id.as_json().to_owned())
        };
        assert_eq!(
            id(r#"{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"x":"aaaa"#),
            Some("12".into())
        );
        assert_eq!(id(r#"{"jsonrpc":"2.0","id":12"#), None, "the number may go on");
        assert_eq!(id(r#"{"jsonrpc":"2.0","params":"aaaa"#), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_are_read_or_refused(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&line, Limits::default());
            let _ = refuse_oversized(&line, Limits::default());
        }

        #[test]
        fn ids_and_params_pass_through_as_written(id in prop_oneof!["-?[1-9][0-9]{0,40}", "\"[a-z\\\\u0-9]{0,3}é*\""], number in "-?[1-9][0-9]{0,30}\\.[0-9]{1,20}") {
            prop_assume!(serde_json::from_str::<serde_json::Value>(&id).is_ok());
            let params = format!("{{\"n\": {number},\t\"z\":1,\"a\":2}}");
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m","params":{params}}}"#);
            let Ok(Some(Decoded::One(Incoming::Request(request)))) = decode(line.as_bytes(), Limits::default()) else {
                panic!("{line}")
            };
            prop_assert_eq!(request.id.as_json(), id);
            prop_assert_eq!(request.params.unwrap().text(), params);
        }
    }
}
