//! Headers of stateless requests: a header that contradicts the message is refused, in the order that the specification
//! gives, and a message that has to repeat nothing is accepted.

use crate::print;
use crate::stage::{Stage, answer, parsed, text, write_tool};
use mcp_bash_project::Changes;
use mcp_bash_server::{Header, Headers, InMemoryClient};
use serde_json::{Value, json};
use std::fs;

/// The headers of a request, as they were sent.
struct Sent(Vec<(String, Vec<u8>)>);

impl Headers for Sent {
    fn get(&self, name: &str) -> Header<'_> {
        let mut found = self.0.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        match (found.next(), found.next()) {
            (None, _) => Header::Absent,
            (Some((_, value)), None) => Header::Once(value),
            (Some(_), Some(_)) => Header::Repeated,
        }
    }
}

/// Headers as a test writes them.
type Lines<'a> = &'a [(&'a str, &'a str)];

const MODERN: &str = "2026-07-28";

fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A server with a tool that wants three of its arguments repeated, and a client without a session.
struct Scene {
    stage: Stage,
    client: InMemoryClient,
}

impl Scene {
    fn new() -> Self {
        let stage = Stage::new(&["run"], &[], |_| vec![print("ran")]);
        let schema = json!({ "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "count": { "type": "integer", "x-mcp-header": "Count" },
            "place": { "type": "object", "properties": { "dry": { "type": "boolean", "x-mcp-header": "Dry" } } },
            "wrong": { "type": "number", "x-mcp-header": "Wrong" },
        } });
        write_tool(stage.folder.path(), "run");
        let file = stage.folder.path().join("tools/run/tool.meta.json");
        fs::write(file, json!({ "name": "run", "inputSchema": schema }).to_string()).unwrap();
        stage.server.served().reload(&Changes::anywhere());
        let client = InMemoryClient::new(&stage.server, stage.principal("a", None));
        Self { stage, client }
    }

    /// The answer to a request with these headers.
    async fn send(&self, message: &Value, headers: Lines<'_>) -> Value {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()));
        let sent = Sent(headers.collect());
        answer(&mut self.client.send_with(message.to_string().as_bytes(), &sent)).await
    }

    /// The code with which a request is refused, or 0. Asserts that its id is echoed.
    async fn code(&self, method: &str, params: &Value, headers: Lines<'_>) -> i64 {
        let message = json!({ "jsonrpc": "2.0", "id": "x-1", "method": method, "params": params });
        let answer = self.send(&message, headers).await;
        assert_eq!(answer["id"], "x-1", "{answer}");
        answer["error"]["code"].as_i64().unwrap_or_default()
    }

    /// The same for a call with these arguments, and these headers besides those that every call has.
    async fn call(&self, arguments: &Value, headers: Lines<'_>) -> i64 {
        let usual = [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", "run")];
        let params = json!({ "name": "run", "arguments": arguments, "_meta": meta(MODERN) });
        self.code("tools/call", &params, &[&usual, headers].concat()).await
    }
}

#[tokio::test(start_paused = true)]
async fn the_version_the_method_and_the_name_are_held_against_the_message() {
    let scene = Scene::new();
    let complete = json!({ "_meta": meta(MODERN) });
    let version = ("MCP-Protocol-Version", MODERN);
    let method = ("Mcp-Method", "tools/list");
    let rows: &[(&Value, Lines<'_>, i64)] = &[
        (&complete, &[version, method], 0),
        (&complete, &[("mcp-protocol-VERSION", MODERN), ("MCP-METHOD", "tools/list")], 0),
        (&complete, &[version, method, ("Mcp-Name", "anything"), ("Mcp-Param-Region", "x")], 0),
        // Reported in this order: incomplete, contradictory, unsupported, missing.
        (
            &json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": MODERN } }),
            &[("Mcp-Method", "x")],
            -32602,
        ),
        (
            &json!({ "_meta": { "io.modelcontextprotocol/clientCapabilities": {} } }),
            &[version, method],
            -32602,
        ),
        (&json!({ "_meta": meta("2020-01-01") }), &[version, method], -32020),
        (&json!({ "_meta": meta("2020-01-01") }), &[("MCP-Protocol-Version", "2020-01-01")], -32022),
        (&json!({ "_meta": meta("2020-01-01") }), &[], -32022),
        (&complete, &[("MCP-Protocol-Version", "2025-11-25"), method], -32020),
        (&complete, &[version, version, method], -32020),
        (&complete, &[method], -32020),
        (&complete, &[version], -32020),
        (&complete, &[version, method, method], -32020),
        (&complete, &[version, ("Mcp-Method", "prompts/list")], -32020),
        (&complete, &[version, ("Mcp-Method", "TOOLS/LIST")], -32020),
        (&complete, &[version, ("Mcp-Method", "=?base64?dG9vbHMvbGlzdA==?=")], -32020),
        (&complete, &[version, ("Mcp-Method", "")], -32020),
    ];
    for (params, headers, code) in rows {
        assert_eq!(scene.code("tools/list", params, headers).await, *code, "{params} {headers:?}");
    }
    let unknown = [version, ("Mcp-Method", "no/such")];
    assert_eq!(scene.code("no/such", &complete, &unknown).await, -32601);
    assert_eq!(
        scene.code("no/such", &complete, &[version, method]).await,
        -32020,
        "before the method is looked up"
    );
}

#[tokio::test(start_paused = true)]
async fn the_name_is_that_of_the_tool_the_prompt_the_resource_or_the_task() {
    let scene = Scene::new();
    let rows: &[(&str, &str, Option<&str>, Value, i64)] = &[
        ("tools/call", "name", Some("run"), json!("run"), 0),
        ("tools/call", "name", Some("=?base64?cnVu?="), json!("run"), 0),
        ("tools/call", "name", None, json!("run"), -32020),
        ("tools/call", "name", Some("Run"), json!("run"), -32020),
        ("tools/call", "name", Some("=?base64?cnVu"), json!("run"), -32020),
        ("tools/call", "name", Some("=?base64?cnV?="), json!("run"), -32020),
        // The message has no name, which its handler has to report.
        ("tools/call", "name", None, json!(7), -32602),
        ("tools/call", "name", Some("7"), json!(7), -32020),
        ("tools/call", "name", Some("run"), Value::Null, -32020),
        ("prompts/get", "name", Some("none"), json!("none"), -32602),
        ("prompts/get", "name", None, json!("none"), -32020),
        ("prompts/get", "name", Some("n\u{f6}ne"), json!("n\u{f6}ne"), -32020),
        ("prompts/get", "name", Some("=?base64?bsO2bmU=?="), json!("n\u{f6}ne"), -32602),
        ("resources/read", "uri", Some("file:///a"), json!("file:///a"), -32603),
        ("resources/read", "uri", Some("file:///b"), json!("file:///a"), -32020),
        ("resources/read", "uri", None, json!("file:///a"), -32020),
        ("tasks/get", "taskId", None, json!("t"), -32601),
        ("tasks/cancel", "taskId", Some("t"), json!("t"), -32601),
        ("tasks/update", "taskId", Some("u"), json!("t"), -32020),
    ];
    for (method, member, header, value, code) in rows {
        let mut params = json!({ "_meta": meta(MODERN) });
        params[*member] = value.clone();
        let mut headers = vec![("MCP-Protocol-Version", MODERN), ("Mcp-Method", *method)];
        headers.extend(header.map(|header| ("mcp-name", header)));
        assert_eq!(scene.code(method, &params, &headers).await, *code, "{method} {header:?} {value}");
        headers.extend([("Mcp-Name", "run"), ("Mcp-Name", "run")]);
        assert_eq!(scene.code(method, &params, &headers).await, -32020, "a repeated header says nothing");
    }
}

#[tokio::test(start_paused = true)]
async fn arguments_are_repeated_where_their_tool_wants_it() {
    let scene = Scene::new();
    let region = json!({ "region": "\u{f6}st" });
    let rows: &[(Value, Lines<'_>, i64)] = &[
        (json!({}), &[], 0),
        (json!({ "region": "west" }), &[("Mcp-Param-Region", "west")], 0),
        (json!({ "region": "west" }), &[("mcp-param-REGION", "west")], 0),
        (json!({ "region": "west" }), &[], -32020),
        (json!({ "region": "west" }), &[("Mcp-Param-Region", "West")], -32020),
        (json!({ "region": "west" }), &[("Mcp-Param-Region", "west"), ("Mcp-Param-Region", "west")], -32020),
        (json!({ "region": "" }), &[("Mcp-Param-Region", "")], 0),
        (json!({ "region": "" }), &[("Mcp-Param-Region", "=?base64??=")], 0),
        (json!({ "region": "" }), &[], -32020),
        (region.clone(), &[("Mcp-Param-Region", "=?base64?w7ZzdA==?=")], 0),
        (region.clone(), &[("Mcp-Param-Region", "\u{f6}st")], -32020),
        (region.clone(), &[("Mcp-Param-Region", "=?base64?w7ZzdA?=")], -32020),
        (region.clone(), &[("Mcp-Param-Region", "=?base64?w7Z!dA==?=")], -32020),
        (json!({ "region": null }), &[], 0),
        (json!({ "region": null }), &[("Mcp-Param-Region", "null")], -32020),
        (json!({}), &[("Mcp-Param-Region", "west")], -32020),
        (json!({ "count": 42 }), &[("Mcp-Param-Count", "42.0")], 0),
        (json!({ "count": 42.0 }), &[("Mcp-Param-Count", "42")], 0),
        (json!({ "count": 42 }), &[("Mcp-Param-Count", "43")], -32020),
        (json!({ "count": 42 }), &[], -32020),
        // Clients cannot write this number reliably, and leave it out.
        (json!({ "count": 9_007_199_254_740_992_u64 }), &[], 0),
        (json!({ "place": { "dry": true } }), &[("Mcp-Param-Dry", "true")], 0),
        (json!({ "place": { "dry": true } }), &[("Mcp-Param-Dry", "True")], -32020),
        (json!({ "place": { "dry": false } }), &[], -32020),
        (json!({ "place": {} }), &[], 0),
        (json!({ "place": {} }), &[("Mcp-Param-Dry", "true")], -32020),
        // An annotation that breaks a rule is neither sent nor expected; nor is an unknown header.
        (json!({ "wrong": 1 }), &[("Mcp-Param-Wrong", "2"), ("Mcp-Param-Other", "x")], 0),
    ];
    for (arguments, headers, code) in rows {
        assert_eq!(scene.call(arguments, headers).await, *code, "{arguments} {headers:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_duplicate_argument_is_refused_whichever_the_header_repeats() {
    let scene = Scene::new();
    let meta = meta(MODERN);
    let message = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"run","_meta":{meta},"arguments":{{"region":"a","r\u0065gion":"b"}}}}}}"#
    );
    for said in ["a", "b"] {
        let headers = [
            ("MCP-Protocol-Version", MODERN),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", "run"),
            ("Mcp-Param-Region", said),
        ];
        let sent = Sent(headers.map(|(name, value)| (name.to_owned(), value.into())).into());
        let refused = answer(&mut scene.client.send_with(message.as_bytes(), &sent)).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    assert!(scene.stage.children.records().is_empty(), "nothing was run");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_says_which_header_and_quotes_no_more_than_a_bit() {
    let scene = Scene::new();
    let long = "x".repeat(100_000);
    let params = json!({ "name": long, "_meta": meta(MODERN) });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let mut headers =
        vec![("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/call"), ("Mcp-Name", "short")];
    let refused = scene.send(&message, &headers).await;
    let words = refused["error"]["message"].as_str().unwrap();
    assert!(
        words.starts_with("Header mismatch: the header `Mcp-Name` says `short`, but `params.name` is `xxx")
    );
    assert!(words.len() < 300, "{}", words.len());
    assert_eq!(refused["error"]["data"], json!({ "header": "Mcp-Name" }));
    headers.truncate(2);
    let refused = scene.send(&message, &headers).await;
    let words = refused["error"]["message"].as_str().unwrap();
    assert!(
        words.starts_with("Header mismatch: the header `Mcp-Name` is missing; it must repeat `params.name`")
    );
    assert!(words.len() < 300, "{}", words.len());
}

#[tokio::test(start_paused = true)]
async fn sessions_initialize_and_messages_without_headers_have_nothing_to_repeat() {
    let scene = Scene::new();
    let wrong = [("MCP-Protocol-Version", "1999-01-01"), ("Mcp-Method", "wrong"), ("Mcp-Name", "wrong")];
    let modern =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "_meta": meta(MODERN) } });
    assert_eq!(scene.send(&modern, &wrong).await["error"]["code"], -32601, "only sessions have it");
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {} });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello });
    assert_eq!(scene.send(&hello, &wrong).await["result"]["protocolVersion"], "2025-11-25");
    scene.client.send(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let params = json!({ "name": "run", "arguments": { "region": "west" } });
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
    assert_eq!(text(&scene.send(&call, &wrong).await), "ran");
    let params = json!({ "name": "run", "arguments": { "region": "west" }, "_meta": meta(MODERN) });
    let call = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params });
    let mut reply = scene.client.send(call.to_string().as_bytes());
    assert_eq!(text(&parsed(&reply.answer().await.unwrap())), "ran");
}
