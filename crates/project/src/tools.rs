//! Tools: scripts, and what clients are told about them.

use crate::client_capability::ClientCapability;
use crate::entry::{Context, Entry, RegistryEntry, Unread, below, default_name};
use crate::functions::ServedBy;
use crate::listing::{Listing, is_interface, metadata_stem};
use crate::mapping::{self, Mapping};
use crate::metadata::Metadata;
use crate::refusals::names::refusal;
use crate::scan::Besides;
use crate::sighting::{Candidate, Sighting};
use crate::sign::{self, Says};
use crate::stamp::Stamp;
use crate::worker::{Worker, WorkerProgram};
use crate::working_folder::WorkingFolder;
use crate::{
    Diagnostic, FunctionFile, Paths, Provider, Repair, header_parameters, icons, trust, unread_arguments,
    variable_names,
};
use mcp_bash_files::look;
use mcp_bash_wire::write;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// A script and what clients are told about it. JSON stays as its author wrote it.
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
    pub timeouts: Timeouts,
    /// The exit codes besides 0 with which it has answered, and not failed.
    pub success_exit_codes: Vec<u8>,
    /// What a client must offer so that the tool is of any use to it.
    pub required_capabilities: Vec<ClientCapability>,
    /// Whether its script may be run again where its process did not live to hear the answer to a question.
    pub may_run_again: bool,
    /// Whether the client's roots must be known before the script starts.
    pub needs_roots: bool,
    pub working_folder: WorkingFolder,
    /// The variables of the server's environment that it needs.
    pub variables: Vec<String>,
    /// The script; for a tool without one, the metadata that says what is run.
    pub script: PathBuf,
    pub execution: Execution,
    /// Where the script stands below `tools/`.
    pub path: String,
    /// Why it must not be run, whatever its script is like: others may have written what is said about it.
    pub distrust: Option<String>,
    registry_entry: RegistryEntry,
}

/// How a tool is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Execution {
    /// Its script is the tool, and reads the arguments as JSON.
    Script,
    /// Its script is the tool, and is given the arguments in the way it takes them.
    MappedScript(Mapping),
    /// It has no script, and runs a program that is found when it is called.
    Command { program: String, mapping: Mapping },
    /// Its executable provides it: the name and the arguments of the call are what it is run with.
    Provider,
    /// A process that stays alive serves it, and other calls.
    Worker(Worker),
}

/// How long a call may take, where the author says so.
#[derive(Debug, Clone, Default)]
pub struct Timeouts {
    /// How long a call may take, or may be silent if progress extends it.
    pub limit: Option<Duration>,
    /// Whether a sign of life starts the time anew.
    pub progress_extends: Option<bool>,
    /// How long a call may take however lively it is.
    pub most: Option<Duration>,
    /// What the model is told when the time is over.
    pub hint: Option<String>,
}

impl Tool {
    /// The entry of this tool in the registry, as the text of a JSON object.
    pub fn registry_text(&self) -> &str {
        Entry::registry_text(self)
    }

    /// Whether it is known which arguments it takes.
    pub fn declares_arguments(&self) -> bool {
        self.execution != Execution::Script || self.input_schema.get() != NO_SCHEMA
    }

    /// Whether it is a function of a file, which an interpreter loads and nobody runs by itself.
    pub fn is_function(&self) -> bool {
        self.worker().is_some_and(|worker| worker.program != WorkerProgram::Itself)
    }

    /// What serves its calls, where a process stays alive for them.
    pub fn worker(&self) -> Option<&Worker> {
        match &self.execution {
            Execution::Worker(worker) => Some(worker),
            _ => None,
        }
    }

    /// Whether a process that ended with this exit code has answered.
    pub fn has_answered(&self, exit_code: i32) -> bool {
        exit_code == 0 || self.success_exit_codes.iter().any(|code| i32::from(*code) == exit_code)
    }

    /// Makes a tool of what the executable that provides it says.
    pub(crate) fn provided(
        definition: &str,
        program: &Path,
        paths: &Paths,
        problems: &mut Vec<String>,
    ) -> Result<Self, String> {
        let metadata = Metadata::from_json(definition)?;
        if metadata.name.as_deref().is_none_or(|name| name.trim().is_empty()) {
            return Err("`name` is missing".to_owned());
        }
        // How it is run is not up to what it prints.
        let metadata = Metadata {
            argv: None,
            command: None,
            cwd: None,
            env: None,
            stdin: None,
            worker: None,
            ..metadata
        };
        let tool = Self::new(program.to_owned(), metadata, &paths.tools, problems)?;
        Ok(Self { execution: Execution::Provider, ..tool })
    }

    /// Makes a tool of what a file says about one of its functions.
    pub(crate) fn of_function(
        definition: &str,
        served_by: &ServedBy,
        paths: &Paths,
        problems: &mut Vec<String>,
    ) -> Result<Self, String> {
        Ok(Self::provided(definition, &served_by.file, paths, problems)?.served_by(served_by))
    }

    /// The same tool, as a function that is run by a worker.
    fn served_by(self, served_by: &ServedBy) -> Self {
        let worker = served_by.worker.clone();
        Self { variables: worker.options.env.clone(), execution: Execution::Worker(worker), ..self }
    }

    /// Takes the tool of a function from the registry of functions.
    pub(crate) fn remembered_function(metadata: Metadata, served_by: &ServedBy) -> Option<Self> {
        Some(Self::recalled(metadata, served_by.file.clone())?.served_by(served_by))
    }

    /// Takes a tool from a registry, where it was looked at before it was written. Only what may have been written by others
    /// since is looked at again.
    fn recalled(metadata: Metadata, script: PathBuf) -> Option<Self> {
        metadata.is_shallow().then_some(())?;
        let input_schema = object(metadata.input_schema, "inputSchema").ok()??;
        header_parameters::are_faultless(&input_schema).then_some(())?;
        Some(Self {
            script,
            // What was registered without a script is read from the registration only.
            path: metadata.path.filter(|path| !path.is_empty())?,
            name: metadata.name?,
            title: metadata.title,
            description: metadata.description.filter(|text| !text.is_empty()),
            output_schema: object(metadata.output_schema, "outputSchema").ok()?,
            annotations: object(metadata.annotations, "annotations").ok()?,
            icons: metadata.icons,
            meta: object(metadata.underscored, "_meta").ok()?,
            timeouts: Timeouts {
                limit: positive(metadata.timeout_secs, "timeoutSecs").ok()?,
                progress_extends: metadata.progress_extends_timeout,
                most: positive(metadata.max_timeout_secs, "maxTimeoutSecs").ok()?,
                hint: metadata.timeout_hint,
            },
            success_exit_codes: metadata.success_exit_codes.unwrap_or_default(),
            required_capabilities: metadata.required_capabilities.unwrap_or_default(),
            may_run_again: metadata.replay.unwrap_or_default(),
            needs_roots: metadata.needs_roots.unwrap_or_default(),
            working_folder: WorkingFolder::read(metadata.cwd.as_deref()).ok()?,
            variables: variable_names::read(metadata.env.as_deref(), &mut Vec::new()),
            execution: Execution::Script,
            input_schema,
            distrust: None,
            registry_entry: RegistryEntry::default(),
        })
    }

    /// Makes a tool of a script and its metadata. `problems` gets what is wrong and does no harm.
    fn new(
        script: PathBuf,
        metadata: Metadata,
        tools: &Path,
        problems: &mut Vec<String>,
    ) -> Result<Self, String> {
        let path = below(&script, tools);
        let mapped = mapping::read(&metadata)?;
        let worker = Worker::read(metadata.worker.as_deref(), WorkerProgram::Itself)?;
        if worker.is_some() && metadata.cwd.is_some() {
            return Err(
                "it is a `worker`, which runs in the folder of the project; take `cwd` away".to_owned()
            );
        }
        let name = metadata
            .name
            .filter(|name| !name.trim().is_empty())
            .unwrap_or_else(|| default_name(&described(&script), "tool"));
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
            timeouts: Timeouts {
                limit: positive(metadata.timeout_secs, "timeoutSecs")?,
                progress_extends: metadata.progress_extends_timeout,
                most: positive(metadata.max_timeout_secs, "maxTimeoutSecs")?,
                hint: metadata.timeout_hint,
            },
            success_exit_codes: metadata.success_exit_codes.unwrap_or_default(),
            required_capabilities: metadata.required_capabilities.unwrap_or_default(),
            may_run_again: metadata.replay.unwrap_or_default(),
            needs_roots: metadata.needs_roots.unwrap_or_default(),
            working_folder: WorkingFolder::read(metadata.cwd.as_deref())?,
            variables: variable_names::read(metadata.env.as_deref(), problems),
            name,
            script,
            execution,
            path,
            distrust: None,
            registry_entry: RegistryEntry::default(),
        })
    }
}

impl Execution {
    /// How a tool is run whose metadata says this, and whose arguments have this schema.
    fn of(mapped: Option<mapping::Read>, worker: Option<Worker>, schema: &RawValue) -> Result<Self, String> {
        let mapped = match (mapped, worker) {
            (None, None) => return Ok(Self::Script),
            (None, Some(worker)) => return Ok(Self::Worker(worker)),
            (Some(_), Some(_)) => {
                return Err("it is a `worker`, which is given its arguments as JSON with each call; take `argv`, `env`, \
                            `stdin` and `command` away"
                    .to_owned());
            }
            (Some(mapped), None) => mapped,
        };
        let mapping::Read { program, mapping } = mapped.fitted_to(schema)?;
        Ok(match program {
            Some(program) => Self::Command { program, mapping },
            None => Self::MappedScript(mapping),
        })
    }

    /// What the program is given of the arguments, where that is not the JSON.
    pub fn mapping(&self) -> Option<&Mapping> {
        match self {
            Self::MappedScript(mapping) | Self::Command { mapping, .. } => Some(mapping),
            Self::Script | Self::Provider | Self::Worker(_) => None,
        }
    }

    /// What is wrong with arguments that the program never sees. A script can still read them as JSON, unless it was plainly
    /// meant to get them.
    fn unused_arguments(&self, schema: &RawValue) -> Option<String> {
        let has_script = !matches!(self, Self::Command { .. });
        let unused = self.mapping()?.unused(schema).into_iter();
        let unused = unused.filter(|(_, has_two_braces)| *has_two_braces || !has_script);
        let unused: Vec<String> = unused.map(|(name, _)| format!("`{name}`")).collect();
        (!unused.is_empty()).then(|| {
            format!(
                "declares {} in `inputSchema`, which its program is not given; write an argument as {{name}}, with one brace \
                 on each side, in `command`, `argv`, `env` or `stdin`",
                unused.join(", ")
            )
        })
    }
}

impl Entry for Tool {
    const KIND: &'static str = "tools";

    type Written = Metadata;

    /// Helpers beside a tool, and executables that provide tools, are not looked at again.
    const REMEMBERS_OTHERS: bool = true;

    fn folder(paths: &Paths) -> &Path {
        &paths.tools
    }

    fn pick(listing: &Listing<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Sighting> {
        let (mut found, mut used) = (Vec::new(), BTreeSet::new());
        for name in listing.plain_files().filter(|name| *name != "smoke.sh") {
            let metadata = listing.metadata_beside(name);
            let path = || listing.path(name);
            // The executable bit or a `#!` decides, never the extension. What is no file at all is told when it is read.
            let is_meant = |stamp: &Stamp| {
                let holds_functions =
                    || metadata.is_none() && listing.is_known_to_hold_functions(name, *stamp);
                stamp.is_executable()
                    || stamp.require_regular().is_err()
                    || (!holds_functions() && has_shebang(&path()))
            };
            let Some(stamp) = listing.stamp(name).filter(is_meant) else {
                if let Some(metadata) = metadata {
                    used.insert(metadata);
                    let problem =
                        "is skipped: it is neither executable nor starts with `#!`; run `chmod +x` on it";
                    diagnostics.push(Diagnostic::new(path(), problem).mended_by(Repair::executable(path())));
                }
                continue;
            };
            if holds_line_break(name) {
                diagnostics
                    .push(Diagnostic::new(path(), "is skipped: its name holds a line break; rename it"));
                continue;
            }
            found.push(listing.sighting(name, stamp, metadata));
            used.extend(metadata);
        }
        // Metadata may be all there is to a tool, which only shows when it is read.
        let alone = listing.lonely_metadata(&used);
        let alone = alone.filter(|name| !holds_line_break(name) && !is_interface(&listing.path(name)));
        found.extend(alone.filter_map(|name| Some(listing.sighting(name, listing.stamp(name)?, None))));
        found
    }

    /// A file of functions may load what stands there, and fail because of it.
    fn depends_on(paths: &Paths) -> Option<&Path> {
        Some(&paths.lib)
    }

    fn pick_besides(listing: &Listing<'_>, besides: &mut Besides) {
        besides.functions.extend(FunctionFile::pick(listing, &mut Vec::new()));
        if listing.is_at_the_top() {
            besides.providers = Some(Provider::pick(listing, &mut Vec::new()));
        }
    }

    fn read(
        candidate: Candidate,
        context: &Context<'_>,
        problems: &mut Vec<String>,
    ) -> Result<Option<Self>, Unread> {
        let mut distrust = None;
        let is_alone = candidate.file.file_name().is_some_and(|name| metadata_stem(name).is_some());
        let metadata_file = if is_alone { Some(&candidate.file) } else { candidate.metadata.as_ref() };
        let metadata = match metadata_file {
            Some(path) => {
                let opened = trust::open_and_judge(path, &context.paths.root);
                let (file, judged) = opened.map_err(|error| error.to_string())?;
                distrust = judged.err().map(|distrust| distrust.to_string());
                let metadata = Metadata::from_opened(path, &file)?;
                if metadata.provides_tools() {
                    problems.push(
                        "says `\"provider\": true`, which counts only in a `# mcp:` line of the executable itself, \
                         without a metadata file beside it, or in server.d/register.json"
                            .to_owned(),
                    );
                }
                metadata
            }
            None => match sign::read(&candidate, context.asks)? {
                Says::Described(metadata) => *metadata,
                Says::Provides | Says::HoldsFunctions => return Ok(None),
                Says::Nothing if !candidate.at_the_top && !is_named_as_a_tool(&candidate.file) => {
                    return Ok(None);
                }
                Says::Nothing if candidate.at_the_top && !candidate.stamps.file.is_executable() => {
                    return Err("it has neither metadata nor a `# mcp:` line, and is not executable; \
                                run `chmod +x` on it if it is a tool"
                        .into());
                }
                Says::Nothing => Metadata::default(),
            },
        };
        let has_command = metadata.command.as_deref().is_some_and(|command| command.get() != "null");
        match (is_alone, has_command) {
            (true, false) => {
                return Err("there is no script of that name beside it, and no `command` in it".into());
            }
            (false, true) => {
                return Err("it has a `command`, and there is a script too; give the script its arguments \
                            in `argv`, or take it away"
                    .into());
            }
            _ => {}
        }
        problems.extend(distrust.iter().map(|distrust| format!("keeps its tool from being run: {distrust}")));
        let tool = Self::new(candidate.file, metadata, &context.paths.tools, problems)?;
        if !tool.declares_arguments() {
            problems.extend(unread_arguments::problem(&tool.script));
        }
        Ok(Some(Self { distrust, ..tool }))
    }

    fn registered(text: &str, paths: &Paths, problems: &mut Vec<String>) -> Result<Self, String> {
        let metadata = Metadata::from_json(text)?;
        if metadata.name.as_deref().is_none_or(|name| name.trim().is_empty()) {
            return Err("`name` is missing".to_owned());
        }
        if metadata.command.is_some() && metadata.path.is_none() {
            let tool = Self::new(registration(paths), metadata, &paths.tools, problems)?;
            return Ok(Self { path: String::new(), ..tool });
        }
        let script = paths.tools.join(relative(metadata.path.as_deref(), "tools")?);
        if !look::is_file(&script) {
            return Err(format!("there is no file {}", script.display()));
        }
        if metadata.command.is_some() {
            return Err(
                "it has both `path` and `command`; a script is given its arguments in `argv`".to_owned()
            );
        }
        Self::new(script, metadata, &paths.tools, problems)
    }

    fn remembered(metadata: Metadata, paths: &Paths) -> Option<Self> {
        let mapped = mapping::read(&metadata).ok()?;
        let worker = Worker::read(metadata.worker.as_deref(), WorkerProgram::Itself).ok()?;
        let script = paths.tools.join(relative(metadata.path.as_deref(), "tools").ok()?);
        let tool = Self::recalled(metadata, script)?;
        Some(Self { execution: Execution::of(mapped, worker, &tool.input_schema).ok()?, ..tool })
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
        let text = |value: &Option<String>| value.as_deref().map(write::string);
        let seconds = |limit: Option<Duration>| limit.map(|limit| limit.as_secs().to_string());
        let variables = self.variables.iter().map(|name| write::string(name)).collect::<Vec<_>>().join(",");
        let mapped = self.execution.mapping().into_iter().flat_map(|mapping| &mapping.written);
        let is_mapped = mapped.clone().any(|(key, _)| *key == "env");
        let variables = (!variables.is_empty() && !is_mapped).then(|| format!("[{variables}]"));
        let members = [
            ("name", Some(write::string(&self.name))),
            ("title", text(&self.title)),
            ("description", Some(write::string(self.description.as_deref().unwrap_or_default()))),
            ("path", Some(write::string(&self.path))),
            ("inputSchema", Some(self.input_schema.get().to_owned())),
            ("outputSchema", raw(&self.output_schema)),
            ("timeoutSecs", seconds(self.timeouts.limit)),
            ("progressExtendsTimeout", self.timeouts.progress_extends.map(|extends| extends.to_string())),
            ("maxTimeoutSecs", seconds(self.timeouts.most)),
            ("timeoutHint", text(&self.timeouts.hint)),
            ("successExitCodes", exit_codes(&self.success_exit_codes)),
            ("requiredCapabilities", ClientCapability::written(&self.required_capabilities)),
            ("replay", self.may_run_again.then(|| "true".to_owned())),
            ("needsRoots", self.needs_roots.then(|| "true".to_owned())),
            ("cwd", self.working_folder.written().map(write::string)),
            ("env", variables),
            ("worker", self.worker().map(|worker| worker.written().to_owned())),
            ("icons", raw(&self.icons)),
            ("annotations", raw(&self.annotations)),
            ("_meta", raw(&self.meta)),
        ];
        let mapping = mapped.map(|(key, text)| (*key, Some(text.clone())));
        let members = members.into_iter().chain(mapping);
        let members = members.filter_map(|(name, value)| Some(format!("\"{name}\":{}", value?)));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }
}

/// The exit codes as JSON, if there are any.
fn exit_codes(codes: &[u8]) -> Option<String> {
    let codes = codes.iter().map(u8::to_string).collect::<Vec<_>>().join(",");
    (!codes.is_empty()).then(|| format!("[{codes}]"))
}

/// Whether a file in a folder of its own is a tool though nothing is said about it. What else stands beside a tool
/// helps it.
fn is_named_as_a_tool(file: &Path) -> bool {
    let folder = file.parent().and_then(Path::file_name);
    let stem = file.file_stem();
    stem.is_some_and(|stem| stem == "tool") || stem == folder || file.file_name() == folder
}

fn holds_line_break(name: &OsStr) -> bool {
    name.as_bytes().iter().any(|byte| matches!(byte, b'\n' | b'\r'))
}

/// The file whose name is that of a tool: the script, or for metadata without one what it would describe.
fn described(file: &Path) -> PathBuf {
    match file.file_name().and_then(metadata_stem) {
        Some(stem) => file.with_file_name(OsStr::from_bytes(stem)),
        None => file.to_owned(),
    }
}

/// The file in which the project registers its tools.
fn registration(paths: &Paths) -> PathBuf {
    let [json, hook] = ["register.json", "register.sh"].map(|name| paths.server.join(name));
    if look::metadata(&json).is_ok() { json } else { hook }
}

/// The path of a registered file, which must stay below its folder.
pub(crate) fn relative<'a>(path: Option<&'a str>, folder: &str) -> Result<&'a Path, String> {
    let path = path.ok_or("`path` is missing")?;
    let mut parts = Path::new(path).components();
    if parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        Ok(Path::new(path))
    } else {
        Err(format!("`path` must stay below the {folder} folder: {path}"))
    }
}

pub(crate) fn has_shebang(path: &Path) -> bool {
    let mut start = [0; 2];
    mcp_bash_files::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && start == *b"#!"
}

pub(crate) fn object(value: Option<Box<RawValue>>, name: &str) -> Result<Option<Box<RawValue>>, String> {
    match value {
        Some(value) if value.get() == "null" => Ok(None),
        Some(value) if !value.get().starts_with('{') => {
            Err(format!("`{name}` must be an object; write it between `{{` and `}}`"))
        }
        value => Ok(value),
    }
}

pub(crate) fn positive(seconds: Option<u64>, name: &str) -> Result<Option<Duration>, String> {
    match seconds {
        Some(0) => Err(format!("`{name}` must be above 0; leave it out for the default")),
        seconds => Ok(seconds.map(Duration::from_secs)),
    }
}

/// The schema of a tool whose author has written none.
const NO_SCHEMA: &str = r#"{"type":"object","properties":{}}"#;

/// A schema that says `"type": "object"` and has `properties`, as every client expects.
fn input_schema(schema: Option<Box<RawValue>>) -> Result<Box<RawValue>, String> {
    #[derive(Deserialize)]
    struct Shape<'a> {
        r#type: Option<Value>,
        #[serde(borrow)]
        properties: Option<&'a RawValue>,
    }
    let text = schema.as_deref().map_or("{}", RawValue::get);
    let shape: Shape<'_> = serde_json::from_str(text).map_err(|error| format!("`inputSchema`: {error}"))?;
    let mut added = String::new();
    match shape.r#type {
        None => added.push_str(r#""type":"object","#),
        Some(kind) if kind == "object" => {}
        Some(kind) => {
            let problem = format!("`inputSchema` must have the type \"object\", not {kind}");
            return Err(format!(
                "{problem}; write `\"type\": \"object\"` and put the rest into `properties`"
            ));
        }
    }
    match shape.properties {
        None => added.push_str(r#""properties":{},"#),
        Some(properties) if properties.get().starts_with('{') => {}
        Some(_) => {
            return Err(
                "`inputSchema.properties` must be an object; write a schema for each name in it".to_owned()
            );
        }
    }
    let whole = match schema {
        Some(schema) if added.is_empty() => return Ok(schema),
        Some(schema) if schema.get() != "{}" => schema.get().replacen('{', &format!("{{{added}"), 1),
        _ => format!("{{{}}}", added.trim_end_matches(',')),
    };
    RawValue::from_string(whole).map_err(|error| error.to_string())
}
