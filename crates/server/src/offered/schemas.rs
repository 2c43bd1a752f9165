//! Tool schemas: compiled on first use, and kept as long as the catalog is served.

use super::added_arguments;
use crate::logging::SchemaRule;
use mcp_bash_budget::tree_bytes;
use mcp_bash_project::{HeaderParameter, Tool, header_parameters};
use mcp_bash_schema::{Defaults, Problem, Schema, SchemaError};
use mcp_bash_wire::RpcError;
use serde_json::json;
use std::borrow::Cow;
use std::sync::OnceLock;

/// The schemas of one tool.
#[derive(Default)]
pub(crate) struct Schemas {
    input: OnceLock<Result<Schema, SchemaError>>,
    defaults: OnceLock<Defaults>,
    output: OnceLock<Result<Schema, SchemaError>>,
    header_parameters: OnceLock<Box<[HeaderParameter]>>,
}

/// Why a tool cannot be called with these arguments.
pub(crate) enum Unfit {
    /// The client can fix the arguments; this describes the problems.
    Arguments(String),
    /// The tool itself is faulty.
    Tool(RpcError),
}

/// A result that violates its tool's output schema.
pub(crate) struct Broken {
    /// The error for the client.
    pub(crate) error: RpcError,
    /// The kind of problem, without data of the call.
    pub(crate) kind: &'static str,
    pub(crate) problems: usize,
    /// The first violated rule.
    pub(crate) rule: Option<SchemaRule>,
}

impl Schemas {
    /// The most memory that a check of a value takes. A larger value is rejected before it is parsed.
    pub(crate) fn cost_of(value: &str) -> usize {
        const MOST: usize = 100 * 1024 * 1024;
        tree_bytes(value).min(MOST)
    }

    /// The arguments that clients repeat in headers.
    pub(crate) fn header_parameters(&self, tool: &Tool) -> &[HeaderParameter] {
        self.header_parameters.get_or_init(|| header_parameters(tool.input_schema.get()).into())
    }

    /// Validates the arguments, and returns them as the tool receives them: with unambiguous corrections, and with defaults for
    /// missing ones.
    pub(crate) fn check_input<'a>(&self, tool: &Tool, arguments: &'a str) -> Result<Cow<'a, str>, Unfit> {
        let compiled = self.input.get_or_init(|| Schema::compile(tool.input_schema.get()));
        let schema = compiled.as_ref().map_err(|error| Unfit::Tool(unusable(tool, "inputSchema", error)))?;
        let arguments = added_arguments::without(arguments, tool.input_schema.get());
        match check(schema, arguments) {
            Ok(checked) => {
                let defaults = self.defaults.get_or_init(|| Defaults::of(tool.input_schema.get()));
                Ok(defaults.complete(checked))
            }
            Err(problems) => {
                let problems = listed(&problems);
                Err(Unfit::Arguments(format!(
                    "The arguments of '{}' do not fit its inputSchema:\n{problems}",
                    tool.name
                )))
            }
        }
    }

    /// Validates a tool's result against its output schema. Without a value to validate, `missing` explains why.
    pub(crate) fn check_output(
        &self,
        tool: &Tool,
        structured: Option<&str>,
        missing: impl FnOnce() -> String,
    ) -> Result<(), Broken> {
        let Some(written) = &tool.output_schema else { return Ok(()) };
        let broken = |why: &str| RpcError {
            data: Some(json!({ "problems": why }).to_string()),
            ..RpcError::internal(format!(
                "The output of tool '{}' does not satisfy its outputSchema: {why}",
                tool.name
            ))
        };
        let without = |kind, error| Broken { error, kind, problems: 0, rule: None };
        let structured = structured
            .ok_or_else(|| without("it has an outputSchema and gave nothing for it", broken(&missing())))?;
        let compiled = self.output.get_or_init(|| Schema::compile(written.get()));
        let schema = compiled.as_ref().map_err(|error| {
            without("its outputSchema cannot be used", unusable(tool, "outputSchema", error))
        })?;
        schema.check_value(structured).map_err(|problems| Broken {
            error: broken(&listed(&problems)),
            kind: "its result does not satisfy its outputSchema",
            problems: problems.len(),
            rule: problems.first().and_then(SchemaRule::broken_by),
        })
    }
}

/// The arguments, with unambiguous corrections.
fn check<'a>(schema: &Schema, arguments: Cow<'a, str>) -> Result<Cow<'a, str>, Vec<Problem>> {
    match arguments {
        Cow::Borrowed(text) => Ok(schema.check(text)?.text),
        Cow::Owned(text) => Ok(Cow::Owned(schema.check(&text)?.text.into_owned())),
    }
}

fn unusable(tool: &Tool, which: &str, error: &SchemaError) -> RpcError {
    RpcError::internal(format!("Tool '{}' has an {which} that cannot be used: {error}", tool.name))
}

fn listed(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("- {problem}")).collect::<Vec<_>>().join("\n")
}
