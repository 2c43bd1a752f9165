//! `resources/list`, `resources/templates/list`, `resources/read`, `resources/subscribe` and `resources/unsubscribe`.

use crate::handling::{Immediate, Work};
use crate::logging::{Facts, Measured};
use crate::methods::asked_timeout::asked_timeout;
use crate::offered::{Failure, Follower, Policed, ResourceContent, Wanting};
use crate::replies::Answer;
use crate::sessions::Server;
use mcp_bash_audit::Reason;
use mcp_bash_wire::{LogLevel, Object, Raw, Revision, RpcError};
use std::sync::Arc;
use std::time::Duration;

pub(super) fn list(request: &Immediate<'_>) -> Result<Answer, RpcError> {
    let snapshot = request.server().snapshot();
    snapshot.check_served()?;
    Ok(snapshot
        .resources(request.context.revision, request.params, request.context.principal.rights.as_deref())?
        .into_answer("resources"))
}

pub(super) fn list_templates(request: &Immediate<'_>) -> Result<Answer, RpcError> {
    let snapshot = request.server().snapshot();
    snapshot.check_served()?;
    Ok(snapshot
        .templates(request.context.revision, request.params, request.context.principal.rights.as_deref())?
        .into_answer("resourceTemplates"))
}

pub(crate) async fn read(work: &Work, params: Option<Raw<'_>>) -> Result<Answer, RpcError> {
    let server = work.server();
    server.snapshot().check_served()?;
    let uri = uri_in(server, work.revision(), params)?;
    let asked = timeout_in(params)?;
    let kept = server.resources().kept().get(&uri, work.caller()).await;
    let kept = kept.map_err(|failure| told(work, failure, &uri))?;
    if let Some(kept) = kept {
        // The policy was asked when the call created the kept text.
        let answer = ResourceContent::from(kept).into_answer(&uri, work.budget());
        return answer.map_err(|failure| told(work, failure, &uri));
    }
    let redactions = work.police(&server.snapshot(), &Policed::Resource { uri: &uri })?;
    let read = within(asked, "read", server.resources().read(Some(work.principal()), &uri, asked));
    let content = tokio::select! {
        content = read => content,
        () = work.cancelled() => Err(Failure::Failed("the request was cancelled".to_owned())),
    };
    let answer = content.and_then(|content| content.redacted(&redactions).into_answer(&uri, work.budget()));
    answer.map_err(|failure| told(work, failure, &uri))
}

/// The error for the client. The audit record distinguishes timeouts and refusals from other errors.
fn told(work: &Work, failure: Failure, uri: &str) -> RpcError {
    match failure {
        Failure::TimedOut(_) => work.measure(Measured::timed_out),
        Failure::Missing(_) if work.server().resources().hides(uri, work.principal()) => {
            work.measure(|measured| measured.refused(Reason::Rights));
        }
        _ => {}
    }
    failure.told(work.revision(), uri)
}

pub(crate) async fn subscribe(work: &Work, params: Option<Raw<'_>>) -> Result<Answer, RpcError> {
    let server = work.server();
    let no_session = || RpcError::internal("Internal error: the request has no session");
    let wanting = Wanting {
        subscriber: Arc::clone(work.subscriber().ok_or_else(no_session)?),
        follower: Arc::new(Follower {
            principal: Arc::clone(work.principal()),
            client: work.client_name().into(),
        }),
    };
    let snapshot = server.snapshot();
    snapshot.check_served()?;
    let uri = uri_in(server, work.revision(), params)?;
    work.police(&snapshot, &Policed::Resource { uri: &uri })?;
    let timeout = server.settings().resources.subscribe_timeout;
    let subscribing =
        within(timeout_in(params)?, "subscribed to", server.subscriptions().subscribe(&uri, &wanting));
    let subscribed = tokio::select! {
        subscribed = tokio::time::timeout(timeout, subscribing) => subscribed,
        () = work.cancelled() => return Err(RpcError::internal("the request was cancelled")),
    };
    let subscribed = subscribed.unwrap_or_else(|_| {
        let seconds = timeout.as_secs();
        Err(Failure::TimedOut(format!(
            "it took longer than {seconds} s; MCPBASH_DEFAULT_SUBSCRIBE_TIMEOUT sets the limit"
        )))
    });
    let snapshot = server.snapshot();
    let facts = || Facts::of_resource(&snapshot.catalog.resources, &uri);
    subscribed.map_err(|failure| {
        work.log(LogLevel::Debug, "mcp.resources", "subscription failed", facts);
        told(work, failure, &uri)
    })?;
    work.log(LogLevel::Debug, "mcp.resources", "subscribed", facts);
    Ok(Answer::default())
}

pub(super) fn unsubscribe(request: &Immediate<'_>) -> Result<Answer, RpcError> {
    let (server, session) = (request.server(), request.session()?);
    let uri = uri_in(server, request.context.revision, request.params)?;
    server.subscriptions().unsubscribe(&uri, &session.subscriber);
    let facts = Facts::of_resource(&server.snapshot().catalog.resources, &uri);
    request.client.log(LogLevel::Debug, "mcp.resources", "unsubscribed", facts);
    Ok(Answer::default())
}

/// The timeout that the request sets for itself, if any.
fn timeout_in(params: Option<Raw<'_>>) -> Result<Option<Duration>, RpcError> {
    let params = params.map(|params| Object::read(params, "params", &["timeoutSecs"])).transpose()?;
    params.map_or(Ok(None), |params| asked_timeout(&params))
}

/// Applies the timeout of the request. The server's own limits apply as well.
async fn within<T>(
    asked: Option<Duration>,
    done: &str,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let Some(limit) = asked else { return work.await };
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
        let seconds = limit.as_secs();
        Err(Failure::TimedOut(format!("it was not {done} within {seconds} s (`timeoutSecs` in the request)")))
    })
}

/// The URI of a request. Clients of older servers send the name of a resource instead.
pub(crate) fn uri_in(
    server: &Server,
    revision: Revision,
    params: Option<Raw<'_>>,
) -> Result<String, RpcError> {
    let missing = || RpcError::invalid_params("Invalid params: `uri` is missing");
    let params = Object::read(params.ok_or_else(missing)?, "params", &["uri", "name"])?;
    if let Some(uri) = params.optional_string("uri")?.filter(|uri| !uri.is_empty()) {
        return Ok(uri.into_owned());
    }
    let name = params.optional_string("name")?.ok_or_else(missing)?;
    let snapshot = server.snapshot();
    let resource = snapshot.catalog.resources.get(&name);
    resource.map(|resource| resource.uri.clone()).ok_or_else(|| RpcError::resource_not_found(revision, &name))
}
