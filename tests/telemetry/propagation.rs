//! The trace reaches scripts with our span as its parent, and goes on from there.

use super::collector::Collector;
use super::{PARENT, PRINT, TRACE, attributes, call, named, start};
use crate::harness::{Project, Server, stateless_meta};
use serde_json::{Value, json};

#[test]
fn scripts_are_part_of_the_span_of_their_call() {
    let project = Project::new()
        .tool("prints", PRINT)
        .script("prompts/prints.sh", &PRINT.replacen('\n', "\n# mcp: {}\n", 1));
    let collector = Collector::start();
    let mut server = start(&project, &collector, &[]);
    let trace = json!({ "traceparent": PARENT, "tracestate": "vendor=x", "baggage": "user=a" });
    let printed = call(&mut server, 1, "prints", &trace);
    let script = named(&collector.spans(2), "tool.sh").clone();
    let parent = format!("00-{TRACE}-{}-01", script["spanId"].as_str().unwrap());
    assert_eq!(printed, format!("{parent}|vendor=x|user=a"));

    let mut meta = stateless_meta();
    meta["traceparent"] = PARENT.into();
    let answer = server.ask(2, "prompts/get", &json!({ "name": "prints", "_meta": meta }));
    let spans = collector.spans(2);
    let (request, script) = (named(&spans, "prompts/get prints"), named(&spans, "prints.sh"));
    assert_eq!(attributes(request)["gen_ai.prompt.name"], "prints");
    let parent = format!("00-{TRACE}-{}-01|none|none", script["spanId"].as_str().unwrap());
    assert_eq!(answer["result"]["messages"][0]["content"]["text"], parent, "{answer}");
    server.finish();
}

#[test]
fn without_a_valid_parent_a_trace_begins() {
    let (project, collector) = (Project::new().tool("prints", PRINT), Collector::start());
    let mut server = start(&project, &collector, &[]);
    for (id, wrong) in
        [(1, json!(null)), (2, json!("00-zz")), (3, json!(PARENT.to_uppercase())), (4, json!(7))]
    {
        let printed = call(&mut server, id, "prints", &json!({ "traceparent": wrong, "tracestate": "a=1" }));
        let spans = collector.spans(2);
        let (request, script) = (named(&spans, "tools/call prints"), named(&spans, "tool.sh"));
        assert_eq!((request.get("parentSpanId"), request.get("traceState")), (None, None), "{wrong}");
        let [trace, span] = ["traceId", "spanId"].map(|name| script[name].as_str().unwrap());
        assert_eq!(printed, format!("00-{trace}-{span}-01|none|none"), "{wrong}");
        assert_ne!(trace, TRACE);
    }
    server.finish();
}

#[test]
fn the_caller_decides_whether_a_trace_is_recorded() {
    let (project, collector) = (Project::new().tool("prints", PRINT), Collector::start());
    let mut server = start(&project, &collector, &[]);
    let unsampled = format!("{}00", PARENT.strip_suffix("01").unwrap());
    let printed = call(&mut server, 1, "prints", &json!({ "traceparent": unsampled }));
    assert!(printed.starts_with(&format!("00-{TRACE}-")) && printed.contains("-00|"), "{printed}");
    assert!(!printed.starts_with(&unsampled), "the parent of the script is ours: {printed}");
    call(&mut server, 2, "prints", &json!({ "traceparent": PARENT }));
    assert_eq!(attributes(named(&collector.spans(2), "tools/call prints"))["jsonrpc.request.id"], "2");
    server.finish();

    let mut server = start(&project, &collector, &[("OTEL_TRACES_SAMPLER", "always_off")]);
    let printed = call(&mut server, 1, "prints", &json!({ "traceparent": PARENT }));
    assert!(printed.contains("-00|"), "{printed}");
    server.finish();
    assert!(collector.rest().iter().all(|export| export.path == "/v1/metrics"));
}

#[test]
fn a_function_finds_the_trace_in_its_context() {
    let file = "import mcp_bash\n\n@mcp_bash.tool\ndef traced() -> str:\n    \"\"\"The trace.\"\"\"\n    return mcp_bash.context().trace.get('traceparent', 'none')\n";
    let project = Project::new().file("tools/functions.py", file);
    let collector = Collector::start();
    let mut server = start(&project, &collector, &[]);
    for id in 1..3 {
        let printed = call(&mut server, id, "traced", &json!({ "traceparent": PARENT }));
        let spans = collector.spans(2);
        let script = named(&spans, "functions.py");
        assert_eq!(printed, format!("00-{TRACE}-{}-01", script["spanId"].as_str().unwrap()));
        assert_eq!(attributes(script).get("process.exit.code"), None, "a worker goes on");
    }
    server.finish();
}

#[test]
fn the_audit_log_names_the_trace_that_the_server_began() {
    let (project, collector) = (Project::with_hi(), Collector::start());
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.jsonl");
    let mut server = start(&project, &collector, &[("MCPBASH_AUDIT", log.to_str().unwrap())]);
    call(&mut server, 1, "hi", &json!({}));
    let trace = named(&collector.spans(2), "tools/call hi")["traceId"].clone();
    server.finish();
    let records = std::fs::read_to_string(log).unwrap();
    let records = records.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let traces: Vec<Value> = records.filter_map(|record| record.get("trace.id").cloned()).collect();
    assert_eq!(traces, [trace]);
}

/// Asks the user for a name.
const ASKS: &str =
    "#!/usr/bin/env bash\nsource \"${MCP_SDK:?}/tool-sdk.sh\"\nmcp_elicit_string 'Who?' name\n";

/// Begins a session, calls `asks` with the trace, and returns the question to the client.
fn question(server: &mut Server, meta: &Value) -> Value {
    server.initialize_offering("2025-11-25", &json!({ "elicitation": {} }));
    server.request(1, "tools/call", &json!({ "name": "asks", "arguments": {}, "_meta": meta }));
    loop {
        let message = server.receive();
        if message["method"] == "elicitation/create" {
            return message;
        }
    }
}

#[test]
fn questions_to_the_client_carry_the_trace() {
    let (project, collector) = (Project::new().tool("asks", ASKS), Collector::start());
    let mut server = start(&project, &collector, &[]);
    let asked = question(&mut server, &json!({ "traceparent": PARENT, "baggage": "user=a" }));
    server.reply(&asked, &json!({ "action": "accept", "content": { "name": "Zoë" } }));
    // `initialize`, the call, its script and the question.
    let spans = collector.spans(4);
    let span = named(&spans, "elicitation/create");
    let parent = format!("00-{TRACE}-{}-01", span["spanId"].as_str().unwrap());
    assert_eq!(asked["params"]["_meta"], json!({ "traceparent": parent, "baggage": "user=a" }));
    assert_eq!(
        (&span["kind"], &attributes(span)["mcp.method.name"]),
        (&json!(3), &json!("elicitation/create"))
    );
    assert_eq!(span["parentSpanId"], named(&spans, "tools/call asks")["spanId"]);
    server.finish();
}

#[test]
fn without_an_exporter_the_trace_of_the_caller_is_passed_on() {
    let project = Project::new().tool("asks", ASKS);
    let mut server = Server::start(project.root());
    let asked = question(&mut server, &json!({ "traceparent": PARENT }));
    assert_eq!(asked["params"]["_meta"], json!({ "traceparent": PARENT }));
    server.reply(&asked, &json!({ "action": "decline" }));
    server.finish();
    let mut server = Server::start(project.root());
    let asked = question(&mut server, &json!({}));
    assert_eq!(asked["params"].get("_meta"), None);
    server.reply(&asked, &json!({ "action": "decline" }));
    server.finish();
}
