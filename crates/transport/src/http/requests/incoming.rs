//! Request body: read within limits of size and time.

use crate::http::limits::options::Options;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use mcp_bash_budget::{Budget, Charge, NoRoom, SMALL};
use std::sync::Arc;
use std::time::Duration;
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

/// The bytes that a client has to send in each stall timeout: a client with a slow connection is waited for, and one that sends
/// a byte now and then is not.
const LEAST_BYTES: usize = 256 * 1024;

/// How long the part of a body may take that comes after `received` bytes, from the first byte on.
fn time_for(received: usize, stall_time: Duration) -> Duration {
    let parts = u32::try_from(received / LEAST_BYTES).unwrap_or(u32::MAX);
    stall_time.saturating_mul(parts.saturating_add(1))
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
    let began = Instant::now();
    let (mut first, mut rest) = (Bytes::new(), BytesMut::new());
    loop {
        let deadline = began + time_for(first.len() + rest.len(), options.limits.stall_time);
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

#[cfg(test)]
mod tests {
    use super::{LEAST_BYTES, time_for};
    use std::time::Duration;

    #[test]
    fn a_slow_body_has_time_for_each_part_and_a_trickle_has_not() {
        let seconds = Duration::from_secs;
        assert_eq!(time_for(0, seconds(30)), seconds(30));
        assert_eq!(time_for(LEAST_BYTES - 1, seconds(30)), seconds(30), "a trickle");
        assert_eq!(time_for(LEAST_BYTES, seconds(30)), seconds(60));
        assert_eq!(time_for(40 * LEAST_BYTES, seconds(30)), seconds(30 * 41));
        let longest = time_for(usize::MAX, seconds(3600));
        assert!(std::time::Instant::now().checked_add(longest).is_some(), "{longest:?}");
    }
}
