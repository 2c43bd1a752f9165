//! Random numbers: ids of traces and spans, and jitter.

use ring::rand::{SecureRandom, SystemRandom};

/// Random bytes, at least one of which is not 0. `None` only while the system has no random numbers.
pub(crate) fn id<const BYTES: usize>() -> Option<[u8; BYTES]> {
    let mut bytes = [0; BYTES];
    SystemRandom::new().fill(&mut bytes).ok()?;
    bytes.iter().any(|byte| *byte != 0).then_some(bytes)
}

/// A number from 0 to 1; the middle while the system has no random numbers.
pub(crate) fn fraction() -> f64 {
    id::<2>().map_or(0.5, |bytes| f64::from(u16::from_be_bytes(bytes)) / f64::from(u16::MAX))
}
