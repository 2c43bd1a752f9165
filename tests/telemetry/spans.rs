//! Spans have the names, the kinds and the attributes that OpenTelemetry has for MCP.

use super::collector::Collector;
use super::{PARENT, PRINT, TRACE, attributes, call, named, start};
use crate::harness::{Project, code, stateless_meta};
use serde_json::{Value, json};

fn project() -> Project {
    let metadata = r#"{"name":"project-name","version":"1.2.3"}"#;
    Project::new().file("server.d/server.meta.json", metadata).tool("prints", PRINT)
}

#[test]
fn a_call_is_exported_in_the_shape_of_otlp() {
    let (project, collector) = (project(), Collector::start());
    let headers = [("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20b"), ("OTEL_RESOURCE_ATTRIBUTES", "zone=x")];
    let mut server = start(&project, &collector, &headers);
    call(&mut server, 7, "prints", &json!({ "traceparent": PARENT, "tracestate": "vendor=x" }));
    let export = collector.next();
    assert_eq!(export.path, "/v1/traces");
    assert_eq!((&*export.headers["content-type"], &*export.headers["api-key"]), ("application/json", "a b"));
    let of_resource = &export.body["resourceSpans"][0];
    let resource = attributes(&of_resource["resource"]);
    assert_eq!(resource["service.name"], "project-name");
    assert_eq!((&resource["service.version"], &resource["zone"]), (&json!("1.2.3"), &json!("x")));
    let scope = &of_resource["scopeSpans"][0]["scope"];
    assert_eq!(*scope, json!({ "name": "mcp-bash", "version": env!("CARGO_PKG_VERSION") }));

    let mut spans = super::collector::spans_of(&export.body);
    if spans.len() < 2 {
        spans.extend(collector.spans(1));
    }
    let (request, script) = (named(&spans, "tools/call prints"), named(&spans, "tool.sh"));
    let mut known = attributes(request);
    let waited = known.as_object_mut().unwrap().remove("mcp_bash.queue.duration").expect("a duration");
    assert!(waited.as_f64().unwrap() >= 0.0);
    assert_eq!(
        known,
        json!({
            "mcp.method.name": "tools/call",
            "jsonrpc.request.id": "7",
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "prints",
            "mcp.protocol.version": "2026-07-28",
            "network.transport": "pipe",
        })
    );
    assert_eq!((&request["kind"], &request["traceId"]), (&json!(2), &json!(TRACE)));
    assert_eq!(request["parentSpanId"], "b7ad6b7169203331");
    // Sampled, and the parent is known to be elsewhere.
    assert_eq!((&request["flags"], &request["traceState"]), (&json!(0x301), &json!("vendor=x")));
    assert_eq!((request.get("status"), request.get("links")), (None, None));
    let time = |span: &Value, name: &str| span[name].as_str().unwrap().parse::<u64>().unwrap();
    let (start, end) = (time(request, "startTimeUnixNano"), time(request, "endTimeUnixNano"));
    assert!(1_600_000_000_000_000_000 < start && start <= end, "{start} {end}");

    assert_eq!((&script["kind"], &script["traceId"]), (&json!(3), &json!(TRACE)));
    assert_eq!((&script["parentSpanId"], &script["flags"]), (&request["spanId"], &json!(0x101)));
    let known = attributes(script);
    assert_eq!(known, json!({ "process.executable.name": "tool.sh", "process.exit.code": "0" }));
    server.finish();
}

#[test]
fn failures_have_a_type_and_nobody_makes_up_a_name() {
    let project = project().tool("fails", "#!/bin/sh\nexit 3\n");
    let collector = Collector::start();
    let mut server = start(&project, &collector, &[]);
    call(&mut server, 1, "fails", &json!({}));
    let spans = collector.spans(2);
    let (request, script) = (named(&spans, "tools/call fails"), named(&spans, "tool.sh"));
    assert_eq!(attributes(request)["error.type"], "tool_error");
    assert_eq!(request["status"], json!({ "code": 2 }));
    let known = attributes(script);
    assert_eq!((&known["process.exit.code"], &known["error.type"]), (&json!("3"), &json!("3")));

    let params = json!({ "name": "made-up", "_meta": stateless_meta() });
    assert_eq!(code(&server.ask("id \"x\"", "tools/call", &params)), -32602);
    let spans = collector.spans(1);
    let request = named(&spans, "tools/call");
    let known = attributes(request);
    assert_eq!(
        (&known["error.type"], &known["rpc.response.status_code"]),
        (&json!("-32602"), &json!("-32602"))
    );
    assert_eq!((&known["jsonrpc.request.id"], known.get("gen_ai.tool.name")), (&json!("id \"x\""), None));
    assert_eq!(request["status"]["code"], 2);
    assert!(request["status"]["message"].as_str().unwrap().contains("made-up"), "{request}");
    assert_eq!(request.get("parentSpanId"), None);

    server.ask(2, "made/up", &json!({ "_meta": stateless_meta() }));
    assert_eq!(attributes(named(&collector.spans(1), "_OTHER"))["mcp.method.name"], "_OTHER");
    // It is refused before its trace is known.
    let mut meta = stateless_meta();
    meta["io.modelcontextprotocol/protocolVersion"] = "1999-01-01".into();
    meta["traceparent"] = PARENT.into();
    server.ask(3, "tools/list", &json!({ "_meta": meta }));
    assert_ne!(named(&collector.spans(1), "tools/list")["traceId"], TRACE);
    server.ask(4, "resources/read", &json!({ "uri": "echo://x", "_meta": stateless_meta() }));
    assert_eq!(attributes(named(&collector.spans(1), "resources/read"))["mcp.resource.uri"], "echo://x");
    server.finish();
}

#[test]
fn content_is_recorded_only_if_the_operator_asks_for_it_and_secrets_never() {
    let secret = "planted-secret-value";
    let metadata = json!({ "name": "says", "description": "Says", "secrets": { "TOKEN": "planted" } });
    let project = Project::new()
        .tool("says", "#!/bin/sh\necho \"result with $TOKEN\"\n")
        .file("tools/says/tool.meta.json", &metadata.to_string());
    for (is_captured, value) in [(false, "false"), (true, "true")] {
        let collector = Collector::start();
        let captured = ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", value);
        let mut server = start(&project, &collector, &[captured, ("TOKEN", secret)]);
        call(&mut server, 1, "says", &json!({}));
        let arguments = json!({ "word": format!("argument {secret}") });
        let params = json!({ "name": "says", "arguments": arguments, "_meta": stateless_meta() });
        server.ask(2, "tools/call", &params);
        server.finish();
        let exports = collector.rest();
        let all = format!("{exports:?}");
        assert!(!all.contains(secret), "{all}");
        for word in ["result with", "argument ", "gen_ai.tool.call"] {
            assert_eq!(all.contains(word), is_captured, "{word} in {all}");
        }
    }
}
