//! Listening requests: policy, rights and the audit log say the same of a followed resource as of a read one.

use super::Audited;
use crate::harness::{Project, Server, stateless_meta};
use serde_json::{Value, json};

const POLICY: &str = "version: 1\ndefault: allow\nrules:\n  - name: closed\n    when: resource.uri == 'mine://closed'\n    deny: It is closed.\n  - name: fine\n    when: resource.uri == 'mine://open'\n    allow: true\n";

fn project() -> Project {
    Project::with_hi()
        .file("resources/open.meta.json", r#"{"uri": "mine://open", "provider": "mine"}"#)
        .file("resources/closed.meta.json", r#"{"uri": "mine://closed", "provider": "mine"}"#)
        .script(
            "providers/mine.sh",
            "#!/bin/sh\necho \"$1\" >> \"$MCPBASH_PROJECT_ROOT/read\"\nprintf text\n",
        )
}

/// What is acknowledged of a request to listen to both resources.
fn listen(server: &mut Server) -> Value {
    let uris = json!(["mine://open", "mine://closed"]);
    let notifications = json!({ "resourceSubscriptions": uris });
    server.request(
        1,
        "subscriptions/listen",
        &json!({ "_meta": stateless_meta(), "notifications": notifications }),
    );
    loop {
        let message = server.receive();
        if message["id"] == 1 || message["method"] == "notifications/subscriptions/acknowledged" {
            return message;
        }
    }
}

fn followed(acknowledged: &Value) -> &Value {
    &acknowledged["params"]["notifications"]["resourceSubscriptions"]
}

#[test]
fn a_followed_resource_is_policed_and_recorded_like_a_read() {
    for settings in [&[][..], &[("MCPBASH_AUDIT_DURABLE", "true")]] {
        let audited = Audited::new(project().file("server.d/policy.yaml", POLICY));
        let mut server = audited.start(settings);
        assert_eq!(followed(&listen(&mut server)), &json!(["mine://open"]));
        server.finish();
        let read = std::fs::read_to_string(audited.project.path("read")).unwrap();
        assert!(read.contains("open") && !read.contains("closed"), "{read}");
        let recorded = audited.requests();
        let [open, closed] = &recorded[..] else { panic!("{recorded:?}") };
        for record in [open, closed] {
            assert_eq!(record["event.name"], "mcp.resources.subscribe");
            assert_eq!(record["mcp.method.name"], "subscriptions/listen");
            assert_eq!(
                (&record["jsonrpc.request.id"], &record["caller.known_by"]),
                (&json!("1"), &json!("local"))
            );
        }
        assert_eq!((&open["outcome"], &open["policy.rule"]), (&json!("success"), &json!("fine")));
        assert_eq!(
            (&open["mcp.resource.uri"], &closed["mcp.resource.uri"]),
            (&json!("mine://open"), &json!("mine://closed"))
        );
        assert_eq!((&closed["outcome"], &closed["error.type"]), (&json!("refused"), &json!("policy")));
        assert_eq!(closed["policy.rule"], "closed");
        assert_eq!(audited.verify().code, 0);
    }
}

#[test]
fn without_a_usable_policy_or_audit_log_nothing_is_followed() {
    let broken = project().file("server.d/policy.yaml", "version: 1\nrules: [");
    let mut server = Server::ready_with(broken.root(), &[], "2025-11-25");
    assert_eq!(followed(&listen(&mut server)), &json!([]));
    let required = project();
    let mut server = Server::ready_with(required.root(), &[("MCPBASH_POLICY", "required")], "2025-11-25");
    assert_eq!(followed(&listen(&mut server)), &json!([]));
    assert!(!broken.path("read").exists() && !required.path("read").exists());

    let audited = Audited::new(project());
    std::fs::write(audited.log(), "my notes\n").unwrap();
    let refused = listen(&mut audited.start(&[]));
    assert!(refused["error"]["message"].as_str().unwrap().contains("is not an audit log"), "{refused}");
    assert!(!audited.project.path("read").exists());
    // What asks for no resource is no read.
    let mut server = audited.start(&[]);
    let wanted = json!({ "_meta": stateless_meta(), "notifications": { "toolsListChanged": true } });
    server.request(1, "subscriptions/listen", &wanted);
    assert_eq!(server.receive()["method"], "notifications/subscriptions/acknowledged");
}
