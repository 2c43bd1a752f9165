//! `mcp-bash vendor`: puts the program beside a project, with a lock and a script that starts it, so that the project runs
//! where nothing is installed.

mod check;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::bundle::programs::ProgramFile;
use crate::open::package_facts::{optional, packaging_error};
use crate::open::startup;
use crate::terminal::print::print;
use mcp_bash_packaging::{Lock, VENDORED_LAUNCHER, Version, sha256};
use mcp_bash_project::Location;
use mcp_bash_terminal::{complain, harmless};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use thiserror::Error as ThisError;

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The folder of the project to put the program into [default: the project]
    #[arg(short, long, value_name = "DIR", conflicts_with = "project_root")]
    output: Option<PathBuf>,

    /// The mcp-bash program, static for Linux [default: this one]
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,

    /// Replace an older program
    #[arg(long)]
    upgrade: bool,

    /// Replace a newer program too
    #[arg(long, requires = "upgrade")]
    allow_downgrade: bool,

    /// Check the program against its lock, and change nothing
    #[arg(long, conflicts_with_all = ["upgrade", "binary", "dry_run"])]
    verify: bool,

    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash vendor                        this program, for the project here
  mcp-bash vendor --binary mcp-bash-static
  mcp-bash vendor --upgrade              after an update of mcp-bash
  mcp-bash vendor --verify               for CI: exit code 1 if the program was changed
  ./run-server.sh                        serves the project, from any folder

Exit codes: 0 done, 1 verification failed, 2 called the wrong way, 3 something would be lost (docs/vendoring.md)";

/// The messages complete "mcp-bash: ...".
#[derive(Debug, ThisError)]
enum VendorError {
    #[error("{} contains mcp-bash {version} already; `--upgrade` replaces it", folder.display())]
    Exists { folder: PathBuf, version: Version },
    #[error("{} contains mcp-bash {old}, which is newer than {new}; `--upgrade --allow-downgrade` replaces it", folder.display())]
    Downgrade { folder: PathBuf, old: Version, new: Version },
    #[error(
        "{} contains the runtime of mcp-bash in bash, a folder of scripts; this program needs none of them. Remove {} and \
         run-server.sh, and run `mcp-bash vendor` again",
        .0.display(), .0.display()
    )]
    OfScripts(PathBuf),
    #[error("{} exists and was not made by `mcp-bash vendor`; move it away", .0.display())]
    Foreign(PathBuf),
}

/// Where the parts are.
struct Places {
    folder: PathBuf,
    program: PathBuf,
    lock: PathBuf,
    launcher: PathBuf,
}

impl Places {
    fn of(root: &Path) -> Self {
        let folder = root.join(".mcp-bash");
        Self {
            program: folder.join("mcp-bash"),
            lock: folder.join("vendor.json"),
            launcher: root.join("run-server.sh"),
            folder,
        }
    }
}

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let root = match &arguments.output {
        Some(folder) if folder.is_dir() => folder.clone(),
        Some(folder) => return Err(Error::NoFolder(folder.clone())),
        None => {
            let (settings, _) = startup::settings();
            match startup::location(common, &settings)? {
                Location::Folder(root) => root,
                Location::Embedded => return Err(Error::NoProject),
            }
        }
    };
    let places = Places::of(&root);
    if arguments.verify {
        return check::verify(&places, common.quiet);
    }
    let program = match &arguments.binary {
        Some(file) => ProgramFile::read(file)?,
        None => ProgramFile::own()?,
    };
    let lock = lock_of(&program);
    refuse_losses(&places, &lock, arguments)?;
    if let Some(note) = program.notes().filter(|_| !common.quiet) {
        complain(&note);
    }
    let verb = if arguments.dry_run { "Would write" } else { "Wrote" };
    if !arguments.dry_run {
        write(&places, &program, &lock)?;
    }
    if !common.quiet {
        let text = format!(
            "{verb} {} (mcp-bash {}, {})\n{verb} {}\n{verb} {}\n",
            places.program.display(),
            lock.version,
            lock.target,
            places.lock.display(),
            places.launcher.display()
        );
        print(&harmless(&text))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn lock_of(program: &ProgramFile) -> Lock {
    Lock {
        version: program.version.clone(),
        sha256: sha256(&program.bytes),
        target: program.program.target(),
    }
}

/// Refuses to replace what is newer or not ours.
fn refuse_losses(places: &Places, new: &Lock, arguments: &Arguments) -> Result<(), Error> {
    let refused = |error: VendorError| Error::of_command(Exit::Refused, error);
    let folder = || places.folder.clone();
    match optional(&places.lock)? {
        Some(text) if Lock::is_of_scripts(&text) => return Err(refused(VendorError::OfScripts(folder()))),
        Some(text) => {
            let old = Lock::parse(&text).map_err(packaging_error)?;
            if !arguments.upgrade && old != *new {
                return Err(refused(VendorError::Exists { folder: folder(), version: old.version }));
            }
            if old.version > new.version && !arguments.allow_downgrade {
                let (old, new) = (old.version, new.version.clone());
                return Err(refused(VendorError::Downgrade { folder: folder(), old, new }));
            }
        }
        None if places.folder.join("bin").is_dir() => return Err(refused(VendorError::OfScripts(folder()))),
        None if places.folder.symlink_metadata().is_ok() => {
            let is_empty = places.folder.read_dir().is_ok_and(|mut entries| entries.next().is_none());
            if !is_empty || places.folder.is_symlink() {
                return Err(refused(VendorError::Foreign(folder())));
            }
        }
        None => {}
    }
    match optional(&places.launcher)? {
        Some(text) if text != VENDORED_LAUNCHER && !text.contains("Made by `mcp-bash vendor`") => {
            Err(refused(VendorError::Foreign(places.launcher.clone())))
        }
        _ => Ok(()),
    }
}

/// Each file is replaced in one step. Between two steps the lock does not fit the program, and the verification says so.
fn write(places: &Places, program: &ProgramFile, lock: &Lock) -> Result<(), Error> {
    let made = std::fs::create_dir_all(&places.folder);
    made.map_err(|source| Error::Write { path: places.folder.clone(), source })?;
    let lock = lock.written();
    let parts: [(&Path, &[u8], u32); 3] = [
        (&places.program, &program.bytes, 0o755),
        (&places.lock, lock.as_bytes(), 0o644),
        (&places.launcher, VENDORED_LAUNCHER.as_bytes(), 0o755),
    ];
    for (path, bytes, mode) in parts {
        let written = mcp_bash_files::write_new(path, mode, true, |file| file.write_all(bytes));
        written.map_err(|source| Error::Write { path: path.to_owned(), source })?;
    }
    Ok(())
}
