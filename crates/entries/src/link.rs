//! Install links: the user clicks one to install an entry.

use crate::client::{Client, LinkForm};
use crate::entry::Entry;
use crate::shape::Shape;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::fmt::Write;

impl Client {
    /// The links for an entry, those with a scheme of the client first; empty if the client has no links.
    pub fn links(&self, entry: &Entry) -> Vec<String> {
        let name = encoded(&entry.name);
        let config = Shape::Command.value(entry);
        match self.link {
            None => Vec::new(),
            Some(LinkForm::Cursor) => {
                // In the query of a link a plus is a space.
                let config = STANDARD.encode(config.to_string()).replace('+', "%2B");
                let query = format!("name={name}&config={config}");
                vec![
                    format!("cursor://anysphere.cursor-deeplink/mcp/install?{query}"),
                    format!("https://cursor.com/en/install-mcp?{query}"),
                ]
            }
            Some(LinkForm::VsCode) => {
                let whole = encoded(&with_name(entry, &json!({}), &config));
                let config = encoded(&config.to_string());
                vec![
                    format!("vscode:mcp/install?{whole}"),
                    format!("https://insiders.vscode.dev/redirect/mcp/install?name={name}&config={config}"),
                ]
            }
            Some(LinkForm::VisualStudio) => {
                vec![format!(
                    "https://vs-open.link/mcp-install?{}",
                    encoded(&with_name(entry, &json!({}), &config))
                )]
            }
            Some(LinkForm::Raycast) => {
                let whole = with_name(entry, &json!({ "type": "stdio" }), &config);
                vec![format!("raycast://mcp/install?{}", encoded(&whole))]
            }
            Some(LinkForm::Kiro) => {
                vec![format!(
                    "https://kiro.dev/launch/mcp/add?name={name}&config={}",
                    encoded(&config.to_string())
                )]
            }
            Some(LinkForm::LmStudio) => {
                let config = encoded(&STANDARD.encode(config.to_string()));
                vec![format!("lmstudio://add_mcp?name={name}&config={config}")]
            }
        }
    }
}

/// The entry as one object that includes its name, as text.
fn with_name(entry: &Entry, more: &Value, config: &Value) -> String {
    let mut whole = json!({ "name": entry.name });
    for (key, value) in [more, config].into_iter().filter_map(Value::as_object).flatten() {
        whole[key] = value.clone();
    }
    whole.to_string()
}

/// A text in which every character that could mean something in a link is percent-encoded.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::client;
    use crate::clients::CLIENTS;

    /// The text of a part of a link, as a browser decodes it.
    fn decoded(text: &str) -> String {
        let (mut bytes, mut rest) = (Vec::new(), text);
        while let Some(first) = rest.chars().next() {
            assert!(first.is_ascii() && first != ' ' && first != '+', "{text}");
            if first == '%' {
                bytes.push(u8::from_str_radix(&rest[1..3], 16).unwrap());
                rest = &rest[3..];
            } else {
                bytes.push(first as u8);
                rest = &rest[1..];
            }
        }
        String::from_utf8(bytes).unwrap()
    }

    fn parameter(link: &str, name: &str) -> String {
        let (_, query) = link.split_once('?').unwrap();
        let mut pairs = query.split('&').map(|pair| pair.split_once('=').unwrap());
        decoded(pairs.find(|(key, _)| *key == name).unwrap().1)
    }

    fn json_of(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    fn entry() -> Entry {
        Entry {
            name: "my tools&more".into(),
            command: "/opt/é ?>~/mcp-bash".into(),
            args: vec!["--project-root".into(), "/p/a+b&c=d%20\"'".into()],
            env: vec![("K".into(), "v#".into())],
            passed: Vec::new(),
        }
    }

    #[test]
    fn each_link_holds_the_whole_entry() {
        let config = Shape::Command.value(&entry());
        let mut whole = json!({ "name": "my tools&more" });
        whole.as_object_mut().unwrap().extend(config.as_object().unwrap().clone());
        let links = |name: &str| client(name).unwrap().links(&entry());
        let from_base64 = |text: &str| String::from_utf8(STANDARD.decode(text).unwrap()).unwrap();

        for link in links("cursor") {
            assert_eq!(parameter(&link, "name"), "my tools&more");
            assert_eq!(json_of(&from_base64(&parameter(&link, "config"))), config);
        }
        assert!(
            links("cursor")[0]
                .starts_with("cursor://anysphere.cursor-deeplink/mcp/install?name=my%20tools%26more&config=")
        );
        assert_eq!(json_of(&decoded(links("vscode")[0].strip_prefix("vscode:mcp/install?").unwrap())), whole);
        let web = &links("vscode")[1];
        assert!(web.starts_with("https://insiders.vscode.dev/redirect/mcp/install?name="));
        assert_eq!(json_of(&parameter(web, "config")), config);
        let visual_studio = &links("visual-studio")[0];
        assert_eq!(
            json_of(&decoded(visual_studio.strip_prefix("https://vs-open.link/mcp-install?").unwrap())),
            whole
        );
        let raycast = json_of(&decoded(links("raycast")[0].strip_prefix("raycast://mcp/install?").unwrap()));
        assert_eq!((&raycast["type"], &raycast["args"]), (&json!("stdio"), &config["args"]));
        let kiro = &links("kiro")[0];
        assert_eq!(
            (parameter(kiro, "name"), json_of(&parameter(kiro, "config"))),
            (entry().name, config.clone())
        );
        let lm_studio = &links("lm-studio")[0];
        assert!(lm_studio.starts_with("lmstudio://add_mcp?name="));
        assert_eq!(json_of(&from_base64(&parameter(lm_studio, "config"))), config);
        assert_eq!(links("goose"), Vec::<String>::new());
        assert_eq!(CLIENTS.iter().filter(|client| client.link.is_some()).count(), 6);
    }
}
