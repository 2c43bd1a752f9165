//! Command line: which command is meant, and what all commands share. Each command defines its own arguments.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::call::arguments::OfCall;
use crate::commands::own_flags;
use crate::commands::{
    ask, audit, bundle, call, complete, completions, config, debug, demo, dev, doctor, download, get, health,
    image, import, init, install, jq, list, manual, new, policy, provider, publish, read, registry, roles,
    run_tool, sandbox, scaffold, schema, sdk_path, secret, serve, task, test, token, validate, vendor,
    version,
};
use crate::habits;
use crate::help_groups::grouped;
use crate::open::failed_start::answer_first_request;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use mcp_bash_spelling::nearest;
use mcp_bash_terminal::complain;
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// A folder of scripts becomes a Model Context Protocol server.
///
/// Without a command it serves a project over standard input and output: the folder given here or in
/// `MCPBASH_PROJECT_ROOT`, otherwise the current folder if it is a project, otherwise the nearest parent
/// folder with `server.d/server.meta.json`, otherwise a built-in project to get started.
#[derive(Debug, Parser)]
#[command(name = "mcp-bash", version, override_usage = USAGE, after_help = AFTER_HELP, disable_help_subcommand = true)]
pub(crate) struct CommandLine {
    #[command(flatten)]
    common: Common,

    #[command(flatten)]
    serve: serve::Arguments,

    #[command(subcommand)]
    command: Option<Command>,
}

/// One row for each command: its words in the overview, its arguments, its name, and what runs it.
macro_rules! commands {
    ($($(#[$attribute:meta])* $variant:ident($arguments:ty) = $name:literal, $run:expr;)*) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($(#[$attribute])* #[command(name = $name)] $variant($arguments),)*
        }

        impl Command {
            fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            fn run(self, common: Common) -> Result<ExitCode, Error> {
                match self {
                    $(Self::$variant(arguments) => {
                        let run: fn(Common, $arguments) -> Result<ExitCode, Error> = $run;
                        run(common, arguments)
                    })*
                }
            }
        }
    };
}

commands! {
    /// For scripts: ask the client of the running call, and print its answer as JSON
    Ask(ask::Arguments) = "ask", |_, arguments| ask::run(&arguments);

    /// Show the audit log, and find lines that were removed or changed
    #[command(subcommand)]
    Audit(audit::Arguments) = "audit", |common, arguments| audit::run(&common, &arguments);

    /// Make an MCPB file of the project, which clients install with a click
    Bundle(bundle::Arguments) = "bundle", |common, arguments| bundle::run(&common, &arguments);

    /// Call a tool, and show the result
    Call(call::Arguments) = "call", |common, arguments| call::run(&common, &arguments);

    /// Show the completions that a client would offer for an argument
    Complete(complete::Arguments) = "complete", |common, arguments| complete::run(&common, &arguments);

    /// Print a shell completion script for commands, tools and their arguments
    Completions(completions::Arguments) = "completions", |_, arguments| completions::run(&arguments);

    /// Print the entry for a client's configuration file that starts this project
    Config(config::Arguments) = "config", |common, arguments| config::run(&common, &arguments);

    /// Serve a project and record all messages, to debug what a client does
    Debug(debug::Arguments) = "debug", |common, arguments| debug::run(common, arguments);

    /// Show an exchange between a client and the server of the built-in project
    #[command(after_help = demo::EXAMPLES)]
    Demo(demo::Arguments) = "demo", |_, _| demo::run();

    /// Serve a project and show every exchange while you work on it
    Dev(dev::Arguments) = "dev", |common, arguments| dev::run(common, arguments);

    /// Check this machine, the project and the clients, and report problems with their fixes
    Doctor(doctor::Arguments) = "doctor", |common, arguments| doctor::run(&common, &arguments);

    /// For scripts: download a file from an allowed public host, and print the outcome as JSON
    Download(download::Arguments) = "download", |_, arguments| download::run(&arguments);

    /// Show the messages of a prompt
    Get(get::Arguments) = "get", |common, arguments| get::run(&common, &arguments);

    /// Check whether the project is ready to be served: exit 0 ready, 1 unhealthy, 2 misconfigured
    #[command(visible_alias = "ready")]
    Health(health::Arguments) = "health", |common, arguments| health::run(&common, &arguments);

    /// Write a Containerfile for the project, with what its scripts need
    Image(image::Arguments) = "image", |common, arguments| image::run(&common, &arguments);

    /// Create tools from scripts, a justfile, Makefile, package.json, Taskfile or a program's `--help`
    Import(import::Arguments) = "import", |common, arguments| import::run(&common, &arguments);

    /// Turn this folder into a project; existing files stay unchanged
    Init(init::Arguments) = "init", |common, arguments| init::run(&common, &arguments);

    /// Add this project to the configuration files of clients
    Install(install::Arguments) = "install", |common, arguments| install::run(&common, &arguments);

    /// Run the built-in jq, as scripts do on a machine without jq
    #[command(disable_help_flag = true)]
    Jq(jq::Arguments) = "jq", |_, arguments| Ok(jq::run(arguments.words.into_iter()));

    /// List a server's tools, resources and prompts
    List(list::Arguments) = "list", |common, arguments| list::run(&common, &arguments);

    /// Print manual pages, or write all of them to a folder
    Man(manual::Arguments) = "man", |_, arguments| manual::run(&arguments, whole());

    /// Create a project in a new folder, with a first tool
    New(new::Arguments) = "new", |common, arguments| new::run(&common, &arguments);

    /// Check an executable that provides tools; for scripts, read the contents of a URI
    #[command(subcommand)]
    Provider(provider::Arguments) = "provider", |common, arguments| provider::run(&common, &arguments);

    /// Make the project's entry for the MCP registry, check it, and publish it
    Publish(publish::Arguments) = "publish", |common, arguments| publish::run(&common, &arguments);

    /// Check the rules of server.d/policy.yaml, and explain what they decide
    #[command(subcommand)]
    Policy(policy::Arguments) = "policy", |common, arguments| policy::run(&common, &arguments);

    /// Show the contents of a resource
    Read(read::Arguments) = "read", |common, arguments| read::run(&common, &arguments);

    /// Write the registry of a project, or show its contents
    #[command(subcommand)]
    Registry(registry::Arguments) = "registry", |common, arguments| registry::run(&common, &arguments);

    /// Call a tool, and print the result as JSON, with the flags of older scripts
    RunTool(run_tool::Arguments) = "run-tool", |common, arguments| run_tool::run(&common, &arguments);

    /// Show what sandboxes enforce on this machine, and what each script may do
    #[command(subcommand)]
    Sandbox(sandbox::Arguments) = "sandbox", |common, arguments| sandbox::run(&common, &arguments);

    /// Add a tool, a prompt, a resource, a completion, a provider or a test script to the project
    Scaffold(scaffold::Arguments) = "scaffold", |common, arguments| scaffold::run(&common, &arguments);

    /// Print the JSON schemas of a project's files, for editors
    Schema(schema::Arguments) = "schema", |common, arguments| schema::run(&common, &arguments);

    /// Check the roles of callers, and show what one may do
    #[command(subcommand)]
    Roles(roles::Arguments) = "roles", |common, arguments| roles::run(&common, &arguments);

    /// Print the path of the SDK, for scripts and tests that run by hand
    SdkPath(sdk_path::Arguments) = "sdk-path", |_, arguments| sdk_path::run(&arguments);

    /// Keep secrets for scripts, and list or check those that a project needs
    #[command(subcommand)]
    Secret(secret::Arguments) = "secret", |common, arguments| secret::run(&common, &arguments);

    /// Serve a project, as without a command
    #[command(after_help = serve::EXAMPLES)]
    Serve(serve::command::Arguments) = "serve", |common, arguments| serve::command::run(common, arguments);

    /// Show, cancel and retry the tasks of the project: calls that outlive their requests
    #[command(subcommand)]
    Task(task::Arguments) = "task", |common, arguments| task::run(&common, &arguments);

    /// Run the tests of the project against a real server; or check that no change breaks clients
    Test(test::Arguments) = "test", |common, arguments| test::run(&common, &arguments);

    /// Create, list and remove tokens, the credentials of callers over HTTP
    #[command(subcommand)]
    Token(token::Arguments) = "token", |common, arguments| token::run(&common, &arguments);

    /// Remove this project from the configuration files of clients
    Uninstall(install::UninstallArguments) = "uninstall", |common, arguments| install::run_uninstall(&common, &arguments);

    /// Find problems in a project, including what known clients refuse, and repair what is safe
    Validate(validate::Arguments) = "validate", |common, arguments| validate::run(&common, &arguments);

    /// Put this program beside the project, with a script that starts it
    Vendor(vendor::Arguments) = "vendor", |common, arguments| vendor::run(&common, &arguments);

    /// Print the version of this program, its build, and what it supports
    Version(version::Arguments) = "version", |_, arguments| version::run(&arguments);
}

/// A command line that only serves, which is what clients have: read without building what the commands take.
#[derive(Debug, Parser)]
#[command(name = "mcp-bash", disable_help_flag = true)]
struct ServeAlone {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    serve: serve::Arguments,
}

impl CommandLine {
    /// Reads the command line.
    pub(crate) fn read() -> Result<Self, Error> {
        let words = habits::rewritten(with_commands_for_flags(std::env::args_os().collect()))?;
        let words = own_flags::with_flags_first(words);
        let first = words.get(1).cloned().unwrap_or_default();
        let is_path = first == "." || first == ".." || first.as_encoded_bytes().contains(&b'/');
        let no_command = is_flag(&first) || is_path;
        if no_command && let Ok(ServeAlone { common, serve }) = ServeAlone::try_parse_from(&words) {
            return Self { common, serve, command: None }.checked();
        }
        if let Some(OfCall { common, arguments }) = OfCall::read(&words) {
            let (serve, command) = (serve::Arguments::default(), Some(Command::Call(arguments)));
            return Self { common, serve, command }.checked();
        }
        let parsed = whole().try_get_matches_from(&words).and_then(|found| Self::from_arg_matches(&found));
        match parsed {
            Ok(arguments) => arguments.checked(),
            // Of two words that clap could reject, the first one counts: `intit --name x` is not a folder called `intit`
            // with a wrong flag, and `help intit` is not about all commands.
            Err(_) if is_neither_folder_nor_command(&first) => Err(neither_folder_nor_command(&first)),
            Err(error) => explained(&error, no_command || SERVE.iter().any(|name| first == *name)),
        }
    }

    /// The same with a lone folder as the project; or the error of a contradiction.
    fn checked(mut self) -> Result<Self, Error> {
        let is_demo = matches!(self.command, Some(Command::Demo(_)));
        match (&self.serve.folder, &self.command) {
            (Some(folder), _) if !folder.is_dir() => Err(neither_folder_nor_command(folder.as_os_str())),
            (folder, Some(_)) if is_demo && (folder.is_some() || self.common.project_root.is_some()) => {
                Err(Error::DemoOfFolder)
            }
            (Some(folder), Some(command)) => {
                Err(Error::FolderBeforeCommand { folder: folder.clone(), command: command.name() })
            }
            (_, None) => {
                self.serve.take_folder(&mut self.common).map_err(|error| Error::Serving(error.into()))?;
                Ok(self)
            }
            (None, Some(_)) => Ok(self),
        }
    }

    /// Runs the command.
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let Self { common, serve, command } = self;
        let Some(command) = command else { return serve::run(&common, &serve) };
        tell_of_folder(command.name(), &common);
        panic_if_a_test_wants();
        command.run(common)
    }
}

/// The commands that a client starts, besides none at all.
const SERVE: [&str; 3] = ["serve", "debug", "dev"];

/// Prints help, the version or the usage error, and exits; unless that cannot be printed. A client that waits for a server is
/// told too.
fn explained<T>(error: &clap::Error, is_for_client: bool) -> Result<T, Error> {
    let printed = error.print().and_then(|()| std::io::stdout().flush());
    match printed {
        Err(failure) if !error.use_stderr() && failure.kind() != std::io::ErrorKind::BrokenPipe => {
            let words = format!("failed to write to standard output: {failure}");
            Err(Error::of_command(Exit::Failed, words))
        }
        _ => {
            if error.use_stderr() && is_for_client {
                let text = error.to_string();
                let problem = text.split("\n\nUsage").next().unwrap_or_default();
                let problem = problem.strip_prefix("error: ").unwrap_or(problem).trim_end();
                answer_first_request(&format!("{problem}\n\n`mcp-bash --help` shows what there is"));
            }
            std::process::exit(error.exit_code())
        }
    }
}

/// For the test of the message after a panic; not in release builds.
fn panic_if_a_test_wants() {
    if cfg!(debug_assertions)
        && std::env::var_os("MCPBASH_TEST_PANIC").is_some_and(|wanted| wanted == "command")
    {
        panic!("wanted by a test");
    }
}

/// A command takes precedence over a folder of its name; tells the user how to name the folder, in case that was meant.
fn tell_of_folder(name: &str, common: &Common) {
    let folder = Path::new(name);
    let is_project = || ["tools", "server.d"].iter().any(|part| folder.join(part).is_dir());
    if !common.quiet && folder.is_dir() && is_project() {
        complain(&format!("`{name}` is a command; `mcp-bash ./{name}` serves the folder of that name"));
    }
}

/// The command line as clap knows it: all commands with their arguments.
pub(crate) fn whole() -> clap::Command {
    grouped(CommandLine::command())
}

/// The words with the commands that used to be flags: `--health` and `--ready`; and `-v` alone is `--version`, as mcp-bash
/// had it. `help COMMAND` is `COMMAND --help`.
fn with_commands_for_flags(mut words: Vec<OsString>) -> Vec<OsString> {
    if words.get(1).is_some_and(|word| word == "help") {
        words.remove(1);
        words.push("--help".into());
        return words;
    }
    if words.len() == 2 && words[1] == "-v" {
        words[1] = "--version".into();
    }
    // After a command, they are its own: `call TOOL --health`.
    let before_command = habits::command_place(&words).unwrap_or(words.len());
    if let Some(flag) =
        words[..before_command].iter().position(|word| word == "--health" || word == "--ready")
    {
        words.remove(flag);
        words.insert(1, "health".into());
    }
    words
}

fn is_flag(word: &OsStr) -> bool {
    word.is_empty() || word.as_encoded_bytes().starts_with(b"-")
}

fn is_neither_folder_nor_command(word: &OsStr) -> bool {
    !is_flag(word) && !Path::new(word).is_dir() && whole().find_subcommand(word).is_none()
}

fn neither_folder_nor_command(word: &OsStr) -> Error {
    let whole = whole();
    let names = whole.get_subcommands().filter(|command| !command.is_hide_set());
    let names = names.flat_map(clap::Command::get_name_and_visible_aliases);
    let suggestion = word.to_str().and_then(|word| nearest(word, names)).map(str::to_owned);
    Error::NeitherFolderNorCommand { word: word.into(), suggestion }
}

const USAGE: &str = "\
mcp-bash [OPTIONS] [DIR]
       mcp-bash COMMAND [OPTIONS]";

const AFTER_HELP: &str = "\
Put this command into your MCP client's configuration:
  mcp-bash --project-root /path/to/your/project
See a server and a client at work:
  mcp-bash demo

`mcp-bash help COMMAND` says more about one command, with examples.
Settings are environment variables; docs/settings.md lists them all.";
