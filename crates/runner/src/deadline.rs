//! Deadline: when a process is terminated. The clock pauses while a question is open.

use crate::{Overrun, TimeLimits};
use std::time::Duration;
use tokio::time::Instant;

/// Longer durations are capped at this one, so that adding them to an instant cannot overflow.
const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// The deadline of one process, which lines on its side channel may extend.
#[derive(Debug)]
pub struct Deadline {
    limits: TimeLimits,
    started: Instant,
    last_sign: Instant,
    /// How many questions of the process wait for an answer.
    open_questions: usize,
    /// Since when at least one question has been open.
    paused: Option<Instant>,
    /// How much longer the clock may be paused.
    pause_left: Duration,
}

impl Deadline {
    pub fn from_now(limits: TimeLimits) -> Self {
        let now = Instant::now();
        Self {
            limits,
            started: now,
            last_sign: now,
            open_questions: 0,
            paused: None,
            pause_left: limits.pause.min(FAR),
        }
    }

    /// The process has written a line to its side channel.
    pub fn note_sign_of_life(&mut self) {
        if self.limits.most.is_some() {
            self.last_sign = Instant::now();
        }
    }

    /// The process has asked a question. The deadline is paused until it is answered, for `pause_left` at most.
    pub fn pause(&mut self) {
        self.open_questions += 1;
        self.paused.get_or_insert_with(Instant::now);
    }

    /// A question was answered or withdrawn.
    pub fn resume(&mut self) {
        self.open_questions = self.open_questions.saturating_sub(1);
        if self.open_questions == 0
            && let Some(paused) = self.paused.take()
        {
            let waited = paused.elapsed().min(self.pause_left);
            self.pause_left -= waited;
            self.started += waited;
            self.last_sign += waited.saturating_sub(self.last_sign.saturating_duration_since(paused));
        }
    }

    /// The time at which the process is to be terminated, and the limit that it will have exceeded.
    pub fn end(&self) -> (Instant, Overrun) {
        // While a question is open, the clock resumes only after the pause is used up.
        let pause = if self.paused.is_some() { self.pause_left } else { Duration::ZERO };
        // A sign of life during the pause counts from when it came.
        let before_sign = self.paused.map(|paused| self.last_sign.saturating_duration_since(paused));
        let silent = self.last_sign
            + self.limits.limit.min(FAR)
            + pause.saturating_sub(before_sign.unwrap_or_default());
        match self.limits.most {
            None => (silent, Overrun::Fixed),
            Some(most) => {
                let latest = self.started + most.min(FAR) + pause;
                if latest <= silent { (latest, Overrun::Most) } else { (silent, Overrun::Idle) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    const SECOND: Duration = Duration::from_secs(1);

    fn deadline(limit: u32, pause: u32) -> Deadline {
        Deadline::from_now(TimeLimits { limit: limit * SECOND, most: None, pause: pause * SECOND })
    }

    /// How much time is left, in seconds.
    fn left(deadline: &Deadline) -> u64 {
        deadline.end().0.saturating_duration_since(Instant::now()).as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn the_whole_time_of_overlapping_questions_is_given_back_and_no_more() {
        let mut deadline = deadline(10, 1000);
        deadline.pause();
        advance(20 * SECOND).await;
        deadline.pause();
        advance(20 * SECOND).await;
        deadline.resume();
        advance(20 * SECOND).await;
        deadline.resume();
        assert_eq!(left(&deadline), 10);
        advance(4 * SECOND).await;
        assert_eq!(left(&deadline), 6);
    }

    #[tokio::test(start_paused = true)]
    async fn a_sign_of_life_during_a_question_extends_the_time_by_no_more_than_itself() {
        let limits = TimeLimits { limit: 10 * SECOND, most: Some(1000 * SECOND), pause: 100 * SECOND };
        let mut deadline = Deadline::from_now(limits);
        advance(5 * SECOND).await;
        deadline.pause();
        advance(50 * SECOND).await;
        deadline.note_sign_of_life();
        assert_eq!(left(&deadline), 60, "the pause ends in 50 seconds");
        advance(20 * SECOND).await;
        deadline.resume();
        assert_eq!(left(&deadline), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn the_clock_pauses_for_so_long_and_then_continues() {
        let mut deadline = deadline(10, 30);
        deadline.pause();
        advance(20 * SECOND).await;
        deadline.resume();
        assert_eq!(left(&deadline), 10);
        deadline.pause();
        assert_eq!(left(&deadline), 20);
        advance(15 * SECOND).await;
        assert_eq!(left(&deadline), 5, "of the 30 seconds it has used 20 and 10");
        deadline.resume();
        assert_eq!(left(&deadline), 5);
    }
}
