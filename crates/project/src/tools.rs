//! Tools: scripts, and what clients are told about them.

use crate::metadata::Metadata;
use crate::registry::{self, Known};
use crate::scan::{Candidate, candidates};
use crate::stamp::Stamps;
use crate::{Diagnostic, icons};
use mcp_bash_wire::write;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
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
    pub script: PathBuf,
    /// Where the script stands below `tools/`.
    pub path: String,
    registry_text: OnceLock<Box<str>>,
    canonical: OnceLock<Box<[u8]>>,
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
        self.registry_text.get_or_init(|| {
            let raw = |value: &Option<Box<RawValue>>| value.as_ref().map(|raw| raw.get().to_owned());
            let text = |value: &Option<String>| value.as_deref().map(write::string);
            let seconds = |limit: Option<Duration>| limit.map(|limit| limit.as_secs().to_string());
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
                ("icons", raw(&self.icons)),
                ("annotations", raw(&self.annotations)),
                ("_meta", raw(&self.meta)),
            ];
            let members =
                members.into_iter().filter_map(|(name, value)| Some(format!("\"{name}\":{}", value?)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(",")).into()
        })
    }

    /// The canonical form of the entry, of which the registry's hash is made.
    pub(crate) fn canonical(&self) -> &[u8] {
        self.canonical.get_or_init(|| registry::canonical(self.registry_text()).into())
    }

    /// Makes a tool of a script and its metadata. `problems` gets what is wrong and does no harm.
    pub(crate) fn new(
        script: PathBuf,
        metadata: Metadata,
        tools: &Path,
        problems: &mut Vec<String>,
    ) -> Result<Self, String> {
        let path = below(&script, tools);
        let name =
            metadata.name.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| default_name(&script));
        if let Some(problem) = unfit_name(&name) {
            problems.push(problem);
        }
        let folder = script.parent().unwrap_or(tools);
        let project = tools.parent().unwrap_or(tools);
        Ok(Self {
            title: metadata.title,
            description: metadata.description,
            input_schema: input_schema(
                object(metadata.input_schema.or(metadata.arguments), "inputSchema")?.as_deref(),
            )?,
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
            name,
            script,
            path,
            registry_text: OnceLock::new(),
            canonical: OnceLock::new(),
        })
    }
}

/// What a search found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// In the order of their names.
    pub(crate) tools: Vec<Arc<Tool>>,
    /// What their files looked like, by the path of the script.
    pub(crate) stamps: HashMap<String, Stamps>,
    /// Whether it is just what was known before.
    pub(crate) is_known: bool,
}

/// All tools below `tools`. Those in `known` whose files look as they did are not read again.
pub(crate) fn discover(tools: &Path, known: &Known, diagnostics: &mut Vec<Diagnostic>) -> Found {
    search(tools, tools, known, diagnostics)
}

/// The tools below `part` of `tools`, and what is known of the rest.
pub(crate) fn discover_part(
    part: &Path,
    tools: &Path,
    known: Known,
    diagnostics: &mut Vec<Diagnostic>,
) -> Found {
    let (inside, outside): (Known, Known) =
        known.into_iter().partition(|(path, _)| tools.join(path).starts_with(part));
    let mut found = search(part, tools, &inside, diagnostics);
    for (path, (tool, stamps)) in outside {
        found.tools.push(tool);
        found.stamps.insert(path, stamps);
    }
    Found { tools: distinct(found.tools, diagnostics), ..found }
}

/// Looks below `part` of `tools`.
fn search(part: &Path, tools: &Path, known: &Known, diagnostics: &mut Vec<Diagnostic>) -> Found {
    let mut found = Vec::new();
    let (mut stamps, mut reused) = (HashMap::new(), 0);
    for candidate in candidates(part, tools, diagnostics) {
        let (path, looks) = (below(&candidate.script, tools), candidate.stamps);
        if let Some((tool, before)) = known.get(&path)
            && *before == looks
        {
            found.push(Arc::clone(tool));
            stamps.insert(path, looks);
            reused += 1;
            continue;
        }
        let described_in = candidate.metadata.clone().unwrap_or_else(|| candidate.script.clone());
        let mut problems = Vec::new();
        match read(candidate, tools, &mut problems) {
            Ok(Some(tool)) => {
                // What had a problem is read again each time, so that it is told again each time.
                if problems.is_empty() && !has_embedded_icons(&tool) {
                    stamps.insert(path, looks);
                }
                found.push(Arc::new(tool));
            }
            Ok(None) => {}
            Err(problem) => problems.push(format!("is skipped: {problem}")),
        }
        diagnostics.extend(problems.into_iter().map(|problem| Diagnostic::new(&described_in, problem)));
    }
    let is_known = reused == known.len() && reused == found.len();
    Found { tools: distinct(found, diagnostics), stamps, is_known }
}

/// Leaves one tool of each name: the first in the order of their paths.
pub(crate) fn distinct(mut tools: Vec<Arc<Tool>>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Arc<Tool>> {
    tools.sort_by(|one, other| (&one.name, &one.path).cmp(&(&other.name, &other.path)));
    let mut left: Vec<Arc<Tool>> = Vec::with_capacity(tools.len());
    for tool in tools {
        match left.last() {
            Some(known) if known.name == tool.name => diagnostics.push(Diagnostic::new(
                &tool.script,
                format!("is skipped: {} is called `{}` too; rename one of them", known.path, tool.name),
            )),
            _ => left.push(tool),
        }
    }
    left
}

/// Whether files besides the two we look at are part of what the tool shows.
fn has_embedded_icons(tool: &Tool) -> bool {
    tool.icons.as_ref().is_some_and(|icons| icons.get().contains("\"data:"))
}

/// The path of a script below `tools`.
fn below(script: &Path, tools: &Path) -> String {
    script.strip_prefix(tools).unwrap_or(script).to_string_lossy().into_owned()
}

fn read(candidate: Candidate, tools: &Path, problems: &mut Vec<String>) -> Result<Option<Tool>, String> {
    let metadata = match &candidate.metadata {
        Some(path) => Metadata::from_file(path)?,
        None => match Metadata::inline(&candidate.script)? {
            Some(metadata) => metadata,
            None if candidate.at_the_top => {
                problems.push("is skipped: it has neither metadata nor a `# mcp:` line".to_owned());
                return Ok(None);
            }
            None => Metadata::default(),
        },
    };
    Tool::new(candidate.script, metadata, tools, problems).map(Some)
}

/// The folder's name for `tool.*`, else the name of the file without its ending.
fn default_name(script: &Path) -> String {
    let stem = script.file_stem().unwrap_or_default();
    let folder = script.parent().and_then(Path::file_name);
    let name = if stem == "tool" { folder.unwrap_or(stem) } else { stem };
    name.to_string_lossy().into_owned()
}

/// What is wrong with a name that some clients refuse. It is served all the same.
fn unfit_name(name: &str) -> Option<String> {
    let fits = name.len() <= 64 && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    (!fits).then(|| {
        format!(
            "calls its tool `{name}`, which some clients (Claude Desktop among them) refuse; \
             use at most 64 letters, digits, `_` and `-`"
        )
    })
}

fn object(value: Option<Box<RawValue>>, name: &str) -> Result<Option<Box<RawValue>>, String> {
    match value {
        Some(value) if value.get() == "null" => Ok(None),
        Some(value) if !value.get().starts_with('{') => Err(format!("`{name}` must be an object")),
        value => Ok(value),
    }
}

fn positive(seconds: Option<u64>, name: &str) -> Result<Option<Duration>, String> {
    match seconds {
        Some(0) => Err(format!("`{name}` must be above 0")),
        seconds => Ok(seconds.map(Duration::from_secs)),
    }
}

/// A schema that says `"type": "object"` and has `properties`, as every client expects.
fn input_schema(schema: Option<&RawValue>) -> Result<Box<RawValue>, String> {
    #[derive(Deserialize)]
    struct Shape {
        r#type: Option<Value>,
        properties: Option<Value>,
    }
    let text = schema.map_or("{}", RawValue::get);
    let shape: Shape = serde_json::from_str(text).map_err(|error| format!("`inputSchema`: {error}"))?;
    let mut added = String::new();
    match shape.r#type {
        None => added.push_str(r#""type":"object","#),
        Some(kind) if kind == "object" => {}
        Some(kind) => return Err(format!("`inputSchema` must have the type \"object\", not {kind}")),
    }
    match shape.properties {
        None => added.push_str(r#""properties":{},"#),
        Some(Value::Object(_)) => {}
        Some(_) => return Err("`inputSchema.properties` must be an object".to_owned()),
    }
    let whole = if text == "{}" {
        format!("{{{}}}", added.trim_end_matches(','))
    } else {
        text.replacen('{', &format!("{{{added}"), 1)
    };
    RawValue::from_string(whole).map_err(|error| error.to_string())
}
