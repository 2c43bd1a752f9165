//! Command line of `call`.

use super::error::CallError;
use crate::base::common::Common;
use crate::open::connect::ServerArguments;
use clap::Parser;
use mcp_bash_settings::Settings;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The meaning of `--timeout 0`, no limit: a year.
const WITHOUT_END: u64 = 365 * 24 * 60 * 60;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) options: CallOptions,

    /// Print the result as JSON on one line, exactly as the server sent it
    #[arg(long)]
    pub(super) json: bool,

    /// Show all of a long text; without it, a client's part: the beginning, the end and a link
    #[arg(long)]
    pub(super) whole: bool,

    /// Save images, audio and other files of the result in this folder; nothing there is overwritten
    #[arg(long, value_name = "DIR")]
    pub(super) save: Option<PathBuf>,

    /// Run the tool in its sandbox, list what it touches and what is denied, and offer the narrowest sandbox for it
    #[arg(long)]
    pub(super) trace_access: bool,

    /// Consent to the call, if the tool asks for that; with --trace-access also write the offered sandbox, with what was
    /// denied, to the tool's metadata. After the name of a tool with an argument `yes`, it is for the tool; it answers no
    /// question of the tool itself
    #[arg(short, long)]
    pub(super) yes: bool,

    /// The tool, then its arguments: key=value, key:=JSON, or the flags that `call TOOL --help` lists
    #[arg(
        value_name = "TOOL [key=value]...",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(super) words: Vec<OsString>,
}

/// What `call` and `run-tool` take.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct CallOptions {
    /// The arguments as one JSON object: the text itself, @FILE, or - for standard input; key=value takes
    /// precedence
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    pub(crate) args: Option<String>,

    /// Comma-separated folders that the tool may work in
    #[arg(long, value_name = "DIRS")]
    pub(crate) roots: Option<String>,

    /// The timeout in seconds; 0 means no timeout
    #[arg(long, value_name = "SECS")]
    pub(crate) timeout: Option<u64>,

    #[command(flatten)]
    pub(crate) server: ServerArguments,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash call hello name=Ada
  mcp-bash call disk --path /var --top 5
  mcp-bash call disk --help
  mcp-bash call report --args @report.json --json | jq .structuredContent
  mcp-bash call chart --save pictures/
  mcp-bash call logs --whole | less
  mcp-bash call report --trace-access
  mcp-bash call --yes clean folder=scratch
  mcp-bash call add a:=1 b:=2 --command \"npx -y some-server\"

Exit codes: 0 a result that is no error, 1 the tool failed, 2 wrong arguments, 3 refused, 4 no such tool, 5 timed out,
6 no server, 130 interrupted. docs/calling.md tells more.";

impl CallOptions {
    /// The folders of `--roots`, all of which exist.
    pub(super) fn roots(&self) -> Result<Vec<PathBuf>, CallError> {
        let named = self.roots.as_deref().into_iter().flat_map(|roots| roots.split(','));
        let folder = |name: &str| match PathBuf::from(name).canonicalize() {
            Ok(path) if path.is_dir() => Ok(path),
            _ => Err(CallError::NoRoot(name.to_owned())),
        };
        named.filter(|name| !name.is_empty()).map(folder).collect()
    }

    /// The timeout of the call in seconds, if the user sets one.
    pub(crate) fn seconds(&self) -> Option<u64> {
        self.timeout.map(|seconds| if seconds == 0 { WITHOUT_END } else { seconds.min(WITHOUT_END) })
    }

    pub(crate) fn time_limit(&self) -> Option<Duration> {
        self.timeout.filter(|seconds| *seconds > 0).map(Duration::from_secs)
    }

    /// Adjusts the settings of the project's server for one call on the command line: the user may allow more time than the
    /// project allows its clients.
    pub(crate) fn adjust(&self, settings: &mut Settings) {
        if let Some(seconds) = self.seconds() {
            settings.max_timeout = settings.max_timeout.max(Duration::from_secs(seconds));
        }
    }
}

/// A command line that calls: read without building what other commands take.
#[derive(Debug, Parser)]
#[command(name = "mcp-bash", disable_help_flag = true)]
pub(crate) struct OfCall {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) arguments: Arguments,
}

impl OfCall {
    /// `None` if the words are not a call, or have to be explained: then the whole command line is needed.
    pub(crate) fn read(words: &[OsString]) -> Option<Self> {
        let after = words.get(2..).filter(|_| words[1] == "call")?;
        let line = Self::try_parse_from(words.iter().take(1).chain(after)).ok()?;
        // A flag in place of the tool asks for help, or is a mistake.
        let is_tool = |word: &OsString| !word.as_encoded_bytes().starts_with(b"-");
        line.arguments.words.first().is_some_and(is_tool).then_some(line)
    }
}
