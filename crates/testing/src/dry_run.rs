//! Dry run: compares the command that a call would run with the one that a case expects, and runs nothing.

use crate::cases::case::{Step, Subject};
use crate::expect::Mismatch;
use crate::result::Places;
use mcp_bash_project::{Catalog, Execution, Mapping};
use mcp_bash_schema::Schema;
use mcp_bash_scripts::map_arguments;
use std::collections::BTreeMap;

/// How each tool of a project is run.
#[derive(Debug, Default)]
pub(crate) struct ToolCommands(BTreeMap<String, ToolCommand>);

#[derive(Debug)]
struct ToolCommand {
    /// The program, or the script below the tools.
    program: String,
    /// `None` for a tool that reads its arguments as JSON.
    mapping: Option<Mapping>,
    schema: String,
}

impl ToolCommands {
    pub(crate) fn of(catalog: &Catalog) -> Self {
        let tools = catalog.tools.items().iter().map(|tool| {
            let program = match &tool.execution {
                Execution::Command { program, .. } => program.clone(),
                _ => tool.path.clone(),
            };
            let mapping = tool.execution.mapping().cloned();
            (tool.name.clone(), ToolCommand { program, mapping, schema: tool.input_schema.get().to_owned() })
        });
        Self(tools.collect())
    }

    /// How the command differs from what a step expects.
    pub(crate) fn mismatches(&self, step: &Step, places: &Places) -> Vec<Mismatch> {
        let name = step.subject.name();
        let Some(tool) = self.0.get(name).filter(|_| matches!(step.subject, Subject::Tool(_))) else {
            return vec![Mismatch::new(format!("there is no tool `{name}`; only a tool has a `command`"))];
        };
        let mapped = tool.mapped(&places.filled(&step.arguments.to_string()));
        match (mapped, &step.expect.error) {
            (Err(problem), None) => vec![Mismatch::new(format!("the arguments are refused: {problem}"))],
            (Err(problem), Some(wanted)) => {
                let lacks = wanted.contains.iter().filter(|text| !problem.contains(text.as_str()));
                lacks.map(|text| Mismatch::new(format!("the error lacks `{text}`: {problem}"))).collect()
            }
            (Ok(_), Some(_)) => vec![Mismatch::new("an error is expected, and the arguments are accepted")],
            (Ok(mapped), None) => mapped.mismatches(step, places),
        }
    }
}

impl ToolCommand {
    fn mapped(&self, arguments: &str) -> Result<DryCommand, String> {
        let mapping =
            self.mapping.as_ref().ok_or("this tool reads its arguments as JSON, and has no `command`")?;
        let schema = Schema::compile(&self.schema).map_err(|error| error.to_string())?;
        let joined = |problems: Vec<String>| problems.join("; ");
        let checked = schema
            .check(arguments)
            .map_err(|problems| joined(problems.iter().map(ToString::to_string).collect()))?;
        let mapped = map_arguments(mapping, &checked.text).map_err(joined)?;
        let words = mapped.words.iter().map(|word| word.to_string_lossy().into_owned());
        Ok(DryCommand {
            words: std::iter::once(self.program.clone()).chain(words).collect(),
            variables: mapped.variables.into_iter().collect(),
            stdin: mapped.input.unwrap_or_default(),
        })
    }
}

/// A command as it would be run.
struct DryCommand {
    words: Vec<String>,
    variables: BTreeMap<String, String>,
    stdin: String,
}

impl DryCommand {
    fn mismatches(&self, step: &Step, places: &Places) -> Vec<Mismatch> {
        let expect = &step.expect;
        let mut found = Vec::new();
        let lines =
            |words: &[String]| words.iter().map(|word| places.filled(word)).collect::<Vec<_>>().join("\n");
        if let Some(wanted) = &expect.command
            && lines(wanted) != lines(&self.words)
        {
            found.push(Mismatch::with_diff("the command differs", &lines(wanted), &lines(&self.words)));
        }
        let shown = |variables: &BTreeMap<String, String>| {
            variables
                .iter()
                .map(|(name, value)| format!("{name}={}", places.filled(value)))
                .collect::<Vec<_>>()
                .join("\n")
        };
        if let Some(wanted) = &expect.variables
            && shown(wanted) != shown(&self.variables)
        {
            found.push(Mismatch::with_diff("the variables differ", &shown(wanted), &shown(&self.variables)));
        }
        if let Some(wanted) = &expect.stdin
            && places.filled(wanted) != self.stdin
        {
            found.push(Mismatch::with_diff("the standard input differs", wanted, &self.stdin));
        }
        found
    }
}
