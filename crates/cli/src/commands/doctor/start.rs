//! Test start: starts a server as a client would, and reports whether it answers.

use mcp_bash_client::{Connection, Launch, ServerProcess, Session, Silent};
use std::io::{PipeReader, Read};
use std::os::fd::OwnedFd;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How much of the end of its standard error is shown.
const TAIL: usize = 400;

/// How long to wait for the end of its standard error after the server is gone: a leftover process may hold it open.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A server that answered.
pub(super) struct Answered {
    pub(super) tools: usize,
    pub(super) took: Duration,
}

/// Starts a server, initializes it and asks for its tools. An error message ends with its standard error.
pub(super) fn try_to_start(mut launch: Launch, limit: Duration) -> Result<Answered, String> {
    let (reader, writer) = std::io::pipe().map_err(|error| error.to_string())?;
    launch.errors = Some(Arc::new(OwnedFd::from(writer)));
    let tail: Arc<Mutex<Vec<u8>>> = Arc::default();
    let ended = read_tail(reader, Arc::clone(&tail));
    let answered = converse(launch, limit);
    let _ = ended.recv_timeout(LAST_WORDS);
    let tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
    let tail = String::from_utf8_lossy(&tail);
    let tail = tail.trim().lines().map(str::trim_end).collect::<Vec<_>>().join(" | ");
    answered.map_err(|why| if tail.is_empty() { why } else { format!("{why}; it wrote: {tail}") })
}

fn converse(launch: Launch, limit: Duration) -> Result<Answered, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let start = Instant::now();
    // The overall limit below comes first.
    let each = limit * 2;
    let greet = async {
        let process = ServerProcess::start(&launch);
        drop(launch);
        let connection = Connection::Process(process.map_err(|error| error.to_string())?);
        let session = Session::begin(connection, "mcp-bash doctor", &mut Silent, each).await;
        let mut session = session.map_err(|error| error.to_string())?;
        let tools = session.entries("tools/list", "tools", &mut Silent, Some(each)).await;
        let tools = tools.map_err(|error| error.to_string())?.len();
        Ok((session, Answered { tools, took: start.elapsed() }))
    };
    runtime.block_on(async {
        match tokio::time::timeout(limit, greet).await {
            Ok(Ok((session, answered))) => {
                session.end().await;
                Ok(answered)
            }
            Ok(Err(why)) => Err(why),
            Err(_) => Err(format!("it did not answer within {} s", limit.as_secs_f64())),
        }
    })
}

/// Reads all output in a thread, and keeps the end of it. Signals when no more can come.
fn read_tail(mut reader: PipeReader, kept: Arc<Mutex<Vec<u8>>>) -> Receiver<()> {
    let (sender, ended) = channel();
    let read = move || {
        let mut piece = [0; 4096];
        while let Ok(count @ 1..) = reader.read(&mut piece) {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&piece[..count]);
            let surplus = kept.len().saturating_sub(TAIL);
            kept.drain(..surplus);
        }
        let _ = sender.send(());
    };
    // Without a thread its last output is unknown, and the pipe is closed with the reader.
    let _ = std::thread::Builder::new().name("errors".into()).spawn(read);
    ended
}
