//! Connection over Streamable HTTP. Each message is a request of its own, whose response brings the messages that answer it:
//! one as JSON, or several as events. The session that a server begins is deleted at the end.

mod error;
mod events;
mod exchange;
mod post;
mod url;

pub use error::HttpError;
pub use url::Remote;

use crate::error::Error;
use hyper::Method;
use hyper::header::{HeaderName, HeaderValue};
use parking_lot::Mutex;
use post::Post;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::OnceCell;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio_rustls::rustls::ClientConfig;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// How many messages wait to be read; a server that sends more has to wait itself.
const MOST_UNHEARD: usize = 16;

/// How long the last messages to a server may take at the end.
const GRACE: Duration = Duration::from_secs(2);

pub struct HttpConnection {
    server: Arc<HttpServer>,
    runtime: Handle,
    received: Sender<Result<Vec<u8>, Error>>,
    incoming: Receiver<Result<Vec<u8>, Error>>,
    /// The requests that are not complete, by the id of their message if it has an answer.
    posts: Vec<(Option<u64>, JoinHandle<()>)>,
}

/// What is known about the server.
struct HttpServer {
    remote: Remote,
    /// Made when it is first needed: reading the certificates of the system takes a while.
    tls: OnceCell<Arc<ClientConfig>>,
    agreed: Mutex<Agreed>,
    /// Taken by each message in turn, so that none overtakes a notification or an answer before it.
    order: tokio::sync::Mutex<()>,
}

/// What the server and we have agreed on.
#[derive(Default)]
struct Agreed {
    revision: Option<HeaderValue>,
    session: Option<HeaderValue>,
    /// Whether requests repeat their method and subject in headers.
    is_stateless: bool,
}

impl HttpConnection {
    /// To be called within a runtime. Nothing is sent yet.
    pub fn new(remote: Remote) -> Self {
        let (received, incoming) = channel(MOST_UNHEARD);
        let server = Arc::new(HttpServer {
            remote,
            tls: OnceCell::new(),
            agreed: Mutex::default(),
            order: tokio::sync::Mutex::default(),
        });
        Self { server, runtime: Handle::current(), received, incoming, posts: Vec::new() }
    }

    pub(crate) fn send(&mut self, message: &[u8]) {
        self.posts.retain(|(_, post)| !post.is_finished());
        let (server, received) = (Arc::clone(&self.server), self.received.clone());
        let post = Post::of(message);
        self.posts.push((post.id, self.runtime.spawn(post.run(server, received))));
    }

    pub(crate) async fn next(&mut self) -> Result<Vec<u8>, Error> {
        self.incoming.recv().await.unwrap_or(Err(Error::Ended(None)))
    }

    /// The revision that all further requests name, if any.
    pub(crate) fn agree_on(&self, revision: Option<&str>, is_stateless: bool) {
        let mut agreed = self.server.agreed.lock();
        agreed.revision = revision.and_then(|revision| HeaderValue::from_str(revision).ok());
        agreed.is_stateless = is_stateless;
    }

    /// Withdraws a request by closing its connection, which cancels it in the stateless era.
    pub(crate) fn abandon(&mut self, id: u64) {
        for (_, post) in self.posts.iter().filter(|(known, _)| *known == Some(id)) {
            post.abort();
        }
    }

    /// Lets the last notifications arrive, and deletes the session.
    pub(crate) async fn end(mut self) {
        let session = self.server.agreed.lock().session.take();
        let last = async {
            for (id, post) in self.posts.drain(..) {
                if id.is_some() {
                    post.abort();
                } else {
                    let _ = post.await;
                }
            }
            if let Some(session) = session {
                let mut headers = vec![(SESSION_ID, session)];
                headers.extend(
                    self.server.agreed.lock().revision.clone().map(|value| (PROTOCOL_VERSION, value)),
                );
                let deleted =
                    self.server.remote.exchange(&self.server.tls, Method::DELETE, headers, Vec::new());
                // A server may keep its sessions to itself.
                let _ = deleted.await;
            }
        };
        let _ = tokio::time::timeout(GRACE, last).await;
    }
}

impl Drop for HttpConnection {
    fn drop(&mut self) {
        for (_, post) in &self.posts {
            post.abort();
        }
    }
}
