//! `mcp-bash image`: writes a Containerfile for a project, with what its scripts need, and an ignore file that keeps secrets
//! out of the build.

mod programs;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::bundle::contents::Contents;
use crate::commands::bundle::programs::ProgramFile;
use crate::open::connect::OpenProject;
use crate::open::package_facts::{WrittenFacts, optional};
use crate::terminal::print::print;
use mcp_bash_packaging::image::{
    Containerfile, ImageFacts, NodePackages, ProgramSource, PythonPackages, ignore_file,
};
use mcp_bash_packaging::{Entry, Platform};
use mcp_bash_terminal::{complain, harmless};
use serde_json::Value;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The folder for the files [default: the project]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// A static mcp-bash for Linux, in the folder of the project [default: the vendored one, otherwise an image that is named
    /// when the image is built]
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,

    /// Print the files, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Replace existing files
    #[arg(long)]
    force: bool,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash vendor --binary mcp-bash-static && mcp-bash image
  mcp-bash image --dry-run
  podman build -t my-project .           after `mcp-bash image`

Exit codes: 0 done, 1 a mistake in the project, 2 called the wrong way, 3 a file exists (docs/images.md)";

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let project = OpenProject::read(common, |settings| settings.leaves_no_trace = true)?;
    let (catalog, root) = (&project.catalog, &*project.catalog.paths.root);
    let written = WrittenFacts::read(&catalog.paths)?;
    let contents = Contents::of(catalog, &written.about.include)?;
    let name = written.name(None, &catalog.identity);
    let declared = written.registry.get("name").and_then(Value::as_str).map(str::to_owned);
    let of_repository = || Entry::name_of(written.about.repository.as_deref()?, &name.ok()?);
    let facts = ImageFacts {
        title: catalog.identity.title.clone(),
        registry_name: declared.or_else(of_repository).filter(|name| is_label(name)),
        program: program_source(root, arguments.binary.as_deref())?,
        programs: programs::needed(catalog, &contents)?,
        python_packages: python_packages(root),
        node_packages: node_packages(root)?,
    };
    let containerfile = Containerfile::new(&facts);
    if !common.quiet {
        for program in &containerfile.unknown {
            complain(&format!(
                "it is not known which Debian package has `{program}`; add it to the Containerfile"
            ));
        }
        if matches!(facts.program, ProgramSource::Image) {
            complain(
                "no static program is in the project: the build takes it from the image in `--build-arg MCP_BASH_IMAGE=…`; \
                 `mcp-bash vendor --binary FILE` puts one here",
            );
        }
    }
    let folder = arguments.output.as_deref().unwrap_or(root);
    let is_elsewhere = folder.canonicalize().ok() != root.canonicalize().ok();
    // Builders look for the ignore file beside the Containerfile under that name, and otherwise in the project.
    let ignore_name = if is_elsewhere { "Containerfile.dockerignore" } else { ".dockerignore" };
    let files = [("Containerfile", containerfile.text), (ignore_name, ignore_file(&facts))];
    if arguments.dry_run {
        for (name, text) in files {
            print(&harmless(&format!("# {name}\n{text}\n")))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    write(common, folder, &files, arguments.force)?;
    Ok(ExitCode::SUCCESS)
}

fn write(common: &Common, folder: &Path, files: &[(&str, String)], may_replace: bool) -> Result<(), Error> {
    let existing =
        files.iter().find(|(name, _)| !may_replace && folder.join(name).symlink_metadata().is_ok());
    if let Some((name, _)) = existing {
        let words = format!(
            "{} exists; `--force` replaces it, `--dry-run` prints the new one",
            folder.join(name).display()
        );
        return Err(Error::of_command(Exit::Refused, words));
    }
    std::fs::create_dir_all(folder).map_err(|source| Error::Write { path: folder.to_owned(), source })?;
    for (name, text) in files {
        let path = folder.join(name);
        let written =
            mcp_bash_files::write_new(&path, 0o644, may_replace, |file| file.write_all(text.as_bytes()));
        written.map_err(|source| Error::Write { path: path.clone(), source })?;
        if !common.quiet {
            print(&harmless(&format!("Wrote {}\n", path.display())))?;
        }
    }
    Ok(())
}

/// The program that is named, otherwise the vendored one. It must be in the project, since a build sees nothing else.
fn program_source(root: &Path, named: Option<&Path>) -> Result<ProgramSource, Error> {
    let usage = |words: String| Error::of_command(Exit::Usage, words);
    let vendored = root.join(".mcp-bash/mcp-bash");
    let path = match named {
        Some(named) => named.to_owned(),
        None if vendored.is_file() => vendored,
        None => return Ok(ProgramSource::Image),
    };
    let program = ProgramFile::read(&path)?;
    if program.program.platform != Platform::Linux || program.program.is_dynamic {
        let problem = format!("{} is no static program for Linux, which an image needs", path.display());
        // A program that was vendored for something else is no reason to refuse.
        return if named.is_some() { Err(usage(problem)) } else { Ok(ProgramSource::Image) };
    }
    let (real, real_root) = (path.canonicalize(), root.canonicalize());
    let below = match (&real, &real_root) {
        (Ok(real), Ok(root)) => real.strip_prefix(root).ok().and_then(Path::to_str),
        _ => None,
    };
    below.map(|below| ProgramSource::File(below.to_owned())).ok_or_else(|| {
        let words = "is outside the project, and a build sees only the project; `mcp-bash vendor --binary FILE` puts it there";
        usage(format!("{} {words}", path.display()))
    })
}

fn python_packages(root: &Path) -> Option<PythonPackages> {
    if root.join("requirements.txt").is_file() {
        return Some(PythonPackages::Requirements);
    }
    root.join("pyproject.toml").is_file().then_some(PythonPackages::Pyproject)
}

fn node_packages(root: &Path) -> Result<Option<NodePackages>, Error> {
    let package: Value = match optional(&root.join("package.json"))? {
        Some(text) => serde_json::from_str(&text).map_err(|error| {
            let source = io::Error::new(io::ErrorKind::InvalidData, error);
            Error::Read { path: root.join("package.json"), source }
        })?,
        None => return Ok(None),
    };
    let has_packages = package["dependencies"].as_object().is_some_and(|all| !all.is_empty());
    let is_locked = root.join("package-lock.json").is_file();
    Ok(has_packages.then_some(NodePackages { is_locked }))
}

/// A name that needs no quoting.
fn is_label(name: &str) -> bool {
    name.chars().all(|sign| sign.is_ascii_alphanumeric() || "./_-".contains(sign))
}
