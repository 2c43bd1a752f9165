//! Backoff: pauses between attempts at something that may work the next time.

use std::time::Duration;

/// Each pause is twice as long as the one before, up to the longest.
#[derive(Debug, Clone, Copy)]
pub struct Pauses {
    next: Duration,
    longest: Duration,
}

impl Pauses {
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self { next: first, longest }
    }

    /// The pause before the next attempt.
    pub fn lengthen(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_the_longest() {
        let mut pauses = Pauses::new(Duration::from_secs(1), Duration::from_secs(5));
        let seconds: Vec<u64> = (0..5).map(|_| pauses.lengthen().as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 5, 5]);
    }
}
