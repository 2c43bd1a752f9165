//! Tools from a compiled program. The server runs it as
//!
//! - `textstat list`, which prints the definition of each tool,
//! - `textstat NAME ARGUMENTS`, which is a call: the arguments are JSON, and so is the result on standard
//! output.
//!
//! Arguments that do not match a tool's `inputSchema` never arrive here.

mod duplicates;
mod statistics;

use serde_json::{Value, json};
use std::io::Read;
use std::process::ExitCode;

/// A tool: its definition for clients, and its function.
struct Tool {
    name: &'static str,
    /// As text, because the server searches an executable for the word `inputSchema` before it asks it for
    /// tools, and a compiler may split a short string.
    definition: &'static str,
    call: fn(&Value) -> Result<Value, String>,
}

const TOOLS: [Tool; 2] = [
    Tool { name: "text_stats", definition: include_str!("statistics.json"), call: statistics::call },
    Tool { name: "duplicate_lines", definition: include_str!("duplicates.json"), call: duplicates::call },
];

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("list") => {
            for tool in &TOOLS {
                println!("{}", tool.definition);
            }
            ExitCode::SUCCESS
        }
        Some("instructions") => {
            println!("text_stats measures a text, duplicate_lines finds what stands in it twice.");
            ExitCode::SUCCESS
        }
        Some(name) => run(name),
        None => {
            eprintln!("usage: textstat list | instructions | NAME ARGUMENTS");
            ExitCode::from(2)
        }
    }
}

/// Calls a tool and prints its result. If the model can correct its call, the result has `isError`.
fn run(name: &str) -> ExitCode {
    let Some(tool) = TOOLS.iter().find(|tool| tool.name == name) else {
        eprintln!("there is no tool called {name}");
        return ExitCode::FAILURE;
    };
    let content = |text: &str| json!([{ "type": "text", "text": text }]);
    let result = match arguments().and_then(|arguments| (tool.call)(&arguments)) {
        Ok(found) => json!({ "content": content(&found.to_string()), "structuredContent": found }),
        Err(problem) => json!({ "content": content(&problem), "isError": true }),
    };
    println!("{result}");
    ExitCode::SUCCESS
}

/// The arguments, from standard input: long ones do not fit on the command line.
fn arguments() -> Result<Value, String> {
    let mut written = String::new();
    std::io::stdin()
        .read_to_string(&mut written)
        .map_err(|error| format!("cannot read the arguments: {error}"))?;
    serde_json::from_str(&written).map_err(|error| format!("the arguments are no JSON: {error}"))
}

/// The argument `text`, which must not be empty.
fn text(arguments: &Value) -> Result<&str, String> {
    arguments["text"]
        .as_str()
        .filter(|text| !text.trim().is_empty())
        .ok_or_else(|| "The text is empty. Give one with at least one word.".to_owned())
}
