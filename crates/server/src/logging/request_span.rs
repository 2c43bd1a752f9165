//! Request span: a request from its arrival to its response, with the OpenTelemetry attributes for MCP.

use super::child_span::ChildSpan;
use super::error_type::ErrorType;
use super::tracer::Tracer;
use crate::callers::Principal;
use mcp_bash_scripts::TraceVariables;
use mcp_bash_telemetry::{Attribute, Span, SpanContext, SpanKind, Value, hex};
use mcp_bash_wire::{Id, Object, Raw};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub(crate) struct RequestSpan {
    tracer: Arc<Tracer>,
    state: Mutex<RequestSpanState>,
}

#[derive(Default)]
struct RequestSpanState {
    attributes: Vec<Attribute>,
    place: Option<PlaceInTrace>,
    /// The message of its JSON-RPC error.
    message: Box<str>,
}

/// The position of a span in its trace.
struct PlaceInTrace {
    context: SpanContext,
    parent: Option<SpanContext>,
    state: Option<Box<str>>,
    /// The span of the HTTP request, if it is not the parent.
    link: Option<SpanContext>,
}

impl RequestSpan {
    pub(crate) fn begin(
        tracer: &Arc<Tracer>,
        method: &'static str,
        id: &Id,
        name: Option<&str>,
        params: Option<Raw<'_>>,
        principal: &Principal,
    ) -> Self {
        let mut attributes: Vec<Attribute> = vec![("mcp.method.name", method.into())];
        let id = serde_json::from_str::<String>(id.as_json()).unwrap_or_else(|_| id.as_json().to_owned());
        attributes.push(("jsonrpc.request.id", tracer.text(&id)));
        if method == "tools/call" {
            attributes.push(("gen_ai.operation.name", "execute_tool".into()));
        }
        let key = if method == "prompts/get" { "gen_ai.prompt.name" } else { "gen_ai.tool.name" };
        attributes.extend(name.map(|name| (key, name.into())));
        if matches!(method, "resources/read" | "resources/subscribe" | "resources/unsubscribe") {
            let uri = member(params, "uri").and_then(Raw::string);
            attributes.extend(uri.map(|uri| ("mcp.resource.uri", tracer.text(&uri))));
        }
        if method == "tools/call" && tracer.captures_content {
            let arguments = member(params, "arguments").map_or("{}", Raw::text);
            attributes.push(("gen_ai.tool.call.arguments", tracer.content(arguments)));
        }
        attributes.extend(tracer.network.attributes());
        // Peers of a Unix socket have a user name instead.
        let address = principal.address.as_deref().and_then(|peer| peer.strip_prefix("address "));
        attributes.extend(address.map(|address| ("client.address", address.into())));
        let state = Mutex::new(RequestSpanState { attributes, ..RequestSpanState::default() });
        Self { tracer: Arc::clone(tracer), state }
    }

    /// Joins the span to the caller's trace, or starts a new one. `ambient` is the `traceparent` of the HTTP request.
    pub(super) fn join(&self, trace: &TraceVariables, ambient: Option<&str>) {
        let parent = trace.parent.as_deref().and_then(SpanContext::parse);
        let Some(context) = self.tracer.context(parent) else { return };
        let link = ambient.and_then(SpanContext::parse).filter(|ambient| Some(*ambient) != parent);
        let place = PlaceInTrace { context, parent, state: trace.state.clone(), link };
        self.state.lock().place = Some(place);
    }

    pub(super) fn trace_id(&self) -> Option<String> {
        self.state.lock().place.as_ref().map(|place| hex(&place.context.trace))
    }

    pub(super) fn add(&self, name: &'static str, value: Value) {
        self.state.lock().attributes.push((name, value));
    }

    pub(super) fn set_message(&self, message: &str) {
        if let Value::Text(message) = self.tracer.text(message) {
            self.state.lock().message = message;
        }
    }

    /// Adds the result of a call, if content is recorded.
    pub(super) fn add_result(&self, members: &str) {
        if self.tracer.captures_content {
            self.add("gen_ai.tool.call.result", self.tracer.content(&format!("{{{members}}}")));
        }
    }

    /// Starts a child span. `None` before the trace is known.
    pub(super) fn child(&self, name: &str, kind: SpanKind, trace: TraceVariables) -> Option<ChildSpan> {
        let parent = self.state.lock().place.as_ref()?.context;
        ChildSpan::begin(&self.tracer, parent, name, kind, trace)
    }

    pub(super) fn finish(&self, name: String, error: Option<ErrorType>, duration: Duration) {
        let RequestSpanState { mut attributes, place, message } = std::mem::take(&mut *self.state.lock());
        // A request that was rejected before its trace was known starts a new trace.
        let alone = || {
            let context = self.tracer.context(None)?;
            Some(PlaceInTrace { context, parent: None, state: None, link: None })
        };
        let Some(PlaceInTrace { context, parent, state, link }) = place.or_else(alone) else { return };
        if let Some(error) = error {
            attributes.push(("error.type", error.to_string().as_str().into()));
        }
        if let Some(ErrorType::Code(code)) = error {
            attributes.push(("rpc.response.status_code", code.to_string().as_str().into()));
        }
        let end = SystemTime::now();
        self.tracer.record(Span {
            context,
            parent,
            is_parent_remote: parent.is_some(),
            state,
            name: name.into(),
            kind: SpanKind::Server,
            start: end.checked_sub(duration).unwrap_or(end),
            end,
            attributes,
            links: link.into_iter().collect(),
            error: error.map(|_| message),
        });
    }
}

fn member<'a>(params: Option<Raw<'a>>, name: &'static str) -> Option<Raw<'a>> {
    Object::read(params?, "params", &[name]).ok()?.get(name)
}
