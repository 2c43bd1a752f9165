//! Regular expression filters.

use std::cell::RefCell;
use std::rc::Rc;

use fancy_regex::{Captures, Regex, RegexBuilder};
use jaq_core::Error;
use jaq_core::native::bome;

use super::{Entry, NONE, ONE, THREE, of_input, of_one};
use crate::value::{Object, Result, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("_match", THREE, |mut call| {
        let (testing, flags, pattern) = (call.0.pop_var(), call.0.pop_var(), call.0.pop_var());
        bome(find(&call.1, &pattern, &flags, testing.is_true()))
    }),
    ("_captured", NONE, |call| of_input(call, |found| Ok(captured(found)))),
    ("_between", ONE, |call| of_one(call, |matches, whole| Ok(between(matches, whole)))),
    ("_replaced", ONE, |call| of_one(call, replaced)),
];

/// The meaning of a flags argument.
#[derive(Clone, Copy, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
struct Flags {
    global: bool,
    ignore_case: bool,
    extended: bool,
    dot_matches_newline: bool,
    not_empty: bool,
}

impl Flags {
    fn read(flags: &Value) -> Result<Self> {
        let mut read = Self::default();
        let letters = match flags {
            Value::Null => "",
            Value::String(letters) => letters,
            _ => return Value::fail(format!("{} is not a string", flags.described())),
        };
        for letter in letters.chars() {
            match letter {
                'g' => read.global = true,
                'i' => read.ignore_case = true,
                'x' => read.extended = true,
                'n' => read.not_empty = true,
                'p' => read.dot_matches_newline = true,
                // The longest match and single lines are the default anyway.
                'l' | 's' => {}
                _ => return Value::fail(format!("{letters} is not a valid modifier string")),
            }
        }
        Ok(read)
    }
}

type Compiled = (Rc<str>, Flags, Rc<Regex>);

thread_local! {
    /// The last expression, which is most often the next one as well.
    static LAST: RefCell<Option<Compiled>> = const { RefCell::new(None) };
}

fn compiled(pattern: &Rc<str>, flags: Flags) -> Result<Rc<Regex>> {
    let last = LAST.with_borrow(|last| {
        let (text, with, regex) = last.as_ref()?;
        (text == pattern && *with == flags).then(|| regex.clone())
    });
    if let Some(regex) = last {
        return Ok(regex);
    }
    let regex = match build(pattern, flags) {
        Ok(regex) => Rc::new(regex),
        Err(error) => return Value::fail(format!("{pattern} (at offset 0) is not a valid regex: {error}")),
    };
    LAST.set(Some((pattern.clone(), flags, regex.clone())));
    Ok(regex)
}

fn build(pattern: &str, flags: Flags) -> std::result::Result<Regex, fancy_regex::Error> {
    let built = RegexBuilder::new(pattern)
        .case_insensitive(flags.ignore_case)
        .verbose_mode(flags.extended)
        .dot_matches_new_line(flags.dot_matches_newline)
        .find_not_empty(flags.not_empty)
        .build();
    match built {
        // An expression that can only match the empty string is valid, but matches nothing if empty matches are
        // excluded.
        Err(_) if flags.not_empty => {
            build(pattern, Flags { not_empty: false, ..flags })?;
            Regex::new("(?!)")
        }
        other => other,
    }
}

/// All matches, or whether there are any.
fn find(value: &Value, pattern: &Value, flags: &Value, testing: bool) -> Result {
    let Value::String(text) = value else {
        return Value::fail(format!("{} cannot be matched, as it is not a string", value.described()));
    };
    let Value::String(pattern) = pattern else {
        return Value::fail(format!("{} cannot be matched, as it is not a string", pattern.described()));
    };
    let flags = Flags::read(flags)?;
    let regex = compiled(pattern, flags)?;
    let explained = |error| Error::new(Value::from(format!("{pattern}: {error}")));
    if testing {
        return regex.is_match(&**text).map(Value::from).map_err(explained);
    }
    let mut found = Vec::new();
    let mut offsets = Offsets { text, byte: 0, chars: 0 };
    let mut start = 0;
    while start <= text.len()
        && let Some(captures) = regex.captures_from_pos(&**text, start).map_err(explained)?
    {
        let extent = captures.get(0).map_or(start..start, |whole| whole.range());
        found.push(described(&regex, &captures, &mut offsets));
        if !flags.global {
            break;
        }
        // The next match may be empty and begin where this one ends. After an empty match, a character is skipped.
        let skipped = text[extent.end..].chars().next().map_or(1, char::len_utf8);
        start = extent.end + if extent.is_empty() { skipped } else { 0 };
    }
    Ok(Value::array(found))
}

/// Converts byte positions to character positions, continuing from the last one.
struct Offsets<'t> {
    text: &'t str,
    byte: usize,
    chars: usize,
}

impl Offsets<'_> {
    fn chars_before(&mut self, byte: usize) -> usize {
        if byte < self.byte {
            return self.text[..byte].chars().count();
        }
        self.chars += self.text[self.byte..byte].chars().count();
        self.byte = byte;
        self.chars
    }
}

fn described(regex: &Regex, captures: &Captures<'_, str>, offsets: &mut Offsets) -> Value {
    let mut members = Object::default();
    let mut groups = Vec::new();
    for (at, (group, name)) in captures.iter().zip(regex.capture_names()).enumerate() {
        let text = group.as_ref().map(fancy_regex::Match::as_str);
        let offset =
            group.as_ref().map_or(Value::from(-1.0), |group| offsets.chars_before(group.start()).into());
        let length = Value::from(text.map_or(0, |text| text.chars().count()));
        let text = ("string".into(), text.map_or(Value::Null, Value::string));
        let mut entry = Object::default();
        entry.insert("offset".into(), offset);
        // The order in which jq writes them: an empty group has its length last.
        let length_last = at > 0 && length == Value::from(0_usize);
        let length = ("length".into(), length);
        entry.extend(if length_last { [text, length] } else { [length, text] });
        if at == 0 {
            members = entry;
        } else {
            entry.insert("name".into(), name.map_or(Value::Null, Value::string));
            groups.push(Value::Object(entry.into()));
        }
    }
    members.insert("captures".into(), Value::array(groups));
    Value::Object(members.into())
}

/// The named groups of a match as an object.
fn captured(found: &Value) -> Value {
    let groups = found.at(&Value::string("captures")).unwrap_or_default();
    let member = |group: &Value| match group.at(&Value::string("name")) {
        Ok(Value::String(name)) => Some((name, group.at(&Value::string("string")).unwrap_or_default())),
        _ => None,
    };
    Value::object(groups.as_array().into_iter().flat_map(|groups| groups.iter()).filter_map(member))
}

/// The start and the end of a match, in characters.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "offsets of matches are small")]
fn extent(found: &Value) -> (usize, usize) {
    let number = |name| found.at(&Value::string(name)).ok().and_then(|value| value.as_f64()).unwrap_or(0.0);
    let start = number("offset") as usize;
    (start, start + number("length") as usize)
}

/// The parts of a string between matches.
fn between(matches: &Value, whole: &Value) -> Value {
    let matches = matches.as_array().map_or(&[][..], |matches| matches);
    let mut text = Text::new(whole);
    let mut parts = Vec::with_capacity(matches.len() + 1);
    for found in matches {
        let (start, end) = extent(found);
        parts.push(Value::string(text.up_to(start)));
        text.up_to(end);
    }
    parts.push(Value::string(text.rest()));
    Value::array(parts)
}

/// A string with its matches replaced: one result for each replacement of the matches, or the string itself if there
/// are none.
fn replaced(matches: &Value, whole: &Value) -> Result {
    let matches = matches.as_array().map_or(&[][..], |matches| matches);
    let mut text = Text::new(whole);
    let mut results: Vec<String> = Vec::new();
    for entry in matches {
        let (start, end) = extent(&entry.at(&Value::from(0_usize))?);
        let gap = text.up_to(start);
        text.up_to(end);
        let replacements = entry.at(&Value::from(1_usize))?;
        for (at, replacement) in replacements.as_array().into_iter().flat_map(|list| list.iter()).enumerate()
        {
            let replacement = match replacement {
                Value::String(replacement) => &**replacement,
                Value::Null => "",
                other => return Value::string(gap) + other.clone(),
            };
            if at == results.len() {
                results.push(String::new());
            }
            results[at].push_str(gap);
            results[at].push_str(replacement);
        }
    }
    if results.is_empty() {
        return Ok(Value::array(vec![whole.clone()]));
    }
    let rest = text.rest();
    Ok(results.into_iter().map(|result| Value::from(result + rest)).collect())
}

/// A string that is consumed from its start, measured in characters.
struct Text<'t> {
    rest: &'t str,
    taken: usize,
}

impl<'t> Text<'t> {
    fn new(whole: &'t Value) -> Self {
        Self { rest: whole.as_str().unwrap_or_default(), taken: 0 }
    }

    fn up_to(&mut self, end: usize) -> &'t str {
        let count = end.saturating_sub(self.taken);
        let at = self.rest.char_indices().nth(count).map_or(self.rest.len(), |(at, _)| at);
        let (before, after) = self.rest.split_at(at);
        self.rest = after;
        self.taken += count;
        before
    }

    fn rest(self) -> &'t str {
        self.rest
    }
}
