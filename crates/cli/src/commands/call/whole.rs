//! Whole texts (`--whole`): a server of ours keeps a text that is too long for a client, and its result links to it. Here
//! the text takes the place of the part that was sent.

use crate::open::connect::Failure;
use mcp_bash_client::Error as ClientError;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// The result with the texts that it links to. `read` reads a resource by its URI.
pub(crate) fn completed(
    result: Box<RawValue>,
    mut read: impl FnMut(&str) -> Result<Box<RawValue>, Failure>,
) -> Result<Box<RawValue>, Failure> {
    let mut whole: Value = serde_json::from_str(result.get()).unwrap_or_default();
    let Some(items) = whole.get_mut("content").and_then(Value::as_array_mut) else { return Ok(result) };
    if !items.iter().any(is_link_to_whole_text) {
        return Ok(result);
    }
    while let Some(at) = items.iter().position(is_link_to_whole_text) {
        let link = items.remove(at);
        let uri = link["uri"].as_str().unwrap_or_default();
        let contents: Value = serde_json::from_str(read(uri)?.get()).unwrap_or_default();
        let is_its_part = |item: &&mut Value| item["text"].as_str().is_some_and(|text| text.contains(uri));
        if let Some(part) = items.iter_mut().find(is_its_part) {
            part["text"] = contents["contents"][0]["text"].clone();
        }
    }
    to_raw_value(&whole).map_err(|error| ClientError::Protocol(error.to_string()).into())
}

/// Whether an item of content leads to the text that another item holds only in part.
pub(super) fn is_link_to_whole_text(item: &Value) -> bool {
    item["type"] == "resource_link" && item["name"] == "whole-output"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn raw(value: &Value) -> Box<RawValue> {
        to_raw_value(value).unwrap()
    }

    #[test]
    fn the_text_takes_the_place_of_its_part_and_links_of_others_stay() {
        let own = json!({ "type": "resource_link", "name": "report", "uri": "file:///r" });
        let link = json!({ "type": "resource_link", "name": "whole-output", "uri": "mcpbash://kept/1" });
        let part = json!({ "type": "text", "text": "a [... mcpbash://kept/1] z" });
        let result = raw(&json!({ "content": [own, part, link], "isError": false }));
        let read = |uri: &str| {
            assert_eq!(uri, "mcpbash://kept/1");
            Ok(raw(&json!({ "contents": [{ "text": "a b z" }] })))
        };
        let whole: Value = serde_json::from_str(completed(result, read).unwrap().get()).unwrap();
        assert_eq!(whole["content"], json!([own, { "type": "text", "text": "a b z" }]));
    }

    #[test]
    fn a_result_without_such_a_link_stays_as_it_came() {
        let text = r#"{"content":[{"type":"text","text":"1.10"}], "n": 1.10}"#;
        let result = RawValue::from_string(text.to_owned()).unwrap();
        assert_eq!(completed(result, |_| unreachable!()).unwrap().get(), text);
    }
}
