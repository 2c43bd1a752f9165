//! Arguments are checked before a script starts, and structured output before a client sees it.

use crate::harness::{Project, Server, code, stateless_meta};
use serde_json::{Value, json};

fn project(metadata: &Value, script: &str) -> Project {
    Project::new().script("tools/t/tool.sh", script).file("tools/t/tool.meta.json", &metadata.to_string())
}

fn call(project: &Project, arguments: &Value) -> Value {
    let mut server = Server::ready(project.root());
    server.request(1, "tools/call", &json!({ "name": "t", "arguments": arguments }));
    server.receive()
}

fn counting() -> Project {
    project(
        &json!({ "inputSchema": {
            "type": "object",
            "properties": {
                "count": { "type": "integer", "minimum": 1 },
                "deep": { "type": "boolean" },
                "colour": { "enum": ["red", "green"] },
                "items": { "type": "array", "items": { "type": "number" } },
            },
            "required": ["count"],
            "additionalProperties": false,
        } }),
        "#!/bin/sh\ntouch ran\ncat\n",
    )
}

// Shows: tools-input
#[test]
fn invalid_arguments_are_a_result_that_a_model_can_correct() {
    let project = counting();
    for (arguments, words) in [
        (json!({}), ["count", "required"]),
        (json!({ "count": "five" }), ["/count", "integer"]),
        (json!({ "count": 0 }), ["/count", "1"]),
        (json!({ "count": 1, "colour": "blue" }), ["/colour", "green"]),
        (json!({ "count": 1, "extra": 1 }), ["extra", "not allowed"]),
        (json!({ "count": 1, "items": [1, "x"] }), ["/items/1", "number"]),
    ] {
        let result = call(&project, &arguments)["result"].clone();
        assert_eq!(result["isError"], true, "{arguments}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(words.iter().all(|word| text.contains(word)), "{words:?} in {text}");
    }
    assert!(!project.path("ran").exists(), "the script never started");
}

#[test]
fn harmless_coercions_are_made_and_valid_arguments_are_not_touched() {
    let project = counting();
    let seen = |arguments: Value| {
        let text = call(&project, &arguments)["result"]["content"][0]["text"].as_str().unwrap().to_owned();
        serde_json::from_str::<Value>(&text).unwrap()
    };
    assert_eq!(seen(json!({ "count": "5", "deep": "true" })), json!({ "count": 5, "deep": true }));
    assert_eq!(seen(json!({ "count": 5, "items": "[1, 2.50]" }))["items"], json!([1, 2.5]));
    let mut server = Server::ready(project.root());
    server.send_line(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{ "items": [1.10,  12345678901234567890], "count":7 }}}"#);
    assert_eq!(
        server.receive()["result"]["content"][0]["text"],
        r#"{ "items": [1.10,  12345678901234567890], "count":7 }"#
    );
}

// Shows: schema-dialect
#[test]
fn an_invalid_schema_is_an_error_of_the_tool() {
    for schema in [
        json!({ "type": "object", "properties": { "x": { "type": "strnig" } } }),
        json!({ "type": "object", "$schema": "https://example.com/odd" }),
        json!({ "type": "object", "properties": { "x": { "$ref": "https://example.com/remote.json" } } }),
    ] {
        let project = project(&json!({ "inputSchema": schema }), "#!/bin/sh\n");
        let answer = call(&project, &json!({ "x": 1 }));
        assert_eq!(code(&answer), -32603, "{schema}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("inputSchema"), "{answer}");
    }
    let draft = json!({ "type": "object", "$schema": "http://json-schema.org/draft-07/schema#", "properties": { "x": { "type": "integer" } } });
    assert_eq!(
        call(&project(&json!({ "inputSchema": draft }), "#!/bin/sh\n"), &json!({ "x": 1 }))["result"]["isError"],
        false
    );
}

// Shows: tools-output
#[test]
fn output_must_match_its_schema() {
    let metadata = json!({ "outputSchema": { "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } } });
    let answer = |script: &str| call(&project(&metadata, &format!("#!/bin/sh\n{script}\n")), &json!({}));
    assert_eq!(answer(r#"echo '{"n": 1}'"#)["result"]["structuredContent"], json!({ "n": 1 }));
    let whole = answer(r#"echo '{"content": [], "structuredContent": {"n": 2}, "isError": false}'"#);
    assert_eq!(whole["result"]["structuredContent"], json!({ "n": 2 }));
    assert_eq!(
        whole["result"]["content"],
        json!([{ "type": "text", "text": "{\"n\":2}" }]),
        "for clients that read nothing else"
    );
    for broken in ["echo text", ":", r#"echo '{"n": "x"}'"#, r#"echo '{"content": []}'"#] {
        let answer = answer(broken);
        assert_eq!(code(&answer), -32603, "{broken}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("outputSchema"), "{answer}");
    }
    assert_eq!(
        answer(r#"echo '{"content": [], "isError": true}'"#)["result"]["isError"],
        true,
        "an error owes no structure"
    );
    assert_eq!(answer("exit 3")["result"]["isError"], true);
}

// Shows: tools-structured-any
#[test]
fn structured_content_of_any_type_is_only_in_the_stateless_era() {
    let project = project(
        &json!({ "outputSchema": { "type": "array", "items": { "type": "integer" } } }),
        "#!/bin/sh\necho '[1, 2]'\n",
    );
    let mut server = Server::ready(project.root());
    let old = server.ask(1, "tools/call", &json!({ "name": "t" }))["result"].clone();
    assert!(old.get("structuredContent").is_none(), "{old}");
    let new =
        server.ask(2, "tools/call", &json!({ "name": "t", "_meta": stateless_meta() }))["result"].clone();
    assert_eq!(new["structuredContent"], json!([1, 2]));
    assert_eq!(new["content"][0]["text"], "[1, 2]");
}
