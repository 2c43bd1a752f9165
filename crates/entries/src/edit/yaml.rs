//! YAML editing, line by line: the servers are a block at the left margin, one entry below the other. Any other layout
//! is left to the user.

use super::splice::{Splice, line_end};
use super::{At, EditError};
use serde_json::Value;
use std::fmt::Write;
use std::ops::Range;

/// Parses a text; `None` if it holds only comments.
pub(super) fn parse(text: &str) -> Result<Option<Value>, EditError> {
    if lines(text).all(|line| !line.has_content() || line.text.trim_end() == "---") {
        return Ok(None);
    }
    let read: Result<Value, _> = serde_saphyr::from_str(text);
    let value = read.map_err(|error| {
        let words = error.without_snippet().to_string();
        let words = words.lines().next().unwrap_or_default();
        // The parser's message ends with the location, and for some faults says how a program would tolerate them.
        let Some((what, place)) = words.rsplit_once(" at line ") else {
            return EditError::Broken(words.to_owned());
        };
        EditError::Broken(format!("line {place}: {}", what.split(", set ").next().unwrap_or_default()))
    })?;
    Ok(Some(value).filter(|value| !value.is_null()))
}

/// The edits that add the entry.
pub(super) fn put(text: &str, at: &At, name: &str, value: &Value) -> Result<Vec<Splice>, EditError> {
    let end = line_end(text);
    let [key] = &*at.keys else { return Err(EditError::Unsafe) };
    match servers(text, key)? {
        Servers::Missing => {
            let separator = if text.is_empty() || text.ends_with('\n') { "" } else { end };
            let entry = item(at, name, value, "  ", end);
            Ok(vec![Splice::insert(text.len(), format!("{separator}{}:{end}{entry}", key_text(key)))])
        }
        Servers::Empty { value: empty, next } => {
            let entry = item(at, name, value, "  ", end);
            Ok(vec![Splice::delete(empty), insert_lines(text, next, &entry)])
        }
        Servers::Block(block) => {
            let indent = " ".repeat(block.indent);
            let entry = item(at, name, value, &indent, end);
            Ok(vec![match find(text, at, &block, name)? {
                Some(range) => Splice::replace(range, entry),
                None => insert_lines(text, block.lines.end, &entry),
            }])
        }
    }
}

/// The edits that remove the entry.
pub(super) fn take(text: &str, at: &At, name: &str) -> Result<Vec<Splice>, EditError> {
    let [key] = &*at.keys else { return Err(EditError::Unsafe) };
    let Servers::Block(block) = servers(text, key)? else { return Ok(Vec::new()) };
    let Some(range) = find(text, at, &block, name)? else { return Ok(Vec::new()) };
    let is_last = range == block.lines
        || text[block.lines.start..range.start].trim().is_empty() && range.end == block.lines.end;
    let mut splices = Vec::new();
    // A key without anything below it would be `null`.
    if is_last {
        splices.push(Splice::insert(block.key_end, if at.is_list { " []" } else { " {}" }));
    }
    splices.push(Splice::delete(range));
    Ok(splices)
}

/// Inserts lines at the start of a line, or at the end of a text whose last line has no line end.
fn insert_lines(text: &str, at: usize, lines: &str) -> Splice {
    if at == 0 || text[..at].ends_with('\n') {
        return Splice::insert(at, lines);
    }
    let end = line_end(text);
    Splice::insert(at, format!("{end}{}", lines.strip_suffix(end).unwrap_or(lines)))
}

struct Line<'t> {
    start: usize,
    text: &'t str,
}

impl Line<'_> {
    fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start_matches(' ').len()
    }

    fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Whether it has more than white space and a comment.
    fn has_content(&self) -> bool {
        let text = self.text.trim();
        !text.is_empty() && !text.starts_with('#')
    }
}

/// The lines of a text, each with its end.
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    text.split_inclusive('\n').scan(0, |start, text| {
        let line = Line { start: *start, text };
        *start += text.len();
        Some(line)
    })
}

enum Servers {
    Missing,
    /// The key has an empty value on its own line; `next` is where the next line begins.
    Empty {
        value: Range<usize>,
        next: usize,
    },
    Block(Block),
}

struct Block {
    /// The end of the colon after the key.
    key_end: usize,
    lines: Range<usize>,
    indent: usize,
}

fn servers(text: &str, key: &str) -> Result<Servers, EditError> {
    let mut all = lines(text);
    let Some((key_line, key_length)) = all.find_map(|line| Some((line.start, after_key(line.text, key)?)))
    else {
        return Ok(Servers::Missing);
    };
    let key_end = key_line + key_length;
    let whole = &text[key_end..];
    let next = key_end + whole.find('\n').map_or(whole.len(), |newline| newline + 1);
    let written = text[key_end..next].split(" #").next().unwrap_or_default();
    let value = key_end..key_end + written.trim_end().len();
    match written.trim() {
        "" => {}
        "{}" | "[]" | "~" | "null" => return Ok(Servers::Empty { value, next }),
        _ => return Err(EditError::Unsafe),
    }
    let (mut end, mut indent) = (next, None);
    for line in all {
        let is_item = line.indent() == 0 && line.text.starts_with('-') && !line.text.starts_with("---");
        if line.has_content() {
            if line.indent() == 0 && !is_item {
                break;
            }
            indent.get_or_insert(line.indent());
            end = line.end();
        } else if indent.is_some_and(|indent| line.indent() > indent && !line.text.trim().is_empty()) {
            // In a multi-line text this is not a comment.
            end = line.end();
        }
    }
    Ok(match indent {
        Some(indent) => Servers::Block(Block { key_end, lines: next..end, indent }),
        None => Servers::Empty { value, next },
    })
}

/// The length of a key and its colon at the beginning of a text.
fn after_key(text: &str, key: &str) -> Option<usize> {
    let forms = [key.to_owned(), Value::from(key).to_string(), format!("'{}'", key.replace('\'', "''"))];
    forms.iter().find_map(|form| {
        let rest = text.strip_prefix(form.as_str())?.trim_start_matches(' ').strip_prefix(':')?;
        (rest.is_empty() || rest.starts_with([' ', '\r', '\n'])).then(|| text.len() - rest.len())
    })
}

/// The lines of the entry of a name.
fn find(text: &str, at: &At, block: &Block, name: &str) -> Result<Option<Range<usize>>, EditError> {
    let whole = parse(text)?.unwrap_or_default();
    let Some(index) = at.servers(&whole).iter().position(|(known, _)| *known == name) else {
        return Ok(None);
    };
    let inside = lines(&text[block.lines.clone()])
        .map(|line| Line { start: block.lines.start + line.start, text: line.text });
    let inside: Vec<Line<'_>> = inside.collect();
    let begins = |line: &&Line<'_>| line.has_content() && line.indent() == block.indent;
    let begins_entry =
        |line: &&Line<'_>| begins(line) && (!at.is_list || line.text.trim_start().starts_with('-'));
    let first = inside.iter().filter(begins_entry).nth(index).ok_or(EditError::Unsafe)?;
    if !at.is_list && after_key(first.text.trim_start(), name).is_none() {
        return Err(EditError::Unsafe);
    }
    let mut end = first.end();
    for line in inside.iter().filter(|line| line.start > first.start) {
        if begins(&line) {
            break;
        }
        if line.indent() > block.indent && !line.text.trim().is_empty() {
            end = line.end();
        }
    }
    Ok(Some(first.start..end))
}

/// An entry as lines.
fn item(at: &At, name: &str, value: &Value, indent: &str, end: &str) -> String {
    let mut text = String::new();
    if at.is_list {
        let inner = format!("{indent}  ");
        let members = members(value, &inner, end);
        let _ = write!(text, "{indent}- {}", members.trim_start());
    } else {
        let _ =
            write!(text, "{indent}{}:{end}{}", key_text(name), members(value, &format!("{indent}  "), end));
    }
    text
}

/// The members of an object as lines. Lists are written on one line.
fn members(value: &Value, indent: &str, end: &str) -> String {
    let mut text = String::new();
    for (key, value) in value.as_object().into_iter().flatten() {
        let _ = write!(text, "{indent}{}:", key_text(key));
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                let _ = write!(text, "{end}{}", members(value, &format!("{indent}  "), end));
            }
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(Value::to_string).collect();
                let _ = write!(text, " [{}]{end}", items.join(", "));
            }
            Value::String(word) => {
                let _ = write!(text, " {}{end}", key_text(word));
            }
            other => {
                let _ = write!(text, " {other}{end}");
            }
        }
    }
    text
}

/// A text, quoted unless every parser reads it as a text without quotes.
fn key_text(word: &str) -> String {
    let is_plain = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-/.".contains(c));
    let means_something =
        ["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&&*word.to_ascii_lowercase());
    if is_plain && !means_something { word.to_owned() } else { Value::from(word).to_string() }
}

/// An entry with the keys that lead to it, as a user would paste it.
pub(crate) fn document(at: &At, name: &str, value: &Value) -> String {
    let entry = item(at, name, value, "  ", "\n");
    let keys: Vec<String> = at.keys.iter().map(|key| key_text(key)).collect();
    format!("{}:\n{entry}", keys.join(":\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Format;
    use serde_json::json;

    fn at(key: &str, is_list: bool) -> At {
        At { format: Format::Yaml, keys: vec![key.into()], is_list, escaped: &[] }
    }

    fn entry() -> Value {
        json!({ "name": "new", "cmd": "/bin/x", "args": ["--project-root", "/p"], "envs": {}, "enabled": true })
    }

    const ENTRY: &str = "  new:\n    name: new\n    cmd: /bin/x\n    args: [\"--project-root\", \"/p\"]\n    envs: {}\n    enabled: true\n";

    fn there_and_back(before: &str, expected: &str) {
        let after = at("extensions", false).with(before, "new", &entry()).unwrap();
        assert_eq!(after, expected);
        assert_eq!(at("extensions", false).without(&after, "new").unwrap(), before);
    }

    #[test]
    fn an_entry_follows_the_last_one() {
        let before = "# mine\nGOOSE_MODEL: x\nextensions:\n  # the first\n  a:\n    cmd: 'y' # why\n    text: |\n      one\n      # two\n\n# later\nz: [1, 2]\n";
        let expected = before.replace("      # two\n", &format!("      # two\n{ENTRY}"));
        there_and_back(before, &expected);
        // Four spaces, line ends of Windows, no end of the last line.
        let lines = "\r\n    new:\r\n      name: new\r\n      cmd: /bin/x\r\n      args: [\"--project-root\", \"/p\"]\r\n      \
                     envs: {}\r\n      enabled: true";
        let before = "extensions:\r\n    a:\r\n        cmd: y";
        let after = at("extensions", false).with(before, "new", &entry()).unwrap();
        assert_eq!(after, format!("{before}{lines}"));
    }

    #[test]
    fn an_empty_block_is_filled_and_a_missing_one_is_made() {
        let put = |text: &str| at("extensions", false).with(text, "new", &entry()).unwrap();
        let alone = format!("extensions:\n{ENTRY}");
        assert_eq!(put(""), alone);
        assert_eq!(put("# c"), format!("# c\n{alone}"));
        assert_eq!(put("a: 1\n"), format!("a: 1\n{alone}"));
        assert_eq!(put("extensions: {}\nb: 2\n"), format!("{alone}b: 2\n"));
        assert_eq!(put("extensions:\nb: 2\n"), format!("{alone}b: 2\n"));
        assert_eq!(put("extensions: null # none\n"), alone.replacen(':', ": # none", 1));
        let after = at("extensions", false).without(&alone, "new").unwrap();
        assert_eq!(after, "extensions: {}\n");
    }

    #[test]
    fn a_list_is_a_list() {
        let at = at("mcpServers", true);
        let value = json!({ "name": "new", "command": "/x", "args": [] });
        let item = "- name: new\n    command: /x\n    args: []\n";
        for before in [
            "name: c\nmcpServers:\n  - name: a\n    command: y\n    # end\nmodels: []\n",
            "mcpServers:\n- name: a\n  command: y\n",
            "mcpServers:\n  -\n    name: a\n",
        ] {
            let after = at.with(before, "new", &value).unwrap();
            assert!(
                after.replace("  command: /x\n  args", "    command: /x\n    args").contains(item),
                "{after}"
            );
            assert_eq!(at.without(&after, "new").unwrap(), before);
            let other = json!({ "name": "new", "command": "/z", "args": [] });
            let replaced = at.with(&after, "new", &other).unwrap();
            assert_eq!(replaced, after.replace("/x", "/z"));
            let without_a = at.without(&after, "a").unwrap();
            assert_eq!(at.parse(&without_a).unwrap()["mcpServers"], json!([value]), "{without_a}");
        }
    }

    #[test]
    fn unsupported_forms_and_broken_text_are_refused() {
        let put = |text: &str| at("extensions", false).with(text, "new", &entry());
        for text in ["{\"extensions\": {\"a\": 1}}", "extensions: {a: 1}\n", "extensions: &x\n  a: 1\n"] {
            assert_eq!(put(text), Err(EditError::Unsafe), "{text}");
        }
        for text in ["extensions: [\n", "a: b: c\n", "a: \"x\n", "a: 1\na: 2\n"] {
            assert!(matches!(put(text), Err(EditError::Broken(_))), "{text}: {:?}", put(text));
        }
        assert_eq!(put("extensions:\n  - a\n"), Err(EditError::NotAnObject));
        assert_eq!(
            put("a: 1\na: 2\n"),
            Err(EditError::Broken("line 2, column 1: duplicate mapping key: a".into()))
        );
    }

    #[test]
    fn texts_that_mean_something_else_are_quoted() {
        for word in ["true", "No", "12", "-x", "a b", "a: b", "", "é", "\n", "~"] {
            let text = document(&at("k", false), word, &json!({ "v": word }));
            let read = parse(&text).unwrap().unwrap();
            assert_eq!(read["k"][word]["v"], word, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[ab:{}#> '\"|&*é\\-\\[\\]\r\n]{0,50}", start in "(a:\n|a:\r\n  b: é\n|)") {
            for is_list in [true, false] {
                let (at, text) = (at("a", is_list), format!("{start}{text}"));
                let _ = at.with(&text, "b", &entry());
                let _ = at.without(&text, "b");
            }
        }
    }
}
