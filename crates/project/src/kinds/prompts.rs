//! Prompts: templates, lists of messages and scripts, and what clients see of them.

use crate::declarations::arguments::{self, Argument};
use crate::declarations::client_capability::ClientCapability;
use crate::declarations::error::{EntryError, within};
use crate::declarations::metadata::Metadata;
use crate::declarations::values::{given_name, object, positive, relative};
use crate::declarations::{sandbox, secrets};
use crate::ground::interpreters::is_executable;
use crate::kinds::prompt_files::{self, is_metadata, is_script, usual_name};
use crate::kinds::served_by::{ServedBy, path_of_functions};
use crate::walk::entry::{Context, Entry, RegistryEntry, Unread, below};
use crate::walk::listing::{Listing, metadata_stem};
use crate::walk::sighting::{Candidate, Sighting};
use crate::{Diagnostic, Paths, declarations::icons};
use mcp_bash_files::look;
use mcp_bash_sandbox::Declaration;
use mcp_bash_secrets::Needs;
use mcp_bash_wire::write;
use serde_json::value::RawValue;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A prompt and what clients see of it. JSON stays as its author wrote it.
#[derive(Debug, Clone)]
pub struct Prompt {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub arguments: Vec<Argument>,
    /// The default role of a message: `user` or `assistant`.
    pub role: &'static str,
    /// The author's other notes.
    pub metadata: Option<Box<RawValue>>,
    pub icons: Option<Box<RawValue>>,
    pub meta: Option<Box<RawValue>>,
    /// The timeout of its script, if the author sets one.
    pub timeout: Option<Duration>,
    /// What its script may do.
    pub sandbox: Option<Declaration>,
    /// The secrets that its script needs.
    pub secrets: Needs,
    /// The capabilities without which a client cannot use its script.
    pub required_capabilities: Vec<ClientCapability>,
    /// Whether its script may run again if its process ended before it received the answer to a question.
    pub may_run_again: bool,
    pub source: Source,
    /// The template, the script, or the metadata that holds the messages.
    pub file: PathBuf,
    /// The path of the file below `prompts/`; the whole path for a function.
    pub path: String,
    /// The arguments as written.
    written_arguments: Box<RawValue>,
    registry_entry: RegistryEntry,
}

/// What a prompt is made of.
#[derive(Debug, Clone)]
pub enum Source {
    /// A file of text, or of messages as JSON, with placeholders for the arguments.
    Template,
    /// These messages, as a JSON array.
    Messages(Box<RawValue>),
    /// A program that prints the prompt.
    Script,
    /// A function of a file.
    Function(Box<ServedBy>),
}

impl Prompt {
    /// The entry of this prompt in the registry, as the text of a JSON object.
    pub fn registry_text(&self) -> &str {
        Entry::registry_text(self)
    }

    /// The executable beside the prompt that completes its arguments, if there is one.
    pub fn completion_script(&self) -> Option<PathBuf> {
        let own = self.file.file_name().and_then(metadata_stem).map(OsStr::from_bytes);
        let stem = own.map_or_else(|| self.file.with_extension(""), |stem| self.file.with_file_name(stem));
        let whole = self.file.as_os_str();
        let names = [whole, stem.as_os_str()].into_iter().flat_map(|name| {
            [".completion.sh", ".completion"].map(|ending| {
                let mut name = name.to_owned();
                name.push(ending);
                PathBuf::from(name)
            })
        });
        names.into_iter().find(|path| is_executable(path))
    }

    /// Makes a prompt from the definition of a function.
    pub(crate) fn of_function(
        definition: &str,
        served_by: &ServedBy,
        paths: &Paths,
        problems: &mut Vec<String>,
    ) -> Result<Self, EntryError> {
        let mut metadata = Metadata::from_json(definition)?;
        let name = given_name(metadata.name.take()).ok_or(EntryError::Missing("name"))?;
        let folder = served_by.file.parent().unwrap_or(&paths.tools);
        metadata.icons = icons::embed(metadata.icons.as_deref(), folder, &paths.root, problems);
        let own = sandbox::read(metadata.sandbox.as_deref())?;
        let needs = secrets::read(metadata.secrets.as_deref())?;
        let source = Source::Function(Box::new(served_by.for_function(own.as_ref(), &needs)));
        let prompt = Self::assemble(served_by.file.clone(), name, source, "user", metadata, paths)?;
        Ok(Self { path: path_of_functions(&served_by.file), ..prompt })
    }

    fn new(
        file: PathBuf,
        mut metadata: Metadata,
        paths: &Paths,
        problems: &mut Vec<String>,
    ) -> Result<Self, EntryError> {
        let source = source(&file, metadata.messages.take())?;
        let name = given_name(metadata.name.take()).unwrap_or_else(|| usual_name(&file));
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
    ) -> Result<Self, EntryError> {
        let nothing = || RawValue::from_string(r#"{"type":"object","properties":{}}"#.to_owned());
        let given = metadata.arguments.filter(|arguments| arguments.get() != "null");
        let written_arguments = given.map_or_else(nothing, Ok).map_err(within("arguments"))?;
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
            sandbox: sandbox::read(metadata.sandbox.as_deref())?,
            secrets: secrets::read(metadata.secrets.as_deref())?,
            required_capabilities: metadata.required_capabilities.unwrap_or_default(),
            may_run_again: metadata.replay.unwrap_or_default(),
            source,
            path: below(&file, &paths.prompts),
            file,
            written_arguments,
            registry_entry: RegistryEntry::default(),
        })
    }
}

fn source(file: &Path, messages: Option<Box<RawValue>>) -> Result<Source, EntryError> {
    match messages.filter(|messages| messages.get() != "null") {
        Some(messages) if messages.get().starts_with('[') => Ok(Source::Messages(messages)),
        Some(_) => Err("`messages` must be an array".into()),
        None if is_metadata(file) => {
            Err("there is no template of that name beside it; add one, or `messages`".into())
        }
        None if is_script(file) => Ok(Source::Script),
        None => Ok(Source::Template),
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

impl Entry for Prompt {
    const KIND: &'static str = "prompts";

    type Written = Metadata;

    fn folder(paths: &Paths) -> &Path {
        &paths.prompts
    }

    fn pick(listing: &Listing<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Sighting> {
        prompt_files::pick(listing, diagnostics)
    }

    fn read(
        candidate: Candidate,
        context: &Context<'_>,
        problems: &mut Vec<String>,
    ) -> Result<Option<Self>, Unread> {
        let mut metadata = match &candidate.metadata {
            Some(path) => Metadata::from_file(path)?,
            None if is_metadata(&candidate.file) => Metadata::from_file(&candidate.file)?,
            None => match Metadata::inline(&candidate.file)? {
                Some(metadata) => metadata,
                None if is_script(&candidate.file) => {
                    return Unread::because(
                        "it is a script and says nothing about itself; add metadata beside it or a `# mcp:` line to make \
                         it a prompt",
                    );
                }
                None => Metadata::default(),
            },
        };
        if let Some(problem) = metadata.arguments.as_deref().and_then(arguments::problem) {
            problems.push(format!("is served without arguments: {problem}"));
            metadata.arguments = None;
        }
        Ok(Some(Self::new(candidate.file, metadata, context.paths, problems)?))
    }

    fn registered(text: &str, paths: &Paths, problems: &mut Vec<String>) -> Result<Self, EntryError> {
        let metadata = Metadata::from_json(text)?;
        if given_name(metadata.name.clone()).is_none() {
            return Err(EntryError::Missing("name"));
        }
        if metadata.path.is_none() && metadata.messages.is_some() {
            return Self::new(paths.prompts.join("register.json"), metadata, paths, problems);
        }
        let file = paths.prompts.join(relative(metadata.path.as_deref(), "prompts folder")?);
        if !look::is_file(&file) {
            return Err(EntryError::NoFile(file));
        }
        Self::new(file, metadata, paths, problems)
    }

    fn remembered(mut metadata: Metadata, paths: &Paths) -> Option<Self> {
        metadata.is_shallow().then_some(())?;
        let file = paths.prompts.join(relative(metadata.path.as_deref(), "prompts folder").ok()?);
        let source = source(&file, metadata.messages.take()).ok()?;
        let role = role(metadata.role.as_deref(), &mut Vec::new());
        Self::assemble(file, metadata.name.take()?, source, role, metadata, paths).ok()
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
            Source::Template | Source::Script | Source::Function(_) => None,
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
            ("sandbox", self.sandbox.as_ref().map(|sandbox| sandbox.written().to_owned())),
            ("secrets", self.secrets.written()),
            ("requiredCapabilities", ClientCapability::written(&self.required_capabilities)),
            ("replay", self.may_run_again.then(|| "true".to_owned())),
            ("icons", raw(&self.icons)),
            ("_meta", raw(&self.meta)),
        ];
        let members = members.into_iter().filter_map(|(name, value)| Some(format!("\"{name}\":{}", value?)));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }
}
