//! Argument mapping: how the arguments of a call reach a program that does not read JSON: as words of its command line, in
//! variables, on its standard input. This module reads the mapping from metadata and checks it against the schema; the
//! `scripts` crate renders it for a call.

pub(crate) mod error;
mod hazards;
mod schema;
mod shell_words;
mod template;
mod words;

pub use template::{Part, Template};
pub use words::{Word, Words};

use crate::declarations::metadata::Metadata;
use crate::declarations::variable_names;
use error::MappingError;
use serde_json::Value;
use serde_json::value::RawValue;

/// How a program receives the arguments of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mapping {
    pub words: Vec<Words>,
    pub variables: Vec<Variable>,
    /// Its standard input, empty if the template is empty. `None` for the arguments as JSON.
    pub input: Option<Template>,
    /// Whether values on standard input are restricted to harmless characters.
    pub input_only_harmless: bool,
    /// Values for absent arguments, as JSON texts by name.
    pub defaults: Vec<(String, String)>,
    /// Arguments that may hold any text wherever they are used: the author has listed their values, or declares them safe.
    pub exempt: Vec<String>,
    /// Arguments that the author allows to hold any text, and why.
    pub unrestricted: Vec<(String, String)>,
    /// As the author wrote it: the keys of the metadata, and JSON texts.
    pub written: Vec<(&'static str, String)>,
}

/// An environment variable, left out if an argument in its value is absent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    pub value: Template,
    /// Whether its values are restricted to harmless characters, because its program may interpret others.
    pub only_harmless: bool,
}

/// What metadata says about how a tool is run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Read {
    /// The program, for a tool that is only metadata.
    pub(crate) program: Option<String>,
    pub(crate) mapping: Mapping,
}

/// The mapping in the metadata, if it has one.
pub(crate) fn read(metadata: &Metadata) -> Result<Option<Read>, MappingError> {
    let keys = [
        ("argv", &metadata.argv),
        ("command", &metadata.command),
        ("env", &metadata.env),
        ("stdin", &metadata.stdin),
    ];
    let only_names = metadata.env.as_deref().is_some_and(variable_names::is_only_names);
    let keys = keys.into_iter().filter(|(key, _)| !(only_names && *key == "env"));
    let given = keys.filter_map(|(key, raw)| Some((key, raw.as_deref()?.get())));
    let given: Vec<(&'static str, &str)> = given.filter(|(_, text)| *text != "null").collect();
    if given.is_empty() {
        return Ok(None);
    }
    let mut read = Read { program: None, mapping: Mapping::default() };
    read.mapping.unrestricted = unrestricted(metadata)?;
    for (key, text) in &given {
        let value: Value = serde_json::from_str(text).map_err(MappingError::not_json(key))?;
        match *key {
            "argv" => {
                let list = list(&value, key)?;
                shell_words::refuse(list, key)?;
                read.mapping.words = words::read(list, key)?;
            }
            "command" => {
                let (program, words) = command(&value)?;
                read.program = Some(program);
                read.mapping.words = words;
            }
            "env" => read.mapping.variables = variables(&value)?,
            _ => read.mapping.input = Some(input(&value)?),
        }
        read.mapping.written.push((*key, (*text).to_owned()));
    }
    if let Some(written) = metadata.unrestricted_arguments.as_deref().filter(|raw| raw.get() != "null") {
        read.mapping.written.push(("unrestrictedArguments", written.get().to_owned()));
    }
    let has = |key| given.iter().any(|(given, _)| *given == key);
    if has("argv") && has("command") {
        return Err(
            "it has both `argv` and `command`; `command` has all words already, so leave `argv` out".into()
        );
    }
    // A program that reads its standard input when it gets no file would take the JSON for a file.
    if has("argv") || has("command") {
        read.mapping.input.get_or_insert_default();
    }
    Ok(Some(read))
}

impl Read {
    /// Takes defaults and possible values from the schema, or returns what does not fit.
    pub(crate) fn fitted_to(self, schema: &RawValue) -> Result<Self, MappingError> {
        let defaults = schema::fit(&self.mapping, schema)?;
        let mut mapping = Mapping { defaults, ..self.mapping };
        hazards::restrict(&mut mapping, self.program.as_deref(), &schema::kinds(schema))?;
        Ok(Self { mapping, ..self })
    }

    /// The schema of a tool whose author has written none.
    pub(crate) fn derived_schema(&self) -> Result<Box<RawValue>, MappingError> {
        let mut mapping = self.mapping.clone();
        hazards::restrict(&mut mapping, self.program.as_deref(), &[])?;
        schema::derive(&mapping)
    }
}

impl Mapping {
    /// The arguments of the schema that nothing uses, and whether each occurs in a text with double braces, as in a prompt.
    pub(crate) fn unused(&self, schema: &RawValue) -> Vec<(String, bool)> {
        schema::unused(self, schema)
    }

    /// The metadata key of the words.
    fn words_key(&self) -> &'static str {
        self.written.first().map_or("argv", |(key, _)| *key)
    }
}

/// The list of words under a key. A text is split into words to see what its author meant.
fn list<'a>(value: &'a Value, key: &'static str) -> Result<&'a [Value], MappingError> {
    if let Some(text) = value.as_str() {
        let words: Vec<Value> = text.split_whitespace().map(Value::from).collect();
        shell_words::refuse(&words, key)?;
    }
    let wrong = || MappingError::NotAList { key, value: value.clone() };
    value.as_array().map(Vec::as_slice).ok_or_else(wrong)
}

fn command(value: &Value) -> Result<(String, Vec<Words>), MappingError> {
    let Some((program, words)) = list(value, "command")?.split_first() else {
        return Err("`command` is empty; its first word is the program".into());
    };
    let template = program.as_str().map(Template::parse).transpose();
    let template = template.map_err(MappingError::at("command[0]".to_owned()))?;
    let fixed = template.as_ref().and_then(Template::fixed);
    let is_usable = |name: &&str| !name.is_empty() && !name.starts_with('-') && !name.contains('\0');
    let Some(program) = fixed.filter(is_usable) else {
        return Err("`command[0]` must be the name of a program, which no argument can choose".into());
    };
    shell_words::refuse(words, "command")?;
    Ok((program.to_owned(), words::read(words, "command")?))
}

/// The variables that have a value, in an object or in the objects of a list. Names that stand alone or are `true` are passed
/// on from the server's environment.
fn variables(value: &Value) -> Result<Vec<Variable>, MappingError> {
    let items = match value {
        Value::Array(items) => items.as_slice(),
        Value::Object(_) => std::slice::from_ref(value),
        _ => return Err("`env` must be an object: {\"DEPTH\": \"{depth}\"}".into()),
    };
    let mut named: Vec<&str> = Vec::new();
    let mut variables = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let members: Vec<(&str, &Value)> = match item {
            Value::String(name) => vec![(name, &Value::Bool(true))],
            Value::Object(members) => members.iter().map(|(name, value)| (name.as_str(), value)).collect(),
            _ => return Err(MappingError::NeitherNameNorValues { index }),
        };
        for (name, value) in members {
            if named.contains(&name) {
                return Err(MappingError::NamedTwice(name.to_owned()));
            }
            named.push(name);
            if variable_names::is_passed_on(value) {
                continue;
            }
            let value = text(value).map_err(MappingError::at(format!("env.{name}")))?;
            hazards::require_free_name(name)?;
            variables.push(Variable { name: name.to_owned(), value, only_harmless: false });
        }
    }
    Ok(variables)
}

fn input(value: &Value) -> Result<Template, MappingError> {
    text(value).map_err(MappingError::at("stdin".to_owned()))
}

/// The arguments that the author allows to hold any text, and why.
fn unrestricted(metadata: &Metadata) -> Result<Vec<(String, String)>, MappingError> {
    let Some(written) = metadata.unrestricted_arguments.as_deref().filter(|raw| raw.get() != "null") else {
        return Ok(Vec::new());
    };
    let reasons: serde_json::Map<String, Value> = serde_json::from_str(written.get()).unwrap_or_default();
    let reason = |(name, reason): (String, Value)| match reason {
        Value::String(reason) if !reason.trim().is_empty() => Some((name, reason)),
        _ => None,
    };
    let reasons: Option<Vec<_>> = reasons.into_iter().map(reason).collect();
    let wrong = "`unrestrictedArguments` must name arguments, each with the reason why any text is safe; write \
                 {\"message\": \"the recipe quotes it\"}";
    reasons.filter(|reasons| !reasons.is_empty()).ok_or(MappingError::Rule(wrong))
}

/// A template that makes one text.
fn text(value: &Value) -> Result<Template, MappingError> {
    let template = match value {
        Value::String(text) => Template::parse(text)?,
        Value::Number(number) => Template::parse(&number.to_string())?,
        _ => return Err("must be a text, such as \"{name}\"".into()),
    };
    match template.list() {
        Some(list) => Err(MappingError::SpreadInText(list.to_owned())),
        None => Ok(template),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_text(metadata: &Value) -> Result<Read, MappingError> {
        read(&Metadata::from_json(&metadata.to_string()).unwrap()).map(Option::unwrap)
    }

    fn derived(metadata: &Value) -> Value {
        serde_json::from_str(read_text(metadata).unwrap().derived_schema().unwrap().get()).unwrap()
    }

    fn fitted(metadata: &Value) -> Result<Mapping, MappingError> {
        let schema = RawValue::from_string(metadata["inputSchema"].to_string()).unwrap();
        read_text(metadata).unwrap().fitted_to(&schema).map(|read| read.mapping)
    }

    #[test]
    fn a_schema_is_derived_from_the_places_of_the_arguments() {
        let schema = derived(&json!({
            "argv": ["{path}", ["--name", "{name}"], { "flag": "-v", "if": "loud" }, ["-f", "{files}", "..."], "{rest...}"],
            "env": { "DEPTH": "{depth}" },
            "stdin": "{text}",
        }));
        let list = json!({ "type": "array", "items": { "type": "string" } });
        let text = json!({ "type": "string" });
        let properties = json!({
            "path": text, "name": text, "loud": { "type": "boolean" }, "files": list, "rest": list, "depth": text, "text": text,
        });
        assert_eq!(schema["properties"], properties);
        assert_eq!(schema["required"], json!(["path", "rest", "depth", "text"]));
        assert_eq!(schema["additionalProperties"], json!(false));
        assert_eq!(derived(&json!({ "command": ["date"] })).get("required"), None);
    }

    #[test]
    fn a_mapping_that_does_not_fit_its_schema_says_why() {
        let schema = |required: &[&str]| {
            json!({
                "type": "object",
                "required": required,
                "properties": { "path": { "type": "string" }, "depth": { "type": "integer", "default": 1.50 } },
            })
        };
        let refused = |argv: Value| {
            fitted(&json!({ "argv": argv, "inputSchema": schema(&[]) })).unwrap_err().to_string()
        };
        let unknown = refused(json!(["{pth}"]));
        assert!(unknown.contains("`pth`") && unknown.contains("it has `path`, `depth`"), "{unknown}");
        assert!(refused(json!(["{path}"])).contains("[\"--path\", \"{path}\"]"));
        assert!(refused(json!(["{path...}"])).contains("as a list"));
        assert!(refused(json!([{ "flag": "-p", "if": "path" }])).contains("as a flag"));
        let fits = |argv: Value| fitted(&json!({ "argv": argv, "inputSchema": schema(&["path"]) })).unwrap();
        assert_eq!(fits(json!(["{path}", "{depth}"])).defaults, [("depth".to_owned(), "1.5".to_owned())]);
        // Other keywords are not considered here.
        let open = json!({ "argv": ["{x}"], "inputSchema": { "allOf": [{ "required": ["x"] }] } });
        assert!(fitted(&open).is_ok());
    }

    #[test]
    fn invalid_mappings_are_refused_with_the_valid_form() {
        for (metadata, problem) in [
            (json!({ "argv": "{path} -v" }), "no shell reads it: [\"{path}\",\"-v\"]"),
            (json!({ "argv": { "a": 1 } }), "`argv` must be a list of words"),
            (json!({ "command": [] }), "first word is the program"),
            (json!({ "command": ["{program}"] }), "which no argument can choose"),
            (json!({ "command": [5] }), "which no argument can choose"),
            (json!({ "command": ["ls"], "argv": [] }), "leave `argv` out"),
            (json!({ "env": "A" }), "`env` must be an object"),
            (json!({ "env": { "A": false } }), "`env.A` must be a text"),
            (json!({ "env": { "A": "{b...}" } }), "{b} is the list as JSON"),
            (json!({ "env": ["A", { "B": "{b}" }, 7] }), "`env[2]` must be the name of a variable"),
            (json!({ "env": ["A", { "B": "{b}" }, ["C"]] }), "`env[2]` must be the name of a variable"),
            (json!({ "env": ["A", { "A": "{b}" }] }), "`env` has A twice"),
            (json!({ "env": [{ "A": "{a}" }, { "A": "{b}" }] }), "`env` has A twice"),
            (json!({ "env": ["A", { "MCP_SDK": "{b}" }] }), "MCP_SDK"),
            (json!({ "stdin": ["{a}"] }), "`stdin` must be a text"),
            (json!({ "stdin": "{a" }), "`stdin` cannot be read"),
        ] {
            let refused = read_text(&metadata).unwrap_err().to_string();
            assert!(refused.contains(problem), "{problem} in {refused}");
        }
    }

    #[test]
    fn standard_input_is_the_json_unless_words_are_mapped() {
        let input = |metadata: Value| read_text(&metadata).unwrap().mapping.input;
        assert_eq!(input(json!({ "env": { "A": "1", "B": true } })), None);
        assert_eq!(input(json!({ "argv": [] })), Some(Template::default()));
        assert_eq!(input(json!({ "stdin": "{a}" })), Some(Template::parse("{a}").unwrap()));
    }
}
