//! Content validation: checks that each item of a script's `content` has a kind of the protocol, and the members that this kind
//! requires. Clients reject the whole result otherwise.

use mcp_bash_project::excerpt;
use mcp_bash_wire::{Object, Raw, Scanner};

/// The members that are read.
const MEMBERS: [&str; 7] = ["type", "text", "data", "mimeType", "resource", "uri", "name"];

/// Describes the first invalid item. `content` is an array.
pub(super) fn problem(content: Raw<'_>) -> Option<String> {
    let (mut found, mut index) = (None, 0);
    let _ = Scanner::again(content).elements(|item| {
        if found.is_none() {
            found = item_problem(item)
                .map(|problem| format!("item {index} of its `content` {problem}: {}", excerpt(item.text())));
        }
        index += 1;
    });
    found
}

fn item_problem(item: Raw<'_>) -> Option<String> {
    let Ok(members) = Object::read(item, "an item", &MEMBERS) else {
        return Some("is no object".to_owned());
    };
    let kind = members.get("type").and_then(Raw::string);
    let needed: &[&str] = match kind.as_deref() {
        Some("text") => &["text"],
        Some("image" | "audio") => &["data", "mimeType"],
        Some("resource_link") => &["uri", "name"],
        Some("resource") => return embedded_problem(members.get("resource")),
        _ => {
            return Some(
                "must have `text`, `image`, `audio`, `resource` or `resource_link` as its `type`".to_owned(),
            );
        }
    };
    let is_text = |name: &str| members.get(name).is_some_and(is_string);
    needed.iter().find(|name| !is_text(name)).map(|name| format!("lacks the text `{name}`"))
}

fn embedded_problem(resource: Option<Raw<'_>>) -> Option<String> {
    let members = resource.and_then(|raw| Object::read(raw, "a resource", &["uri", "text", "blob"]).ok());
    let Some(members) = members else { return Some("lacks the object `resource`".to_owned()) };
    let is_text = |name: &str| members.get(name).is_some_and(is_string);
    if !is_text("uri") {
        return Some("lacks the text `resource.uri`".to_owned());
    }
    (!is_text("text") && !is_text("blob")).then(|| "lacks `text` or `blob` in its `resource`".to_owned())
}

/// Does not parse the string, which may be long.
fn is_string(raw: Raw<'_>) -> bool {
    raw.text().starts_with('"')
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_bash_wire::Limits;

    fn told(content: &str) -> Option<String> {
        problem(Scanner::new(content, Limits::default()).whole_value().unwrap())
    }

    #[test]
    fn every_kind_is_accepted_with_its_required_members() {
        let all = r#"[{"type":"text","text":""},{"type":"image","data":"","mimeType":"a/b"},
            {"mimeType":"a/b","data":"","type":"audio","annotations":{}},{"type":"resource_link","uri":"a:b","name":"c"},
            {"type":"resource","resource":{"uri":"a:b","text":""}},{"type":"resource","resource":{"uri":"a:b","blob":""}}]"#;
        assert_eq!(told(all), None);
        assert_eq!(told("[]"), None);
    }

    #[test]
    fn content_that_clients_refuse_is_named() {
        for (item, problem) in [
            (r#"{"type":"weird","text":1}"#, "as its `type`"),
            (r#"{"text":"a"}"#, "as its `type`"),
            (r#"{"type":"text","text":1}"#, "lacks the text `text`"),
            (r#"{"type":"image","data":"a"}"#, "lacks the text `mimeType`"),
            (r#"{"type":"resource_link","uri":"a:b"}"#, "lacks the text `name`"),
            (r#"{"type":"resource","resource":"a"}"#, "lacks the object `resource`"),
            (r#"{"type":"resource","resource":{"text":"a"}}"#, "lacks the text `resource.uri`"),
            (r#"{"type":"resource","resource":{"uri":"a:b"}}"#, "lacks `text` or `blob`"),
            ("\"a\"", "is no object"),
        ] {
            let told = told(&format!(r#"[{{"type":"text","text":"a"}},{item}]"#)).unwrap();
            assert!(told.starts_with("item 1 of its `content`") && told.contains(problem), "{item}: {told}");
        }
    }
}
