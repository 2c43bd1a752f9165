//! Headers that repeat parts of a message, over real HTTP: the status, code and id of each refusal, and that
//! nothing runs.

use crate::harness::Project;
use crate::harness::http::{HttpServer, post, stateless_message};
use serde_json::{Value, json};

const VERSION: (&str, &str) = ("MCP-Protocol-Version", "2026-07-28");

/// Headers as a test writes them.
type Lines<'a> = &'a [(&'a str, &'a str)];

/// A project whose tool records that it ran, and requires three arguments to be repeated in headers.
fn project() -> Project {
    let schema = json!({ "type": "object", "properties": {
        "region": { "type": "string", "x-mcp-header": "Region" },
        "count": { "type": "integer", "x-mcp-header": "Count" },
        "where": { "type": "object", "properties": { "dry": { "type": "boolean", "x-mcp-header": "Dry-Run" } } },
        "price": { "type": "number", "x-mcp-header": "Price" },
    } });
    let metadata = json!({ "name": "run", "description": "Runs", "inputSchema": schema });
    Project::new()
        .script("tools/run/tool.sh", "#!/bin/sh\necho x >>ran\necho ran\n")
        .file("tools/run/tool.meta.json", &metadata.to_string())
        .file("prompts/letter.txt", "Write.")
        .file("resources/note.txt", "A note")
}

/// The status of an answer and the code of the error in it, or 0. The id must be that of the request.
fn outcome(server: &HttpServer, method: &str, params: &Value, headers: Lines<'_>) -> (u16, i64) {
    let message = stateless_message("r-7", method, params);
    let answer = server.send(&post(headers, &message.to_string()));
    let body = answer.json();
    assert_eq!(body["id"], "r-7", "{body}");
    (answer.status, body["error"]["code"].as_i64().unwrap_or_default())
}

// Shows: http-headers
#[test]
fn the_version_the_method_and_the_name_repeat_the_message() {
    let project = project();
    let server = HttpServer::start(project.root());
    let none = json!({});
    let list = ("Mcp-Method", "tools/list");
    let refused = (400, -32020);
    let rows: &[(&str, &Value, Lines<'_>, (u16, i64))] = &[
        ("tools/list", &none, &[VERSION, list], (200, 0)),
        (
            "tools/list",
            &none,
            &[("mcp-protocol-version", "2026-07-28"), ("MCP-METHOD", "tools/list")],
            (200, 0),
        ),
        ("tools/list", &none, &[VERSION, ("Mcp-Method", " \ttools/list \t ")], (200, 0)),
        ("tools/list", &none, &[VERSION], refused),
        ("tools/list", &none, &[VERSION, ("Mcp-Method", "prompts/list")], refused),
        ("tools/list", &none, &[VERSION, ("Mcp-Method", "TOOLS/LIST")], refused),
        ("tools/list", &none, &[VERSION, list, list], refused),
        ("tools/list", &none, &[VERSION, ("Mcp-Method", "tools/list, tools/list")], refused),
        ("tools/list", &none, &[VERSION, VERSION, list], refused),
        ("tools/list", &none, &[("MCP-Protocol-Version", "2025-11-25"), list], refused),
        ("tools/list", &none, &[list], refused),
        ("no/such", &none, &[VERSION, ("Mcp-Method", "no/such")], (404, -32601)),
        ("prompts/get", &json!({ "name": "letter" }), &[VERSION, ("Mcp-Method", "prompts/get")], refused),
        (
            "prompts/get",
            &json!({ "name": "letter" }),
            &[VERSION, ("Mcp-Method", "prompts/get"), ("Mcp-Name", "=?base64?bGV0dGVy?=")],
            (200, 0),
        ),
        (
            "resources/read",
            &json!({ "uri": "echo:x" }),
            &[VERSION, ("Mcp-Method", "resources/read"), ("Mcp-Name", "echo:y")],
            refused,
        ),
    ];
    for (method, params, headers, expected) in rows {
        assert_eq!(outcome(&server, method, params, headers), *expected, "{method} {headers:?}");
    }
    server.finish();
}

// Shows: http-order
#[test]
fn errors_are_reported_in_the_order_of_the_specification() {
    let project = project();
    let server = HttpServer::start(project.root());
    let meta = |version: &str| {
        json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        })
    };
    let list = ("Mcp-Method", "tools/list");
    let old = ("MCP-Protocol-Version", "2099-01-01");
    let rows: &[(Value, Lines<'_>, (u16, i64))] = &[
        // Each request also has every error that would be reported later.
        (json!({ "io.modelcontextprotocol/protocolVersion": "2099-01-01" }), &[VERSION], (400, -32602)),
        (json!({}), &[VERSION], (400, -32602)),
        (meta("2099-01-01"), &[VERSION], (400, -32020)),
        (meta("2099-01-01"), &[old], (400, -32022)),
        (meta("2026-07-28"), &[VERSION], (400, -32020)),
        (meta("2026-07-28"), &[VERSION, list], (200, 0)),
    ];
    for (meta, headers, expected) in rows {
        let message =
            json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": { "_meta": meta } });
        let answer = server.send(&post(headers, &message.to_string()));
        let code = answer.json()["error"]["code"].as_i64().unwrap_or_default();
        assert_eq!((answer.status, code), *expected, "{meta} {headers:?}");
        assert_eq!(answer.json()["id"], 5);
    }
    server.finish();
}

// Shows: http-param-headers
#[test]
fn a_call_whose_headers_differ_runs_nothing() {
    let project = project();
    let server = HttpServer::start(project.root());
    let call = |arguments: &Value, more: Lines<'_>| {
        let usual = [VERSION, ("Mcp-Method", "tools/call"), ("Mcp-Name", "run")];
        let params = json!({ "name": "run", "arguments": arguments });
        outcome(&server, "tools/call", &params, &[&usual, more].concat())
    };
    let refused: &[(Value, Lines<'_>)] = &[
        (json!({ "region": "west" }), &[]),
        (json!({ "region": "west" }), &[("Mcp-Param-Region", "east")]),
        (json!({ "region": "west" }), &[("Mcp-Param-Region", "west"), ("mcp-param-region", "east")]),
        (json!({ "region": "west" }), &[("Mcp-Param-Region", "west"), ("mcp-param-region", "west")]),
        (json!({ "region": "Hello" }), &[("Mcp-Param-Region", "=?base64?SGVsbG8?=")]),
        (json!({ "region": "Hello" }), &[("Mcp-Param-Region", "=?base64?SGVs!!!bG8=?=")]),
        (json!({ "region": "\u{f6}st" }), &[("Mcp-Param-Region", "\u{f6}st")]),
        (json!({ "region": null }), &[("Mcp-Param-Region", "west")]),
        (json!({}), &[("Mcp-Param-Region", "west")]),
        (json!({ "count": 42 }), &[("Mcp-Param-Count", "041")]),
        (json!({ "where": { "dry": true } }), &[("Mcp-Param-Dry-Run", "false")]),
        (json!({ "where": { "dry": true } }), &[]),
    ];
    for (arguments, headers) in refused {
        assert_eq!(call(arguments, headers), (400, -32020), "{arguments} {headers:?}");
    }
    assert!(!project.path("ran").exists(), "nothing ran");
    let fitting: &[(Value, Lines<'_>)] = &[
        (json!({}), &[]),
        (json!({ "region": null }), &[]),
        (json!({ "region": "west" }), &[("MCP-PARAM-REGION", "  west ")]),
        (json!({ "region": "Hello" }), &[("Mcp-Param-Region", "=?base64?SGVsbG8=?=")]),
        (json!({ "region": "SGVsbG8=" }), &[("Mcp-Param-Region", "SGVsbG8=")]),
        (json!({ "region": "=?base64?SGVsbG8=" }), &[("Mcp-Param-Region", "=?base64?SGVsbG8=")]),
        (json!({ "region": "\u{f6}st" }), &[("Mcp-Param-Region", "=?base64?w7ZzdA==?=")]),
        (json!({ "count": 42 }), &[("Mcp-Param-Count", "42.0")]),
        (json!({ "where": { "dry": true } }), &[("Mcp-Param-Dry-Run", "true")]),
        // An annotation that clients would refuse is removed, so that no client sends its header.
        (json!({ "price": 1.5 }), &[]),
    ];
    for (arguments, headers) in fitting {
        assert_eq!(call(arguments, headers).0, 200, "{arguments} {headers:?}");
    }
    server.finish();
}

#[test]
fn a_tool_is_listed_without_the_annotation_for_which_clients_would_drop_it() {
    let project = project();
    let server = HttpServer::start(project.root());
    let listed = server.ask("tools/list", &json!({}));
    let properties = &listed["result"]["tools"][0]["inputSchema"]["properties"];
    assert_eq!(properties["price"], json!({ "type": "number" }));
    assert_eq!(properties["region"]["x-mcp-header"], "Region");
    let log = server.finish();
    let words = "the tool `run` is served without the `x-mcp-header` of `inputSchema/properties/price`";
    assert!(log.contains(words), "{log}");
}

#[test]
fn sessions_need_no_repeated_headers() {
    let project = project();
    let server = HttpServer::start(project.root());
    let session = server.session("2025-11-25");
    let headers = [session.headers().as_slice(), &[("Mcp-Method", "wrong"), ("Mcp-Name", "wrong")]].concat();
    let params = json!({ "name": "run", "arguments": { "region": "west" } });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let answer = server.send(&post(&headers, &message.to_string()));
    assert_eq!(answer.json()["result"]["content"][0]["text"], "ran");
    server.finish();
}
