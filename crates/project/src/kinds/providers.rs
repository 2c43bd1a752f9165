//! Providers: executables that describe themselves. Called with `list`, they print a JSON object for each of their tools;
//! called with `instructions`, text for the model. Only executables that gave a sign (`walk/sign.rs`) are called.

use crate::declarations::error::EntryError;
use crate::ground::excerpt::excerpt;
use crate::kinds::picking;
use crate::walk::entry::{Context, Entry, RegistryEntry, Unread, below};
use crate::walk::listing::Listing;
use crate::walk::run::{Asked, Definitions, Said};
use crate::walk::sighting::{Candidate, Sighting};
use crate::walk::sign::{self, Says};
use crate::{Diagnostic, Paths, Tool, trust};
use mcp_bash_wire::{surrogates, write};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An executable and the tools it lists.
#[derive(Debug, Clone)]
pub struct Provider {
    pub tools: Vec<Arc<Tool>>,
    pub instructions: Option<String>,
    /// The path below `tools/`.
    path: String,
    registry_entry: RegistryEntry,
}

/// A provider in our registry.
#[derive(Deserialize)]
pub(crate) struct Written {
    path: String,
    tools: Vec<Box<RawValue>>,
    instructions: Option<String>,
}

impl Provider {
    /// Turns the answer of an executable into entries.
    fn answered(
        said: Definitions,
        program: &Path,
        paths: &Paths,
        problems: &mut Vec<String>,
    ) -> Result<Self, EntryError> {
        let tools = definitions(&said.text, program, paths, problems)?;
        let instructions =
            said.instructions.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let path = below(program, &paths.tools);
        Ok(Self { tools, instructions, path, registry_entry: RegistryEntry::default() })
    }
}

/// The tools that an executable lists: JSON objects, one after another.
fn definitions(
    listed: &str,
    program: &Path,
    paths: &Paths,
    problems: &mut Vec<String>,
) -> Result<Vec<Arc<Tool>>, EntryError> {
    let mut tools = Vec::new();
    let listed = &*surrogates::repaired(listed);
    for definition in serde_json::Deserializer::from_str(listed).into_iter::<&RawValue>() {
        let definition =
            definition.map_err(|source| EntryError::ListedNoJson { source, excerpt: excerpt(listed) })?;
        let tool = Tool::provided(definition.get(), program, paths, problems);
        let tool = tool.map_err(|error| EntryError::ListedUnusable {
            source: Box::new(error),
            excerpt: excerpt(definition.get()),
        })?;
        tools.push(Arc::new(tool));
    }
    if tools.is_empty() { Err("asked `list`, it named no tool".into()) } else { Ok(tools) }
}

impl Entry for Provider {
    const KIND: &'static str = "providers";

    type Written = Written;

    /// An executable without a sign is not searched for one again.
    const REMEMBERS_OTHERS: bool = true;

    /// In deeper folders, an executable without a description is a tool.
    const DEPTH: usize = 1;

    fn folder(paths: &Paths) -> &Path {
        &paths.tools
    }

    fn pick(listing: &Listing<'_>, _diagnostics: &mut Vec<Diagnostic>) -> Vec<Sighting> {
        picking::may_provide_tools(listing)
    }

    fn read(
        candidate: Candidate,
        context: &Context<'_>,
        problems: &mut Vec<String>,
    ) -> Result<Option<Self>, Unread> {
        // The search for tools reports a wrong `# mcp:` line.
        let gave_sign = || matches!(sign::read(&candidate, context.asks), Ok(Says::Provides));
        if !context.are_registered && !gave_sign() {
            return Ok(None);
        }
        let no_runner = EntryError::Rule("there is nobody who could ask it which tools it has");
        let runner = context.run.ok_or(no_runner)?;
        let (file, paths) = (&candidate.file, context.paths);
        trust::may_run(file, &paths.root)?;
        match runner.definitions(file, candidate.stamps.file, Asked::Provider) {
            Said::Later => Err(Unread::Awaited),
            Said::Now(Err(unanswered)) => {
                Err(Unread::unanswered(unanswered.passes, EntryError::NotListed(unanswered.why)))
            }
            Said::Now(Ok(said)) => Ok(Some(Self::answered(said, file, paths, problems)?)),
        }
    }

    fn registered(_text: &str, _paths: &Paths, _problems: &mut Vec<String>) -> Result<Self, EntryError> {
        Err("what provides tools is registered among them, with `\"provider\": true`".into())
    }

    fn remembered(written: Written, paths: &Paths) -> Option<Self> {
        let program = paths.tools.join(&written.path);
        let tool = |text: &RawValue| Tool::provided(text.get(), &program, paths, &mut Vec::new()).ok();
        Some(Self {
            tools: written.tools.iter().map(|text| tool(text).map(Arc::new)).collect::<Option<_>>()?,
            instructions: written.instructions,
            path: written.path,
            registry_entry: RegistryEntry::default(),
        })
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
        let tools: Vec<&str> = self.tools.iter().map(|tool| tool.registry_text()).collect();
        let instructions = self.instructions.as_deref().map_or_else(|| "null".to_owned(), write::string);
        let path = write::string(&self.path);
        format!(r#"{{"path":{path},"instructions":{instructions},"tools":[{}]}}"#, tools.join(","))
    }

    fn has_parts_elsewhere(&self) -> bool {
        false
    }
}

/// Tools that share a name, at least one of them provided: none of them is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    pub name: String,
    /// The files that have it, the later ones first.
    pub files: Vec<PathBuf>,
}

impl std::fmt::Display for Duplicate {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let files: Vec<_> = self.files.iter().map(|file| file.display().to_string()).collect();
        write!(formatter, "{}:{}", self.name, files.join(","))
    }
}
