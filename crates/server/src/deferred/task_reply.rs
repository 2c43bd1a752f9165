//! Task reply: passes the messages of a task's inner request to its keeper.

use crate::replies::{Reply, Stream};
use mcp_bash_wire::{Decoded, Incoming, Limits, Object, Raw, decode};
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// How the inner request of a task ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The whole response, a result or an error.
    Answered(Vec<u8>),
    /// It was cancelled.
    Ended,
}

/// The newest unread progress as text: a script that reports often needs no more memory.
type NewestProgress = Arc<Mutex<Option<String>>>;

pub(crate) struct TaskReply {
    events: UnboundedSender<Event>,
    progress: NewestProgress,
}

/// The receiver for the keeper of a task.
pub(crate) struct Events {
    pub(super) events: UnboundedReceiver<Event>,
    progress: NewestProgress,
}

impl Events {
    /// The progress since the last call.
    pub(super) fn progress(&self) -> Option<String> {
        self.progress.lock().take()
    }
}

impl TaskReply {
    pub(crate) fn new() -> (Self, Events) {
        let (sender, receiver) = unbounded_channel();
        let progress = NewestProgress::default();
        let reply = Self { events: sender, progress: Arc::clone(&progress) };
        (reply, Events { events: receiver, progress })
    }
}

impl Stream for TaskReply {
    /// Tasks have neither progress nor log notifications. The newest progress becomes the status message.
    fn notify(&self, message: Vec<u8>) {
        if let Some(words) = progress(&message) {
            *self.progress.lock() = Some(words);
        }
    }

    /// Questions are asked through the task.
    fn ask(&self, _: Vec<u8>) -> bool {
        false
    }

    fn flush(&self) {}
}

impl Reply for TaskReply {
    fn answer(&self, message: Vec<u8>) {
        // Without a keeper nobody needs it.
        let _ = self.events.send(Event::Answered(message));
    }

    fn end(&self) {
        let _ = self.events.send(Event::Ended);
    }
}

/// The text of a progress notification: its message, or its numbers.
fn progress(message: &[u8]) -> Option<String> {
    let Ok(Some(Decoded::One(Incoming::Notification(notification)))) = decode(message, Limits::NONE) else {
        return None;
    };
    if notification.method != "notifications/progress" {
        return None;
    }
    let params = Object::read(notification.params?, "params", &["progress", "total", "message"]).ok()?;
    if let Some(words) = params.get("message").and_then(Raw::string).filter(|words| !words.is_empty()) {
        return Some(words.into_owned());
    }
    let done = params.get("progress")?.text();
    Some(params.get("total").map_or_else(|| done.to_owned(), |total| format!("{done} of {}", total.text())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_put_into_words_and_the_rest_is_dropped() {
        let said = |method: &str, params: &str| {
            progress(format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#).as_bytes())
        };
        let progress = |params: &str| said("notifications/progress", params);
        assert_eq!(progress(r#"{"progress":3,"total":10,"message":"Copying"}"#).as_deref(), Some("Copying"));
        assert_eq!(progress(r#"{"progress":3,"total":10}"#).as_deref(), Some("3 of 10"));
        assert_eq!(progress(r#"{"progress":3,"message":""}"#).as_deref(), Some("3"));
        assert_eq!(said("notifications/message", r#"{"level":"info","data":"x"}"#), None);
    }
}
