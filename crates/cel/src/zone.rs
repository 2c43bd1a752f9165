//! Time zones: UTC, fixed offsets, and the named zones of the system.

use crate::timestamp::{Timestamp, offset};
use jiff::tz::TimeZone;

/// How a local time differs from UTC.
#[derive(Debug, Clone)]
pub(crate) enum Zone {
    Fixed(i64),
    Named(TimeZone),
}

impl Zone {
    /// A zone that is no literal. Named zones are loaded only when an expression is compiled: that reads files.
    pub(crate) fn fixed(text: &str) -> Option<Self> {
        match text {
            "UTC" | "Z" | "Etc/UTC" | "GMT" | "" => Some(Self::Fixed(0)),
            _ => offset(text).map(Self::Fixed),
        }
    }

    pub(crate) fn load(text: &str) -> Option<Self> {
        Self::fixed(text).or_else(|| TimeZone::get(text).ok().map(Self::Named))
    }

    /// How many seconds local time is ahead of UTC at that time.
    pub(crate) fn offset(&self, time: Timestamp) -> i64 {
        match self {
            Self::Fixed(seconds) => *seconds,
            Self::Named(zone) => {
                let (first, last) = (jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second());
                let at = jiff::Timestamp::from_second(time.seconds.clamp(first, last));
                at.map_or(0, |at| zone.to_offset(at).seconds().into())
            }
        }
    }
}
