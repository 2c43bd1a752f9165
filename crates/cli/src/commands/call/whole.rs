//! Whole texts (`--whole`): a server of ours keeps a text that is too long for a client, and says in the `_meta` of the item
//! where it is. Here the text takes the place of the part that was sent.

use crate::open::connect::Failure;
use mcp_bash_client::Error as ClientError;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

const WHOLE_TEXT: &str = "mcpbash/wholeText";

/// The result with whole texts. `read` reads a resource by its URI.
pub(crate) fn completed(
    result: Box<RawValue>,
    mut read: impl FnMut(&str) -> Result<Box<RawValue>, Failure>,
) -> Result<Box<RawValue>, Failure> {
    let mut whole: Value = serde_json::from_str(result.get()).unwrap_or_default();
    let Some(items) = whole.get_mut("content").and_then(Value::as_array_mut) else { return Ok(result) };
    if !items.iter().any(is_part) {
        return Ok(result);
    }
    for item in items.iter_mut().filter(|item| is_part(item)) {
        let contents = read(uri_of_whole(item).unwrap_or_default())?;
        let contents: Value = serde_json::from_str(contents.get()).unwrap_or_default();
        item["text"] = contents["contents"][0]["text"].clone();
        forget_whole(item);
    }
    to_raw_value(&whole).map_err(|error| ClientError::Protocol(error.to_string()).into())
}

/// Whether an item of content holds only a part of its text.
pub(super) fn is_part(item: &Value) -> bool {
    uri_of_whole(item).is_some()
}

fn uri_of_whole(item: &Value) -> Option<&str> {
    item["_meta"][WHOLE_TEXT]["uri"].as_str()
}

/// Takes out of an item that is whole what said where the whole is.
fn forget_whole(item: &mut Value) {
    let Some(members) = item.as_object_mut() else { return };
    if let Some(meta) = members.get_mut("_meta").and_then(Value::as_object_mut) {
        meta.remove(WHOLE_TEXT);
        if meta.is_empty() {
            members.remove("_meta");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn raw(value: &Value) -> Box<RawValue> {
        to_raw_value(value).unwrap()
    }

    #[test]
    fn the_text_takes_the_place_of_its_part_and_other_members_stay() {
        let own = json!({ "type": "resource_link", "name": "report", "uri": "file:///r" });
        let meta = json!({ WHOLE_TEXT: { "uri": "mcpbash://kept/1", "size": 5 }, "mine": 1.5 });
        let part = json!({ "type": "text", "text": "a [...] z", "_meta": meta });
        let result = raw(&json!({ "content": [own, part], "isError": false }));
        let read = |uri: &str| {
            assert_eq!(uri, "mcpbash://kept/1");
            Ok(raw(&json!({ "contents": [{ "text": "a b z" }] })))
        };
        let whole: Value = serde_json::from_str(completed(result, read).unwrap().get()).unwrap();
        assert_eq!(
            whole["content"],
            json!([own, { "type": "text", "text": "a b z", "_meta": { "mine": 1.5 } }])
        );
    }

    #[test]
    fn a_result_without_such_a_part_stays_as_it_came() {
        let text = r#"{"content":[{"type":"text","text":"1.10"}], "n": 1.10}"#;
        let result = RawValue::from_string(text.to_owned()).unwrap();
        assert_eq!(completed(result, |_| unreachable!()).unwrap().get(), text);
    }
}
