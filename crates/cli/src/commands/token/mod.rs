//! `mcp-bash token`: manages the file of the tokens for callers over HTTP.

mod named_entries;

use crate::base::common::Common;
use crate::base::error::{Error, meant};
use crate::base::exit::Exit;
use crate::open::startup;
use crate::terminal::print::print;
use clap::{Args, Subcommand};
use mcp_bash_roles::Rate;
use mcp_bash_spelling::nearest;
use mcp_bash_terminal::{complain, harmless_line, tell};
use mcp_bash_transport::http::{
    Grant, NameList, NewTokenError, TokenEditError, TokenLine, TokenText, add_token, read_tokens,
    remove_token,
};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum Arguments {
    /// Create a token, print it once, and add its hash to the file
    #[command(after_help = NEW_EXAMPLES)]
    New(NewArguments),
    /// List the tokens of the file: their callers and what they allow
    #[command(after_help = LIST_EXAMPLES)]
    List(ListArguments),
    /// Remove a token from the file; a running server refuses it from the next second on
    #[command(after_help = REMOVE_EXAMPLES)]
    Remove(RemoveArguments),
}

const NEW_EXAMPLES: &str = "\
Examples:
  mcp-bash token new alice --file tokens
  mcp-bash token new ci --file tokens --tools build,test --rate 60/min
  mcp-bash token new guest --file tokens --read-only --resources notes --prompts all
  mcp-bash token new alice --file tokens --json | jq -r .token";

const LIST_EXAMPLES: &str = "\
Examples:
  mcp-bash token list --file tokens
  mcp-bash token list --file tokens --json | jq -r .[].name";

const REMOVE_EXAMPLES: &str = "\
Examples:
  mcp-bash token remove alice --file tokens";

/// The name of the token file in all examples.
const USUAL_NAME: &str = "tokens";

#[derive(Debug, Clone, Args)]
pub(crate) struct NewArguments {
    /// The name of the caller
    name: String,

    #[command(flatten)]
    place: NamedFile,

    /// Comma-separated tools that it allows [default: all]
    #[arg(long, value_name = "NAMES")]
    tools: Option<NameList>,

    /// Comma-separated resources and templates that it allows, by name or URI; no other URI can be read [default: all]
    #[arg(long, value_name = "NAMES")]
    resources: Option<NameList>,

    /// Comma-separated prompts that it allows [default: all]
    #[arg(long, value_name = "NAMES")]
    prompts: Option<NameList>,

    /// Allow only tools with `readOnlyHint` in their annotations
    #[arg(long)]
    read_only: bool,

    /// The rate limit: `10/s`, `600/min` or `5000/h` [default: as `MCPBASH_HTTP_MAX_REQUESTS_PER_MIN`]
    #[arg(long, value_name = "RATE")]
    rate: Option<Rate>,

    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    place: NamedFile,

    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RemoveArguments {
    /// The name of the caller
    name: String,

    #[command(flatten)]
    place: NamedFile,

    /// Report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Args)]
#[group(skip)]
struct NamedFile {
    /// The token file [default: `MCPBASH_HTTP_TOKENS`]
    #[arg(long, visible_alias = "tokens", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl NamedFile {
    fn path(&self) -> Result<PathBuf, Error> {
        let (settings, _) = startup::settings();
        let file = self.file.clone().or(settings.http.tokens);
        file.ok_or_else(|| Error::of_command(Exit::Usage, no_file()))
    }
}

/// What was looked for in vain. A file of the usual name is only proposed: it may not be the one that the server reads.
fn no_file() -> String {
    let next_step = if Path::new(USUAL_NAME).is_file() {
        format!("add `--file {USUAL_NAME}` for the one in this folder")
    } else {
        "give one of them".to_owned()
    };
    format!("which file? Neither `--file FILE` nor the variable MCPBASH_HTTP_TOKENS names one; {next_step}")
}

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    match arguments {
        Arguments::New(arguments) => new(common, arguments),
        Arguments::List(arguments) => list(arguments),
        Arguments::Remove(arguments) => remove(common, arguments),
    }
}

fn new(common: &Common, arguments: &NewArguments) -> Result<ExitCode, Error> {
    let path = arguments.place.path()?;
    named_entries::check(common, arguments)?;
    let (line, token) = TokenLine::generate(&arguments.name, arguments.grant()).map_err(|error| {
        let exit = if matches!(error, NewTokenError::Random(_)) { Exit::Failed } else { Exit::Usage };
        Error::of_command(exit, error)
    })?;
    add_token(&path, &line).map_err(edit_error)?;
    let printed = if arguments.json {
        let mut made = described(&line);
        made["token"] = json!(token);
        made["file"] = json!(path.to_string_lossy());
        format!("{made:#}\n")
    } else {
        format!("{token}\n")
    };
    print(&printed)?;
    if !common.quiet && !arguments.json {
        tell(&format!(
            "Added `{}` to {}. The token is not kept anywhere: it is shown this once.\n\
             Its owner sends it with each request, as `Authorization: Bearer TOKEN`.",
            line.name(),
            path.display()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn list(arguments: &ListArguments) -> Result<ExitCode, Error> {
    let path = arguments.place.path()?;
    let TokenText { tokens, problems } = read_tokens(&path).map_err(edit_error)?;
    if arguments.json {
        print(&format!("{:#}\n", Value::Array(tokens.iter().map(described).collect())))?;
    } else {
        print(&table(&tokens))?;
    }
    for problem in &problems {
        complain(&format!("{}, {problem}; that line grants no access", path.display()));
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn remove(common: &Common, arguments: &RemoveArguments) -> Result<ExitCode, Error> {
    let path = arguments.place.path()?;
    remove_token(&path, &arguments.name).map_err(|error| match error {
        TokenEditError::Missing { .. } => missing(&path, &arguments.name),
        error => edit_error(error),
    })?;
    if arguments.json {
        let removed = json!({ "name": arguments.name, "file": path.to_string_lossy() });
        print(&format!("{removed:#}\n"))?;
    } else if !common.quiet {
        print(&format!("Removed `{}` from {}\n", arguments.name, path.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn missing(path: &Path, name: &str) -> Error {
    let known = read_tokens(path).map(|text| text.tokens).unwrap_or_default();
    let suggestion = nearest(name, known.iter().map(|token| &**token.name()));
    let said = format!("{} has no token for `{name}`{}", path.display(), meant(suggestion));
    Error::of_command(Exit::NotFound, said)
}

fn edit_error(error: TokenEditError) -> Error {
    let exit = match error {
        TokenEditError::Exists { .. } => Exit::Refused,
        TokenEditError::Missing { .. } => Exit::NotFound,
        TokenEditError::Line { .. } | TokenEditError::File(_) => Exit::Usage,
        TokenEditError::Write { .. } => Exit::Failed,
    };
    Error::of_command(exit, error)
}

impl NewArguments {
    fn grant(&self) -> Grant {
        Grant {
            tools: self.tools.clone(),
            resources: self.resources.clone(),
            prompts: self.prompts.clone(),
            read_only: self.read_only,
            rate: self.rate,
        }
    }
}

fn described(token: &TokenLine) -> Value {
    let Grant { tools, resources, prompts, read_only, rate } = token.grant();
    let names = |list: &Option<NameList>| list.as_ref().map(|list| list.names().to_vec());
    json!({
        "name": &**token.name(),
        "tools": names(tools),
        "resources": names(resources),
        "prompts": names(prompts),
        "readOnly": read_only,
        "rate": rate.map(|rate| rate.to_string()),
    })
}

fn table(tokens: &[TokenLine]) -> String {
    let width = tokens.iter().map(|token| token.name().len()).max().unwrap_or_default();
    let mut text = String::new();
    for token in tokens {
        let _ = writeln!(text, "{:width$}  {}", token.name(), harmless_line(&allowed(token.grant())));
    }
    text
}

/// What a token allows, in words.
fn allowed(grant: &Grant) -> String {
    let everything = if grant.read_only { "all read-only tools" } else { "all tools" };
    let mut words = match &grant.tools {
        None => everything.to_owned(),
        Some(tools) if grant.read_only => format!("{tools} if read-only"),
        Some(tools) => tools.to_string(),
    };
    for (kind, list) in [("resources", &grant.resources), ("prompts", &grant.prompts)] {
        if let Some(list) = list {
            let _ = write!(words, ", {kind} {list}");
        }
    }
    if let Some(rate) = grant.rate {
        let _ = write!(words, ", {rate}");
    }
    words
}
