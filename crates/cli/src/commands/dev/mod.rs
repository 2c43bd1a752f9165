//! `mcp-bash dev`: serves a project as usual, and shows the exchange between a client and the server.

mod changes;
mod client;
mod exchange;
mod line;
mod screen;
mod view;

pub(crate) use changes::Holdings;
pub(crate) use view::View;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::commands::serve::{self, Manner};
use mcp_bash_project::{Catalog, Location};
use mcp_bash_server::Log;
use mcp_bash_settings::Settings;
use mcp_bash_terminal::words::{self, Length};
use screen::Screen;
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[group(skip)]
pub(crate) struct Arguments {
    /// Call tools by hand at a prompt, instead of waiting for a client
    #[arg(long, conflicts_with_all = ["log_file", "roots"])]
    client: bool,

    #[command(flatten)]
    serve: serve::Arguments,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash dev ./weather                    put this into your client in place of `mcp-bash ./weather`
  mcp-bash dev --log-file /tmp/dev.log      and read along with `tail -f /tmp/dev.log`
  mcp-bash dev -v                           show messages whole
  mcp-bash dev --client ./weather           call tools by hand, with completion by Tab
  echo 'forecast town=Rome' | mcp-bash dev --client ./weather";

pub(crate) fn run(mut common: Common, mut arguments: Arguments) -> Result<ExitCode, Error> {
    arguments.serve.take_folder(&mut common).map_err(|error| Error::Serving(error.into()))?;
    if arguments.client {
        return client::run(&common);
    }
    let length = if common.verbose { Length::Whole } else { Length::Short };
    // The view goes to the file; the log is part of it.
    let file = arguments.serve.log_file.take();
    let view = |settings: &Settings| {
        let opened = file.as_deref().map(open).transpose()?;
        Ok(View::new(Screen::stderr(opened), length, settings))
    };
    let manner = Manner {
        adjust: Some(&notice_changes),
        view: Some(&view),
        welcome: Some(welcome),
        ..Manner::default()
    };
    serve::run_as(&common, &arguments.serve, &manner)
}

fn open(path: &Path) -> Result<std::fs::File, Error> {
    Log::open_file(path).map_err(|source| Error::LogFile { path: path.to_owned(), source })
}

/// A user who works on a project wants to see its changes.
fn notice_changes(settings: &mut Settings) {
    settings.static_registry = false;
}

/// The text for a user who starts it in a terminal, without a client.
fn welcome(location: &Location, catalog: &Catalog) -> String {
    let folder = match location {
        Location::Folder(folder) => folder.display().to_string(),
        Location::Embedded => "the built-in project".to_owned(),
    };
    let program =
        std::env::current_exe().map_or_else(|_| "mcp-bash".to_owned(), |path| path.display().to_string());
    let place = match location {
        Location::Folder(folder) => format!(" {}", folder.display()),
        Location::Embedded => String::new(),
    };
    format!(
        "mcp-bash dev serves {folder} ({}) and waits for a client on standard input.\n\
         Give your client this command in place of the usual one, and read along here or in a file:\n  \
         {program} dev{place} --log-file /tmp/mcp-bash-dev.log\n\
         To call tools by hand: mcp-bash dev --client{place}\n\
         Ctrl-C ends it.\n",
        words::counted(catalog.tools.len(), "tool"),
    )
}
