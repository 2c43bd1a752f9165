//! Writes messages as JSON text, one function for each kind. Newlines are the transport's.

use crate::{Id, RpcError};

/// `result` is the text of a JSON object.
pub fn result(id: &Id, result: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(result.len() + id.as_json().len() + 36);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.as_json().as_bytes());
    out.extend_from_slice(b",\"result\":");
    out.extend_from_slice(result.as_bytes());
    out.push(b'}');
    out
}

/// An error for the request `id`, or for something whose id could not be read.
pub fn error(id: Option<&Id>, error: &RpcError) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id.map_or("null", Id::as_json).as_bytes());
    out.extend_from_slice(b",\"error\":{\"code\":");
    out.extend_from_slice(error.code.to_string().as_bytes());
    out.extend_from_slice(b",\"message\":");
    out.extend_from_slice(string(&error.message).as_bytes());
    if let Some(data) = &error.data {
        out.extend_from_slice(b",\"data\":");
        out.extend_from_slice(data.as_bytes());
    }
    out.extend_from_slice(b"}}");
    out
}

/// `params` is the text of a JSON object.
pub fn notification(method: &str, params: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(params.len() + method.len() + 40);
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":\"");
    out.extend_from_slice(method.as_bytes());
    out.extend_from_slice(b"\",\"params\":");
    out.extend_from_slice(params.as_bytes());
    out.push(b'}');
    out
}

/// Several answers as one array.
pub fn batch(answers: &[Vec<u8>]) -> Vec<u8> {
    let mut out = vec![b'['];
    out.extend(answers.join(&b','));
    out.push(b']');
    out
}

/// A text as a JSON string, quotes included.
pub fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The same JSON without blanks between its tokens, so that it fits on a line. Nothing else changes.
pub fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut in_string, mut escaped) = (false, false);
    for character in json.chars() {
        if in_string {
            in_string = escaped || character != '"';
            escaped = character == '\\' && !escaped;
        } else if matches!(character, ' ' | '\t' | '\r' | '\n') {
            continue;
        } else {
            in_string = character == '"';
        }
        out.push(character);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compacting_touches_only_blanks_between_tokens() {
        let pretty =
            "{\n  \"a b\": [1.10, 2],\r\n\t\"q\": \"x \\\" \\\\\",\n  \"big\": 12345678901234567890\n}";
        assert_eq!(compact(pretty), r#"{"a b":[1.10,2],"q":"x \" \\","big":12345678901234567890}"#);
    }
}
