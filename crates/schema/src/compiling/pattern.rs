//! Patterns: regular expressions of ECMAScript, translated for an engine that takes time in proportion to the text.

use crate::SchemaError;
use regex::{Regex, RegexBuilder};
use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

/// The largest regular expression, in bytes of its compiled form.
const PATTERN_BYTES: usize = 4 * 1024 * 1024;
/// How much memory a regular expression may use as a cache while it matches.
const PATTERN_CACHE_BYTES: usize = 1024 * 1024;

pub(crate) struct Pattern {
    pub(crate) source: Box<str>,
    regex: Regex,
}

/// Why a pattern is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PatternRefusal {
    /// It has look-around or back-references.
    Unbounded,
    Bad,
}

impl PatternRefusal {
    /// The error for a pattern at a location of the schema.
    pub(crate) fn at(self, path: String, pattern: String) -> SchemaError {
        match self {
            Self::Unbounded => SchemaError::UnboundedPattern { path, pattern },
            Self::Bad => SchemaError::BadPattern { path, pattern },
        }
    }
}

impl Pattern {
    pub(crate) fn read(source: &str) -> Result<Self, PatternRefusal> {
        let mut translation =
            Translation { left: source.chars().peekable(), text: String::new(), is_bounded: true };
        translation.all().ok_or(PatternRefusal::Bad)?;
        let regex = RegexBuilder::new(&translation.text)
            .size_limit(PATTERN_BYTES)
            .dfa_size_limit(PATTERN_CACHE_BYTES)
            .build()
            .map_err(|_| PatternRefusal::Bad)?;
        if translation.is_bounded {
            Ok(Self { source: source.into(), regex })
        } else {
            Err(PatternRefusal::Unbounded)
        }
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

/// The ranges of `\d`, `\w` and `\s`, as they are written in a class.
const DIGITS: &str = "0-9";
const WORD: &str = "A-Za-z0-9_";
const SPACE: &str = r"\t-\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";

/// A part of a class.
enum Atom {
    One(char),
    /// Several characters, in the syntax of the engine.
    Set(String),
}

/// One pass over a pattern. All functions return `None` if it is no regular expression.
struct Translation<'p> {
    left: Peekable<Chars<'p>>,
    text: String,
    is_bounded: bool,
}

impl Translation<'_> {
    fn all(&mut self) -> Option<()> {
        while let Some(next) = self.left.next() {
            match next {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group(),
                other => self.text.push(other),
            }
        }
        Some(())
    }

    /// What follows a backslash outside a class.
    fn escape(&mut self) -> Option<()> {
        match *self.left.peek()? {
            // The engine knows other boundaries than those between ASCII words.
            'b' => self.replace(r"(?-u:\b)"),
            'B' => self.replace(r"(?-u:\B)"),
            'A' => self.replace(r"\A"),
            'z' => self.replace(r"\z"),
            '1'..='9' | 'k' => self.back_reference()?,
            _ => match self.atom()? {
                Atom::One(one) => self.literal(one),
                Atom::Set(set) => drop(write!(self.text, "[{set}]")),
            },
        }
        Some(())
    }

    fn replace(&mut self, text: &str) {
        self.left.next();
        self.text.push_str(text);
    }

    /// It is left out: whether the rest is a regular expression decides what is said about the pattern.
    fn back_reference(&mut self) -> Option<()> {
        self.is_bounded = false;
        if self.left.next() == Some('k') {
            self.left.next_if_eq(&'<')?;
            while self.left.next()? != '>' {}
        } else {
            while self.left.next_if(char::is_ascii_digit).is_some() {}
        }
        self.text.push_str("(?:)");
        Some(())
    }

    /// What follows an opening parenthesis. Look-around becomes a group: see [`Self::back_reference`].
    fn group(&mut self) {
        let mut ahead = self.left.clone();
        let (one, two, three) = (ahead.next(), ahead.next(), ahead.next());
        let around = match (one, two, three) {
            (Some('?'), Some('=' | '!'), _) => 2,
            (Some('?'), Some('<'), Some('=' | '!')) => 3,
            _ => return self.text.push('('),
        };
        self.is_bounded = false;
        self.left.by_ref().take(around).for_each(drop);
        self.text.push_str("(?:");
    }

    /// A class, which ends at the first `]`, even if that comes first.
    fn class(&mut self) -> Option<()> {
        let is_negated = self.left.next_if_eq(&'^').is_some();
        let mut items = String::new();
        while self.left.peek()? != &']' {
            let first = self.class_atom()?;
            let mut ahead = self.left.clone();
            if ahead.next() != Some('-') || ahead.next()? == ']' {
                push(&mut items, &first);
                continue;
            }
            self.left.next();
            match (first, self.class_atom()?) {
                (Atom::One(first), Atom::One(last)) if first <= last => {
                    let _ = write!(items, "{}-{}", Code(first), Code(last));
                }
                (Atom::One(_), Atom::One(_)) => return None,
                // With a set at either end it is no range.
                (first, last) => [first, Atom::One('-'), last].iter().for_each(|atom| push(&mut items, atom)),
            }
        }
        self.left.next();
        let class = match (is_negated, items.as_str()) {
            (false, "") => r"[^\s\S]".to_owned(),
            (true, "") => r"[\s\S]".to_owned(),
            (false, items) => format!("[{items}]"),
            (true, items) => format!("[^{items}]"),
        };
        self.text.push_str(&class);
        Some(())
    }

    fn class_atom(&mut self) -> Option<Atom> {
        match self.left.next()? {
            '\\' if self.left.next_if_eq(&'b').is_some() => Some(Atom::One('\u{8}')),
            '\\' => self.atom(),
            other => Some(Atom::One(other)),
        }
    }

    /// What an escape stands for, after its backslash.
    fn atom(&mut self) -> Option<Atom> {
        Some(match self.left.next()? {
            'd' => Atom::Set(DIGITS.to_owned()),
            'w' => Atom::Set(WORD.to_owned()),
            's' => Atom::Set(SPACE.to_owned()),
            'D' => Atom::Set(format!("[^{DIGITS}]")),
            'W' => Atom::Set(format!("[^{WORD}]")),
            'S' => Atom::Set(format!("[^{SPACE}]")),
            'p' => Atom::Set(self.property('p')?),
            'P' => Atom::Set(self.property('P')?),
            't' => Atom::One('\t'),
            'n' => Atom::One('\n'),
            'v' => Atom::One('\u{b}'),
            'f' => Atom::One('\u{c}'),
            'r' => Atom::One('\r'),
            '0' if !self.left.peek().is_some_and(char::is_ascii_digit) => Atom::One('\0'),
            'c' => Atom::One(char::from(self.left.next_if(char::is_ascii_alphabetic)? as u8 % 32)),
            'x' => Atom::One(char::from_u32(self.digits(2)?)?),
            'u' => Atom::One(self.code_point()?),
            other if !other.is_alphanumeric() => Atom::One(other),
            _ => return None,
        })
    }

    /// A property of characters, which the engine knows by the same name.
    fn property(&mut self, letter: char) -> Option<String> {
        let mut name = String::from(self.left.next()?);
        if name == "{" {
            name.extend(self.left.by_ref().take_while(|next| *next != '}'));
            name.push('}');
        }
        Some(format!("\\{letter}{name}"))
    }

    /// A character by its number: four digits, any number of them in braces, or two halves of a pair.
    fn code_point(&mut self) -> Option<char> {
        if self.left.next_if_eq(&'{').is_some() {
            let digits: String = self.left.by_ref().take_while(|next| *next != '}').collect();
            return char::from_u32(u32::from_str_radix(&digits, 16).ok()?);
        }
        let high = self.digits(4)?;
        if !(0xd800..0xdc00).contains(&high) {
            return char::from_u32(high);
        }
        self.left.next_if_eq(&'\\')?;
        self.left.next_if_eq(&'u')?;
        let low = self.digits(4)?.checked_sub(0xdc00)?;
        char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + low)
    }

    fn digits(&mut self, count: usize) -> Option<u32> {
        (0..count).try_fold(0, |number, _| Some(number * 16 + self.left.next()?.to_digit(16)?))
    }

    fn literal(&mut self, one: char) {
        let _ = write!(self.text, "{}", Code(one));
    }
}

fn push(items: &mut String, atom: &Atom) {
    match atom {
        Atom::One(one) => drop(write!(items, "{}", Code(*one))),
        Atom::Set(set) => items.push_str(set),
    }
}

/// A character as it can be written anywhere.
struct Code(char);

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_alphanumeric() {
            f.write_char(self.0)
        } else {
            write!(f, "\\u{{{:x}}}", u32::from(self.0))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        let read = Pattern::read(pattern).unwrap_or_else(|refusal| panic!("{pattern}: {refusal:?}"));
        read.is_match(text)
    }

    #[test]
    fn patterns_mean_what_they_mean_in_ecmascript() {
        for (pattern, fitting, unfitting) in [
            (r"^\d$", "5", "٥"),
            (r"^\D$", "٥", "5"),
            (r"^\w+$", "a_1", "é"),
            (r"^\W$", "é", "a"),
            (r"^\s$", "\u{feff}", "\u{85}"),
            (r"^\S$", "\u{85}", "\u{a0}"),
            (r"^[\s\d-]$", "-", "a"),
            (r"^[^\W_]$", "a", "_"),
            (r"\bb", "éb", "ab"),
            (r"^\cJ$", "\n", "J"),
            (r"^\x41\u0042\u{43}$", "ABC", "abc"),
            (r"^\ud83d\ude00$", "😀", "😁"),
            (r"^\/\-\<\>\$\.$", "/-<>$.", "/-$."),
            (r"^[\b]$", "\u{8}", "b"),
            (r"^[a-c-]$", "-", "d"),
            (r"^[\w-.]$", ".", "!"),
            (r"^[[a]$", "[", "]"),
            (r"^[a&&b]$", "&", "c"),
            (r"^[a~~b]$", "~", "c"),
            (r"^[^]$", "\n", ""),
            (r"^(?:a|[])$", "a", ""),
            (r"^\p{Lu}\P{Lu}$", "Éé", "éÉ"),
            (r"^(?<first>a)(?:b)$", "ab", "a"),
            (r"^\0$", "\0", "0"),
            ("^a$", "a", "a\n"),
        ] {
            assert!(matches(pattern, fitting), "{pattern} {fitting}");
            assert!(!matches(pattern, unfitting), "{pattern} {unfitting}");
        }
    }

    #[test]
    fn what_is_refused() {
        for pattern in ["(?=a)", "(?!a)", "(?<=a)", "(?<!a)", r"(a)\1", r"(?<n>a)\k<n>", r"[(?=](?=)"] {
            assert_eq!(Pattern::read(pattern).err(), Some(PatternRefusal::Unbounded), "{pattern}");
        }
        for pattern in [
            "(",
            "[",
            "[a",
            r"\",
            r"[\",
            "a{2,1}",
            "[b-a]",
            r"\c",
            r"\c1",
            r"\x4",
            r"\u12",
            r"\u{110000}",
            r"\u{",
            r"\ud800",
            r"\ud800\u0041",
            r"\p{Nothing}",
            r"\p",
            r"\07",
            r"\e",
            r"\k",
            r"\k<a",
            "(?=a",
            r"(?=\q)",
            "*",
        ] {
            assert_eq!(Pattern::read(pattern).err(), Some(PatternRefusal::Bad), "{pattern}");
        }
        assert!(matches("[(?=]", "="));
    }

    #[test]
    fn the_largest_patterns_match_nothing_and_much() {
        // Near the limit of size, engines differ in what they can do without allocating more.
        let mut largest = 1;
        while Pattern::read(&format!("^.{{0,{}}}$", largest * 2)).is_ok() {
            largest *= 2;
        }
        assert!(largest > 1000, "{largest}");
        let pattern = format!("^.{{0,{largest}}}$");
        assert!(matches(&pattern, "") && matches(&pattern, &"é".repeat(largest)));
        assert!(!matches(&pattern, &"é".repeat(largest + 1)));
    }
}
