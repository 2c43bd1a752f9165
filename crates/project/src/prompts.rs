//! Prompts: templates, lists of messages and scripts, and what clients are told about them.

use crate::arguments::{self, Argument};
use crate::entry::{Context, Entry, RegistryEntry, below, default_name};
use crate::metadata::Metadata;
use crate::scan::{Candidate, Listing, metadata_stem};
use crate::tools::{has_shebang, object, positive, relative};
use crate::{Diagnostic, Paths, icons};
use mcp_bash_wire::write;
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A prompt and what clients are told about it. JSON stays as its author wrote it.
#[derive(Debug, Clone)]
pub struct Prompt {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub arguments: Vec<Argument>,
    /// Who speaks where a message does not say: `user` or `assistant`.
    pub role: &'static str,
    /// What else its author notes about it.
    pub metadata: Option<Box<RawValue>>,
    pub icons: Option<Box<RawValue>>,
    pub meta: Option<Box<RawValue>>,
    /// How long a script may take, where the author says so.
    pub timeout: Option<Duration>,
    pub source: Source,
    /// The template, the script, or the metadata that holds the messages.
    pub file: PathBuf,
    /// Where the file stands below `prompts/`.
    pub path: String,
    /// The arguments as they are written.
    written_arguments: Box<RawValue>,
    registry_entry: RegistryEntry,
}

/// What a prompt is made of.
#[derive(Debug, Clone)]
pub enum Source {
    /// A file of text, or of messages as JSON, with places for the arguments.
    Template,
    /// These messages, as a JSON array.
    Messages(Box<RawValue>),
    /// A program that prints the prompt.
    Script,
}

impl Prompt {
    /// The entry of this prompt in the registry, as the text of a JSON object.
    pub fn registry_text(&self) -> &str {
        Entry::registry_text(self)
    }

    /// The executable beside the prompt that completes its arguments, if there is one.
    pub fn completion_script(&self) -> Option<PathBuf> {
        let (whole, stem) = (self.file.as_os_str(), self.file.with_extension(""));
        let names = [whole, stem.as_os_str()].into_iter().flat_map(|name| {
            [".completion.sh", ".completion"].map(|ending| {
                let mut name = name.to_owned();
                name.push(ending);
                PathBuf::from(name)
            })
        });
        let is_executable = |path: &PathBuf| {
            path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
        };
        names.into_iter().find(is_executable)
    }

    fn new(
        file: PathBuf,
        mut metadata: Metadata,
        paths: &Paths,
        problems: &mut Vec<String>,
    ) -> Result<Self, String> {
        let source = source(&file, metadata.messages.take())?;
        let name = metadata.name.take().filter(|name| !name.trim().is_empty());
        let name = name.unwrap_or_else(|| usual_name(&file));
        let folder = file.parent().unwrap_or(&paths.prompts);
        let role = role(metadata.role.as_deref(), problems);
        let icons = icons::embed(metadata.icons.as_deref(), folder, &paths.root, problems);
        Self::assemble(file, name, source, role, Metadata { icons, ..metadata }, paths)
    }

    fn assemble(
        file: PathBuf,
        name: String,
        source: Source,
        role: &'static str,
        metadata: Metadata,
        paths: &Paths,
    ) -> Result<Self, String> {
        let nothing = || RawValue::from_string(r#"{"type":"object","properties":{}}"#.to_owned());
        let given = metadata.arguments.filter(|arguments| arguments.get() != "null");
        let written_arguments = given.map_or_else(nothing, Ok).map_err(|error| error.to_string())?;
        Ok(Self {
            name,
            title: metadata.title,
            description: metadata.description.filter(|text| !text.is_empty()),
            arguments: arguments::read(&written_arguments)?,
            role,
            metadata: metadata.notes.filter(|value| value.get() != "null"),
            icons: metadata.icons,
            meta: object(metadata.underscored, "_meta")?,
            timeout: positive(metadata.timeout_secs, "timeoutSecs")?,
            source,
            path: below(&file, &paths.prompts),
            file,
            written_arguments,
            registry_entry: RegistryEntry::default(),
        })
    }
}

/// The endings of files that are text to be filled in, and never run.
const TEMPLATES: [&str; 6] = ["txt", "md", "markdown", "prompt", "tmpl", "template"];

fn ending(file: &Path) -> String {
    file.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}

/// Whether the name alone makes a file a template. One of messages as JSON must be called a prompt by its metadata, so
/// that other data may stand beside prompts; a file without an ending may be a script too.
fn is_template(file: &Path, described: bool) -> bool {
    let ending = ending(file);
    TEMPLATES.contains(&&*ending) || (ending == "json" && described)
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|file| file.permissions().mode() & 0o111 != 0)
}

fn source(file: &Path, messages: Option<Box<RawValue>>) -> Result<Source, String> {
    match messages.filter(|messages| messages.get() != "null") {
        Some(messages) if messages.get().starts_with('[') => Ok(Source::Messages(messages)),
        Some(_) => Err("`messages` must be an array".to_owned()),
        None if is_metadata(file) => {
            Err("there is no template of that name beside it; add one, or `messages`".to_owned())
        }
        None if !is_template(file, true) && is_executable(file) => Ok(Source::Script),
        None => Ok(Source::Template),
    }
}

fn is_metadata(file: &Path) -> bool {
    file.file_name().is_some_and(|name| metadata_stem(name).is_some())
}

/// The name without its ending, or the name of the folder for files that are called `prompt`.
fn usual_name(file: &Path) -> String {
    let stem = file.file_name().and_then(metadata_stem).map(OsStr::from_bytes);
    match stem {
        Some(stem) if stem == "prompt" => default_name(&file.with_file_name(stem), "prompt"),
        Some(stem) => stem.to_string_lossy().into_owned(),
        None => default_name(file, "prompt"),
    }
}

fn role(written: Option<&str>, problems: &mut Vec<String>) -> &'static str {
    match written {
        None | Some("user") => "user",
        Some("assistant") => "assistant",
        Some(other) => {
            problems.push(format!(
                "has the role `{other}`, which clients do not know; it is served as `user`, \
                 and `assistant` is the other one there is"
            ));
            "user"
        }
    }
}

/// Whether a file looks like a prompt, even if nothing is said about it.
fn is_clear(listing: &Listing<'_>, name: &OsStr) -> bool {
    let (file, is_described) = (Path::new(name), listing.metadata_beside(name).is_some());
    let is_executable = listing.stamp(name).is_some_and(|stamp| stamp.is_executable());
    let is_other = is_executable && is_completion(name) || is_readme(name) && !is_described;
    !is_other && (is_template(file, is_described) || is_executable || file.extension().is_none())
}

/// A picture or a sound beside a prompt is part of it, and none itself.
fn is_medium(file: &Path) -> bool {
    const MEDIA: [&str; 12] =
        ["png", "jpg", "jpeg", "gif", "webp", "svg", "ico", "pdf", "wav", "mp3", "ogg", "flac"];
    MEDIA.contains(&&*ending(file)) || file.file_name().is_some_and(is_completion)
}

/// A script that completes arguments, and is no prompt.
fn is_completion(name: &OsStr) -> bool {
    [&b".completion"[..], b".completion.sh"].iter().any(|ending| name.as_bytes().ends_with(ending))
}

fn is_readme(name: &OsStr) -> bool {
    Path::new(name).file_stem().is_some_and(|stem| stem.eq_ignore_ascii_case("readme"))
}

impl Entry for Prompt {
    const KIND: &'static str = "prompts";

    fn folder(paths: &Paths) -> &Path {
        &paths.prompts
    }

    fn pick(listing: &Listing<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Candidate> {
        let (mut found, mut used) = (Vec::new(), BTreeSet::new());
        // Files that are prompts by their own looks first: others are only if nobody else has their metadata.
        let (clear, others): (Vec<&OsStr>, Vec<&OsStr>) =
            listing.plain_files().partition(|name| is_clear(listing, name));
        for name in clear.into_iter().chain(others) {
            let metadata = listing.metadata_beside(name);
            let is_free = metadata.as_ref().is_some_and(|metadata| !used.contains(metadata));
            let Some(stamp) = listing.stamp(name) else { continue };
            if !is_clear(listing, name) && (!is_free || is_medium(Path::new(name))) {
                continue;
            }
            if name.as_bytes().iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
                let problem = "is skipped: its name holds a line break; rename it";
                diagnostics.push(Diagnostic::new(listing.path(name), problem));
                continue;
            }
            if !stamp.is_executable() && has_shebang(&listing.path(name)) {
                let problem = "is skipped: it is a script and not executable; run `chmod +x` on it";
                diagnostics.push(Diagnostic::new(listing.path(name), problem));
            } else {
                found.push(listing.candidate(name, stamp, metadata.as_deref()));
            }
            used.extend(metadata);
        }
        let lonely = listing.lonely_metadata(&used);
        found.extend(lonely.filter_map(|name| Some(listing.candidate(name, listing.stamp(name)?, None))));
        found
    }

    fn read(
        candidate: Candidate,
        context: &Context<'_>,
        problems: &mut Vec<String>,
    ) -> Result<Option<Self>, String> {
        let metadata = match &candidate.metadata {
            Some(path) => Metadata::from_file(path)?,
            None if is_metadata(&candidate.file) => Metadata::from_file(&candidate.file)?,
            None => match Metadata::inline(&candidate.file)? {
                Some(metadata) => metadata,
                None if candidate.stamps.file.is_executable() && !is_template(&candidate.file, true) => {
                    return Err("it is executable and says nothing about itself; add metadata \
                                beside it or a `# mcp:` line to make it a prompt"
                        .to_owned());
                }
                None => Metadata::default(),
            },
        };
        Self::new(candidate.file, metadata, context.paths, problems).map(Some)
    }

    fn registered(text: &str, paths: &Paths, problems: &mut Vec<String>) -> Result<Self, String> {
        let metadata = Metadata::from_json(text)?;
        if metadata.name.as_deref().is_none_or(|name| name.trim().is_empty()) {
            return Err("`name` is missing".to_owned());
        }
        if metadata.path.is_none() && metadata.messages.is_some() {
            return Self::new(paths.prompts.join("register.json"), metadata, paths, problems);
        }
        let file = paths.prompts.join(relative(metadata.path.as_deref(), "prompts")?);
        if !file.is_file() {
            return Err(format!("there is no file {}", file.display()));
        }
        Self::new(file, metadata, paths, problems)
    }

    fn remembered(text: &str, paths: &Paths) -> Option<Self> {
        let text = write::compact(text);
        let mut metadata: Metadata = serde_json::from_str(&text).ok()?;
        let file = paths.prompts.join(relative(metadata.path.as_deref(), "prompts").ok()?);
        let source = source(&file, metadata.messages.take()).ok()?;
        let role = role(metadata.role.as_deref(), &mut Vec::new());
        let prompt = Self::assemble(file, metadata.name.take()?, source, role, metadata, paths).ok()?;
        Some(Self { registry_entry: RegistryEntry::written(&text), ..prompt })
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn registry_entry(&self) -> &RegistryEntry {
        &self.registry_entry
    }

    fn has_parts_elsewhere(&self) -> bool {
        self.icons.as_ref().is_some_and(|icons| icons.get().contains("\"data:"))
    }

    fn write(&self) -> String {
        let raw = |value: &Option<Box<RawValue>>| value.as_ref().map(|raw| raw.get().to_owned());
        let messages = match &self.source {
            Source::Messages(messages) => Some(messages.get().to_owned()),
            Source::Template | Source::Script => None,
        };
        let members = [
            ("name", Some(write::string(&self.name))),
            ("title", self.title.as_deref().map(write::string)),
            ("description", Some(write::string(self.description.as_deref().unwrap_or_default()))),
            ("path", Some(write::string(&self.path))),
            ("arguments", Some(self.written_arguments.get().to_owned())),
            ("role", Some(write::string(self.role))),
            ("messages", messages),
            ("metadata", raw(&self.metadata)),
            ("timeoutSecs", self.timeout.map(|limit| limit.as_secs().to_string())),
            ("icons", raw(&self.icons)),
            ("_meta", raw(&self.meta)),
        ];
        let members = members.into_iter().filter_map(|(name, value)| Some(format!("\"{name}\":{}", value?)));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }
}
