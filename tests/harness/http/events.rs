//! Event streams, and answers that may be one.

use super::connection::{Http, Response};
use mcp_bash_http_client::EventBlocks;
use serde_json::Value;
use std::io;

/// An event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) data: Option<String>,
    pub(crate) retry: Option<String>,
}

impl Event {
    fn parse(text: &str) -> Self {
        let mut event = Self { id: None, name: None, data: None, retry: None };
        for line in text.split('\n').filter(|line| !line.starts_with(':')) {
            let (name, value) = line.split_once(':').unwrap_or((line, ""));
            let value = Some(value.strip_prefix(' ').unwrap_or(value).to_owned());
            let field = match name {
                "id" => &mut event.id,
                "event" => &mut event.name,
                "data" => &mut event.data,
                "retry" => &mut event.retry,
                other => panic!("no client knows the field {other:?} of {text:?}"),
            };
            assert!(field.is_none(), "a field stands twice: {text:?}");
            *field = value;
        }
        event
    }

    /// The message in it.
    pub(crate) fn message(&self) -> Value {
        let data = self.data.as_deref().unwrap_or_default();
        serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn is_message(&self) -> bool {
        self.data.as_deref().is_some_and(|data| !data.is_empty())
    }
}

/// A stream of events that is being read.
pub(crate) struct Events {
    pub(crate) http: Http,
    blocks: EventBlocks,
}

impl Events {
    /// The next event, without comments. None when the stream ended properly.
    pub(crate) fn next(&mut self) -> Option<Event> {
        self.try_next().unwrap_or_else(|error| panic!("the next event: {error}"))
    }

    /// The same, with an error if the stream was cut off.
    pub(crate) fn try_next(&mut self) -> io::Result<Option<Event>> {
        while let Some(text) = self.block()? {
            if !is_comment(&text) {
                return Ok(Some(Event::parse(&text)));
            }
        }
        Ok(None)
    }

    /// Waits for a comment, whatever comes before it.
    pub(crate) fn wait_for_comment(&mut self) {
        let blocks = std::iter::from_fn(|| self.block().expect("the stream goes on"));
        assert!({ blocks }.any(|text| is_comment(&text)), "the stream ended without a comment");
    }

    /// The next event or comment.
    fn block(&mut self) -> io::Result<Option<String>> {
        let block = self.blocks.next(&mut self.http);
        block.inspect_err(|error| assert!(error.kind() != io::ErrorKind::InvalidData, "{error}"))
    }

    /// The next event that carries a message.
    pub(crate) fn next_message(&mut self) -> Option<Event> {
        std::iter::from_fn(|| self.next()).find(Event::is_message)
    }

    /// The messages until the stream ends properly.
    pub(crate) fn messages(mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.next_message()).map(|event| event.message()).collect()
    }

    /// All events until the stream ends properly.
    pub(crate) fn all(mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.next()).collect()
    }
}

fn is_comment(text: &str) -> bool {
    text.split('\n').all(|line| line.starts_with(':'))
}

/// The answer to a request, in either form.
pub(crate) struct Incoming {
    pub(crate) status: u16,
    messages: IncomingMessages,
}

enum IncomingMessages {
    Single(Option<Value>),
    Events(Events),
}

impl Incoming {
    /// The next message, if there is one.
    pub(crate) fn next(&mut self) -> Option<Value> {
        match &mut self.messages {
            IncomingMessages::Single(message) => message.take(),
            IncomingMessages::Events(events) => events.next_message().map(|event| event.message()),
        }
    }
}

impl Http {
    /// The events of an answer that must be a stream of them.
    pub(crate) fn events(mut self) -> Events {
        let head = self.head();
        assert!(head.status == 200 && head.is_events(), "{head:?}");
        Events { http: self, blocks: EventBlocks::default() }
    }

    /// The messages of an answer, whether it is a single message or an event stream.
    pub(crate) fn incoming(mut self) -> Incoming {
        let head = self.head();
        let status = head.status;
        let messages = if head.is_events() {
            IncomingMessages::Events(Events { http: self, blocks: EventBlocks::default() })
        } else {
            IncomingMessages::Single(Some(Response { body: self.body(), ..head }.json()))
        };
        Incoming { status, messages }
    }
}
