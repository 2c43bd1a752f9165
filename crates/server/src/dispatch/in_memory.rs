//! In-memory transport: a client in the same process, for tests and for commands that call a project's entries without starting
//! a server. Each message it sends has its own reply, as over HTTP.

use super::dispatcher::Owed;
use super::routing::Headers;
use crate::callers::Principal;
use crate::replies::{Reply, Stream};
use crate::sessions::{Client, Server};
use mcp_bash_wire::Line;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A message that a client receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    Notification(Vec<u8>),
    /// A request from the server, which waits for the client's response.
    Question(Vec<u8>),
    /// The last message of a reply.
    Answer(Vec<u8>),
    /// No response: the request was cancelled.
    End,
}

pub struct InMemoryClient {
    client: Arc<Client>,
    /// Messages that belong to no request.
    unasked: UnboundedReceiver<Said>,
    is_clogged: Arc<AtomicBool>,
}

impl InMemoryClient {
    /// Creates a client that can start a session.
    pub fn new(server: &Arc<Server>, principal: Arc<Principal>) -> Self {
        let is_clogged = Arc::default();
        let (stream, unasked) = Sender::new(&is_clogged);
        let client = Arc::new(Client::with_session(Arc::clone(server), principal, Arc::new(stream)));
        Self { client, unasked, is_clogged }
    }

    /// Creates a client without a session. It receives no messages outside of its replies.
    pub fn without_session(server: &Arc<Server>, principal: Arc<Principal>) -> Self {
        let is_clogged = Arc::default();
        let (_, unasked) = Sender::new(&is_clogged);
        let client = Arc::new(Client::without_session(Arc::clone(server), principal));
        Self { client, unasked, is_clogged }
    }

    /// Sends one message, which may be any bytes.
    pub fn send(&self, message: &[u8]) -> InMemoryReply {
        let (reply, mut got) = InMemoryReply::pair(&self.is_clogged);
        got.owed = self.client.receive(&Line::Whole(message), &reply);
        got
    }

    /// Sends one message with headers.
    pub fn send_with(&self, message: &[u8], headers: &dyn Headers) -> InMemoryReply {
        let (reply, mut got) = InMemoryReply::pair(&self.is_clogged);
        let principal = &self.client.principal;
        got.owed = self.client.receive_from(principal, &Line::Whole(message), Some(headers), &reply);
        got
    }

    /// Sends one message with another credential of the same caller.
    pub fn send_as(&self, principal: &Arc<Principal>, message: &[u8]) -> InMemoryReply {
        let (reply, mut got) = InMemoryReply::pair(&self.is_clogged);
        got.owed = self.client.receive_from(principal, &Line::Whole(message), None, &reply);
        got
    }

    /// The next message that belongs to none of its requests.
    pub async fn unasked(&mut self) -> Option<Said> {
        self.unasked.recv().await
    }

    /// Sets whether the client is congested.
    pub fn set_clogged(&self, is_clogged: bool) {
        self.is_clogged.store(is_clogged, Ordering::Release);
        if !is_clogged {
            self.client.server.relieved();
        }
    }

    /// The server's representation of this client.
    pub fn client(&self) -> &Arc<Client> {
        &self.client
    }
}

/// A client in the same process that receives everything on one stream, as over a pipe.
pub struct InMemoryConnection {
    client: Arc<Client>,
    reply: Arc<dyn Reply>,
    said: UnboundedReceiver<Said>,
}

impl InMemoryConnection {
    /// Creates a client that can start a session.
    pub fn new(server: &Arc<Server>, principal: Arc<Principal>) -> Self {
        let (sender, said) = Sender::new(&Arc::default());
        let sender = Arc::new(sender);
        let stream = Arc::clone(&sender) as Arc<dyn Stream>;
        let client = Arc::new(Client::with_session(Arc::clone(server), principal, stream));
        Self { client, reply: sender, said }
    }

    /// Sends one message, which may be any bytes.
    pub fn send(&self, message: &[u8]) {
        self.client.receive(&Line::Whole(message), &self.reply);
    }

    /// The next message: a response, a notification or a question.
    pub async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            match self.said.recv().await? {
                Said::Notification(message) | Said::Question(message) | Said::Answer(message) => {
                    return Some(message);
                }
                Said::End => {}
            }
        }
    }
}

/// The reply to one message.
pub struct InMemoryReply {
    pub owed: Owed,
    said: UnboundedReceiver<Said>,
}

impl InMemoryReply {
    /// The two ends of a reply: the server's, and the client's.
    pub(crate) fn pair(is_clogged: &Arc<AtomicBool>) -> (Arc<dyn Reply>, Self) {
        let (sender, said) = Sender::new(is_clogged);
        (Arc::new(sender), Self { owed: Owed::Nothing, said })
    }

    /// The next message. `None` after the response or the end, or if no response is required.
    pub async fn next(&mut self) -> Option<Said> {
        self.said.recv().await
    }

    /// A message that has already arrived, if any.
    pub fn try_next(&mut self) -> Option<Said> {
        self.said.try_recv().ok()
    }

    /// The response. Messages before it are dropped. `None` if there is none.
    pub async fn answer(&mut self) -> Option<Vec<u8>> {
        loop {
            match self.next().await? {
                Said::Answer(message) => return Some(message),
                Said::End => return None,
                Said::Notification(_) | Said::Question(_) => {}
            }
        }
    }
}

/// The server's end of a stream or a reply.
struct Sender {
    said: UnboundedSender<Said>,
    is_clogged: Arc<AtomicBool>,
}

impl Sender {
    fn new(is_clogged: &Arc<AtomicBool>) -> (Self, UnboundedReceiver<Said>) {
        let (said, receiver) = unbounded_channel();
        (Self { said, is_clogged: Arc::clone(is_clogged) }, receiver)
    }

    fn say(&self, said: Said) {
        // If the receiver was dropped, the message is not needed.
        let _ = self.said.send(said);
    }
}

impl Stream for Sender {
    fn notify(&self, message: Vec<u8>) {
        self.say(Said::Notification(message));
    }

    fn ask(&self, message: Vec<u8>) -> bool {
        self.say(Said::Question(message));
        true
    }

    fn flush(&self) {}

    fn is_clogged(&self) -> bool {
        self.is_clogged.load(Ordering::Acquire)
    }
}

impl Reply for Sender {
    fn answer(&self, message: Vec<u8>) {
        self.say(Said::Answer(message));
    }

    fn end(&self) {
        self.say(Said::End);
    }
}
