//! Validation problem: one thing that is wrong with a value, worded so that a model can correct it.

use crate::excerpt;
use std::fmt;

/// How many problems are reported one by one.
pub(crate) const MAX_PROBLEMS: usize = 20;

/// What a value must be and is not. `Display` renders it as one sentence. It shows a piece of the value, so it is for
/// the sender of the value, and not for logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    path: String,
    expected: String,
    given: Option<String>,
    sentence: String,
    /// Where the part about the given value starts in the sentence.
    demand: usize,
    rule: Option<String>,
}

impl Problem {
    /// The location of the value, as a JSON Pointer: `/items/2/name`, or empty for the whole.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What the schema requires: `must be an integer`, `is required`.
    pub fn expected(&self) -> &str {
        &self.expected
    }

    /// The sentence without the part about the given value.
    pub(crate) fn demand(&self) -> &str {
        &self.sentence[..self.demand]
    }

    /// The location of the schema keyword that the value breaks: `/properties/items/type`. It reveals nothing about the
    /// value.
    pub fn rule(&self) -> Option<&str> {
        self.rule.as_deref()
    }

    /// A short piece of the given value.
    pub fn given(&self) -> Option<&str> {
        self.given.as_deref()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// What follows the expectation.
pub(crate) enum Instead {
    Nothing,
    /// "..., but `this` was given".
    Given(String),
    /// "..., but `this`", which is self-explanatory.
    But(String),
}

/// The problems of one value, in the order in which they are found. Only the first ones are kept.
pub(crate) struct Problems {
    /// The name of the whole value, which has no path.
    whole: &'static str,
    list: Vec<Problem>,
    more: usize,
    /// The location of the schema keyword that the next problems are about.
    rule: Option<String>,
}

impl Problems {
    pub(crate) fn new(whole: &'static str) -> Self {
        Self { whole, list: Vec::new(), more: 0, rule: None }
    }

    /// An empty list for the same value.
    pub(crate) fn aside(&self) -> Self {
        Self::new(self.whole)
    }

    /// The next problems are about the keyword at this location in the schema.
    pub(crate) fn set_rule(&mut self, rule: &str) {
        self.rule = Some(excerpt::clip(rule, 200).into_owned());
    }

    /// Whether further problems are only counted, so that they need not be put into words.
    pub(crate) fn is_full(&self) -> bool {
        self.list.len() == MAX_PROBLEMS
    }

    pub(crate) fn count(&mut self, more: usize) {
        self.more += more;
    }

    pub(crate) fn add(&mut self, path: &str, expected: String, instead: Instead) {
        if self.is_full() {
            return self.count(1);
        }
        let subject = if path.is_empty() { self.whole.to_owned() } else { excerpt::quoted(path) };
        let (given, end) = match instead {
            Instead::Nothing => (None, String::new()),
            Instead::Given(given) => (Some(given.clone()), format!(", but {given} was given")),
            Instead::But(given) => (Some(given.clone()), format!(", but {given}")),
        };
        let demand = format!("{subject} {expected}");
        let sentence = format!("{demand}{end}");
        // Schemas often require the same thing twice, which is not a second problem.
        if self.list.iter().all(|known| known.sentence != sentence) {
            let path = excerpt::clip(path, 200).into_owned();
            let (demand, rule) = (demand.len(), self.rule.clone());
            self.list.push(Problem { path, expected, given, sentence, demand, rule });
        }
    }

    /// All problems. If there were too many, the last one says how many are left out.
    pub(crate) fn into_list(mut self) -> Vec<Problem> {
        if self.more > 0 {
            let sentence =
                format!("and {} more {}", self.more, if self.more == 1 { "problem" } else { "problems" });
            let (path, expected, demand) = (String::new(), String::new(), sentence.len());
            self.list.push(Problem { path, expected, given: None, sentence, demand, rule: None });
        }
        self.list
    }
}

/// The only problem of the whole value.
pub(crate) fn one(whole: &'static str, expected: &str, instead: Instead) -> Vec<Problem> {
    let mut problems = Problems::new(whole);
    problems.add("", expected.to_owned(), instead);
    problems.into_list()
}
