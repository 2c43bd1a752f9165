//! Statistics: medians and percentiles, and the conversions to the units of the tables.

use std::time::Duration;

/// The median of the samples, or the mean of the middle two. NaN if there are none.
pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// The smallest sample that at least `percent` of all samples do not exceed. Zero if there are none.
pub fn percentile(samples: &[Duration], percent: usize) -> Duration {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

pub fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

pub fn microseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// Megabytes of 1,000,000 bytes.
#[expect(clippy::cast_precision_loss, reason = "sizes here are far below the 2^53 bytes an f64 can count")]
pub fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Kilobytes of 1,000 bytes.
pub fn kilobytes(bytes: u64) -> f64 {
    megabytes(bytes) * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "these values have exact representations")]
    fn medians() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn percentiles() {
        let samples: Vec<_> = (1..=200).rev().map(Duration::from_micros).collect();
        assert_eq!(percentile(&samples, 50), Duration::from_micros(100));
        assert_eq!(percentile(&samples, 99), Duration::from_micros(198));
        assert_eq!(percentile(&samples, 100), Duration::from_micros(200));
        assert_eq!(percentile(&[], 50), Duration::ZERO);
    }
}
