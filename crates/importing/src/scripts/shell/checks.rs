//! Checks that a script makes of its words: how many it must have, and which variables may not be empty.

use super::expansion::{expansions, is_only, plain};
use super::flow::{Flow, chained, children};
use super::tree::{Item, Joint, Node};
use std::collections::BTreeSet;

/// As many words as are tried out.
const MOST: usize = 12;

#[derive(Debug, Default)]
pub(super) struct Checks {
    /// Variables and positions that end the script if they are empty.
    pub(super) not_empty: BTreeSet<String>,
    /// Counts of words that end the script, with the number of shifts before the check.
    refused: Vec<(usize, BTreeSet<usize>)>,
}

impl Checks {
    pub(super) fn of(flow: &Flow<'_>) -> Self {
        let mut checks = Self::default();
        checks.read(flow, &flow.main, 0);
        checks
    }

    /// The least and the largest number of words, if a check says so.
    pub(super) fn counts(&self) -> (usize, Option<usize>) {
        let mut is_fine = [true; MOST + 1];
        for (shifts, refused) in &self.refused {
            for count in refused {
                if let Some(place) = is_fine.get_mut(count.saturating_add(*shifts)) {
                    *place = false;
                }
            }
        }
        let least = is_fine.iter().position(|fine| *fine).unwrap_or(0);
        let largest = is_fine.iter().rposition(|fine| *fine).filter(|largest| *largest < MOST);
        (least, largest)
    }

    fn read(&mut self, flow: &Flow<'_>, items: &[Item], mut shifts: usize) {
        for (index, item) in items.iter().enumerate() {
            match &item.node {
                Node::Command(command) => {
                    if command.words.first().is_some_and(|word| word == "shift") {
                        let count = command.words.get(1).and_then(|count| count.parse::<usize>().ok());
                        shifts = shifts.saturating_add(count.unwrap_or(1));
                    }
                    for word in &command.words {
                        for found in
                            expansions(word).iter().filter(|found| found.rest.starts_with([':', '?']))
                        {
                            if found.rest.trim_start_matches(':').starts_with('?') {
                                self.not_empty.insert(found.name.to_owned());
                            }
                        }
                    }
                    if let Some(test) = Test::read(&command.words) {
                        if flow.ends(chained(items, index, Joint::And)) {
                            self.enter(&test, true, shifts);
                        }
                        if flow.ends(chained(items, index, Joint::Or)) {
                            self.enter(&test, false, shifts);
                        }
                    }
                }
                Node::If { branches, otherwise } => {
                    for (position, (head, body)) in branches.iter().enumerate() {
                        for test in tests(head) {
                            if flow.ends(body) && is_any(head) {
                                self.enter(&test, true, shifts);
                            }
                            if position == 0 && branches.len() == 1 && flow.ends(otherwise) && head.len() == 1
                            {
                                self.enter(&test, false, shifts);
                            }
                        }
                    }
                    for inner in children(&item.node) {
                        self.read(flow, inner, shifts);
                    }
                }
                Node::Case { subject, arms, .. } if is_only(subject, "#") => {
                    let mut seen = BTreeSet::new();
                    let mut refused = BTreeSet::new();
                    for arm in arms {
                        for count in 0..=MOST {
                            let is_match = arm.patterns.iter().any(|pattern| matches_count(pattern, count));
                            if is_match && seen.insert(count) && flow.ends(&arm.body) {
                                refused.insert(count);
                            }
                        }
                    }
                    self.refused.push((shifts, refused));
                }
                Node::While { .. } | Node::For { .. } | Node::Case { .. } | Node::Function { .. } => {}
                Node::Block(inner) => self.read(flow, inner, shifts),
            }
        }
    }

    /// Enters that the script ends if a test has this outcome.
    fn enter(&mut self, test: &Test, outcome: bool, shifts: usize) {
        match test {
            Test::Empty(name) if outcome => {
                self.not_empty.insert(name.clone());
            }
            Test::NotEmpty(name) if !outcome => {
                self.not_empty.insert(name.clone());
            }
            Test::Count(operator, number) => {
                let counts = (0..=MOST).filter(|count| operator.holds(*count, *number) == outcome);
                self.refused.push((shifts, counts.collect()));
            }
            Test::Empty(_) | Test::NotEmpty(_) => {}
        }
    }
}

fn matches_count(pattern: &str, count: usize) -> bool {
    pattern == "*"
        || pattern.trim_matches(['"', '\'']) == count.to_string()
        || pattern.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).is_some_and(|class| {
            let digits: Vec<char> = class.chars().collect();
            let digit = char::from_digit(u32::try_from(count).unwrap_or(99), 10);
            match &*digits {
                [from, '-', to] => digit.is_some_and(|digit| (*from..=*to).contains(&digit)),
                all => digit.is_some_and(|digit| all.contains(&digit)),
            }
        })
}

/// A condition of several tests ends the script for each of them only if they are joined with `||`.
fn is_any(head: &[Item]) -> bool {
    head.iter().skip(1).all(|item| item.joint == Joint::Or)
}

fn tests(items: &[Item]) -> Vec<Test> {
    let commands = items.iter().filter_map(|item| match &item.node {
        Node::Command(command) => Some(&command.words),
        _ => None,
    });
    commands.filter_map(|words| Test::read(words)).collect()
}

#[derive(Debug)]
enum Test {
    Empty(String),
    NotEmpty(String),
    /// `$# OP N`
    Count(Comparison, usize),
}

#[derive(Debug, Clone, Copy)]
enum Comparison {
    Equal,
    Other,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    fn read(word: &str) -> Option<Self> {
        Some(match word {
            "-eq" | "==" | "=" => Self::Equal,
            "-ne" | "!=" => Self::Other,
            "-lt" | "<" => Self::Less,
            "-le" | "<=" => Self::LessOrEqual,
            "-gt" | ">" => Self::Greater,
            "-ge" | ">=" => Self::GreaterOrEqual,
            _ => return None,
        })
    }

    fn holds(self, count: usize, number: usize) -> bool {
        match self {
            Self::Equal => count == number,
            Self::Other => count != number,
            Self::Less => count < number,
            Self::LessOrEqual => count <= number,
            Self::Greater => count > number,
            Self::GreaterOrEqual => count >= number,
        }
    }
}

impl Test {
    /// `[ … ]`, `test …`, `[[ … ]]` or `(( … ))` with one comparison.
    fn read(words: &[String]) -> Option<Self> {
        let text;
        let words: Vec<&str> = match words {
            [one] if one.starts_with("[[") || one.starts_with("((") => {
                let inner = one.get(2..).unwrap_or_default();
                text = inner.strip_suffix("]]").or_else(|| inner.strip_suffix("))"))?.to_owned();
                text.split_whitespace().collect()
            }
            [first, rest @ ..] if first == "[" || first == "test" => {
                rest.iter().map(|word| &**word).filter(|word| *word != "]").collect()
            }
            _ => return None,
        };
        // `[ ! -n "$1" ]`
        let (words, is_negated) = match &*words {
            ["!", rest @ ..] => (rest, true),
            all => (all, false),
        };
        let name = |word: &str| {
            let found = expansions(word);
            let [only] = &*found else { return None };
            let is_whole = is_only(word, only.name)
                || word.ends_with(only.name) && word.trim_start_matches(['x', 'X', '"']).starts_with('$');
            is_whole.then(|| only.name.to_owned())
        };
        let read = match words {
            [first, operator, number]
                if is_only(first, "#") || first.trim_matches(['"', '(']) == "$#" || *first == "#" =>
            {
                Self::Count(Comparison::read(operator)?, plain(number)?.trim().parse().ok()?)
            }
            ["-z", word] => Self::Empty(name(word)?),
            ["-n", word] | [word] => Self::NotEmpty(name(word)?),
            [word, operator, empty] if matches!(&*plain(empty)?, "" | "x" | "X") => match *operator {
                "=" | "==" => Self::Empty(name(word)?),
                "!=" => Self::NotEmpty(name(word)?),
                _ => return None,
            },
            _ => return None,
        };
        Some(match (read, is_negated) {
            (Self::Empty(name), true) => Self::NotEmpty(name),
            (Self::NotEmpty(name), true) => Self::Empty(name),
            (Self::Count(..), true) => return None,
            (read, false) => read,
        })
    }
}
