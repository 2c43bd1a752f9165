//! Patterns: what the parts of a template look like in a URI.

use crate::operator::Operator;
use crate::part::{Modifier, Part, Variable};
use crate::percent;

#[derive(Debug, Clone)]
pub(crate) enum Pattern {
    Text(String),
    /// As few characters of a value as possible, within a minimum and a maximum.
    Characters {
        ends: Ends,
        least: usize,
        most: Option<usize>,
    },
    Sequence(Vec<Pattern>),
    /// A sequence of which any number of the last members may be missing.
    Start(Vec<Pattern>),
    /// The first of these that leads to a match.
    Alternatives(Vec<Pattern>),
    Repeat {
        pattern: Box<Pattern>,
        greed: Greed,
    },
    /// Matches nothing, but records that something begins or ends here.
    Mark(Mark),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Greed {
    AsManyAsPossible,
    AsFewAsPossible,
}

/// Which characters end a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    operator: Operator,
    separator: Option<u8>,
    /// A key of a map ends at `=` too.
    is_key: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// A value begins, of the variable with this index.
    Value(usize),
    /// A key of a map begins. Its value is the next one.
    Key,
    Stop,
}

impl Ends {
    pub(crate) fn at(self, byte: u8) -> bool {
        self.operator.ends_value(byte) || self.separator == Some(byte) || self.is_key && byte == b'='
    }
}

impl Pattern {
    /// The pattern of a part. Its variables are added to `known`.
    pub(crate) fn of(part: &Part, known: &mut Vec<Variable>) -> Self {
        match part {
            Part::Literal(text) => Self::text(text),
            Part::Expression { operator, variables } => {
                let first_index = known.len();
                known.extend_from_slice(variables);
                let variables: Vec<_> = (first_index..).zip(variables).collect();
                if operator.is_named() {
                    named(*operator, &variables)
                } else {
                    unnamed(*operator, &variables)
                }
            }
        }
    }

    fn text(text: &str) -> Self {
        // A part of a parsed template has no broken escapes.
        Self::Text(percent::normalise(text).unwrap_or_default())
    }

    fn sign(sign: u8) -> Self {
        Self::Text(char::from(sign).to_string())
    }

    fn value(index: usize, modifier: Modifier, ends: Ends, least: usize) -> Self {
        let most = match modifier {
            Modifier::Prefix(length) => Some(length),
            Modifier::None | Modifier::Explode => None,
        };
        let characters = Self::Characters { ends, least, most };
        Self::Sequence(vec![Self::Mark(Mark::Value(index)), characters, Self::Mark(Mark::Stop)])
    }
}

/// `{a,b}`: values in order, of which the last ones may be missing.
fn unnamed(operator: Operator, variables: &[(usize, &Variable)]) -> Pattern {
    let is_single = variables.len() == 1 && variables[0].1.modifier != Modifier::Explode;
    let spans_separators = is_single || matches!(operator, Operator::Reserved | Operator::Fragment);
    let separator = (!spans_separators).then(|| operator.separator());
    let ends = Ends { operator, separator, is_key: false };
    let separated = |value: Pattern| Pattern::Sequence(vec![Pattern::sign(operator.separator()), value]);
    let members = |index, modifier, least| {
        let value = Pattern::value(index, modifier, ends, least);
        if modifier != Modifier::Explode {
            return value;
        }
        let more = Box::new(separated(Pattern::value(index, modifier, ends, 0)));
        Pattern::Sequence(vec![value, Pattern::Repeat { pattern: more, greed: Greed::AsFewAsPossible }])
    };
    let (&(index, variable), others) = variables.split_first().expect("an expression has variables");
    let others =
        others.iter().map(|&(index, variable)| separated(members(index, variable.modifier, 0))).collect();
    let others = Pattern::Start(others);
    match operator.first() {
        Some(sign) => {
            let first = members(index, variable.modifier, 0);
            Pattern::Start(vec![Pattern::Sequence(vec![Pattern::sign(sign), first, others])])
        }
        None => Pattern::Sequence(vec![members(index, variable.modifier, 1), others]),
    }
}

/// `{?a,b}`: pairs in any order.
fn named(operator: Operator, variables: &[(usize, &Variable)]) -> Pattern {
    let ends = Ends { operator, separator: Some(operator.separator()), is_key: false };
    // A name without an equals sign has an empty value.
    let value = |index, modifier| {
        let written = Pattern::Sequence(vec![Pattern::sign(b'='), Pattern::value(index, modifier, ends, 0)]);
        let bare = Pattern::Sequence(vec![Pattern::Mark(Mark::Value(index)), Pattern::Mark(Mark::Stop)]);
        Pattern::Alternatives(vec![written, bare])
    };
    let mut pairs: Vec<_> = variables
        .iter()
        .map(|&(index, variable)| {
            Pattern::Sequence(vec![Pattern::text(&variable.name), value(index, variable.modifier)])
        })
        .collect();
    if let Some(&(index, _)) = variables.iter().find(|(_, variable)| variable.modifier == Modifier::Explode) {
        let key = Pattern::Characters { ends: Ends { is_key: true, ..ends }, least: 1, most: None };
        let (begin, stop) = (Pattern::Mark(Mark::Key), Pattern::Mark(Mark::Stop));
        pairs.push(Pattern::Sequence(vec![begin, key, stop, value(index, Modifier::Explode)]));
    }
    let pair = Pattern::Alternatives(pairs);
    let more = Pattern::Sequence(vec![Pattern::sign(operator.separator()), pair.clone()]);
    let more = Pattern::Repeat { pattern: Box::new(more), greed: Greed::AsManyAsPossible };
    let sign = operator.first().map(Pattern::sign);
    Pattern::Start(vec![Pattern::Sequence(sign.into_iter().chain([pair, more]).collect())])
}
