//! Request body: read within limits of size and time.

use crate::http::limits::options::Options;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use mcp_bash_budget::{Budget, Charge, NoRoom, SMALL};
use std::sync::Arc;
use tokio::time::{Instant, timeout_at};

/// A body, charged to the budget while it is held.
pub(in crate::http) struct Body {
    pub(in crate::http) bytes: Bytes,
    _held: Charge,
}

/// Why the body could not be read.
pub(in crate::http) enum BodyError {
    /// Longer than this limit.
    TooLong(usize),
    TooSlow,
    NoRoom(NoRoom),
    /// The connection broke, or the input is not HTTP.
    Broken,
}

/// Reads all of `body`, charged to `budget`.
pub(in crate::http) async fn read(
    mut body: Incoming,
    options: &Options,
    budget: &Arc<Budget>,
) -> Result<Body, BodyError> {
    let limit = options.limits.body_bytes;
    let expected = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if expected > limit {
        return Err(BodyError::TooLong(limit));
    }
    let mut held = Charge::nothing(budget);
    let mut grow = |bytes: usize| match bytes {
        0..=SMALL => Ok(()),
        bytes => held.grow_to(bytes).map_err(BodyError::NoRoom),
    };
    // The announced length is not charged before the bytes arrive: many clients that announce a body and send nothing would
    // take all the room.
    if expected > SMALL {
        budget.has_room(expected).map_err(BodyError::NoRoom)?;
    }
    let deadline = Instant::now() + options.limits.stall_time;
    let (mut first, mut rest) = (Bytes::new(), BytesMut::new());
    loop {
        let frame = match timeout_at(deadline, body.frame()).await {
            Err(_) => return Err(BodyError::TooSlow),
            Ok(None) => break,
            Ok(Some(Err(_))) => return Err(BodyError::Broken),
            Ok(Some(Ok(frame))) => frame,
        };
        let Ok(data) = frame.into_data() else { continue };
        let length = first.len() + rest.len() + data.len();
        if length > limit {
            return Err(BodyError::TooLong(limit));
        }
        grow(length)?;
        // Most bodies are one frame, which is not copied.
        if first.is_empty() && rest.is_empty() {
            first = data;
            continue;
        }
        if rest.is_empty() {
            rest.reserve(expected.max(length));
            rest.extend_from_slice(&std::mem::take(&mut first));
        }
        rest.extend_from_slice(&data);
    }
    let bytes = if rest.is_empty() { first } else { rest.freeze() };
    Ok(Body { bytes, _held: held })
}
