//! typer: the parameters of a function are its arguments and options.

use super::click::docstring_after;
use crate::argument::ArgumentKind;
use crate::scripts::calls::{Argument, Token, Value, argument, calls, value_at};
use crate::scripts::reading::{ScriptOption, ScriptPositional, ScriptReading, ValueForm};

/// Returns whether typer is used.
pub(super) fn read(tokens: &[Token], reading: &mut ScriptReading) -> bool {
    let is_typer = tokens.windows(2).any(|pair| {
        matches!(pair, [Token::Name(word), Token::Name(module)] if (word == "import" || word == "from") && module == "typer")
    });
    if !is_typer {
        return false;
    }
    let decorated: Vec<(usize, Vec<Argument>)> =
        calls(tokens, &["command"]).into_iter().map(|(index, _, arguments)| (index, arguments)).collect();
    let run = calls(tokens, &["run"])
        .into_iter()
        .find_map(|(_, _, arguments)| arguments.first()?.value.name().map(str::to_owned));
    let start = match (&*decorated, run) {
        ([(index, _)], _) => Some(*index),
        ([], Some(name)) => definition(tokens, &name),
        ([], None) => None,
        (several, _) => {
            let names = several.iter().filter_map(|(index, arguments)| {
                let given = arguments.first().and_then(|first| first.value.text()).map(str::to_owned);
                given.or_else(|| Some(super::click::function_after(tokens, *index)?.replace('_', "-")))
            });
            super::super::commands(names.collect(), several.len(), reading);
            return true;
        }
    };
    let Some(start) = start else {
        reading.is_opaque = Some("which function typer runs is not clear".to_owned());
        return true;
    };
    for parameter in parameters(tokens, start) {
        enter(parameter, reading);
    }
    reading.description = docstring_after(tokens, start).or(reading.description.take());
    true
}

fn definition(tokens: &[Token], name: &str) -> Option<usize> {
    tokens.windows(2).position(
        |pair| matches!(pair, [Token::Name(word), Token::Name(found)] if word == "def" && found == name),
    )
}

/// One parameter of a function: name, type, and default.
struct Parameter {
    name: String,
    /// `str`, `int`, `list`; the first names of the type.
    kinds: Vec<String>,
    default: Option<Value>,
}

fn parameters(tokens: &[Token], start: usize) -> Vec<Parameter> {
    let Some(def) =
        tokens[start..].iter().position(|token| matches!(token, Token::Name(name) if name == "def"))
    else {
        return Vec::new();
    };
    let mut at = start + def + 3;
    let mut found = Vec::new();
    loop {
        while matches!(tokens.get(at), Some(Token::Line(_) | Token::Sign(','))) {
            at += 1;
        }
        let Some(Token::Name(name)) = tokens.get(at) else { return found };
        let mut parameter = Parameter { name: name.clone(), kinds: Vec::new(), default: None };
        at += 1;
        let mut depth = 0_i32;
        while let Some(token) = tokens.get(at) {
            match token {
                Token::Sign(',' | ')') if depth == 0 => break,
                Token::Sign('(' | '[' | '{') => depth += 1,
                Token::Sign(')' | ']' | '}') => depth -= 1,
                Token::Sign('=') if depth == 0 && parameter.default.is_none() => {
                    parameter.default = Some(value_at(tokens, at + 1));
                }
                Token::Name(name) if parameter.default.is_none() => {
                    // `Annotated[str, typer.Option(…)]`
                    if matches!(&**name, "Option" | "Argument")
                        && matches!(tokens.get(at + 1), Some(Token::Sign('(')))
                    {
                        parameter.default = Some(value_at(tokens, at));
                        parameter.kinds.push("Annotated".to_owned());
                    }
                    parameter.kinds.push(name.clone());
                }
                _ => {}
            }
            at += 1;
        }
        found.push(parameter);
        if matches!(tokens.get(at), Some(Token::Sign(')')) | None) {
            return found;
        }
    }
}

fn enter(parameter: Parameter, reading: &mut ScriptReading) {
    let has = |name: &str| parameter.kinds.iter().any(|kind| kind == name);
    let is_list = has("list") || has("List");
    let mut kind = if has("int") {
        ArgumentKind::Integer
    } else if has("float") {
        ArgumentKind::Number
    } else if has("bool") {
        ArgumentKind::Boolean
    } else {
        ArgumentKind::Text
    };
    if is_list {
        kind = ArgumentKind::List(Vec::new());
    }
    let known = ["str", "int", "float", "bool", "Path", "list", "List"];
    if !parameter.kinds.is_empty() && !known.iter().any(|name| has(name)) {
        reading.doubt(format!("the type of `{}` is not clear", parameter.name));
    }
    if has("Context") {
        return;
    }
    let (call, arguments) = match &parameter.default {
        Some(Value::Call(name, arguments)) => {
            (name.rsplit('.').next().unwrap_or_default().to_owned(), arguments.clone())
        }
        _ => (String::new(), Vec::new()),
    };
    let help = argument(&arguments, "help").and_then(Value::text).unwrap_or_default().to_owned();
    let first = arguments.iter().find(|argument| argument.key.is_none()).map(|argument| &argument.value);
    let is_annotated = has("Annotated");
    // In the old style the first value is the default; `...`, which is read as nothing, means none.
    let default =
        if is_annotated { None } else { first.cloned().or_else(|| argument(&arguments, "default").cloned()) };
    let has_default = default.as_ref().is_some_and(|default| *default != Value::Other);
    if call == "Argument" || parameter.default.is_none() {
        let mut positional = ScriptPositional::new(parameter.name, kind, !has_default);
        positional.description = help;
        positional.default = default.as_ref().and_then(Value::shown);
        if is_annotated {
            reading.doubt(format!("whether `{}` is required is not clear", positional.name));
        }
        return reading.positionals.push(positional);
    }
    let given: Vec<String> = arguments
        .iter()
        .filter(|argument| argument.key.is_none())
        .filter_map(|argument| argument.value.text())
        .filter(|name| name.starts_with('-'))
        .map(|name| name.split('/').next().unwrap_or(name).to_owned())
        .collect();
    let names =
        if given.is_empty() { vec![format!("--{}", parameter.name.replace('_', "-"))] } else { given };
    let plain_default = if call.is_empty() { parameter.default.as_ref() } else { default.as_ref() };
    let is_flag = kind == ArgumentKind::Boolean
        || plain_default.is_some_and(|default| matches!(default.name(), Some("False" | "True")));
    let mut option = if is_flag {
        ScriptOption::flag(names)
    } else {
        ScriptOption { kind, is_repeated: is_list, ..ScriptOption::with_value(names, ValueForm::Joined) }
    };
    option.description = help;
    option.default = plain_default.and_then(Value::shown).filter(|_| option.value.is_some());
    option.is_required = call == "Option" && !has_default && !is_annotated && option.value.is_some();
    reading.options.push(option);
}
