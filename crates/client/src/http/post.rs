//! Post: one message on its way to a server, and the messages in the response.

use super::events::{Events, TooLong};
use super::exchange::Exchange;
use super::{HttpError, HttpServer, PROTOCOL_VERSION, SESSION_ID};
use crate::error::Error;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use hyper::{Method, StatusCode};
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use tokio::sync::mpsc::Sender;

/// The longest response that is one message, and the longest that is an error.
const LONGEST: usize = 256 * 1024 * 1024;
const LONGEST_ERROR: usize = 64 * 1024;

pub(super) struct Post {
    message: Vec<u8>,
    /// The id of a request. Notifications and answers have none.
    pub(super) id: Option<u64>,
    method: Option<String>,
    /// The tool, prompt or resource that it is about.
    subject: Option<String>,
}

impl Post {
    pub(super) fn of(message: &[u8]) -> Self {
        let read: Value = serde_json::from_slice(message).unwrap_or_default();
        let method = read["method"].as_str().map(str::to_owned);
        let member = match method.as_deref() {
            Some("tools/call" | "prompts/get") => "name",
            Some("resources/read") => "uri",
            _ => "",
        };
        Self {
            message: message.to_vec(),
            id: read["id"].as_u64().filter(|_| method.is_some()),
            method,
            subject: read["params"][member].as_str().map(str::to_owned),
        }
    }

    pub(super) async fn run(self, server: Arc<HttpServer>, received: Sender<Result<Vec<u8>, Error>>) {
        let id = self.id;
        if let Err(error) = self.exchange(&server, &received).await
            && id.is_some()
        {
            let _ = received.send(Err(error)).await;
        }
    }

    async fn exchange(
        mut self,
        server: &HttpServer,
        received: &Sender<Result<Vec<u8>, Error>>,
    ) -> Result<(), Error> {
        let turn = server.order.lock().await;
        let turn = self.id.is_none().then_some(turn);
        let headers = self.headers(server);
        let message = std::mem::take(&mut self.message);
        let exchange = server.remote.exchange(&server.tls, Method::POST, headers, message).await?;
        drop(turn);
        if self.method.as_deref() == Some("initialize") {
            server.agreed.lock().session = exchange.response.headers().get(&SESSION_ID).cloned();
        }
        self.read(server, exchange, received).await
    }

    fn headers(&self, server: &HttpServer) -> Vec<(HeaderName, HeaderValue)> {
        let agreed = server.agreed.lock();
        let mut headers = Vec::new();
        headers.extend(agreed.revision.clone().map(|revision| (PROTOCOL_VERSION, revision)));
        headers.extend(agreed.session.clone().map(|session| (SESSION_ID, session)));
        if agreed.is_stateless {
            for (name, value) in [("mcp-method", &self.method), ("mcp-name", &self.subject)] {
                let value = value.as_deref().and_then(header_value);
                headers.extend(value.map(|value| (HeaderName::from_static(name), value)));
            }
        }
        headers
    }

    async fn read(
        &self,
        server: &HttpServer,
        exchange: Exchange,
        received: &Sender<Result<Vec<u8>, Error>>,
    ) -> Result<(), Error> {
        let status = exchange.response.status();
        let headers = exchange.response.headers().clone();
        let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        if !status.is_success() {
            let body = read_whole(server, exchange, LONGEST_ERROR).await.unwrap_or_default();
            let message = self.refusal(status, &headers, &body, server)?;
            let _ = received.send(Ok(message)).await;
            return Ok(());
        }
        if self.id.is_none() {
            return Ok(());
        }
        match kind.as_str() {
            "application/json" => {
                let body = read_whole(server, exchange, LONGEST).await?;
                let _ = received.send(Ok(body)).await;
                Ok(())
            }
            "text/event-stream" => self.read_events(server, exchange, received).await,
            _ => {
                let body = read_whole(server, exchange, LONGEST_ERROR).await.unwrap_or_default();
                let what = if kind.is_empty() { "no content type".to_owned() } else { format!("`{kind}`") };
                let beginning: String = String::from_utf8_lossy(&body).chars().take(60).collect();
                let what = server.remote.excerpt(&format!("{what}, `{beginning}`"));
                Err(HttpError::NotMcp { url: server.remote.url.to_string(), what }.into())
            }
        }
    }

    async fn read_events(
        &self,
        server: &HttpServer,
        exchange: Exchange,
        received: &Sender<Result<Vec<u8>, Error>>,
    ) -> Result<(), Error> {
        let Exchange { response, connection } = exchange;
        let (mut body, mut events, mut is_answered) = (response.into_body(), Events::default(), false);
        while let Some(frame) = body.frame().await {
            let Ok(bytes) = frame.map_err(|error| lost(server, error))?.into_data() else { continue };
            let too_long = |TooLong| Error::Protocol("an event that is too long".to_owned());
            for message in events.take(&bytes).map_err(too_long)? {
                is_answered |= self.is_answered_by(&message);
                if received.send(Ok(message)).await.is_err() {
                    return Ok(());
                }
            }
            if is_answered {
                break;
            }
        }
        drop(connection);
        if is_answered { Ok(()) } else { Err(Error::Ended(Some("its stream of events ended".to_owned()))) }
    }

    fn is_answered_by(&self, message: &[u8]) -> bool {
        let message: Value = serde_json::from_slice(message).unwrap_or_default();
        message.get("method").is_none() && message["id"].as_u64() == self.id
    }

    /// The error that a server answers with, as a message, or why there is none.
    fn refusal(
        &self,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
        server: &HttpServer,
    ) -> Result<Vec<u8>, Error> {
        let (url, status_code) = (server.remote.url.to_string(), status.as_u16());
        let words = server.remote.without_token(&String::from_utf8_lossy(body));
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(match &server.remote.token {
                Some(token) => {
                    HttpError::TokenRefused { url, variable: token.variable.clone(), status: status_code }
                        .into()
                }
                None => HttpError::TokenWanted { url, status: status_code }.into(),
            });
        }
        if status.is_redirection() {
            let location = headers.get(LOCATION).map(HeaderValue::as_bytes).unwrap_or_default();
            let location = server.remote.excerpt(&String::from_utf8_lossy(location));
            return Err(HttpError::Redirect { url, status: status_code, location }.into());
        }
        let read: Value = serde_json::from_str(&words).unwrap_or_default();
        if let Some(error) = read.get("error").filter(|error| error["message"].is_string()) {
            return Ok(json!({ "jsonrpc": "2.0", "id": self.id, "error": error }).to_string().into_bytes());
        }
        if status == StatusCode::NOT_FOUND {
            let has_session = server.agreed.lock().session.is_some();
            return Err(if has_session {
                HttpError::SessionEnded { url }
            } else {
                HttpError::NotFound { url }
            }
            .into());
        }
        Err(HttpError::Status { url, status: status_code, excerpt: server.remote.excerpt(&words) }.into())
    }
}

async fn read_whole(server: &HttpServer, exchange: Exchange, limit: usize) -> Result<Vec<u8>, Error> {
    let Exchange { response, connection: _open } = exchange;
    let mut body: Incoming = response.into_body();
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|error| lost(server, error))?.into_data() else { continue };
        if bytes.len() + data.len() > limit {
            return Err(Error::Protocol(format!("more than {limit} bytes")));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

fn lost(server: &HttpServer, error: hyper::Error) -> Error {
    HttpError::Lost { url: server.remote.url.to_string(), source: io::Error::other(error) }.into()
}

/// A text as a header holds it: encoded, if it has other characters than a header may have.
fn header_value(text: &str) -> Option<HeaderValue> {
    let is_plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && text.trim() == text
        && !text.starts_with("=?base64?");
    let value = if is_plain { text.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(text)) };
    HeaderValue::from_str(&value).ok()
}
