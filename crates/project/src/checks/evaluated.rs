//! Evaluated arguments: texts that the shell script of a tool evaluates as numbers or names, so that a caller could run a
//! command with them.

use super::traps::{Script, shell_script};
use crate::ground::interpreters::interpreter_name;
use crate::{Catalog, Diagnostic, Execution, Mapping, Part, Template, Tool, Words};
use mcp_bash_importing::{EvaluatedValue, Evaluation, GivenWord, ShellEvaluations};
use mcp_bash_schema::Schema;
use serde_json::json;
use std::collections::BTreeMap;

/// Shells that run nothing for a value in an expression.
const HARMLESS_SHELLS: [&str; 3] = ["ash", "busybox", "dash"];

/// Texts that run a command if a shell evaluates them. A schema that accepts none of them is taken for a strict one.
const HOSTILE: [&str; 8] = [
    "a[$(id)]",
    "A[$(id)]",
    "1+a[$(id)]",
    "a[$(id)]+1",
    "1+a[$(id)]+1",
    "1-a[$(id)]-1",
    "a[$(id)]h",
    "1:a[$(id)]:1",
];

/// Checks the shell scripts of all tools.
pub(super) fn check(catalog: &Catalog, found: &mut Vec<Diagnostic>) {
    for tool in catalog.tools.items() {
        let Some(script) = shell_script(tool, &catalog.paths.root) else { continue };
        let shell = interpreter_name(script.text.lines().next().unwrap_or_default()).unwrap_or_default();
        let evaluations = ShellEvaluations::of(&script.text);
        if evaluations.is_empty() || HARMLESS_SHELLS.contains(&shell) {
            continue;
        }
        let arguments = arguments(tool, &script, &evaluations);
        if arguments.is_empty() {
            continue;
        }
        let Ok(schema) = Schema::compile(tool.input_schema.get()) else { continue };
        for (argument, value) in arguments {
            if !may_be_hostile(&schema, &argument) {
                continue;
            }
            let diagnostic = diagnostic(&script, argument.trim_end_matches("[]"), value);
            found.push(match value.line {
                Some(line) => diagnostic.at_line(line as u64),
                None => diagnostic,
            });
        }
    }
}

/// The arguments that the script evaluates, as paths with dots, `[]` at the end for the elements of a list.
fn arguments(
    tool: &Tool,
    script: &Script,
    evaluations: &ShellEvaluations,
) -> BTreeMap<String, EvaluatedValue> {
    let mapping = tool.execution.mapping();
    let mut found = BTreeMap::new();
    if let Some(mapping) = mapping {
        let own = usize::from(is_after_program(&tool.execution, script));
        of_words(&mapping.words[own.min(mapping.words.len())..], evaluations, &mut found);
        for variable in mapping.variables.iter().filter(|variable| !variable.only_harmless) {
            if let Some((argument, value)) =
                only_argument(&variable.value).zip(evaluations.of_variable(&variable.name))
            {
                found.entry(argument).or_insert(value);
            }
        }
        if let Some(input) = mapping.input.as_ref().filter(|_| !mapping.input_only_harmless)
            && let Some(value) = evaluations.of_input()
        {
            for argument in input.arguments() {
                found.entry(argument.to_owned()).or_insert(value);
            }
        }
    }
    for (path, value) in evaluations.of_members(mapping.is_none()) {
        found.entry(path.to_owned()).or_insert(value);
    }
    let is_exempt = |path: &str| mapping.is_some_and(|mapping| is_declared_safe(mapping, path));
    found.retain(|path, _| !is_exempt(path));
    found
}

fn is_declared_safe(mapping: &Mapping, path: &str) -> bool {
    mapping.unrestricted.iter().any(|(name, _)| name == path.trim_end_matches("[]"))
}

/// Whether the first word is the script, which a shell is started with.
fn is_after_program(execution: &Execution, script: &Script) -> bool {
    let Execution::Command { program, .. } = execution else { return false };
    !script.path.ends_with(program.trim_start_matches("./"))
}

fn of_words(words: &[Words], evaluations: &ShellEvaluations, found: &mut BTreeMap<String, EvaluatedValue>) {
    let mut given: Vec<GivenWord<'_>> = Vec::new();
    let mut names: Vec<Option<String>> = Vec::new();
    for (index, words) in words.iter().enumerate() {
        let group = match words {
            Words::Word(_) => None,
            _ => Some(index),
        };
        if let Words::Flag { word, .. } = words {
            given.push(GivenWord { text: word, has_value: false, is_list: false, group });
            names.push(None);
        }
        let is_repeated = matches!(words, Words::Repeated { .. });
        let all = match words {
            Words::Word(word) => std::slice::from_ref(word),
            Words::Group(words) | Words::Repeated { words, .. } => words,
            Words::Flag { .. } => &[],
        };
        for word in all {
            let parts = &*word.template.parts;
            let (text, name) = match parts {
                [Part::Fixed(text)] => (&**text, None),
                [Part::Fixed(text), value] => (&**text, name_of(value, is_repeated)),
                [value] => ("", name_of(value, is_repeated)),
                [] => ("", None),
                _ => ("?", None),
            };
            // A text before a value is only known to be cut off if it is an option.
            let is_judged = !word.only_harmless && (text.is_empty() || text.starts_with('-'));
            let is_list = matches!(parts.last(), Some(Part::Each(_))) || is_repeated;
            let has_value = parts.iter().any(|part| !matches!(part, Part::Fixed(_)));
            given.push(GivenWord { text, has_value, is_list, group });
            names.push(name.filter(|_| is_judged));
        }
    }
    for (index, value) in evaluations.of_words(&given) {
        if let Some(name) = names[index].take() {
            found.entry(name).or_insert(value);
        }
    }
}

fn name_of(part: &Part, is_repeated: bool) -> Option<String> {
    match part {
        Part::Fixed(_) => None,
        Part::Argument(name) if is_repeated => Some(format!("{name}[]")),
        Part::Argument(name) => Some(name.clone()),
        Part::Each(name) => Some(format!("{name}[]")),
    }
}

/// The argument that a template is, without any other text.
fn only_argument(template: &Template) -> Option<String> {
    match &*template.parts {
        [Part::Argument(name)] => Some(name.clone()),
        _ => None,
    }
}

/// Whether the schema accepts a hostile text for this argument.
fn may_be_hostile(schema: &Schema, argument: &str) -> bool {
    let (path, is_list) = match argument.strip_suffix("[]") {
        Some(path) => (path, true),
        None => (argument, false),
    };
    let names: Vec<&str> = path.split('.').collect();
    let escaped: Vec<String> = names.iter().map(|name| name.replace('~', "~0").replace('/', "~1")).collect();
    let pointer = format!("/{}", escaped.join("/"));
    HOSTILE.iter().any(|text| {
        let value = if is_list { json!([text]) } else { json!(text) };
        let whole = names.iter().rev().fold(value, |inner, name| json!({ *name: inner }));
        match schema.check(&whole.to_string()) {
            Ok(_) => true,
            // What else is wrong with these arguments, such as others that are missing, says nothing about this one.
            Err(problems) => !problems.iter().any(|problem| {
                let path = problem.path();
                path.starts_with(&*pointer) || !path.is_empty() && pointer.starts_with(path)
            }),
        }
    })
}

fn diagnostic(script: &Script, argument: &str, value: EvaluatedValue) -> Diagnostic {
    let (use_, remedy) = match value.evaluation {
        Evaluation::Number => (
            "evaluates as a number the text",
            "declare it with `\"type\": \"integer\"` in the `inputSchema`, or with a `pattern` that only numbers fit",
        ),
        Evaluation::Part => (
            "evaluates as a number a part of the text",
            "give it a `pattern` in the `inputSchema` that only the expected texts fit, or `\"type\": \"integer\"` if it is a \
             number",
        ),
        Evaluation::Text => (
            "evaluates as a number the text",
            "list its values in an `enum` in the `inputSchema`, or give it a `pattern` that only numbers and these words fit",
        ),
        Evaluation::Name => (
            "uses as the name of a variable the text",
            "list its values in an `enum` in the `inputSchema`, or give it a `pattern` of letters, digits and `_`",
        ),
    };
    let problem =
        format!("{use_} of the argument `{argument}`, and bash runs the command in a text like `a[$(id)]`");
    Diagnostic::warning(&script.path, problem, remedy)
}
