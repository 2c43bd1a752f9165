//! Vocabulary of the prompt: its words, and how to complete the typed text.

use crate::commands::call::parameters::Parameters;
use mcp_bash_project::Catalog;
use serde_json::Value;

/// The commands of the prompt, besides the names of tools.
pub(super) const COMMANDS: [&str; 6] = ["call", "get", "help", "list", "quit", "read"];

/// What can be listed.
pub(super) const KINDS: [&str; 4] = ["prompts", "resources", "templates", "tools"];

/// A tool or prompt by its name, and its arguments with their possible values.
#[derive(Debug, Default)]
pub(super) struct Callable {
    name: String,
    arguments: Vec<(String, Vec<String>)>,
}

#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    tools: Vec<Callable>,
    prompts: Vec<Callable>,
    resources: Vec<String>,
}

/// Completions of the word before the cursor.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Completion {
    /// The length of the word so far, in characters.
    pub(super) typed: usize,
    /// The possible whole words, each with what follows it: a space, or nothing before a value.
    pub(super) words: Vec<String>,
}

impl Vocabulary {
    pub(super) fn of(catalog: &Catalog) -> Self {
        let tools = catalog.tools.items().iter().map(|tool| {
            let schema: Value = serde_json::from_str(tool.input_schema.get()).unwrap_or_default();
            let parameters = Parameters::of(&schema).list.into_iter();
            let arguments = parameters.map(|parameter| (parameter.name, parameter.choices)).collect();
            Callable { name: tool.name.clone(), arguments }
        });
        let prompts = catalog.prompts.items().iter().map(|prompt| {
            let arguments = prompt.arguments.iter().map(|argument| (argument.name.clone(), Vec::new()));
            Callable { name: prompt.name.clone(), arguments: arguments.collect() }
        });
        let resources = catalog.resources.items().iter().map(|resource| resource.uri.clone());
        Self { tools: tools.collect(), prompts: prompts.collect(), resources: resources.collect() }
    }

    /// Completions of the last word of `before`.
    pub(super) fn complete(&self, before: &str) -> Completion {
        let mut words: Vec<&str> = before.split(' ').filter(|word| !word.is_empty()).collect();
        let last = if before.ends_with(' ') { "" } else { words.pop().unwrap_or_default() };
        let names = |callables: &[Callable]| -> Vec<String> {
            callables.iter().map(|callable| format!("{} ", callable.name)).collect()
        };
        let spaced = |words: &[&str]| words.iter().map(|word| format!("{word} ")).collect::<Vec<_>>();
        let candidates = match words.as_slice() {
            [] => [spaced(&COMMANDS), names(&self.tools)].concat(),
            ["list"] => spaced(&KINDS),
            ["help" | "call"] => names(&self.tools),
            ["get"] => names(&self.prompts),
            ["read"] => self.resources.iter().map(|uri| format!("{uri} ")).collect(),
            ["get", prompt, given @ ..] => arguments(&self.prompts, prompt, given, last),
            ["call", tool, given @ ..] | [tool, given @ ..] => arguments(&self.tools, tool, given, last),
        };
        let mut words: Vec<String> = candidates.into_iter().filter(|word| word.starts_with(last)).collect();
        words.sort();
        words.dedup();
        Completion { typed: last.chars().count(), words }
    }
}

/// The arguments that are not given yet, or the values of the current one.
fn arguments(callables: &[Callable], name: &str, given: &[&str], last: &str) -> Vec<String> {
    let Some(callable) = callables.iter().find(|callable| callable.name == name) else { return Vec::new() };
    if let Some((key, _)) = last.split_once('=') {
        let of_key = callable.arguments.iter().find(|(argument, _)| argument == key);
        let values = of_key.map(|(_, values)| values.as_slice()).unwrap_or_default();
        return values.iter().map(|value| format!("{key}={value} ")).collect();
    }
    let is_given = |argument: &str| given.iter().any(|word| word.split('=').next() == Some(argument));
    let left = callable.arguments.iter().filter(|(argument, _)| !is_given(argument));
    left.map(|(argument, _)| format!("{argument}=")).collect()
}

impl Completion {
    /// The longest common prefix of all words.
    pub(super) fn common(&self) -> String {
        let Some((first, rest)) = self.words.split_first() else { return String::new() };
        let mut common: Vec<char> = first.chars().collect();
        for word in rest {
            let same = common.iter().zip(word.chars()).take_while(|(one, other)| **one == *other).count();
            common.truncate(same);
        }
        common.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary() -> Vocabulary {
        let argument = |name: &str, values: &[&str]| {
            (name.to_owned(), values.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let hello = Callable {
            name: "hello".into(),
            arguments: vec![argument("name", &[]), argument("mood", &["glad", "glum"])],
        };
        let review = Callable { name: "review".into(), arguments: vec![argument("language", &[])] };
        Vocabulary { tools: vec![hello], prompts: vec![review], resources: vec!["file:///a".into()] }
    }

    fn words(before: &str) -> Vec<String> {
        vocabulary().complete(before).words
    }

    #[test]
    fn each_position_has_its_own_words() {
        assert_eq!(words("h"), ["hello ", "help "]);
        assert_eq!(words("list t"), ["templates ", "tools "]);
        assert_eq!(words("hello "), ["mood=", "name="]);
        assert_eq!(words("hello name=x "), ["mood="]);
        assert_eq!(words("call hello mood=gl"), ["mood=glad ", "mood=glum "]);
        assert_eq!(words("get r"), ["review "]);
        assert_eq!(words("get review "), ["language="]);
        assert_eq!(words("read "), ["file:///a "]);
        assert_eq!(words("help h"), ["hello "]);
        for nothing in ["nothing ", "hello name=", "hello nothing=x", "read x y "] {
            assert_eq!(words(nothing), Vec::<String>::new(), "{nothing}");
        }
    }

    #[test]
    fn the_common_prefix_is_inserted() {
        let completion = vocabulary().complete("he");
        assert_eq!((completion.typed, completion.common().as_str()), (2, "hel"));
        assert_eq!(vocabulary().complete("hello m").common(), "mood=");
        assert_eq!(Completion::default().common(), "");
    }
}
