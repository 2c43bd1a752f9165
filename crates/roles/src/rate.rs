//! Rate: how many requests a caller may make in a period.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

/// So many requests at once, and as many again for each period that passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    requests: NonZeroU32,
    period: Period,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Period {
    Second,
    Minute,
    Hour,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no rate; write `10/s`, `600/min` or `5000/h`")]
pub struct RateError(String);

impl Rate {
    pub fn per_minute(requests: NonZeroU32) -> Self {
        Self { requests, period: Period::Minute }
    }

    /// How many requests may be made in a period.
    pub fn requests(self) -> u32 {
        self.requests.get()
    }

    /// The time that one request costs.
    pub fn cost(self) -> Duration {
        self.period.length() / self.requests.get()
    }

    /// How much time may be spent in advance.
    pub fn credit(self) -> Duration {
        self.cost() * self.requests.get()
    }
}

impl Period {
    fn length(self) -> Duration {
        Duration::from_secs(match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => 3600,
        })
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let refused = || RateError(text.escape_debug().to_string());
        let (requests, period) = text.split_once('/').ok_or_else(refused)?;
        let period = match period {
            "s" | "sec" | "second" => Period::Second,
            "min" | "minute" => Period::Minute,
            "h" | "hour" => Period::Hour,
            _ => return Err(refused()),
        };
        // `parse` alone would take `+1`. A millionth of a second for each request is as fast as we count.
        let is_number = requests.bytes().all(|byte| byte.is_ascii_digit());
        let requests = is_number.then(|| requests.parse().ok()).flatten();
        let requests = requests.filter(|requests: &NonZeroU32| requests.get() <= 1_000_000);
        Ok(Self { requests: requests.ok_or_else(refused)?, period })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let period = match self.period {
            Period::Second => "s",
            Period::Minute => "min",
            Period::Hour => "h",
        };
        write!(formatter, "{}/{period}", self.requests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str) -> Rate {
        text.parse().unwrap()
    }

    #[test]
    fn rates_are_read_and_shown_alike() {
        for text in ["10/s", "600/min", "5000/h", "1000000/s"] {
            assert_eq!(rate(text).to_string(), text);
        }
        assert_eq!(rate("7/minute"), Rate::per_minute(NonZeroU32::new(7).unwrap()));
        for junk in
            ["", "10", "0/s", "+1/s", "-1/s", "1.5/s", "10/day", "/s", "1000001/s", "10/ s", "1/s/s", "9\n/s"]
        {
            let refused = junk.parse::<Rate>().unwrap_err().to_string();
            assert!(refused.contains("is no rate") && !refused.contains('\n'), "{refused}");
        }
    }
}
