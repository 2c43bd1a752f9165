//! Tools: scripts, and what clients see of them.

mod discovery;
mod execution;
mod input_schema;
mod options;
mod roots_sign;

pub use execution::Execution;
pub use options::{Timeouts, ToolOptions};

use crate::Paths;
use crate::declarations::confirm::{Confirm, ConfirmScope};
use crate::declarations::error::EntryError;
use crate::declarations::metadata::Metadata;
use crate::declarations::refusals::names::refusal;
use crate::declarations::values::{given_name, object};
use crate::declarations::worker::{Worker, WorkerProgram};
use crate::declarations::{header_parameters, icons, mapping};
use crate::kinds::served_by::ServedBy;
use crate::walk::entry::{Entry, RegistryEntry, below, default_name};
use crate::walk::listing::metadata_stem;
use input_schema::{NO_SCHEMA, input_schema};
use mcp_bash_policy::tool_facts;
use serde_json::Value;
use serde_json::value::RawValue;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A script and what clients see of it. JSON stays as its author wrote it.
#[derive(Debug, Clone)]
pub struct Tool {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    /// A JSON Schema object.
    pub input_schema: Box<RawValue>,
    pub output_schema: Option<Box<RawValue>>,
    pub annotations: Option<Box<RawValue>>,
    pub icons: Option<Box<RawValue>>,
    pub meta: Option<Box<RawValue>>,
    pub options: ToolOptions,
    /// The script; for a tool without one, the metadata that names the command.
    pub script: PathBuf,
    pub execution: Execution,
    /// The path of the script below `tools/`.
    pub path: String,
    /// Why it must not run, even if its script is trusted: another user may have written its description.
    pub distrust: Option<String>,
    registry_entry: RegistryEntry,
}

impl Tool {
    /// The entry of this tool in the registry, as the text of a JSON object.
    pub fn registry_text(&self) -> &str {
        Entry::registry_text(self)
    }

    /// The tool as the rules of a policy see it.
    pub fn policy_facts(&self) -> Value {
        let (annotations, meta) = (self.annotations.as_deref(), self.meta.as_deref());
        let title = self.title.as_deref();
        tool_facts(&self.name, title, &self.path, annotations.map(RawValue::get), meta.map(RawValue::get))
    }

    /// Whether its arguments are declared.
    pub fn declares_arguments(&self) -> bool {
        self.execution != Execution::Script || self.input_schema.get() != NO_SCHEMA
    }

    /// Whether its annotations say that it changes nothing. One that calls itself destructive as well is not believed.
    pub fn is_read_only(&self) -> bool {
        let hints = self.hints();
        hints["readOnlyHint"] == true && hints["destructiveHint"] != true
    }

    /// Its annotations; null if it has none.
    fn hints(&self) -> Value {
        let annotations = self.annotations.as_ref().map(|raw| serde_json::from_str(raw.get()));
        annotations.and_then(Result::ok).unwrap_or_default()
    }

    /// Whether it may destroy something: it does unless its annotations deny it, as clients assume too.
    fn is_destructive(&self) -> bool {
        !self.is_read_only() && self.hints()["destructiveHint"] != false
    }

    /// Whether a person has to consent to each call of it, in a project where these tools ask. Its own declaration counts
    /// before that of the project.
    pub fn needs_consent(&self, scope: ConfirmScope) -> bool {
        match (&self.options.confirm, scope) {
            (Some(Confirm::No), _) | (None, ConfirmScope::Declared) => false,
            (None, ConfirmScope::Destructive) => self.is_destructive(),
            (Some(Confirm::Yes | Confirm::Question(_)), _) | (None, ConfirmScope::All) => true,
        }
    }

    /// Whether its script seems to use the folders of the client. Its file is read; functions of one file count as a whole.
    pub fn names_roots(&self) -> bool {
        roots_sign::is_in(&self.script)
    }

    /// Whether it is a function of a file, which an interpreter loads and which is never run by itself.
    pub fn is_function(&self) -> bool {
        self.worker().is_some_and(|worker| worker.program != WorkerProgram::Itself)
    }

    /// The worker that serves its calls, if it has one.
    pub fn worker(&self) -> Option<&Worker> {
        match &self.execution {
            Execution::Worker(worker) => Some(worker),
            _ => None,
        }
    }

    /// Whether a process with this exit code has answered.
    pub fn has_answered(&self, exit_code: i32) -> bool {
        exit_code == 0 || self.options.success_exit_codes.iter().any(|code| i32::from(*code) == exit_code)
    }

    /// Makes a tool from the definition that its provider prints.
    pub(crate) fn provided(
        definition: &str,
        program: &Path,
        paths: &Paths,
        problems: &mut Vec<String>,
    ) -> Result<Self, EntryError> {
        let metadata = Metadata::from_json(definition)?;
        if given_name(metadata.name.clone()).is_none() {
            return Err(EntryError::Missing("name"));
        }
        // The definition must not decide how the tool is run.
        let metadata = Metadata {
            argv: None,
            command: None,
            cwd: None,
            env: None,
            launcher: None,
            stdin: None,
            worker: None,
            ..metadata
        };
        let tool = Self::new(program.to_owned(), metadata, &paths.tools, problems)?;
        Ok(Self { execution: Execution::Provider, ..tool })
    }

    /// Makes a tool from the definition of a function.
    pub(crate) fn of_function(
        definition: &str,
        served_by: &ServedBy,
        paths: &Paths,
        problems: &mut Vec<String>,
    ) -> Result<Self, EntryError> {
        Ok(Self::provided(definition, &served_by.file, paths, problems)?.served_by(served_by))
    }

    /// The same tool, as a function that a worker runs.
    fn served_by(self, served_by: &ServedBy) -> Self {
        let worker = served_by.worker.clone();
        let options = ToolOptions {
            variables: worker.options.env.clone(),
            sandbox: served_by.sandbox_of(self.options.sandbox.as_ref()),
            secrets: self.options.secrets.over(&served_by.secrets),
            ..self.options
        };
        Self { options, execution: Execution::Worker(worker), ..self }
    }

    /// Takes the tool of a function from the registry of functions.
    pub(crate) fn remembered_function(metadata: Metadata, served_by: &ServedBy) -> Option<Self> {
        Some(Self::recalled(metadata, served_by.file.clone())?.served_by(served_by))
    }

    /// Takes a tool from a registry, where it was checked before it was written. Only what another user may have changed
    /// since is checked again.
    fn recalled(mut metadata: Metadata, script: PathBuf) -> Option<Self> {
        metadata.is_shallow().then_some(())?;
        let options = ToolOptions::take(&mut metadata, &mut Vec::new()).ok()?;
        let input_schema = object(metadata.input_schema, "inputSchema").ok()??;
        header_parameters::are_faultless(&input_schema).then_some(())?;
        Some(Self {
            script,
            // A tool that was registered without a script is read from the registration only.
            path: metadata.path.filter(|path| !path.is_empty())?,
            name: metadata.name?,
            title: metadata.title,
            description: metadata.description.filter(|text| !text.is_empty()),
            output_schema: object(metadata.output_schema, "outputSchema").ok()?,
            annotations: object(metadata.annotations, "annotations").ok()?,
            icons: metadata.icons,
            meta: object(metadata.underscored, "_meta").ok()?,
            options,
            execution: Execution::Script,
            input_schema,
            distrust: None,
            registry_entry: RegistryEntry::default(),
        })
    }

    /// Makes a tool from a script and its metadata. `problems` receives harmless mistakes.
    fn new(
        script: PathBuf,
        mut metadata: Metadata,
        tools: &Path,
        problems: &mut Vec<String>,
    ) -> Result<Self, EntryError> {
        let path = below(&script, tools);
        let mapped = mapping::read(&metadata)?;
        let worker = Worker::read(metadata.worker.as_deref(), WorkerProgram::Itself)?;
        if worker.is_some() && metadata.cwd.is_some() {
            return Err("it is a `worker`, which runs in the folder of the project; take `cwd` away".into());
        }
        let options = ToolOptions::take(&mut metadata, problems)?;
        if worker.is_some() && options.launcher.as_ref().is_some_and(|launcher| !launcher.is_here()) {
            return Err(
                "it is a `worker`, which stays alive on the host of the server; take `launcher` away".into(),
            );
        }
        let name = given_name(metadata.name).unwrap_or_else(|| default_name(&described(&script), "tool"));
        let refusal = refusal(&name);
        problems.extend(refusal.map(|refusal| format!("{}; {}", refusal.problem, refusal.remedy)));
        let folder = script.parent().unwrap_or(tools);
        let project = tools.parent().unwrap_or(tools);
        let schema = object(metadata.input_schema.or(metadata.arguments), "inputSchema")?;
        let schema = match (&mapped, schema) {
            (Some(mapped), None) => mapped.derived_schema()?,
            (_, schema) => input_schema(schema)?,
        };
        let schema = header_parameters::without_faults(&name, &schema, problems).unwrap_or(schema);
        options.confirm.as_ref().map_or(Ok(()), |confirm| confirm.check(&schema))?;
        let execution = Execution::of(mapped, worker, &schema)?;
        problems.extend(execution.unused_arguments(&schema));
        Ok(Self {
            title: metadata.title,
            description: metadata.description,
            input_schema: schema,
            output_schema: object(metadata.output_schema, "outputSchema")?,
            annotations: object(metadata.annotations, "annotations")?,
            icons: icons::embed(metadata.icons.as_deref(), folder, project, problems),
            meta: object(metadata.underscored, "_meta")?,
            options,
            name,
            script,
            execution,
            path,
            distrust: None,
            registry_entry: RegistryEntry::default(),
        })
    }
}

/// The file that gives a tool its name: the script, or the file that metadata without a script would describe.
fn described(file: &Path) -> PathBuf {
    match file.file_name().and_then(metadata_stem) {
        Some(stem) => file.with_file_name(OsStr::from_bytes(stem)),
        None => file.to_owned(),
    }
}
