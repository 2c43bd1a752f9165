//! Consent over HTTP: it belongs to the caller that was asked, even if another caller learns of it.

use crate::harness::Project;
use crate::harness::http::{HttpServer, stateless_with};
use mcp_bash_transport::http::{Grant, TokenLine};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_consent_is_of_no_use_to_another_caller() {
    let project = Project::new()
        .script("tools/wipe/tool.sh", "#!/bin/sh\necho run >>runs\necho wiped\n")
        .file("tools/wipe/tool.meta.json", r#"{"name": "wipe", "description": "Wipes", "confirm": true}"#);
    let outside = tempfile::tempdir().expect("a folder");
    let made = ["one", "other"].map(|name| TokenLine::generate(name, Grant::default()).expect("a token"));
    let lines = made.iter().map(|(line, _)| line.to_string()).collect::<Vec<_>>().join("\n");
    let tokens = made.map(|(_, token)| format!("Bearer {token}"));
    let file = outside.path().join("tokens");
    fs::write(&file, lines).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("permissions");
    let server = HttpServer::start_with(project.root(), &["--tokens", file.to_str().expect("a path")], &[]);
    let call = |caller: usize, arguments: &Value, asked: Option<&Value>, choice: &str| -> Value {
        let meta = json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } });
        let mut params = json!({ "name": "wipe", "arguments": arguments, "_meta": meta });
        if let Some(asked) = asked {
            params["requestState"] = asked["result"]["requestState"].clone();
            let answer = json!({ "action": "accept", "content": { "consent": choice } });
            params["inputResponses"] = json!({ "consent": answer });
        }
        server.send(&stateless_with(&[("Authorization", &tokens[caller])], 1, "tools/call", &params)).json()
    };
    let runs = || fs::read_to_string(project.path("runs")).unwrap_or_default().lines().count();
    let is_asked = |answer: &Value| answer["result"]["resultType"] == "input_required";
    let (none, some) = (json!({}), json!({ "all": true }));

    let asked = call(0, &none, None, "");
    assert!(is_asked(&asked), "{asked}");
    let stolen = call(1, &none, Some(&asked), "session");
    let altered = call(0, &some, Some(&asked), "session");
    assert_eq!(stolen["error"]["code"], -32602, "{stolen}");
    assert_eq!(stolen["error"], altered["error"], "refused in the same words");
    assert_eq!(runs(), 0);
    let done = call(0, &none, Some(&asked), "session");
    assert_eq!(done["result"]["content"][0]["text"].as_str().map(str::trim_end), Some("wiped"), "{done}");
    assert_eq!(call(0, &none, Some(&asked), "session")["error"], stolen["error"], "replayed");
    // Remembered for this caller and this call alone.
    assert!(!is_asked(&call(0, &none, None, "")));
    assert!(is_asked(&call(0, &some, None, "")) && is_asked(&call(1, &none, None, "")));
    assert_eq!(runs(), 2);
    server.finish();
}
