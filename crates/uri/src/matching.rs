//! Template matching: the values with which a URI could have been made.

use crate::part::Modifier;
use crate::pattern::Mark;
use crate::percent;
use crate::program::{MAX_URI_BYTES, Program};
use crate::search::{Seen, search};
use crate::value::{Value, Values};
use std::collections::BTreeMap;

pub(crate) fn matches(program: &Program, uri: &str) -> Option<Values> {
    if uri.len() > MAX_URI_BYTES {
        return None;
    }
    let uri = percent::normalise(uri).filter(|uri| uri.len() <= MAX_URI_BYTES)?;
    let marks = search(program, &uri, &mut Seen::new(program, &uri))?;
    values(program, &uri, &marks)
}

/// What was found for one name.
#[derive(Default)]
struct Found {
    members: Vec<String>,
    pairs: Vec<(String, String)>,
    texts: Vec<String>,
    prefixes: Vec<String>,
}

fn values(program: &Program, uri: &str, marks: &[(Mark, usize)]) -> Option<Values> {
    let mut found: BTreeMap<&str, Found> = BTreeMap::new();
    let mut key = None;
    for pair in marks.chunks_exact(2) {
        let text = percent::decode(&uri[pair[0].1..pair[1].1]).ok()?;
        match pair[0].0 {
            Mark::Key => key = Some(text),
            Mark::Value(index) => {
                let variable = &program.variables[index];
                let found = found.entry(&variable.name).or_default();
                match (key.take(), variable.modifier) {
                    (Some(key), _) => found.pairs.push((key, text)),
                    (None, Modifier::Explode) => found.members.push(text),
                    (None, Modifier::None) => found.texts.push(text),
                    (None, Modifier::Prefix(_)) => found.prefixes.push(text),
                }
            }
            Mark::Stop => {}
        }
    }
    found.into_iter().map(|(name, found)| Some((name.to_owned(), found.value()?))).collect()
}

impl Found {
    /// The one value that explains everything that was found.
    fn value(mut self) -> Option<Value> {
        let kinds = [!self.members.is_empty(), !self.pairs.is_empty(), self.has_text()];
        if kinds.into_iter().filter(|&is_there| is_there).count() != 1 {
            return None;
        }
        if self.has_text() {
            return self.text().map(Value::Text);
        }
        Some(if self.pairs.is_empty() { Value::List(self.members) } else { Value::Map(self.pairs) })
    }

    fn has_text(&self) -> bool {
        !self.texts.is_empty() || !self.prefixes.is_empty()
    }

    fn text(&mut self) -> Option<String> {
        // Without the whole text, the longest prefix is all that is known.
        let longest = self.prefixes.iter().max_by_key(|prefix| prefix.len());
        let text = self.texts.first().or(longest)?.clone();
        let fits = self.texts.iter().all(|other| *other == text)
            && self.prefixes.iter().all(|prefix| text.starts_with(prefix.as_str()));
        fits.then_some(text)
    }
}
