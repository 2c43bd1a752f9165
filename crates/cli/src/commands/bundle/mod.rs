//! `mcp-bash bundle`: an MCPB file that clients install with a click: the project, its manifest, and the program for one
//! platform, or a script that finds the program.

pub(crate) mod contents;
mod packing;
mod pictures;
pub(crate) mod programs;

use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::package_facts::{LONGEST, PackageFacts, packaging_error};
use crate::terminal::print::print;
use contents::Contents;
use mcp_bash_packaging::{
    Listed, ListedPrompt, Manifest, ManifestFacts, Platform, SecretInput, Start, manifest_problems,
};
use mcp_bash_project::{Catalog, Execution, Source};
use mcp_bash_terminal::{complain, harmless, words::counted};
use packing::{Bundle, Destination, listing, write};
use pictures::Pictures;
use programs::{ProgramError, ProgramFile};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The folder for the bundle [default: the current folder]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// The name of the package [default: that of `mcpb.conf` or of the server]
    #[arg(long)]
    name: Option<String>,

    /// Its version, a semantic one [default: that of `mcpb.conf` or of the project]
    #[arg(long)]
    version: Option<String>,

    /// The systems to make bundles for [default: those of the programs]
    #[arg(long, value_name = "SYSTEM", value_parser = ["linux", "darwin", "win32", "all"])]
    platform: Option<String>,

    /// The mcp-bash program for a bundle, static or universal; may be repeated [default: this one]
    #[arg(long, value_name = "FILE", conflicts_with = "no_binary")]
    binary: Vec<PathBuf>,

    /// Contain no program: a script starts the mcp-bash that is installed on the user's machine
    #[arg(long)]
    no_binary: bool,

    /// Check everything, and write nothing
    #[arg(long)]
    validate: bool,

    /// List what each bundle would contain, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Replace existing bundles
    #[arg(long)]
    force: bool,

    /// Accepted for older scripts; mcp-bash contains a jq
    #[arg(long, hide = true)]
    include_gojq: bool,
}

const EXAMPLES: &str = "\
Examples:
  mcp-bash bundle                                     for this system, with this program
  mcp-bash bundle --binary mcp-bash-x86_64 --binary mcp-bash-arm64 --output dist
  mcp-bash bundle --no-binary                         for users who have mcp-bash
  mcp-bash bundle --dry-run                           what would go in, and what would not

mcpb.conf and server.d/server.meta.json describe the package (docs/bundles.md).
Exit codes: 0 done, 1 a mistake in the project, 2 called the wrong way, 3 a bundle exists, or a file must not go in";

pub(crate) fn run(common: &Common, arguments: &Arguments) -> Result<ExitCode, Error> {
    let wanted = wanted(arguments.platform.as_deref())?;
    let programs = if arguments.no_binary {
        Vec::new()
    } else {
        programs::programs(&arguments.binary, wanted.as_deref())?
    };
    let facts = PackageFacts::read(common, arguments.name.as_deref(), arguments.version.as_deref())?;
    let contents = Contents::of(&facts.project.catalog, &facts.written.about.include)?;
    missing_scripts(&facts.project.catalog, &contents)?;
    let mut described = Described::read(&facts)?;
    if arguments.include_gojq {
        described.notes.push("`--include-gojq` does not count: mcp-bash contains a jq".to_owned());
    }
    described.notes.extend(programs.iter().filter_map(ProgramFile::notes));
    let bundles = if arguments.no_binary {
        let platforms = wanted.unwrap_or_else(|| vec![Platform::Darwin, Platform::Linux]);
        vec![described.bundle(&facts, Start::Launcher(platforms), None)?]
    } else {
        let one =
            |program| described.bundle(&facts, Start::Program(program_platform(program)), Some(program));
        programs.iter().map(one).collect::<Result<Vec<_>, Error>>()?
    };
    if !common.quiet {
        tell_notes(&described, &bundles, &contents);
    }
    if arguments.dry_run {
        print(&listing(&bundles, &contents, &described.pictures, common.verbose))?;
        return Ok(ExitCode::SUCCESS);
    }
    packing::check_contents(&contents)?;
    if arguments.validate {
        let files = counted(contents.files.len(), "file");
        print(&harmless(&format!("{} {} can be bundled: {files}\n", facts.name, facts.version)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let destination = Destination::new(arguments.output.as_deref(), arguments.force);
    for bundle in &bundles {
        let written = write(bundle, &contents, &described.pictures, &destination)?;
        if !common.quiet {
            print(&harmless(&format!("{written}\n")))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn program_platform(program: &ProgramFile) -> Platform {
    program.program.platform
}

/// The platforms that the user names.
fn wanted(platform: Option<&str>) -> Result<Option<Vec<Platform>>, ProgramError> {
    match platform {
        None => Ok(None),
        Some("linux") => Ok(Some(vec![Platform::Linux])),
        Some("darwin") => Ok(Some(vec![Platform::Darwin])),
        Some("all") => Ok(Some(vec![Platform::Darwin, Platform::Linux])),
        Some(_) => Err(ProgramError::Windows),
    }
}

fn tell_notes(described: &Described, bundles: &[Bundle<'_>], contents: &Contents) {
    let of_manifest = bundles.first().map(|bundle| &bundle.notes[..]).unwrap_or_default();
    for note in described.notes.iter().chain(of_manifest) {
        complain(note);
    }
    for (path, reason) in contents.left_out.iter().filter(|(_, reason)| reason.is_secret()) {
        complain(&format!("left out: {path} ({reason})"));
    }
}

/// A tool whose script is elsewhere in the project would be listed and could not run.
fn missing_scripts(catalog: &Catalog, contents: &Contents) -> Result<(), Error> {
    for tool in catalog.tools.items() {
        let Ok(path) = tool.script.strip_prefix(&catalog.paths.root) else { continue };
        let path = path.to_string_lossy();
        if !contents.files.contains_key(&*path) {
            let words = format!(
                "the tool {} runs {path}, which would not be in the package; add it to MCPB_INCLUDE in mcpb.conf, or rename it if \
                 it looks like a secret",
                tool.name
            );
            return Err(Error::of_command(Exit::Failed, words));
        }
    }
    Ok(())
}

/// Everything that all bundles of a project have in common.
struct Described {
    tools: Vec<Listed>,
    tools_generated: bool,
    prompts: Vec<ListedPrompt>,
    prompts_generated: bool,
    secrets: Vec<SecretInput>,
    user_config: Map<String, Value>,
    long_description: Option<String>,
    pictures: Pictures,
    notes: Vec<String>,
}

impl Described {
    fn read(facts: &PackageFacts) -> Result<Self, Error> {
        let (catalog, about) = (&facts.project.catalog, &facts.written.about);
        let root = &*catalog.paths.root;
        let tools = catalog.tools.items();
        let listed = tools
            .iter()
            .map(|tool| Listed { name: tool.name.clone(), description: tool.description.clone() });
        let prompts = catalog.prompts.items();
        let fixed: Vec<ListedPrompt> = prompts.iter().filter_map(|prompt| fixed_prompt(prompt)).collect();
        let (secrets, mut notes) = facts.secrets();
        notes.extend(about.notes.iter().cloned());
        let user_config = match &about.user_config_file {
            Some(file) => {
                let text = read_named(root, file, "MCPB_USER_CONFIG_FILE")?;
                serde_json::from_str(&text).map_err(|error| wrong_file(file, &error.to_string()))?
            }
            None => about.user_config.clone(),
        };
        let long_description = match &about.long_description_file {
            Some(file) => Some(read_named(root, file, "the file of the long description")?),
            None => about.long_description.clone(),
        };
        Ok(Self {
            tools: listed.collect(),
            tools_generated: tools.iter().any(|tool| tool.execution == Execution::Provider),
            prompts_generated: fixed.len() < prompts.len(),
            prompts: fixed,
            secrets,
            user_config,
            long_description,
            pictures: Pictures::read(root, about, catalog.identity.icons.as_deref(), &mut notes)?,
            notes,
        })
    }

    fn bundle<'p>(
        &self,
        facts: &PackageFacts,
        start: Start,
        program: Option<&'p ProgramFile>,
    ) -> Result<Bundle<'p>, Error> {
        let (about, entry_point) = (&facts.written.about, start.entry_point());
        let manifest = Manifest::new(&ManifestFacts {
            about,
            name: &facts.name,
            title: &facts.project.catalog.identity.title,
            version: &facts.version,
            long_description: self.long_description.as_deref(),
            tools: &self.tools,
            tools_generated: self.tools_generated,
            prompts: &self.prompts,
            prompts_generated: self.prompts_generated,
            secrets: &self.secrets,
            user_config: &self.user_config,
            icon: self.pictures.icon.as_ref().map(|(path, _)| path.as_str()),
            screenshots: &about.screenshots,
            start,
        })
        .map_err(packaging_error)?;
        let problems = manifest_problems(&manifest.json);
        if !problems.is_empty() {
            return Err(Error::of_command(
                Exit::Failed,
                format!("no client would take it: {}", problems.join("; ")),
            ));
        }
        let target = program.map(|program| format!("-{}", program.program.target())).unwrap_or_default();
        Ok(Bundle {
            file_name: format!("{}-{}{target}.mcpb", facts.name, facts.version),
            manifest: manifest.written(),
            entry_point,
            program,
            notes: manifest.notes,
        })
    }
}

/// A prompt whose text is the same for each use: clients can show it without a server.
fn fixed_prompt(prompt: &mcp_bash_project::Prompt) -> Option<ListedPrompt> {
    let is_text = prompt.file.extension().is_some_and(|ending| ending == "txt" || ending == "md");
    if !matches!(prompt.source, Source::Template) || !prompt.arguments.is_empty() || !is_text {
        return None;
    }
    let text = mcp_bash_files::read_text(&prompt.file, LONGEST).ok()?;
    // With signs of placeholders or of a header, the server makes something else of it.
    let is_plain = !text.contains("{{") && !text.contains("${") && !text.starts_with("---");
    is_plain.then(|| ListedPrompt {
        name: prompt.name.clone(),
        description: prompt.description.clone(),
        text,
    })
}

/// The text of a file that the author names by its path below the project.
fn read_named(root: &Path, file: &str, named_by: &str) -> Result<String, Error> {
    let path = pictures::below(root, file)?;
    mcp_bash_files::read_text(&path, LONGEST).map_err(|error| {
        Error::of_command(Exit::Failed, format!("failed to read {file} ({named_by}): {error}"))
    })
}

fn wrong_file(file: &str, problem: &str) -> Error {
    Error::of_command(Exit::Failed, format!("{file} cannot be used: {problem}"))
}
