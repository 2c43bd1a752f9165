//! Justfile recipes. Nothing is evaluated: a default that is not a plain string is left to just.
//!
//! A parameter can reach the text of a command in many ways: in braces, as a variable, by its position, through a
//! default or a recipe that is run before. So every parameter accepts harmless characters only, whatever the recipe
//! does with it.

use crate::argument::{Argument, ArgumentKind};
use crate::effect::Effect;
use crate::name::{LONGEST, tool_name};
use crate::plain_text::plain_text;
use crate::shell_text::runs_what_follows;
use crate::word::{each, fixed, group, place};
use crate::{FileLocation, Imported, Tool};
use serde_json::Value;

pub fn read(text: &str, file: FileLocation<'_>) -> Imported {
    let mut imported = Imported::default();
    let mut recipes: Vec<Recipe<'_>> = Vec::new();
    let mut above = Above::default();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with([' ', '\t']) {
            if let Some(recipe) = recipes.last_mut() {
                recipe.body.push(line);
            }
            continue;
        }
        if let Some(comment) = line.strip_prefix('#') {
            above = Above { comment: Some(comment.trim()), ..Above::default() };
        } else if line.starts_with('[') {
            above.attributes.push(line);
        } else if let Some(recipe) = header(line) {
            recipes.push(Recipe { above: std::mem::take(&mut above), ..recipe });
        } else {
            above = Above::default();
            note_other_file(line, &mut imported);
            skip_long_string(line, &mut lines);
        }
    }
    for recipe in &recipes {
        if imported.is_full() {
            break;
        }
        recipe.enter(&recipes, file, &mut imported);
    }
    imported
}

/// The lines directly above a recipe.
#[derive(Default)]
struct Above<'t> {
    comment: Option<&'t str>,
    attributes: Vec<&'t str>,
}

struct Recipe<'t> {
    name: &'t str,
    parameters: Vec<Parameter<'t>>,
    /// The text after the colon: the recipes it runs before, with what it passes to them.
    dependencies: &'t str,
    above: Above<'t>,
    body: Vec<&'t str>,
}

struct Parameter<'t> {
    name: &'t str,
    is_variadic: bool,
    /// Whether it may be omitted.
    is_optional: bool,
    /// Its default, if that is a plain string.
    literal: Option<String>,
    /// Its default as it is written.
    written: &'t str,
}

impl Recipe<'_> {
    /// Makes a tool of it, or reports why not.
    fn enter(&self, all: &[Self], file: FileLocation<'_>, imported: &mut Imported) {
        if self.name.starts_with('_') || self.has_attribute("private") {
            return;
        }
        if let Some(why) = self.unusable() {
            return imported.leave_out(self.name, why);
        }
        if let Some(why) = self.runs_a_parameter(all) {
            return imported.leave_out(self.name, why);
        }
        // A recipe may occur once for each system.
        if imported.tools.iter().any(|tool| tool.origin == self.name) {
            return;
        }
        let Some(name) = tool_name(self.name) else { return };
        let mut command: Vec<Value> =
            vec![fixed("just"), fixed("--justfile"), fixed(&file.path()), fixed(self.name)];
        let mut arguments = Vec::new();
        let mut taken_by_position = None;
        for parameter in &self.parameters {
            // Words are distinguished by their position: none can follow an optional one.
            if let Some(before) = taken_by_position {
                let what = format!("{} {}", self.name, parameter.name);
                imported
                    .leave_out(what, format!("`{before}` before it may be absent, and has no plain default"));
                continue;
            }
            if parameter.is_optional && parameter.literal.is_none() && !parameter.is_variadic {
                taken_by_position = Some(parameter.name);
            }
            arguments.push(parameter.argument());
            command.push(parameter.word());
        }
        imported.tools.push(Tool {
            name,
            origin: self.name.to_owned(),
            description: self.description(file),
            arguments,
            command,
            effect: Effect::of_recipe(self.name),
            ..Tool::default()
        });
    }

    fn unusable(&self) -> Option<&'static str> {
        if self.has_attribute("confirm") {
            return Some("it asks for a confirmation, which no user can give");
        }
        let has_options =
            self.above.attributes.iter().any(|line| line.contains("long") || line.contains("short"));
        (self.has_attribute("arg") && has_options)
            .then_some("it takes options, which cannot be told from a justfile yet")
    }

    fn has_attribute(&self, name: &str) -> bool {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        let without_strings = |line: &str| line.split(['\'', '"']).step_by(2).collect::<String>();
        let mut lines = self.above.attributes.iter().map(|line| without_strings(line));
        lines.any(|line| line.split(|letter| !is_letter(letter)).any(|word| word == name))
    }

    fn description(&self, file: FileLocation<'_>) -> String {
        let attribute = self.above.attributes.iter().find_map(|line| {
            let (_, rest) = line.split_once("doc(").or_else(|| line.split_once("doc:"))?;
            Some(literal(rest.trim_start())?.0)
        });
        let words = attribute.or_else(|| self.above.comment.map(str::to_owned));
        match words.map(|words| plain_text(words.trim())).filter(|words| !words.is_empty()) {
            Some(words) => words,
            None => format!("Runs the recipe `{}` of {}", self.name, file.file),
        }
    }

    /// Why no caller may choose the parameters, if one of them is a command or code: in this recipe, or in one that it
    /// runs before.
    fn runs_a_parameter(&self, all: &[Self]) -> Option<&'static str> {
        if self.parameters.is_empty() {
            return None;
        }
        let shebang = self.body.first().map_or("", |line| line.trim()).strip_prefix("#!");
        let is_shell = shebang
            .is_none_or(|line| SHELLS.iter().any(|shell| line.split(['/', ' ']).any(|word| word == *shell)));
        let has_places = || self.body.iter().any(|line| line.contains("{{"));
        if !is_shell && has_places() {
            return Some("it puts its parameters into code of another language than that of a shell");
        }
        let own = is_shell && self.body.iter().any(|line| self.runs_a_value_in(line));
        let is_before = |other: &&Self| other.name != self.name && mentions(self.dependencies, other.name);
        let passes_on = self.parameters.iter().any(|parameter| mentions(self.dependencies, parameter.name));
        let is_run_before = |other: &Self| other.body.iter().any(|line| other.runs_a_value_in(line));
        let before = passes_on && all.iter().filter(is_before).any(is_run_before);
        (own || before).then_some("it runs the value of a parameter as a command")
    }

    /// Whether a line would run a value: in braces, as a variable, by its position.
    fn runs_a_value_in(&self, line: &str) -> bool {
        let is_parameter =
            |text: &str| self.parameters.iter().any(|parameter| mentions(text, parameter.name));
        let in_braces = line
            .match_indices("{{")
            .filter(|(index, _)| is_parameter(line[*index..].split("}}").next().unwrap_or_default()));
        let expanded = line.match_indices('$').filter(|(index, _)| {
            let rest = line[index + 1..].trim_start_matches('{');
            let end = rest
                .find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
                .unwrap_or(rest.len());
            is_parameter(&rest[..end])
                || rest.starts_with(|first: char| matches!(first, '1'..='9' | '@' | '*'))
        });
        in_braces.chain(expanded).any(|(index, _)| runs_what_follows(&line[..index]))
    }
}

/// The interpreters whose recipes are read as shell text.
const SHELLS: [&str; 6] = ["ash", "bash", "dash", "ksh", "sh", "zsh"];

/// Whether a name occurs in a text as a word.
fn mentions(text: &str, name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    text.split(|letter| !is_letter(letter)).any(|word| word == name)
}

impl Parameter<'_> {
    fn argument(&self) -> Argument {
        let kind = if self.is_variadic { ArgumentKind::HarmlessList } else { ArgumentKind::HarmlessText };
        let description = match (self.is_optional, &self.literal) {
            (true, None) if !self.written.is_empty() => format!("Default: {}", plain_text(self.written)),
            (true, Some(literal)) if self.is_variadic => format!("Default: {}", plain_text(literal)),
            _ => String::new(),
        };
        Argument {
            description,
            is_required: !self.is_optional,
            default: self.literal.clone().filter(|_| !self.is_variadic),
            ..Argument::new(self.name, kind)
        }
    }

    fn word(&self) -> Value {
        match (self.is_variadic, self.is_optional) {
            (true, true) => group(&[each(self.name)]),
            (true, false) => each(self.name).into(),
            (false, true) if self.literal.is_none() => group(&[place(self.name)]),
            (false, _) => place(self.name).into(),
        }
    }
}

/// The first line of a recipe: `@name a $b c="x" *rest: before (other a)`.
fn header(line: &str) -> Option<Recipe<'_>> {
    let (name, mut rest) = identifier(line.strip_prefix('@').unwrap_or(line))?;
    let mut parameters = Vec::new();
    loop {
        rest = rest.trim_start();
        if let Some(dependencies) = rest.strip_prefix(':') {
            if dependencies.starts_with('=') {
                return None;
            }
            let above = Above::default();
            return Some(Recipe { name, parameters, dependencies, above, body: Vec::new() });
        }
        let (parameter, after) = parameter(rest)?;
        parameters.push(parameter);
        rest = after;
    }
}

fn parameter(text: &str) -> Option<(Parameter<'_>, &str)> {
    let sign = text.chars().next().filter(|sign| matches!(sign, '+' | '*'));
    let text = if sign.is_some() { &text[1..] } else { text };
    // No client takes a longer name.
    let (name, rest) =
        identifier(text.strip_prefix('$').unwrap_or(text)).filter(|(name, _)| name.len() <= LONGEST)?;
    let mut parameter = Parameter {
        name,
        is_variadic: sign.is_some(),
        is_optional: sign == Some('*'),
        literal: None,
        written: "",
    };
    let Some(value) = rest.trim_start().strip_prefix('=').map(str::trim_start) else {
        return Some((parameter, rest));
    };
    parameter.is_optional = true;
    let length = value_length(value)?;
    parameter.written = &value[..length];
    parameter.literal = literal(value).filter(|(_, used)| *used == length).map(|(text, _)| text);
    Some((parameter, &value[length..]))
}

fn identifier(text: &str) -> Option<(&str, &str)> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    let end = text.find(|letter| !is_letter(letter)).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_').then_some((name, rest))
}

/// How many bytes a default has: a string, a command in backticks, a name, a call, or something in parentheses.
fn value_length(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0_usize, None);
    let mut before = ' ';
    for (index, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) if letter == open && !(open == '"' && before == '\\') => quote = None,
            (None, '\'' | '"' | '`') => quote = Some(letter),
            (None, '(') => depth += 1,
            (None, ')') => depth = depth.checked_sub(1)?,
            (None, ' ' | '\t' | ':') if depth == 0 => return (index > 0).then_some(index),
            _ => {}
        }
        before = if before == '\\' { ' ' } else { letter };
    }
    None
}

/// A plain string at the beginning of a text, and how many bytes it takes there.
fn literal(text: &str) -> Option<(String, usize)> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let (mut plain, mut is_escaped) = (String::new(), false);
    for (index, letter) in text.char_indices().skip(1) {
        match (is_escaped, letter) {
            (true, 'n') => plain.push('\n'),
            (true, 't') => plain.push('\t'),
            (true, '"' | '\\') => plain.push(letter),
            (true, _) => return None,
            (false, '\\') if quote == '"' => {}
            (false, _) if letter == quote => return Some((plain, index + 1)),
            (false, _) => plain.push(letter),
        }
        is_escaped = !is_escaped && letter == '\\' && quote == '"';
    }
    None
}

/// Reports modules and imports that were not followed.
fn note_other_file(line: &str, imported: &mut Imported) {
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default().trim_end_matches('?');
    if matches!(first, "mod" | "import") && !line.contains(":=") && words.next().is_some() {
        imported.leave_out(line.trim(), "other files are not followed; import them by themselves");
    }
}

/// Skips the lines of a string that began on this line and does not end on it.
fn skip_long_string<'t>(line: &str, lines: &mut impl Iterator<Item = &'t str>) {
    for quotes in ["'''", "\"\"\"", "```"] {
        if line.matches(quotes).count() % 2 == 1 {
            let _ = lines.by_ref().find(|line| line.contains(quotes));
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const HERE: FileLocation<'_> = FileLocation { folder: "", file: "justfile" };

    #[test]
    fn recipes_become_tools_with_their_parameters() {
        let imported = read(
            r#"
set shell := ["bash", "-c"]
version := `git describe`
import 'other.just'
mod docs

# Build it
build target="debug" *flags:
    cargo build --profile {{target}} {{flags}}

[group('x'), doc("Says hello")]
@greet name $LOUD="no":
    echo {{quote(name)}}

[private]
hidden:
_also-hidden:

deploy host=`hostname` port="1": (build host)
    ./deploy {{host}}

lint +files: && report
    lint "$@"

[confirm]
reset:
    rm -r .
"#,
            HERE,
        );
        let shown: Vec<String> = imported
            .tools
            .iter()
            .map(|tool| format!("{}: {}", tool.command_words(), tool.description))
            .collect();
        assert_eq!(
            shown,
            [
                "just --justfile justfile build {target} [{flags...}]: Build it",
                "just --justfile justfile greet {name} {LOUD}: Says hello",
                "just --justfile justfile deploy [{host}]: Runs the recipe `deploy` of justfile",
                "just --justfile justfile lint {files...}: Runs the recipe `lint` of justfile",
            ]
        );
        let schema = imported.tools[0].metadata()["inputSchema"].clone();
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "target": { "type": "string", "pattern": mcp_bash_hazards::HARMLESS, "default": "debug" },
                    "flags": { "type": "array", "items": { "type": "string", "pattern": mcp_bash_hazards::HARMLESS } },
                },
                "additionalProperties": false,
            })
        );
        let greet = &imported.tools[1].metadata()["inputSchema"];
        // Quoting by the recipe is not relied upon.
        assert_eq!(
            greet["properties"]["name"],
            json!({ "type": "string", "pattern": mcp_bash_hazards::HARMLESS })
        );
        assert_eq!(greet["required"], json!(["name"]));
        assert_eq!((imported.tools[2].effect, imported.tools[0].effect), (Some(Effect::Destroys), None));
        let left_out: Vec<&str> = imported.left_out.iter().map(|left| &*left.what).collect();
        assert_eq!(left_out, ["import 'other.just'", "mod docs", "deploy port", "reset"]);
    }

    #[test]
    fn every_parameter_is_restricted_however_the_recipe_uses_it() {
        let imported = read(
            "set positional-arguments\n\
             a x:\n  echo \"{{quote(x)}}\"\n\
             b x:\n  echo '{{quote(x)}}'\n\
             c $x:\n  echo $x\n\
             d x y=x:\n  echo {{y}}\n\
             e x y=(x + 'a'):\n  echo {{y}}\n\
             f x:\n  cat <<END\n  {{x}}\n  END\n\
             g x:\n  echo $1 \"$@\"\n\
             h x:\n  #!/usr/bin/env bash\n  echo $1 {{x}}\n\
             i x: (a x)\n  echo\n\
             j *x:\n  eval echo {{x}}\n",
            HERE,
        );
        for tool in &imported.tools {
            for argument in &tool.arguments {
                let is_restricted =
                    matches!(argument.kind, ArgumentKind::HarmlessText | ArgumentKind::HarmlessList);
                assert!(is_restricted, "{} {argument:?}", tool.name);
            }
        }
        let names: Vec<&str> = imported.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["a", "b", "c", "d", "e", "g", "h", "i", "j"]);
        // A line of the document looks like a command, and is left out rather than misread.
        assert_eq!(imported.left_out[0].what, "f");
    }

    #[test]
    fn a_recipe_that_runs_a_parameter_is_left_out() {
        let imported = read(
            "a cmd:\n  {{cmd}}\n\
             b cmd:\n  @-{{cmd}} x\n\
             c cmd:\n  eval \"{{cmd}}\"\n\
             d $cmd:\n  cd x && \"$cmd\"\n\
             e cmd:\n  bash -c '{{cmd}}'\n\
             f +cmd:\n  \"$@\"\n\
             g cmd:\n  $1 x\n\
             h cmd: (a cmd)\n\
             i x:\n  #!/usr/bin/env python3\n  print('{{x}}')\n\
             j x:\n  echo `{{x}}`\n\
             k:\n  $SHELL x\n\
             l x:\n  #!/usr/bin/env python3\n  import sys\n",
            HERE,
        );
        let names: Vec<&str> = imported.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["k", "l"]);
        assert_eq!(imported.left_out.len(), 10);
    }

    #[test]
    fn text_in_long_strings_is_not_a_recipe() {
        let imported = read("text := '''\nfake:\n  x\n'''\nreal:\n  x\n", HERE);
        assert_eq!(imported.tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["real"]);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "([a-z@#\\[\\]:=+*$'\"`(){} \\n\\\\é-]){0,200}") {
            read(&text, HERE);
        }
    }
}
