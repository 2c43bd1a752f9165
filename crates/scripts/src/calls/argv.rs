//! Command-line arguments: the arguments of a call, for a program that does not read JSON. Each word, variable and text is
//! built here as a whole: no shell reads it, nothing splits it, and no value becomes an option.

use mcp_bash_hazards::is_harmless;
use mcp_bash_project::{Mapping, Part, Template, Word, Words};
use mcp_bash_wire::{Limits, Raw, Scanner, write};
use std::borrow::Cow;
use std::ffi::OsString;

/// The longest argument that a process can receive, on the system with the smallest limit.
pub const LONGEST_ARGUMENT: usize = 128 * 1024 - 1;

/// The longest command line, in bytes, on Linux with its usual limits. The actual system may allow less.
const LONGEST_COMMAND_LINE: usize = 2 * 1024 * 1024;

/// What a program receives of the arguments of one call.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Mapped {
    pub words: Vec<OsString>,
    pub variables: Vec<(String, String)>,
    /// Its standard input; `None` for the arguments as JSON.
    pub input: Option<String>,
}

/// Why an argument cannot be passed to a program. The messages tell the caller how to correct the call.
type Problem = String;

/// Maps `arguments`, the text of a JSON object; or returns all problems with them.
pub fn map(mapping: &Mapping, arguments: &str) -> Result<Mapped, Vec<Problem>> {
    let values = Values::read(arguments, mapping).map_err(|problem| vec![problem])?;
    let mut line = CommandLine::default();
    for words in &mapping.words {
        let pushed = match words {
            Words::Word(word) => line.push_word(word, &values, None),
            Words::Group(words) => line.push_group(words, &values),
            Words::Repeated { words, list } => line.push_repeated(words, list, &values),
            Words::Flag { word, argument } => line.push_flag(word, argument, &values),
        };
        if let Err(problem) = pushed {
            line.problems.push(problem);
        }
        if line.bytes > LONGEST_COMMAND_LINE {
            return Err(vec![too_long_in_all()]);
        }
    }
    let CommandLine { words, mut problems, .. } = line;
    let mut variables = Vec::new();
    for variable in &mapping.variables {
        // The name, `=` and the value are one string to the system.
        let room = LONGEST_ARGUMENT.saturating_sub(variable.name.len() + 1);
        let filled = values.fill(&variable.value, None, variable.only_harmless);
        match filled.and_then(|filled| filled.map(|filled| fit_for_the_system(filled, room)).transpose()) {
            Ok(value) => variables.extend(value.map(|value| (variable.name.clone(), value))),
            Err(problem) => problems.push(problem),
        }
    }
    let mut input = None;
    if let Some(template) = &mapping.input {
        match values.fill(template, None, mapping.input_only_harmless) {
            Ok(filled) => input = Some(filled.map(|filled| filled.text).unwrap_or_default()),
            Err(problem) => problems.push(problem),
        }
    }
    problems.dedup();
    if problems.is_empty() { Ok(Mapped { words, variables, input }) } else { Err(problems) }
}

/// The words are too long in total.
pub(crate) fn too_long_in_all() -> Problem {
    "the arguments are too long for a command line, all together; give fewer or shorter ones".to_owned()
}

/// The words so far.
#[derive(Default)]
struct CommandLine {
    words: Vec<OsString>,
    /// Their size for the system, in bytes.
    bytes: usize,
    problems: Vec<Problem>,
}

impl CommandLine {
    fn push(&mut self, word: String) {
        self.bytes += word.len() + 1 + size_of::<usize>();
        self.words.push(word.into());
    }

    /// Pushes one word, or one for each element of its list. In repeated words, `element` is the value of their argument.
    fn push_word(
        &mut self,
        word: &Word,
        values: &Values<'_>,
        element: Option<Raw<'_>>,
    ) -> Result<(), Problem> {
        let Some(list) = word.template.list() else {
            let filled = values.fill(&word.template, element, word.only_harmless)?;
            let filled = filled.ok_or_else(|| missing(&word.template, values))?;
            self.push(checked(word, filled)?);
            return Ok(());
        };
        for element in values.elements(list)? {
            let filled = values.fill(&word.template, Some(element), word.only_harmless)?;
            let filled = filled.ok_or_else(|| missing(&word.template, values))?;
            self.push(checked(word, filled)?);
            if self.bytes > LONGEST_COMMAND_LINE {
                break;
            }
        }
        Ok(())
    }

    /// Pushes words together, unless an argument among them is absent or a list is empty.
    fn push_group(&mut self, words: &[Word], values: &Values<'_>) -> Result<(), Problem> {
        for part in words.iter().flat_map(|word| &word.template.parts) {
            let is_there = match part {
                Part::Fixed(_) => true,
                Part::Argument(name) => values.get(name).is_some(),
                Part::Each(name) => !values.elements(name)?.is_empty(),
            };
            if !is_there {
                return Ok(());
            }
        }
        words.iter().try_for_each(|word| self.push_word(word, values, None))
    }

    fn push_repeated(&mut self, words: &[Word], list: &str, values: &Values<'_>) -> Result<(), Problem> {
        for element in values.elements(list)? {
            words.iter().try_for_each(|word| self.push_word(word, values, Some(element)))?;
            if self.bytes > LONGEST_COMMAND_LINE {
                break;
            }
        }
        Ok(())
    }

    fn push_flag(&mut self, word: &str, argument: &str, values: &Values<'_>) -> Result<(), Problem> {
        match values.get(argument).map(Raw::text) {
            Some("true") => self.push(word.to_owned()),
            None | Some("false") => {}
            Some(_) => return Err(format!("`{argument}` must be true or false")),
        }
        Ok(())
    }
}

/// A template with its placeholders filled in.
struct Filled<'t> {
    text: String,
    template: &'t Template,
}

/// A word that its program cannot mistake for anything else.
fn checked(word: &Word, filled: Filled<'_>) -> Result<String, Problem> {
    let (text, prefix) = (&filled.text, word.template.prefix());
    let is_fixed = word.template.fixed().is_some();
    if !is_fixed && prefix.is_empty() && text.starts_with('-') && !word.may_begin_with_dash {
        return Err(format!(
            "{} must not begin with `-`, since it could be taken for an option",
            named(&word.template)
        ));
    }
    // `-n` without its number would take the next word as its value.
    if !is_fixed && prefix.starts_with('-') && !prefix.contains('=') && text == prefix {
        return Err(format!("{} must not be empty", named(&word.template)));
    }
    fit_for_the_system(filled, LONGEST_ARGUMENT)
}

/// Refuses a text that the system cannot pass to a process as a word or a variable of at most `room` bytes.
fn fit_for_the_system(filled: Filled<'_>, room: usize) -> Result<String, Problem> {
    let Filled { text, template } = filled;
    if text.contains('\0') {
        return Err(format!("{} must not hold a NUL character", named(template)));
    }
    if text.len() > room {
        let (names, bytes) = (named(template), text.len());
        return Err(format!("{names} makes {bytes} bytes, and a word or a variable has at most {room}"));
    }
    Ok(text)
}

/// The arguments in a template, as messages name them.
fn named(template: &Template) -> String {
    let names = template.parts.iter().filter_map(|part| match part {
        Part::Fixed(_) => None,
        Part::Argument(name) | Part::Each(name) => Some(format!("`{name}`")),
    });
    names.collect::<Vec<_>>().join(" and ")
}

fn missing(template: &Template, values: &Values<'_>) -> Problem {
    let absent = template.parts.iter().find_map(|part| match part {
        Part::Argument(name) if values.get(name).is_none() => Some(name),
        _ => None,
    });
    format!("`{}` is missing", absent.map_or("an argument", String::as_str))
}

/// The arguments of a call by name, and the defaults of absent ones.
struct Values<'a> {
    all: Vec<(Cow<'a, str>, Raw<'a>)>,
    mapping: &'a Mapping,
}

impl<'a> Values<'a> {
    fn read(arguments: &'a str, mapping: &'a Mapping) -> Result<Self, Problem> {
        let (mut given, mut unreadable) = (Vec::new(), false);
        let scanned =
            Scanner::new(arguments.trim(), Limits::NONE).members(|name, value| match name.string() {
                Some(name) if !value.is_null() => given.push((name, value)),
                Some(_) => {}
                None => unreadable = true,
            });
        scanned.map_err(|error| error.to_string())?;
        if unreadable {
            return Err("the name of an argument is no text".to_owned());
        }
        for (name, text) in &mapping.defaults {
            if !given.iter().any(|(known, _)| known == name) {
                let value = Scanner::new(text, Limits::NONE).whole_value();
                given.push((name.into(), value.map_err(|error| error.to_string())?));
            }
        }
        Ok(Self { all: given, mapping })
    }

    fn get(&self, name: &str) -> Option<Raw<'a>> {
        self.all.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// The elements of a list; none if it is absent.
    fn elements(&self, name: &str) -> Result<Vec<Raw<'a>>, Problem> {
        let Some(list) = self.get(name) else { return Ok(Vec::new()) };
        if !list.is_array() {
            return Err(format!("`{name}` must be a list, not {}", list.kind()));
        }
        let mut elements = Vec::new();
        let scanned = Scanner::again(list).elements(|element| elements.push(element));
        scanned.map_err(|error| format!("`{name}`: {error}"))?;
        elements.retain(|element| !element.is_null());
        Ok(elements)
    }

    /// Whether a value may be where a program may interpret it: it has only harmless characters, or the author chose it.
    fn is_allowed(&self, name: &str, value: &str) -> bool {
        let is_default = |(known, text): &(String, String)| {
            let default = Scanner::new(text, Limits::NONE).whole_value().ok();
            let elements = |list: Raw<'_>| {
                let mut is_one = false;
                let _ = Scanner::again(list)
                    .elements(|element| is_one |= written(element).as_deref() == Some(value));
                is_one
            };
            let is_same = |default: Raw<'_>| {
                written(default).as_deref() == Some(value) || default.is_array() && elements(default)
            };
            known == name && default.is_some_and(is_same)
        };
        is_harmless(value)
            || self.mapping.exempt.iter().any(|exempt| exempt == name)
            || self.mapping.defaults.iter().any(is_default)
    }

    /// Fills a template; `None` if an argument is absent. `element` is the current element of a list, or, without
    /// a list, the value for the argument of repeated words.
    fn fill<'t>(
        &self,
        template: &'t Template,
        element: Option<Raw<'_>>,
        only_harmless: bool,
    ) -> Result<Option<Filled<'t>>, Problem> {
        let is_repeated = template.list().is_none();
        let mut text = String::new();
        for part in &template.parts {
            let (name, value) = match part {
                Part::Fixed(fixed) => {
                    text.push_str(fixed);
                    continue;
                }
                Part::Each(name) => (name, element),
                Part::Argument(name) if is_repeated => (name, element.or_else(|| self.get(name))),
                Part::Argument(name) => (name, self.get(name)),
            };
            match value.map(written) {
                None => return Ok(None),
                Some(Some(value)) if only_harmless && !self.is_allowed(name, &value) => {
                    return Err(restricted(name));
                }
                Some(Some(value)) => text.push_str(&value),
                Some(None) => return Err(format!("`{name}` is no text: half of a character is missing")),
            }
        }
        Ok(Some(Filled { text, template }))
    }
}

/// A value has characters that are not allowed.
fn restricted(name: &str) -> Problem {
    format!(
        "`{name}` may only have letters, digits and any of `_ . / : @ + , -`, must begin with a letter, a digit or one of \
         `_ . /`, and must not be empty: anything else could be taken for code where this tool puts it"
    )
}

/// A value as a program reads it: a string without its quotes, anything else as JSON.
fn written(value: Raw<'_>) -> Option<Cow<'_, str>> {
    if value.is_string() {
        return value.string();
    }
    let is_tree = value.is_object() || value.is_array();
    Some(if is_tree { write::compact(value.text()).into() } else { value.text().into() })
}

#[cfg(test)]
mod tests;
