//! Function files: files whose functions are tools, resources and prompts. A file is loaded once in its language, which
//! runs none of the functions, to learn its definitions. They stay valid until the file, or another file that it loads,
//! looks different.

use crate::declarations::error::EntryError;
use crate::declarations::metadata::Metadata;
use crate::declarations::worker::{Worker, WorkerProgram};
use crate::ground::stamp::{Stamp, Stamps};
use crate::kinds::picking;
use crate::kinds::served_by::ServedBy;
use crate::languages::{Language, language_named};
use crate::walk::entry::{Context, Entry, RegistryEntry, Unread, below};
use crate::walk::function_sign::{foreign, functions_of};
use crate::walk::listing::Listing;
use crate::walk::run::{Asked, Said};
use crate::walk::sighting::{Candidate, Sighting};
use crate::{Diagnostic, Paths, Prompt, Resource, ResourceTemplate, Tool, trust};
use mcp_bash_wire::write;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file and the definitions of its functions.
#[derive(Debug, Clone)]
pub struct FunctionFile {
    pub tools: Vec<Arc<Tool>>,
    pub resources: Vec<Arc<Resource>>,
    pub templates: Vec<Arc<ResourceTemplate>>,
    pub prompts: Vec<Arc<Prompt>>,
    pub instructions: Option<String>,
    /// What runs the functions.
    pub served_by: ServedBy,
    /// Its own descriptions besides its tools.
    rest: Rest,
    /// The other files of the project that it loads.
    parts: Vec<Part>,
    /// The path below `tools/`.
    path: String,
    registry_entry: RegistryEntry,
}

/// Another file that a function file loads, by its path below the project, and its stamp.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    file: PathBuf,
    stamp: Option<Stamp>,
}

/// What a function file reports about its tools when it is loaded, and the other files that it loads.
#[derive(Debug, Deserialize)]
struct Loaded {
    #[serde(default)]
    tools: Vec<Box<RawValue>>,
    #[serde(default)]
    files: Vec<PathBuf>,
}

/// Everything else that it reports.
#[derive(Debug, Clone, Default, Deserialize)]
struct Rest {
    #[serde(default)]
    resources: Vec<Box<RawValue>>,
    #[serde(default)]
    templates: Vec<Box<RawValue>>,
    #[serde(default)]
    prompts: Vec<Box<RawValue>>,
    instructions: Option<String>,
    worker: Option<Box<RawValue>>,
    /// The state of the module, in words, if its options let several processes have one each.
    #[serde(rename = "splitState")]
    split_state: Option<String>,
}

/// A function file in our registry.
#[derive(Deserialize)]
pub(crate) struct Written {
    path: String,
    program: String,
    /// As in the registry of tools, where they were checked before they were written.
    tools: Vec<Metadata>,
    rest: Rest,
    /// The other files, and the numbers of their stamps.
    parts: Vec<(PathBuf, Option<[i64; 5]>)>,
}

impl FunctionFile {
    /// Turns the report of a loaded file into entries.
    fn loaded(
        file: &Path,
        language: &'static Language,
        text: &str,
        paths: &Paths,
        problems: &mut Vec<String>,
    ) -> Result<Self, EntryError> {
        let loaded: Loaded = serde_json::from_str(text).map_err(EntryError::NotFunctions)?;
        let rest: Rest = serde_json::from_str(text).map_err(EntryError::NotFunctions)?;
        let mut found = Self::without_tools(file, language, rest, paths, problems)?;
        for text in &loaded.tools {
            found.tools.push(Arc::new(Tool::of_function(text.get(), &found.served_by, paths, problems)?));
        }
        found.parts = loaded.files.iter().filter_map(|file| Part::of(file, paths)).collect();
        Ok(found)
    }

    fn without_tools(
        file: &Path,
        language: &'static Language,
        rest: Rest,
        paths: &Paths,
        problems: &mut Vec<String>,
    ) -> Result<Self, EntryError> {
        let options = rest.worker.as_deref().map_or("{}", RawValue::get);
        let worker = Worker::new(WorkerProgram::Functions(language), options)?;
        let (sandbox, secrets) = (worker.options.sandbox.clone(), worker.options.secrets.clone());
        let served_by = ServedBy { file: file.to_owned(), worker, sandbox, secrets };
        let (mut resources, mut templates, mut prompts) = (Vec::new(), Vec::new(), Vec::new());
        for text in &rest.resources {
            resources.push(Arc::new(Resource::of_function(text.get(), &served_by, paths, problems)?));
        }
        for text in &rest.templates {
            templates.push(Arc::new(ResourceTemplate::of_function(text.get(), &served_by, paths, problems)?));
        }
        for text in &rest.prompts {
            prompts.push(Arc::new(Prompt::of_function(text.get(), &served_by, paths, problems)?));
        }
        Ok(Self {
            tools: Vec::new(),
            resources,
            templates,
            prompts,
            instructions: rest.instructions.clone().filter(|text| !text.trim().is_empty()),
            parts: Vec::new(),
            rest,
            path: below(file, &paths.tools),
            registry_entry: RegistryEntry::default(),
            served_by,
        })
    }

    /// The state of the module, in words, if several processes may each have their own.
    pub(crate) fn split_state(&self) -> Option<&str> {
        self.rest.split_state.as_deref()
    }

    /// The other files of the project that it loads, by their paths below the project.
    pub(crate) fn loaded_files(&self) -> impl Iterator<Item = &Path> {
        self.parts.iter().map(|part| &*part.file)
    }

    /// Its sighting for another read, because another file has changed.
    pub(crate) fn sighting(&self) -> Option<Sighting> {
        let file = Stamp::at(&self.served_by.file)?;
        Some(Sighting {
            path: PathBuf::from(&self.path),
            metadata: None,
            stamps: Stamps { file, metadata: None },
        })
    }
}

impl Rest {
    /// The text of a JSON object.
    fn written(&self) -> String {
        let text = |text: &Option<String>| text.as_deref().map_or_else(|| "null".to_owned(), write::string);
        let list = |all: &[Box<RawValue>]| {
            let texts: Vec<&str> = all.iter().map(|text| text.get()).collect();
            format!("[{}]", texts.join(","))
        };
        format!(
            r#"{{"resources":{},"templates":{},"prompts":{},"instructions":{},"worker":{},"splitState":{}}}"#,
            list(&self.resources),
            list(&self.templates),
            list(&self.prompts),
            text(&self.instructions),
            self.worker.as_deref().map_or("null", RawValue::get),
            text(&self.split_state),
        )
    }
}

impl Part {
    /// `None` for a file outside the project: installed files do not change between calls.
    fn of(file: &Path, paths: &Paths) -> Option<Self> {
        let file = file.strip_prefix(&paths.root).ok()?;
        Some(Self { file: file.to_owned(), stamp: Stamp::at(&paths.root.join(file)) })
    }

    fn written(&self) -> String {
        let file = write::string(&self.file.to_string_lossy());
        let stamp = self.stamp.map_or_else(|| "null".to_owned(), |stamp| format!("{:?}", stamp.numbers()));
        format!("[{file},{stamp}]")
    }
}

impl Entry for FunctionFile {
    const KIND: &'static str = "functions";

    type Written = Written;

    /// A file without signs is not searched for them again.
    const REMEMBERS_OTHERS: bool = true;

    fn folder(paths: &Paths) -> &Path {
        &paths.tools
    }

    fn pick(listing: &Listing<'_>, _diagnostics: &mut Vec<Diagnostic>) -> Vec<Sighting> {
        picking::may_hold_functions(listing)
    }

    fn read(
        candidate: Candidate,
        context: &Context<'_>,
        problems: &mut Vec<String>,
    ) -> Result<Option<Self>, Unread> {
        let Some(language) = functions_of(&candidate.file) else {
            return foreign(&candidate.file).map_or(Ok(None), |why| Err(EntryError::from(why).into()));
        };
        let Some(runner) = context.run else { return Ok(None) };
        let paths = context.paths;
        trust::may_run(&candidate.file, &paths.root)?;
        // Its options are not known before it is loaded.
        let worker = Worker::new(WorkerProgram::Functions(language), "{}")?;
        match runner.definitions(&candidate.file, candidate.stamps.file, Asked::Functions(&worker)) {
            Said::Later => Err(Unread::Awaited),
            Said::Now(Err(unanswered)) => {
                Err(Unread::unanswered(unanswered.passes, EntryError::NotLoaded(unanswered.why)))
            }
            Said::Now(Ok(said)) => {
                Ok(Some(Self::loaded(&candidate.file, language, &said.text, paths, problems)?))
            }
        }
    }

    fn registered(_text: &str, _paths: &Paths, _problems: &mut Vec<String>) -> Result<Self, EntryError> {
        Err("files of functions are found, and not registered".into())
    }

    fn remembered(written: Written, paths: &Paths) -> Option<Self> {
        let language = language_named(&written.program)?;
        let file = paths.tools.join(&written.path);
        let found = Self::without_tools(&file, language, written.rest, paths, &mut Vec::new()).ok()?;
        let tool = |metadata| Tool::remembered_function(metadata, &found.served_by).map(Arc::new);
        let tools = written.tools.into_iter().map(tool).collect::<Option<_>>()?;
        let parts = written
            .parts
            .into_iter()
            .map(|(file, numbers)| Part { file, stamp: numbers.map(Stamp::of_numbers) });
        Some(Self { tools, parts: parts.collect(), ..found })
    }

    fn name(&self) -> &str {
        &self.path
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn registry_entry(&self) -> &RegistryEntry {
        &self.registry_entry
    }

    fn write(&self) -> String {
        let program = self.served_by.worker.program.language().map_or("", |language| language.name);
        let parts: Vec<String> = self.parts.iter().map(Part::written).collect();
        let tools: Vec<&str> = self.tools.iter().map(|tool| tool.registry_text()).collect();
        format!(
            r#"{{"path":{},"program":"{program}","parts":[{}],"tools":[{}],"rest":{}}}"#,
            write::string(&self.path),
            parts.join(","),
            tools.join(","),
            self.rest.written()
        )
    }

    fn has_parts_elsewhere(&self) -> bool {
        false
    }

    fn parts(&self, paths: &Paths) -> Vec<PathBuf> {
        self.loaded_files().map(|file| paths.root.join(file)).collect()
    }

    fn is_current(&self, paths: &Paths) -> bool {
        self.parts.iter().all(|part| Stamp::at(&paths.root.join(&part.file)) == part.stamp)
    }
}
