//! click: `@click.option` and `@click.argument` above a function.

use crate::argument::ArgumentKind;
use crate::scripts::calls::{Argument, Token, Value, argument, calls};
use crate::scripts::comment;
use crate::scripts::reading::{ScriptOption, ScriptPositional, ScriptReading, ValueForm};

/// How many tokens may be between a decorator and the beginning of its line, or its function.
const MOST_BETWEEN: usize = 500;

/// Returns whether click is used.
pub(super) fn read(tokens: &[Token], reading: &mut ScriptReading) -> bool {
    let is_click = tokens.windows(2).any(|pair| {
        matches!(pair, [Token::Name(word), Token::Name(module)] if (word == "import" || word == "from") && module == "click")
    });
    if !is_click {
        return false;
    }
    let decorators: Vec<(usize, String, Vec<Argument>)> =
        calls(tokens, &["option", "argument", "command", "group"])
            .into_iter()
            .filter(|(index, ..)| is_decorator(tokens, *index))
            .collect();
    let commands: Vec<_> = decorators.iter().filter(|(_, name, _)| name == "command").collect();
    if decorators.iter().any(|(_, name, _)| name == "group") || commands.len() > 1 {
        let names = commands.iter().filter_map(|(index, _, arguments)| {
            let given = arguments.first().and_then(|first| first.value.text()).map(str::to_owned);
            given.or_else(|| Some(function_after(tokens, *index)?.replace('_', "-")))
        });
        super::super::commands(names.collect(), commands.len(), reading);
        return true;
    }
    for (_, name, arguments) in &decorators {
        match &**name {
            "option" => option(arguments, reading),
            "argument" => positional(arguments, reading),
            _ => {}
        }
    }
    let described = commands.first().and_then(|(index, ..)| docstring_after(tokens, *index));
    reading.description = described.or(reading.description.take());
    true
}

/// Whether a line begins with `@` before this name.
fn is_decorator(tokens: &[Token], index: usize) -> bool {
    let before = tokens[..index].iter().rev().take(MOST_BETWEEN);
    let before = before.take_while(|token| !matches!(token, Token::Line(_)));
    before.last().is_some_and(|token| *token == Token::Sign('@'))
}

/// Where the next definition begins.
fn definition_after(tokens: &[Token], index: usize) -> Option<usize> {
    let mut following = tokens[index..].iter().take(MOST_BETWEEN);
    let offset = following.position(|token| matches!(token, Token::Name(name) if name == "def"))?;
    Some(index + offset)
}

/// The function that is defined next.
pub(super) fn function_after(tokens: &[Token], index: usize) -> Option<&str> {
    match tokens.get(definition_after(tokens, index)? + 1)? {
        Token::Name(name) => Some(name),
        _ => None,
    }
}

/// The text at the beginning of the function that is defined next.
pub(super) fn docstring_after(tokens: &[Token], index: usize) -> Option<String> {
    let at = definition_after(tokens, index)?;
    let mut depth = 0_i32;
    for (offset, token) in tokens[at..].iter().enumerate() {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth -= 1,
            Token::Sign(':') if depth == 0 => {
                let mut rest =
                    tokens[at + offset + 1..].iter().skip_while(|token| matches!(token, Token::Line(_)));
                let Some(Token::Text(text)) = rest.next() else { return None };
                return comment::paragraph(&text.lines().collect::<Vec<_>>());
            }
            _ => {}
        }
    }
    None
}

fn texts(arguments: &[Argument]) -> Vec<String> {
    arguments
        .iter()
        .filter(|argument| argument.key.is_none())
        .filter_map(|argument| argument.value.text().map(str::to_owned))
        .collect()
}

fn option(arguments: &[Argument], reading: &mut ScriptReading) {
    let is = |key: &str| argument(arguments, key).is_some_and(Value::is_true);
    let declared = texts(arguments);
    // `--shout/--no-shout`
    let is_pair = declared.iter().any(|name| name.contains('/'));
    let names: Vec<String> = declared
        .iter()
        .filter(|name| name.starts_with('-'))
        .map(|name| name.split('/').next().unwrap_or(name).trim().to_owned())
        .collect();
    if names.is_empty() {
        return reading.doubt("an option is named while it runs, and is not in the draft");
    }
    let is_long = names.iter().any(|name| name.starts_with("--"));
    let mut found = if is_pair || is("is_flag") || is("count") || argument(arguments, "flag_value").is_some()
    {
        ScriptOption::flag(names)
    } else {
        let form = if is_long { ValueForm::Joined } else { ValueForm::NextWord };
        let kind = kind(arguments);
        let kind = if is("multiple") { list(kind) } else { kind };
        ScriptOption { kind, is_repeated: is("multiple"), ..ScriptOption::with_value(names, form) }
    };
    if argument(arguments, "nargs").is_some() && found.value.is_some() {
        return reading.left_out.push((found.names[0].clone(), "it takes several values at once".to_owned()));
    }
    argument(arguments, "help").and_then(Value::text).unwrap_or_default().clone_into(&mut found.description);
    found.default = argument(arguments, "default").and_then(Value::shown).filter(|_| found.value.is_some());
    found.is_required = is("required") || argument(arguments, "prompt").is_some() && found.default.is_none();
    reading.options.push(found);
}

fn positional(arguments: &[Argument], reading: &mut ScriptReading) {
    let Some(name) = texts(arguments).into_iter().next() else {
        return reading.doubt("an argument is named while it runs, and is not in the draft");
    };
    let count = argument(arguments, "nargs").and_then(Value::shown);
    let is_list = count.as_deref().is_some_and(|count| count != "1");
    let is_optional = argument(arguments, "required")
        .is_some_and(|required| required.name() == Some("False"))
        || argument(arguments, "default").is_some()
        || count.as_deref() == Some("-1") && !argument(arguments, "required").is_some_and(Value::is_true);
    let kind = if is_list { list(kind(arguments)) } else { kind(arguments) };
    let mut found = ScriptPositional::new(name, kind, !is_optional);
    found.default = argument(arguments, "default").and_then(Value::shown);
    reading.positionals.push(found);
}

fn kind(arguments: &[Argument]) -> ArgumentKind {
    match argument(arguments, "type") {
        Some(Value::Call(name, choices)) if name.ends_with("Choice") => choices
            .first()
            .and_then(|first| first.value.texts())
            .map_or(ArgumentKind::Text, ArgumentKind::OneOf),
        Some(Value::Call(name, _)) if name.ends_with("IntRange") => ArgumentKind::Integer,
        Some(Value::Name(name)) if matches!(&**name, "int" | "INT" | "click.INT") => ArgumentKind::Integer,
        Some(Value::Name(name)) if matches!(&**name, "float" | "FLOAT" | "click.FLOAT") => {
            ArgumentKind::Number
        }
        None => match argument(arguments, "default") {
            Some(Value::Number(number)) if !number.contains('.') => ArgumentKind::Integer,
            Some(Value::Number(_)) => ArgumentKind::Number,
            _ => ArgumentKind::Text,
        },
        _ => ArgumentKind::Text,
    }
}

fn list(kind: ArgumentKind) -> ArgumentKind {
    match kind {
        ArgumentKind::OneOf(choices) => ArgumentKind::List(choices),
        _ => ArgumentKind::List(Vec::new()),
    }
}
