//! Words of a command line, as an author writes them in `argv` or `command`.

use super::error::MappingError;
use super::template::{Part, Template};
use serde_json::Value;

/// One element of `argv`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    /// One word; or one for each element of a list.
    Word(Word),
    /// Words that are all present, or all left out if an argument among them is absent.
    Group(Vec<Word>),
    /// Words that are repeated once for each element of this list.
    Repeated { words: Vec<Word>, list: String },
    /// A word that is present if the argument is true.
    Flag { word: String, argument: String },
}

impl Words {
    /// The words that can have a placeholder.
    pub(super) fn words(&self) -> &[Word] {
        match self {
            Self::Word(word) => std::slice::from_ref(word),
            Self::Group(words) | Self::Repeated { words, .. } => words,
            Self::Flag { .. } => &[],
        }
    }

    pub(super) fn words_mut(&mut self) -> &mut [Word] {
        match self {
            Self::Word(word) => std::slice::from_mut(word),
            Self::Group(words) | Self::Repeated { words, .. } => words,
            Self::Flag { .. } => &mut [],
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    pub template: Template,
    /// Whether the word may begin with a `-` that comes from a value.
    pub may_begin_with_dash: bool,
    /// Whether its values are restricted to harmless characters, because its program may interpret others.
    pub only_harmless: bool,
}

/// Reads the elements of a list. `key` is the name of the list in the metadata.
pub(super) fn read(elements: &[Value], key: &'static str) -> Result<Vec<Words>, MappingError> {
    let read = |(index, element)| words(element).map_err(MappingError::at(format!("{key}[{index}]")));
    let mut all: Vec<Words> = elements.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    let mut operands = Operands::default();
    for words in &mut all {
        operands.pass(words);
    }
    require_own_options(&all, key)?;
    Ok(all)
}

fn words(element: &Value) -> Result<Words, MappingError> {
    match element {
        Value::Array(elements) => group(elements),
        Value::Object(members) if members.contains_key("flag") || members.contains_key("if") => flag(members),
        other => word(other).map(Words::Word),
    }
}

fn word(element: &Value) -> Result<Word, MappingError> {
    let plain = |text: &str| {
        Ok(Word { template: Template::parse(text)?, may_begin_with_dash: false, only_harmless: false })
    };
    match element {
        Value::String(text) if text.contains('\0') => Err("holds a NUL, which no word can".into()),
        Value::String(text) => plain(text),
        Value::Number(number) => plain(&number.to_string()),
        Value::Object(members) => {
            let may_begin_with_dash = match members.get("allowDash") {
                None => false,
                Some(Value::Bool(allowed)) => *allowed,
                Some(_) => return Err("must have true or false as `allowDash`".into()),
            };
            match members.get("word") {
                Some(Value::String(text)) if members.len() <= 2 && !text.contains('\0') => {
                    Ok(Word { may_begin_with_dash, ..plain(text)? })
                }
                _ => Err(unreadable(element)),
            }
        }
        _ => Err(unreadable(element)),
    }
}

fn unreadable(element: &Value) -> MappingError {
    if let Value::Object(members) = element
        && members.len() == 1
        && let Some((name, Value::Null)) = members.iter().next()
    {
        return MappingError::Unquoted(name.clone());
    }
    MappingError::NotAWord(element.clone())
}

fn group(elements: &[Value]) -> Result<Words, MappingError> {
    let (elements, is_repeated) = match elements {
        [elements @ .., Value::String(dots)] if dots == "..." => (elements, true),
        elements => (elements, false),
    };
    let words: Vec<Word> = elements.iter().map(word).collect::<Result<_, _>>()?;
    let parts = || words.iter().flat_map(|word| &word.template.parts);
    if parts().all(|part| matches!(part, Part::Fixed(_))) {
        return Err("is a group without an argument, which nothing could leave out; \
                    write its words without the brackets"
            .into());
    }
    if !is_repeated {
        return Ok(Words::Group(words));
    }
    let mut arguments = parts().filter_map(|part| match part {
        Part::Fixed(_) => None,
        Part::Argument(name) => Some(Ok(name)),
        Part::Each(name) => Some(Err(name)),
    });
    match (arguments.next(), arguments.next()) {
        (Some(Ok(name)), None) => {
            let list = name.clone();
            Ok(Words::Repeated { words, list })
        }
        (Some(Err(name)), _) => Err(MappingError::SpreadTwice(name.clone())),
        _ => Err("is repeated (\"...\"), and must have one argument, which is the list".into()),
    }
}

fn flag(members: &serde_json::Map<String, Value>) -> Result<Words, MappingError> {
    let (Some(Value::String(word)), Some(Value::String(argument)), 2) =
        (members.get("flag"), members.get("if"), members.len())
    else {
        return Err("must have the word as `flag` and the name of an argument as `if`, and no more".into());
    };
    match Template::parse(word)?.fixed() {
        Some(fixed) if !fixed.contains('\0') => {
            Ok(Words::Flag { word: fixed.to_owned(), argument: argument.clone() })
        }
        _ => Err("must have a fixed word as `flag`; for one with a value write a group: \
                  [\"--name\", \"{name}\"]"
            .into()),
    }
}

/// Goes through the words in order, and marks those after a fixed `--`, where no program takes a word for an option.
#[derive(Default, Clone, Copy)]
struct Operands {
    /// A fixed `--` comes before. It counts only up to the next fixed word, which may be a program that parses options
    /// again, as in `sudo -- rm`.
    after_dashes: bool,
    /// The last fixed word is an option, and may take the next word as its value.
    after_option: bool,
    /// That value may be absent, so that the option would take a `--` as its value.
    may_lack_value: bool,
}

impl Operands {
    fn pass(&mut self, words: &mut Words) {
        match words {
            Words::Word(word) => self.pass_word(word),
            Words::Group(words) | Words::Repeated { words, .. } => {
                let mut inside = *self;
                let is_value = words.first().is_some_and(|first| first.template.fixed().is_none());
                for word in words {
                    inside.pass_word(word);
                }
                // All of them may be left out.
                self.after_dashes &= inside.after_dashes;
                self.may_lack_value |= inside.may_lack_value || (is_value && self.after_option);
                self.after_option |= inside.after_option;
            }
            Words::Flag { .. } => self.after_dashes = false,
        }
    }

    fn pass_word(&mut self, word: &mut Word) {
        if let Some(text) = word.template.fixed() {
            self.after_dashes = text == "--" && !self.may_lack_value;
            self.after_option = text.starts_with('-') && text != "--" && !text.contains('=');
            self.may_lack_value = false;
            return;
        }
        word.may_begin_with_dash |= self.after_dashes;
        if word.template.list().is_some() {
            self.may_lack_value |= self.after_option;
        } else {
            (self.after_option, self.may_lack_value) = (false, false);
        }
    }
}

/// Refuses a word in which a value would be part of an option's name.
fn require_own_options(all: &[Words], key: &'static str) -> Result<(), MappingError> {
    let words = all.iter().flat_map(Words::words);
    for word in words.filter(|word| word.template.fixed().is_none() && !word.may_begin_with_dash) {
        let prefix = word.template.prefix();
        let ends_in_name = if prefix.starts_with("--") { !prefix.contains('=') } else { prefix == "-" };
        if ends_in_name {
            return Err(MappingError::OpenOption { key, prefix: prefix.to_owned() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_all(list: &Value) -> Result<Vec<Words>, MappingError> {
        read(list.as_array().unwrap(), "argv")
    }

    /// Which of the words may begin with a dash.
    fn operands(list: &Value) -> Vec<bool> {
        let all = read_all(list).unwrap();
        let words = all.into_iter().flat_map(|words| match words {
            Words::Word(word) => vec![word],
            Words::Group(words) | Words::Repeated { words, .. } => words,
            Words::Flag { .. } => Vec::new(),
        });
        let words = words.filter(|word| word.template.fixed().is_none());
        words.map(|word| word.may_begin_with_dash).collect()
    }

    #[test]
    fn only_what_follows_two_dashes_may_begin_with_one() {
        assert_eq!(operands(&json!(["{a}", "--", "{b}", "{c}"])), [false, true, true]);
        // `sudo -- rm {a}`: the options of rm begin after `rm`.
        assert_eq!(operands(&json!(["--", "rm", "{a}"])), [false]);
        assert_eq!(operands(&json!(["--", ["--name", "{a}"], "{b}"])), [false, false]);
        assert_eq!(operands(&json!([["--", "{a...}"], "{b}"])), [true, false]);
        assert_eq!(operands(&json!(["--", ["{a}"], "{b}"])), [true, true]);
        assert_eq!(operands(&json!(["--", { "flag": "x", "if": "x" }, "{b}"])), [false]);
        assert_eq!(operands(&json!([{ "word": "{a}", "allowDash": true }, "{b}"])), [true, false]);
        // Without its value, `-n` would take the `--` for one.
        assert_eq!(operands(&json!(["-n", ["{a}"], "--", "{b}"])), [false, false]);
        assert_eq!(operands(&json!(["-f", "{a...}", "--", "{b}"])), [false, false]);
        assert_eq!(operands(&json!(["-f", ["{a}"], ["--", "{b...}"]])), [false, false]);
        assert_eq!(operands(&json!(["-n", "{a}", "--", "{b}"])), [false, true]);
        assert_eq!(operands(&json!(["-E", ["-m", "{a}"], "--", "{b}"])), [false, true]);
    }

    #[test]
    fn invalid_words_are_refused_with_the_valid_form() {
        for (list, problem) in [
            (json!([null]), "`argv[0]` cannot be read: null"),
            (
                json!(["a", { "path": null }]),
                "`argv[1]` is no word; YAML wants quotes around an argument: \"{path}\"",
            ),
            (json!([["--all"]]), "without the brackets"),
            (json!([["{a}", "{b}", "..."]]), "one argument, which is the list"),
            (json!([["-f", "{a...}", "..."]]), "write {a}"),
            (json!([{ "flag": "-v" }]), "the name of an argument as `if`"),
            (json!([{ "flag": "-n{v}", "if": "v" }]), "a fixed word as `flag`"),
            (json!([{ "word": "{v}", "allowDash": "yes" }]), "true or false as `allowDash`"),
            (json!(["--{mode}"]), "a caller would choose the option"),
            (json!(["--de{pth}"]), "a caller would choose the option"),
            (json!([["-{flags}"]]), "a caller would choose the option"),
            (json!(["a\0b"]), "holds a NUL"),
            (json!(["{"]), "a brace itself"),
        ] {
            let refused = read_all(&list).unwrap_err().to_string();
            assert!(refused.contains(problem), "{problem} in {refused}");
        }
    }

    #[test]
    fn usual_command_lines_are_fine() {
        let list = json!([
            "log", "-n{count}", "--depth={depth}", "-D{define}={value}", 5, ["--name", "{name}"],
            ["--file", "{files}", "..."], ["--files", "{files...}"], "--tag={tags...}",
            { "flag": "--all", "if": "all" }, "--", "{paths...}",
        ]);
        assert_eq!(read_all(&list).unwrap().len(), 12);
    }
}
