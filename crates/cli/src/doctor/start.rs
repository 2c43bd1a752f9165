//! Starts a server as a client would, and says whether it answers.

use mcp_bash_client::{Connection, Launch, ServerProcess, Session, Silent};
use std::io::{PipeReader, Read};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a server may take to answer both questions. The most impatient client gives up after five seconds.
pub(super) const LIMIT: Duration = Duration::from_secs(10);

/// So much of the end of its standard error is told.
const TAIL: usize = 400;

/// A server that answered.
pub(super) struct Answered {
    pub(super) tools: usize,
    pub(super) took: Duration,
}

/// Starts a server, greets it and asks for its tools. The words of a failure end with what it wrote on standard error.
pub(super) fn try_to_start(mut launch: Launch, limit: Duration) -> Result<Answered, String> {
    let (reader, writer) = std::io::pipe().map_err(|error| error.to_string())?;
    launch.errors = Some(Arc::new(OwnedFd::from(writer)));
    let tail = read_tail(reader);
    let answered = converse(launch, limit);
    // Its processes are gone, and so is the last one that could write.
    let tail = tail.and_then(|tail| tail.join().ok()).unwrap_or_default();
    answered.map_err(|why| if tail.is_empty() { why } else { format!("{why}; it wrote: {tail}") })
}

fn converse(launch: Launch, limit: Duration) -> Result<Answered, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let start = Instant::now();
    let talk = async {
        let process = ServerProcess::start(&launch);
        drop(launch);
        let connection = Connection::Process(process.map_err(|error| error.to_string())?);
        let session = Session::begin(connection, "mcp-bash doctor", &mut Silent, limit).await;
        let mut session = session.map_err(|error| error.to_string())?;
        let tools = session.entries("tools/list", "tools", &mut Silent, Some(limit)).await;
        let took = start.elapsed();
        match tools {
            Ok(tools) => {
                session.end().await;
                Ok(Answered { tools: tools.len(), took })
            }
            Err(error) => Err(error.to_string()),
        }
    };
    runtime.block_on(async {
        match tokio::time::timeout(limit, talk).await {
            Ok(answered) => answered,
            Err(_) => Err(format!("it did not answer within {} s", limit.as_secs_f64())),
        }
    })
}

/// Reads all that is written, and keeps the end of it.
fn read_tail(mut reader: PipeReader) -> Option<JoinHandle<String>> {
    let read = move || {
        let (mut kept, mut piece) = (Vec::new(), [0; 4096]);
        while let Ok(count @ 1..) = reader.read(&mut piece) {
            kept.extend_from_slice(&piece[..count]);
            let surplus = kept.len().saturating_sub(TAIL);
            kept.drain(..surplus);
        }
        String::from_utf8_lossy(&kept).trim().to_owned()
    };
    std::thread::Builder::new().name("errors".into()).spawn(read).ok()
}
