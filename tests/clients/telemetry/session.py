"""Telemetry of a session with the official client, read by the official definitions of OTLP: unknown fields are errors."""

import asyncio
import json
import os
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from google.protobuf import json_format
from mcp import Client, StdioServerParameters
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

# In seconds. It only keeps a session from waiting for ever.
PATIENCE = 120
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
MESSAGES = {"/v1/traces": ExportTraceServiceRequest, "/v1/metrics": ExportMetricsServiceRequest}
FAILED = []


def check(what, is_right, found):
    if not is_right:
        FAILED.append(f"telemetry: not so: {what}. Found: {found}")


class Collector(ThreadingHTTPServer):
    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.exports = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.exports.append((self.path, body))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def project(folder):
    tool = Path(folder, "tools/traced.sh")
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\n# mcp: {}\nprintf %s "$TRACEPARENT"\n')
    tool.chmod(0o755)
    return folder


async def converse(program, folder, collector):
    environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_SERVICE_NAME": "official"}
    server = StdioServerParameters(command=program, args=["serve", project(folder)], env=environment)
    async with Client(server) as client:
        answer = await client.call_tool("traced", {}, meta={"traceparent": f"00-{TRACE}-{PARENT}-01"})
        return answer.content[0].text


def parsed(path, body):
    """The message, by the official definitions. Ids are hexadecimal in OTLP, where JSON of protobuf has base64."""
    message = MESSAGES[path]()
    json_format.Parse(body, message, ignore_unknown_fields=False)
    return message


def main():
    program = sys.argv[1]
    collector = Collector()
    with tempfile.TemporaryDirectory() as folder:
        said = asyncio.run(asyncio.wait_for(converse(program, folder, collector), PATIENCE))
    # The server has ended with the session, and has exported everything before.
    messages = [(path, parsed(path, body), json.loads(body)) for path, body in collector.exports]
    spans = [
        (span, written)
        for path, message, body in messages
        if path == "/v1/traces"
        for span, written in zip(
            message.resource_spans[0].scope_spans[0].spans, body["resourceSpans"][0]["scopeSpans"][0]["spans"]
        )
    ]
    names = [span.name for span, _ in spans]
    check("the call and its script are spans", {"tools/call traced", "traced.sh"} <= set(names), names)
    by_name = {span.name: (span, written) for span, written in spans}
    call, written = by_name["tools/call traced"]
    check("the call is of kind SERVER", call.kind == 2, call.kind)
    check("the parent is the client's", (written["traceId"], written["parentSpanId"]) == (TRACE, PARENT), written)
    check("it ends after it starts", call.start_time_unix_nano <= call.end_time_unix_nano, call)
    _, script = by_name["traced.sh"]
    check("the script is part of its own span", said == f"00-{TRACE}-{script['spanId']}-01", said)
    metrics = {
        metric.name: metric
        for path, message, _ in messages
        if path == "/v1/metrics"
        for metric in message.resource_metrics[0].scope_metrics[0].metrics
    }
    durations = metrics["mcp.server.operation.duration"].histogram
    check("durations are cumulative", durations.aggregation_temporality == 2, durations)
    for point in durations.data_points:
        is_complete = sum(point.bucket_counts) == point.count and len(point.bucket_counts) == len(point.explicit_bounds) + 1
        check("buckets add up", is_complete, point)


main()
if FAILED:
    sys.exit("\n".join(FAILED))
