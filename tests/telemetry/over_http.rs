//! Over HTTP: the header `traceparent`, sessions, and what a span says of the connection.

use super::collector::Collector;
use super::{AT_ONCE, PARENT, PRINT, TRACE, attributes, named};
use crate::harness::Project;
use crate::harness::http::{HttpServer, post, stateless_with};
use serde_json::json;

const OF_HTTP: &str = "00-11111111111111111111111111111111-2222222222222222-01";

fn start(project: &Project, collector: &Collector) -> HttpServer {
    let endpoint = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str())];
    HttpServer::start_with(project.root(), &[], &[&endpoint[..], &AT_ONCE].concat())
}

#[test]
fn the_header_is_the_parent_unless_the_message_has_one() {
    let (project, collector) = (Project::new().tool("prints", PRINT), Collector::start());
    let server = start(&project, &collector);
    let headers = [("traceparent", OF_HTTP), ("baggage", "of=http")];
    let printed =
        server.send(&stateless_with(&headers, 1, "tools/call", &json!({ "name": "prints" }))).json();
    let spans = collector.spans(2);
    let request = named(&spans, "tools/call prints");
    assert_eq!((&request["parentSpanId"], request.get("links")), (&json!("2222222222222222"), None));
    let script = named(&spans, "tool.sh")["spanId"].as_str().unwrap();
    let expected = format!("00-{}-{script}-01|none|of=http", "1".repeat(32));
    assert_eq!(printed["result"]["content"][0]["text"], expected, "{printed}");
    let known = attributes(request);
    assert_eq!(
        (&known["network.transport"], &known["network.protocol.name"]),
        (&json!("tcp"), &json!("http"))
    );
    assert_eq!((&known["client.address"], known.get("mcp.session.id")), (&json!("127.0.0.1"), None));

    let params = json!({ "name": "prints", "_meta": { "traceparent": PARENT } });
    server.send(&stateless_with(&headers, 2, "tools/call", &params));
    let spans = collector.spans(2);
    let request = named(&spans, "tools/call prints");
    assert_eq!((&request["traceId"], &request["parentSpanId"]), (&json!(TRACE), &json!("b7ad6b7169203331")));
    let link = &request["links"][0];
    assert_eq!((&link["traceId"], &link["spanId"]), (&json!("1".repeat(32)), &json!("2222222222222222")));

    // A header that is sent twice, or is malformed, names no trace.
    let twice = [("traceparent", OF_HTTP), ("traceparent", PARENT)];
    for headers in [&twice[..], &[("traceparent", "nonsense")]] {
        server.send(&stateless_with(headers, 3, "tools/call", &json!({ "name": "prints" })));
        assert_eq!(named(&collector.spans(2), "tools/call prints").get("parentSpanId"), None);
    }
    server.finish();
}

#[test]
fn a_session_has_a_name_that_opens_nothing() {
    let (project, collector) = (Project::new().tool("prints", PRINT), Collector::start());
    let server = start(&project, &collector);
    let session = server.session("2025-11-25");
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "prints", "arguments": {} }
    });
    let headers = [&session.headers()[..], &[("traceparent", OF_HTTP)]].concat();
    server.send(&post(&headers, &message.to_string()));
    let spans = collector.spans(3);
    let request = named(&spans, "tools/call prints");
    assert_eq!(request["parentSpanId"], "2222222222222222");
    let name = attributes(request)["mcp.session.id"].as_str().unwrap().to_owned();
    assert_eq!(name.len(), 32);
    let id = session.id.clone();
    assert_eq!(session.delete().status, 200);
    server.finish();
    let metrics = collector.rest().pop().expect("the last metrics");
    let all = format!("{spans:?}{metrics:?}");
    assert!(!all.contains(&id) && all.contains("mcp.server.session.duration"), "{all}");
}
