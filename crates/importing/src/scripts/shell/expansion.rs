//! Expansions in a shell word: `$1`, `${NAME:-default}`, also inside substitutions, but not inside single quotes.

use super::lexer::substitution;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expansion<'t> {
    /// A variable, a position, `@`, `*` or `#`.
    pub(super) name: &'t str,
    /// What follows the name inside braces: `:-default`, `#*=`.
    pub(super) rest: &'t str,
    /// Where it begins in the word.
    pub(super) at: usize,
    /// Whether it is inside `$(…)`, where it belongs to another command.
    pub(super) is_inner: bool,
}

impl Expansion<'_> {
    /// Whether another expansion of the same word is inside what follows the name: `$b` in `${a:-$b}`.
    pub(super) fn contains(&self, other: &Expansion<'_>) -> bool {
        let end = self.at + "${".len() + self.name.len() + self.rest.len();
        !self.rest.is_empty() && self.at < other.at && other.at < end
    }
}

/// All expansions of a word.
pub(super) fn expansions(word: &str) -> Vec<Expansion<'_>> {
    let mut found = Vec::new();
    collect(word, 0, false, &mut found, 0);
    found
}

fn collect<'t>(text: &'t str, base: usize, is_inner: bool, found: &mut Vec<Expansion<'t>>, depth: usize) {
    if depth > 20 {
        return;
    }
    let (mut at, mut in_double) = (0, false);
    while let Some(letter) = text[at..].chars().next() {
        let rest = &text[at..];
        match letter {
            '\\' => at += 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '\'' if !in_double => at += rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            '"' => {
                in_double = !in_double;
                at += 1;
            }
            '`' => {
                let length = rest[1..].find('`').unwrap_or(rest.len() - 1);
                collect(&rest[1..=length], base + at + 1, true, found, depth + 1);
                at += (length + 2).min(rest.len());
            }
            '$' => at += one(rest, base + at, is_inner, found, depth),
            _ => at += letter.len_utf8(),
        }
    }
}

/// Reads what begins with `$`, and returns its length.
fn one<'t>(text: &'t str, at: usize, is_inner: bool, found: &mut Vec<Expansion<'t>>, depth: usize) -> usize {
    let length = length(text);
    let inner = &text[1..length];
    if let Some(all) = inner.strip_prefix('{').and_then(|body| body.strip_suffix('}')) {
        let body = all.strip_prefix('!').unwrap_or(all);
        if let Some(name) = body.strip_prefix('#').filter(|name| !name.is_empty()) {
            found.push(Expansion { name: name_of(name), rest: "", at, is_inner });
            return length;
        }
        let name = name_of(body);
        let rest = &body[name.len()..];
        found.push(Expansion { name, rest, at, is_inner });
        collect(rest, at + 2 + all.len() - rest.len(), is_inner, found, depth + 1);
        return length;
    }
    let inside = |open, close| inner.strip_prefix(open).and_then(|body| body.strip_suffix(close));
    if let Some(body) = inside('(', ')').or(inside('[', ']')) {
        collect(body, at + 2, true, found, depth + 1);
        return length;
    }
    if !inner.is_empty() && !inner.starts_with('\'') {
        found.push(Expansion { name: inner, rest: "", at, is_inner });
    }
    length
}

/// The length of what begins with `$`: a substitution, a text in `$'…'`, or a name.
pub(super) fn length(text: &str) -> usize {
    if let Some(length) = substitution(text).filter(|length| *length > 1) {
        return length;
    }
    let name = name_of(&text[1..]);
    // Without braces, a position has one digit.
    let is_position = name.starts_with(|first: char| first.is_ascii_digit());
    1 + if is_position { 1 } else { name.len() }
}

/// The name at the beginning of a text.
fn name_of(text: &str) -> &str {
    if text.starts_with(['@', '*', '#', '?', '$', '!', '-']) {
        return &text[..1];
    }
    let end =
        text.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(text.len());
    &text[..end]
}

/// The default after `:-`, `-`, `:=` or `=`, if it is plain text.
pub(super) fn default_of(rest: &str) -> Option<String> {
    let text = [":-", ":=", "-", "="].iter().find_map(|sign| rest.strip_prefix(sign))?;
    plain(text)
}

/// The message after `:?` or `?` that says what is missing, if it is plain text. How the whole script is used says nothing of one
/// word.
pub(super) fn message_of(rest: &str) -> String {
    let text = rest.trim_start_matches(':').strip_prefix('?').and_then(plain).unwrap_or_default();
    if text.to_ascii_lowercase().contains("usage") { String::new() } else { text }
}

/// A word without its quotes, if nothing in it is expanded.
pub(super) fn plain(word: &str) -> Option<String> {
    let mut text = String::new();
    let mut letters = word.chars();
    let mut quote = None;
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => text.push(letter),
            (_, '$' | '`') => return None,
            (_, '\\') => text.extend(letters.next()),
            (None, '\'' | '"') => quote = Some(letter),
            _ => text.push(letter),
        }
    }
    quote.is_none().then_some(text)
}

/// Whether a word is this expansion and nothing else, in quotes or not: `$1`, `"${1}"`, `"${1:-}"`.
pub(super) fn is_only(word: &str, name: &str) -> bool {
    let bare = word.trim_matches('"');
    let Some(body) = bare.strip_prefix('$') else { return false };
    let body = body.strip_prefix('{').and_then(|body| body.strip_suffix('}')).unwrap_or(body);
    body.strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '-']) && !rest.contains('$'))
}

/// Whether a word is all words of the script: `"$@"`, `$*`, `"${@}"`, `"${@:1}"`.
pub(super) fn is_all_words(word: &str) -> bool {
    is_only(word, "@") || is_only(word, "*")
}

/// `${#NAME}` is a number, whatever the value.
pub(super) fn is_length(text: &str, found: &Expansion<'_>) -> bool {
    text[found.at..].starts_with("${#")
}

/// Whether what follows a name in braces leaves its value as it is, besides a default or the name of an option.
pub(super) fn is_unchanged(rest: &str) -> bool {
    let is_default = rest.trim_start_matches(':').starts_with(['-', '=', '?']);
    let is_element = rest.starts_with('[') && rest.ends_with(']');
    let is_slice = rest.strip_prefix(':').is_some_and(|from| from.trim().parse::<i32>().is_ok());
    let cuts_option = rest.starts_with('#') && rest.ends_with('=');
    rest.is_empty() || is_default || is_element || is_slice || cuts_option
}

/// Whether a word is one expansion, and no other text.
pub(super) fn is_one_expansion(word: &str) -> bool {
    let bare = word.trim().trim_matches('"');
    bare.starts_with('$') && length(bare) == bare.len()
}
