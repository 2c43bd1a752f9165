//! `mcp-bash debug`: serves a project and records all messages, in a folder that only its owner can read.

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::serve::{self, Manner};
use mcp_bash_settings::Settings;
use mcp_bash_terminal::tell;
use mcp_bash_wire::LogLevel;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::ExitCode;
use thiserror::Error as ThisError;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[group(skip)]
pub(crate) struct Arguments {
    #[command(flatten)]
    serve: serve::Arguments,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash debug ./weather       put this into your client in place of `mcp-bash ./weather`; it says where the record is
  tail -F /tmp/mcpbash.debug.*/*/payloads.log";

#[derive(Debug, ThisError)]
#[error("failed to make a folder for the record in {}: {source}; set TMPDIR to a folder that you may write to", parent.display())]
struct NoFolder {
    parent: PathBuf,
    source: io::Error,
}

pub(crate) fn run(mut common: Common, mut arguments: Arguments) -> Result<ExitCode, Error> {
    arguments.serve.take_folder(&mut common).map_err(|error| Error::Serving(error.into()))?;
    let parent = std::env::temp_dir();
    let folder = make_folder(&parent)
        .map_err(|source| Error::of_command(Exit::Failed, NoFolder { parent, source }))?;
    tell(&format!("mcp-bash debug: messages and logs are kept in {}", folder.display()));
    let adjust = |settings: &mut Settings| {
        settings.debug_payloads = true;
        settings.logs.keep = true;
        settings.logs.temporary = Some(folder.clone());
        settings.logs.folder.get_or_insert_with(|| folder.clone());
        if !settings.has_log_level {
            settings.log_level = LogLevel::Debug;
        }
    };
    serve::run_as(&common, &arguments.serve, &Manner { adjust: Some(&adjust), ..Manner::default() })
}

/// Creates a new folder that only its owner can enter.
fn make_folder(parent: &std::path::Path) -> io::Result<PathBuf> {
    const ATTEMPTS: usize = 100;
    let mut builder = std::fs::DirBuilder::new();
    builder.mode(0o700);
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for _ in 0..ATTEMPTS {
        let folder = parent.join(format!("mcpbash.debug.{}", random_name()));
        match builder.create(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// Six letters, as `mktemp` makes them.
fn random_name() -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnopqrstuvwxyz2345678";
    // The keys of a new hasher are random.
    let number = RandomState::new().build_hasher().finish();
    number.to_le_bytes().iter().take(6).map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect()
}
