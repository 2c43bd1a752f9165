//! Failed start: if a server cannot start, most clients show only "connection closed". So the first request is answered
//! with an error that says what is wrong, which they do show.

use mcp_bash_wire::{Decoded, Incoming, Limits, RpcError, decode, write};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// The timeout for a client's first request. All send it at once.
const TIMEOUT: Duration = Duration::from_secs(2);

/// No first request is longer, in bytes.
const LONGEST: usize = 1024 * 1024;

/// Answers the first request on standard input, if one comes, with an error of this message.
pub(crate) fn answer_first_request(problem: &str) {
    if io::stdin().is_terminal() {
        return;
    }
    let Some(line) = first_line() else { return };
    // A notification, or an invalid message, is not answered.
    let Ok(Some(Decoded::One(Incoming::Request(request)))) = decode(&line, Limits::default()) else { return };
    let error = RpcError::internal(format!("mcp-bash cannot start: {problem}"));
    let mut answer = write::error(Some(&request.id), &error);
    answer.push(b'\n');
    // A client that is gone needs no answer.
    let _ = io::stdout().write_all(&answer).and_then(|()| io::stdout().flush());
}

fn first_line() -> Option<Vec<u8>> {
    let (input, deadline) = (io::stdin(), Instant::now() + TIMEOUT);
    let (mut line, mut buffer) = (Vec::new(), [0; 4096]);
    while line.len() < LONGEST {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
        let is_there = poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&timeout)).ok()? > 0;
        let count = if is_there { rustix::io::read(&input, &mut buffer).ok()? } else { 0 };
        if count == 0 {
            return None;
        }
        line.extend_from_slice(&buffer[..count]);
        if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
            line.truncate(end);
            return Some(line);
        }
    }
    None
}
