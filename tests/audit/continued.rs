//! Calls without a session that ask: the request that brings the answers has lines of its own, about the same call.

use super::{Audited, audit, records};
use crate::harness::http::{HttpServer, stateless};
use crate::harness::{Project, wait_until};
use rustix::process::Signal;
use serde_json::{Value, json};

const POLICY: &str = "version: 1\ndefault: allow\nrules:\n  - name: ask-first\n    confirm: Wipe it?\n";

/// A server whose policy asks before it calls `wipe`, which runs this script.
fn serve(script: &str, settings: &[(&str, &str)]) -> (Audited, HttpServer) {
    let audited = Audited::new(Project::new().tool("wipe", script).file("server.d/policy.yaml", POLICY));
    let log = audited.log();
    let server =
        HttpServer::start_with(audited.project.root(), &["--audit", log.to_str().unwrap()], settings);
    (audited, server)
}

fn call(id: u32, state: Option<&Value>, answer: &Value) -> Vec<u8> {
    let capabilities = json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } });
    let mut params = json!({ "name": "wipe", "_meta": capabilities });
    if let Some(state) = state {
        params["requestState"] = state.clone();
        params["inputResponses"] = json!({ "consent": answer });
    }
    stateless(id, "tools/call", &params)
}

/// The state with which the call goes on.
fn asked(server: &HttpServer) -> Value {
    let answer = server.send(&call(1, None, &Value::Null)).json();
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    answer["result"]["requestState"].clone()
}

#[test]
fn a_refused_consent_names_the_rule_that_asked_and_the_sandbox() {
    let (audited, server) = serve("#!/bin/sh\necho wiped\n", &[]);
    let state = asked(&server);
    server.send(&call(2, Some(&state), &json!({ "action": "decline" })));
    server.finish();
    let recorded = audited.requests();
    let [_, first, _, second] = &recorded[..] else { panic!("{recorded:?}") };
    assert_eq!((&first["outcome"], &second["outcome"]), (&json!("input_required"), &json!("refused")));
    assert_eq!(second["consent"], "declined");
    for name in ["policy.rule", "sandbox"] {
        assert!(second[name].is_string() && second[name] == first[name], "{name}: {second}");
    }
    assert_eq!(first["policy.rule"], "ask-first");
}

#[test]
fn a_call_that_goes_on_has_a_durable_beginning_of_its_own() {
    let (audited, mut server) =
        serve("#!/bin/sh\n: >started\nexec sleep 60\n", &[("MCPBASH_AUDIT_DURABLE", "true")]);
    let state = asked(&server);
    let answer = json!({ "action": "accept", "content": { "consent": "once" } });
    let mut connection = server.connect();
    connection.send(&call(2, Some(&state), &answer));
    let started = audited.project.root().join("started");
    wait_until("the tool runs", || started.exists().then_some(()));
    server.signal(Signal::KILL);
    server.wait();
    let begun: Vec<Value> =
        records(&audited.log()).into_iter().filter(|record| record["event.name"] == "mcp.begun").collect();
    let ids: Vec<&Value> = begun.iter().map(|record| &record["jsonrpc.request.id"]).collect();
    assert_eq!(ids, ["1", "2"]);
    assert_eq!(begun[1]["gen_ai.tool.name"], "wipe");
    let said = audit(&["verify", audited.log().to_str().unwrap()]);
    assert!(said.code == 0 && said.out.contains("1 begun and not ended"), "{said:?}");
}
