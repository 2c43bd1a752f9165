//! stdio baseline: a server that does the minimum of any stdio server on tokio.
//!
//! It shows the best that a full server could reach. It reads lines, parses the envelope of each message,
//! runs every request in its own cancellable task, and lets one task write all replies. It does not check
//! parameters, keep a state, or limit anything. The choices below measured best; see the README.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::{Receiver, Sender};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::AbortHandle;

/// How much to read at once. Bigger chunks save few system calls and push the tasks out of the nearest cache.
const CHUNK: usize = 16 * 1024;

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    /// Empty in a response. An `Option` around it would never borrow.
    #[serde(borrow, default)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Cancelled<'a> {
    #[serde(borrow, rename = "requestId")]
    request_id: &'a RawValue,
}

/// An answer on its way to the writer, which renders it straight into its buffer.
struct Reply {
    id: Arc<str>,
    /// The `result` or `error` member.
    outcome: &'static str,
}

/// The requests being worked on, by the JSON text of their ids.
type Running = Arc<Mutex<HashMap<Arc<str>, AbortHandle>>>;

fn main() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        // Reopening the pipes makes them non-blocking for this process alone.
        let stdin = Receiver::from_file(OpenOptions::new().read(true).open("/proc/self/fd/0")?)?;
        let stdout = Sender::from_file(OpenOptions::new().write(true).open("/proc/self/fd/1")?)?;
        let (replies, queue) = unbounded_channel();
        let writer = tokio::spawn(write_replies(stdout, queue));
        tokio::spawn(read_messages(stdin, replies)).await??;
        writer.await?
    })
}

async fn read_messages(mut stdin: Receiver, replies: UnboundedSender<Reply>) -> io::Result<()> {
    let running = Running::default();
    let mut buffer = Vec::with_capacity(CHUNK);
    loop {
        if buffer.len() == buffer.capacity() {
            buffer.reserve(CHUNK);
        }
        if stdin.read_buf(&mut buffer).await? == 0 {
            return Ok(());
        }
        let full = buffer.len() == buffer.capacity();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &buffer) {
            handle(&buffer[start..end], &running, &replies);
            start = end + 1;
        }
        buffer.drain(..start);
        if full {
            // More input is certainly waiting. Answering the current input first keeps the queues short.
            tokio::task::yield_now().await;
        }
    }
}

fn handle(line: &[u8], running: &Running, replies: &UnboundedSender<Reply>) {
    let Ok(message) = serde_json::from_slice::<Message>(line) else { return };
    match (message.id, message.method.as_ref()) {
        (_, "") => {}
        (Some(id), method) => start(id, method, running, replies),
        (None, "notifications/cancelled") => {
            let cancelled = message.params.map(|params| serde_json::from_str::<Cancelled>(params.get()));
            let Some(Ok(cancelled)) = cancelled else { return };
            let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(task) = running.remove(cancelled.request_id.get()) {
                task.abort();
            }
        }
        (None, _) => {}
    }
}

fn start(id: &RawValue, method: &str, running: &Running, replies: &UnboundedSender<Reply>) {
    let outcome = match method {
        "initialize" => {
            concat!(
                r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"#,
                r#""serverInfo":{"name":"bare-loop","version":"0.1.0"}}"#
            )
        }
        "ping" => r#""result":{}"#,
        "tools/list" => r#""result":{"tools":[]}"#,
        _ => r#""error":{"code":-32601,"message":"Method not found"}"#,
    };
    let id: Arc<str> = id.get().into();
    let (key, shared, replies) = (Arc::clone(&id), Arc::clone(running), replies.clone());
    // The lock is held until the entry is inserted, so that the task cannot finish before it.
    let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
    let task = tokio::spawn(async move {
        shared.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        // The writer exits only when the output is closed, and then no client waits for this reply.
        let _ = replies.send(Reply { id, outcome });
    });
    running.insert(key, task.abort_handle());
}

async fn write_replies(mut stdout: Sender, mut queue: UnboundedReceiver<Reply>) -> io::Result<()> {
    let mut replies = Vec::new();
    let mut bytes = Vec::with_capacity(CHUNK);
    while queue.recv_many(&mut replies, usize::MAX).await > 0 {
        for Reply { id, outcome } in replies.drain(..) {
            for part in ["{\"jsonrpc\":\"2.0\",\"id\":", &id, ",", outcome, "}\n"] {
                bytes.extend_from_slice(part.as_bytes());
            }
        }
        stdout.write_all(&bytes).await?;
        bytes.clear();
    }
    Ok(())
}
