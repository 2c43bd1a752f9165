//! Draft: the tool that is made of a script's reading.

use super::reading::{ScriptOption, ScriptPositional, ScriptReading, ValueForm};
use crate::argument::{Argument, ArgumentKind};
use crate::effect::Effect;
use crate::help_text::LONGEST_DESCRIPTION;
use crate::name::argument_name;
use crate::plain_text::plain_text;
use crate::tool::Tool;
use crate::word::{each, escaped, fixed, flag, group, place};
use mcp_bash_hazards::{DescribedOption, option_writes};
use serde_json::Value;

/// How a script is run.
#[derive(Debug, Clone, Copy)]
pub struct ScriptCommand<'a> {
    /// Its name, as the tool is called.
    pub name: &'a str,
    /// The program and its first words: the script, or an interpreter and the script.
    pub words: &'a [String],
    /// Whether it is part of the project, so that its variables may hold any text.
    pub is_own: bool,
    /// Whether all options become arguments, not only the first ones.
    pub all_options: bool,
}

/// The tool, with its name still as the script's.
pub(super) fn tool(command: ScriptCommand<'_>, reading: ScriptReading, name: String) -> Tool {
    let mut draft =
        Draft { arguments: Vec::new(), words: command.words.iter().map(|word| fixed(word)).collect() };
    let ScriptReading {
        description,
        options,
        positionals,
        variables,
        passed,
        answers,
        integers,
        is_evaluated,
        mut doubts,
        gaps,
        effect,
        needs,
        success_exit_codes,
        ..
    } = reading;
    let writes = options.iter().any(writes);
    let is_shared =
        |name: &Option<String>| options.iter().filter(|option| option.variable == *name).count() > 1;
    let shared: Vec<bool> = options.iter().map(|option| is_shared(&option.variable)).collect();
    for (mut option, is_shared) in options.into_iter().zip(shared).filter(|(option, _)| !option.is_idle()) {
        // A variable that several options set names none of them.
        if is_shared {
            option.variable = None;
        }
        draft.option(option);
    }
    let has_greedy = draft.words.iter().any(|word| matches!(word.as_array(), Some(words) if words.len() == 2 && words[1].as_str().is_some_and(|word| word.ends_with("...}"))));
    if has_greedy && !positionals.is_empty() {
        doubts.push("an option that takes several values may also take the words after it".to_owned());
    }
    if positionals.windows(2).any(|pair| !pair[0].is_required && pair[1].is_required) {
        doubts.push("a word that may be left out comes before one that it requires".to_owned());
    }
    for positional in positionals {
        draft.positional(positional);
    }
    let mut environment = Vec::new();
    for variable in variables {
        let is_number =
            |default: &String| default.len() < 10 && default.bytes().all(|byte| byte.is_ascii_digit());
        let kind = match (&variable.default, command.is_own) {
            (Some(default), _) if is_number(default) => ArgumentKind::Integer,
            _ if integers.contains(&variable.name) => ArgumentKind::Integer,
            (_, true) => ArgumentKind::Text,
            (_, false) => ArgumentKind::HarmlessText,
        };
        let Some(name) = draft.free_name(&variable.name) else { continue };
        let description = with_default(&variable.description, variable.default.as_deref());
        environment.push((variable.name, place(&name)));
        draft.arguments.push(Argument {
            description,
            is_required: variable.is_required,
            ..Argument::new(name, kind)
        });
    }
    let mut input = String::new();
    for answer in answers {
        let Some(name) = draft.free_name(&answer.name.to_lowercase()) else { continue };
        input.push_str(&place(&name));
        input.push('\n');
        let is_integer = integers.contains(&answer.name);
        let kind = if is_integer { ArgumentKind::Integer } else { ArgumentKind::Line };
        let described =
            Argument { description: answer.question, is_required: true, ..Argument::new(name, kind) };
        draft.arguments.push(described);
    }
    if is_evaluated {
        for argument in &mut draft.arguments {
            argument.kind = std::mem::replace(&mut argument.kind, ArgumentKind::Text).harmless();
        }
    }
    let is_described = description.is_some();
    let effect = match effect {
        Some(Effect::Reads) if writes => None,
        _ if writes => Some(Effect::Destroys),
        effect => effect,
    };
    Tool {
        name,
        origin: command.name.to_owned(),
        description: description.unwrap_or_else(|| format!("Runs the script {}", command.name)),
        arguments: draft.arguments,
        command: draft.words,
        effect: Effect::of_program(command.name).or(effect),
        environment,
        passed,
        input: (!input.is_empty()).then_some(input),
        success_exit_codes,
        needs,
        doubts,
        gaps,
        is_undescribed: !is_described,
    }
}

fn writes(option: &ScriptOption) -> bool {
    let placeholder = option.value.map(|_| option.variable.as_deref().unwrap_or_default());
    option_writes(
        &[""],
        DescribedOption { names: &option.names, placeholder, description: &option.description },
    )
}

fn with_default(description: &str, default: Option<&str>) -> String {
    let description: String = plain_text(description).split_whitespace().collect::<Vec<_>>().join(" ");
    let description: String = description.chars().take(LONGEST_DESCRIPTION).collect();
    match default.map(str::trim).filter(|default| !default.is_empty() && default.len() < 200) {
        Some(default) if !description.contains(default) && description.is_empty() => {
            format!("Default: {}", plain_text(default))
        }
        Some(default) if !description.contains(default) => {
            format!("{description} (default: {})", plain_text(default))
        }
        _ => description,
    }
}

struct Draft {
    arguments: Vec<Argument>,
    words: Vec<Value>,
}

impl Draft {
    fn free_name(&self, wanted: &str) -> Option<String> {
        let name = argument_name(wanted)?;
        let others = (2..20).map(|number| format!("{name}_{number}"));
        std::iter::once(name.clone())
            .chain(others)
            .find(|name| self.arguments.iter().all(|known| known.name != *name))
    }

    fn option(&mut self, option: ScriptOption) {
        // Of abbreviations (`--ti`, `--time`) the whole name.
        let first = option.names.iter().find(|name| name.starts_with("--"));
        let long = first.map(|first| {
            let whole = option.names.iter().filter(|name| name.starts_with(&**first));
            whole.max_by_key(|name| name.len()).unwrap_or(first)
        });
        let used = long.unwrap_or(&option.names[0]).clone();
        let by_variable =
            option.variable.as_deref().filter(|_| long.is_none() && used.len() == 2).map(str::to_lowercase);
        let Some(name) = self.free_name(by_variable.as_deref().unwrap_or(used.trim_start_matches('-')))
        else {
            return;
        };
        let kind = match (option.is_repeated, option.kind) {
            (true, ArgumentKind::OneOf(choices) | ArgumentKind::List(choices)) => ArgumentKind::List(choices),
            (true, ArgumentKind::Integer) => ArgumentKind::Integers,
            (true, _) => ArgumentKind::List(Vec::new()),
            (false, kind) => kind,
        };
        let description = with_default(&option.description, option.default.as_deref());
        let argument = Argument {
            description,
            is_required: option.is_required && option.value.is_some(),
            ..Argument::new(name, kind)
        };
        self.words.push(word(&used, option.value, &argument));
        self.arguments.push(argument);
    }

    fn positional(&mut self, positional: ScriptPositional) {
        let Some(name) = self.free_name(&positional.name.to_lowercase()) else { return };
        let mut argument = Argument::new(name, positional.kind);
        argument.follows = optional_word(&self.words);
        argument.is_required = positional.is_required && argument.follows.is_none();
        argument.description = with_default(&positional.description, positional.default.as_deref());
        let word = if argument.is_list() { each(&argument.name) } else { place(&argument.name) };
        self.words.push(if argument.is_required { word.into() } else { group(&[word]) });
        self.arguments.push(argument);
    }
}

fn word(name: &str, form: Option<ValueForm>, argument: &Argument) -> Value {
    let escaped = escaped(name);
    let value = if argument.is_list() { each(&argument.name) } else { place(&argument.name) };
    match form {
        None => flag(name, &argument.name),
        Some(form @ (ValueForm::Joined | ValueForm::Attached)) => {
            let sign = if form == ValueForm::Joined { "=" } else { "" };
            let word = format!("{escaped}{sign}{value}");
            if argument.is_required { word.into() } else { group(&[word]) }
        }
        Some(ValueForm::NextWords) => group(&[escaped, value]),
        Some(ValueForm::NextWord) if argument.is_list() => {
            group(&[escaped, place(&argument.name), "...".to_owned()])
        }
        Some(ValueForm::NextWord) => group(&[escaped, place(&argument.name)]),
    }
}

/// The optional positional word at the end, if there is one.
fn optional_word(words: &[Value]) -> Option<String> {
    let last = words.last()?.as_array()?;
    let [Value::String(word)] = &**last else { return None };
    word.starts_with('{').then(|| word.trim_matches(['{', '}', '.']).to_owned())
}
