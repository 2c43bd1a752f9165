//! Given answers: answers that a script receives without a question to its client. They come from an earlier run of the script,
//! or from the `inputResponses` of the call.

use super::parking::{PendingQuestion, is_answer};
use super::request_state::{Entry, Round};
use mcp_bash_wire::{Limits, Raw, RawBuf, Scanner};
use std::collections::VecDeque;

/// The answers known for one call.
#[derive(Default)]
pub(crate) struct GivenAnswers {
    /// The remaining rounds of an earlier run of the script, in order. `None` if there was no such run.
    replayed: Option<VecDeque<Round>>,
    /// The answers that came with the call, by the names of their questions.
    in_advance: Vec<(Box<str>, RawBuf)>,
}

impl GivenAnswers {
    /// The answers for a replay: the script runs again.
    pub(crate) fn of_earlier_run(rounds: Vec<Round>) -> Self {
        Self { replayed: Some(rounds.into()), ..Self::default() }
    }

    /// Whether this is a replay.
    pub(crate) fn is_replay(&self) -> bool {
        self.replayed.is_some()
    }

    /// Stores the `inputResponses` of the call.
    pub(crate) fn take_in_advance(&mut self, responses: Raw<'_>) {
        // The text was scanned before, so this cannot fail.
        let _ = Scanner::again(responses).members(|key, value| {
            if let Some(key) = key.string().filter(|_| value.is_object()) {
                self.in_advance.push((key.into(), value.into()));
            }
        });
    }

    /// Answers as many of the questions as possible, each answer once. `is_named` tells which questions their author named.
    pub(crate) fn answer(
        &mut self,
        questions: &mut [PendingQuestion],
        is_named: impl Fn(&PendingQuestion) -> bool,
    ) {
        if let Some(rounds) = &mut self.replayed
            && let Some(round) = rounds.pop_front()
        {
            let is_same =
                |question: &PendingQuestion| round.0.iter().any(|entry| is_asked_again(entry, question));
            if !questions.iter().all(is_same) {
                // This run takes a different path, so the later answers belong to other questions.
                rounds.clear();
            }
            for question in questions.iter_mut() {
                let entry = round.0.iter().find(|entry| is_asked_again(entry, question));
                question.answer = entry.and_then(|entry| read(entry.answer.as_deref()?, question.method));
            }
        }
        for question in
            questions.iter_mut().filter(|question| question.answer.is_none() && is_named(question))
        {
            let found = self.in_advance.iter().position(|(key, _)| *key == question.key);
            let answer = found.map(|index| self.in_advance.swap_remove(index).1);
            question.answer = answer.filter(|answer| is_answer(question.method, answer.as_raw()));
        }
    }
}

fn is_asked_again(entry: &Entry, question: &PendingQuestion) -> bool {
    entry.key == question.key && entry.question == question.digest
}

fn read(answer: &str, method: &str) -> Option<RawBuf> {
    let answer = Scanner::new(answer, Limits::NONE).whole_value().ok()?;
    is_answer(method, answer).then(|| answer.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(key: &str, digest: u8) -> PendingQuestion {
        let digest = [digest; 32];
        PendingQuestion {
            key: key.into(),
            method: "elicitation/create",
            request: String::new(),
            digest,
            answer: None,
        }
    }

    fn answer(number: u8) -> String {
        format!(r#"{{"action":"accept","content":{{"n":{number}}}}}"#)
    }

    fn entry(key: &str, digest: u8, answered: Option<u8>) -> Entry {
        let answer = answered.map(|number| answer(number).into());
        Entry { key: key.into(), question: [digest; 32], answer }
    }

    /// Asks the questions in one round, and returns the known answers.
    fn ask(given: &mut GivenAnswers, questions: &[(&str, u8)]) -> Vec<Option<String>> {
        let mut asked: Vec<_> = questions.iter().map(|(key, digest)| question(key, *digest)).collect();
        given.answer(&mut asked, |question| &*question.key != "question");
        asked
            .into_iter()
            .map(|question| question.answer.map(|answer| answer.as_raw().text().to_owned()))
            .collect()
    }

    #[test]
    fn earlier_answers_come_in_order_and_only_to_the_same_questions() {
        let rounds = || {
            let several = vec![entry("a", 2, Some(2)), entry("b", 3, None), entry("c", 4, Some(4))];
            vec![Round(vec![entry("q", 1, Some(1))]), Round(several), Round(vec![entry("q", 5, Some(5))])]
        };
        let mut given = GivenAnswers::of_earlier_run(rounds());
        assert_eq!(ask(&mut given, &[("q", 1)]), [Some(answer(1))]);
        let several = ask(&mut given, &[("c", 4), ("b", 3), ("a", 2)]);
        assert_eq!(several, [Some(answer(4)), None, Some(answer(2))], "one is asked anew");
        assert_eq!(ask(&mut given, &[("q", 5)]), [Some(answer(5))]);
        assert_eq!(ask(&mut given, &[("q", 5)]), [None], "each is good once");

        let mut given = GivenAnswers::of_earlier_run(rounds());
        assert_eq!(ask(&mut given, &[("q", 9)]), [None], "another question of the same name");
        assert_eq!(
            ask(&mut given, &[("a", 2), ("b", 3), ("c", 4)]),
            [None, None, None],
            "it goes another way"
        );
    }

    #[test]
    fn answers_in_the_call_match_named_questions() {
        let mut given = GivenAnswers::default();
        let text = format!(r#"{{"a":{},"b":12345,"question":{},"c":{{"roots":[]}}}}"#, answer(1), answer(2));
        given.take_in_advance(Scanner::new(&text, Limits::NONE).whole_value().unwrap());
        let answers = ask(&mut given, &[("a", 1), ("b", 2), ("c", 3), ("question", 4)]);
        assert_eq!(answers, [Some(answer(1)), None, None, None]);
        assert_eq!(ask(&mut given, &[("a", 1)]), [None], "each is good once");
    }
}
