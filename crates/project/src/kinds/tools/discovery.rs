//! Tool discovery: which files are tools, and what the registry keeps of them.

use super::{Execution, Tool};
use crate::declarations::error::EntryError;
use crate::declarations::mapping;
use crate::declarations::metadata::Metadata;
use crate::declarations::unread_arguments;
use crate::declarations::values::{given_name, relative};
use crate::declarations::worker::{Worker, WorkerProgram};
use crate::ground::interpreters::has_shebang;
use crate::ground::stamp::Stamp;
use crate::kinds::picking;
use crate::walk::entry::{Context, Entry, RegistryEntry, Unread};
use crate::walk::listing::{Listing, is_interface, metadata_stem};
use crate::walk::sighting::{Besides, Candidate, Sighting};
use crate::walk::sign::{self, Says};
use crate::{Diagnostic, Paths, Repair, trust};
use mcp_bash_files::look;
use mcp_bash_wire::write;
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

impl Entry for Tool {
    const KIND: &'static str = "tools";

    type Written = Metadata;

    /// Helpers beside a tool, and executables that provide tools, are not read again.
    const REMEMBERS_OTHERS: bool = true;

    fn folder(paths: &Paths) -> &Path {
        &paths.tools
    }

    fn pick(listing: &Listing<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Sighting> {
        let (mut found, mut used) = (Vec::new(), BTreeSet::new());
        for name in listing.plain_files().filter(|name| *name != "smoke.sh") {
            let metadata = listing.metadata_beside(name);
            let path = || listing.path(name);
            // The executable bit or a `#!` decides, never the extension. A path that is not a regular file is reported when
            // it is read.
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
                    diagnostics
                        .push(Diagnostic::new(path(), problem).repaired_by(Repair::executable(path())));
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
        // A tool may consist of metadata alone, which shows only when the metadata is read.
        let alone = listing.lonely_metadata(&used);
        let alone = alone.filter(|name| !holds_line_break(name) && !is_interface(&listing.path(name)));
        found.extend(alone.filter_map(|name| Some(listing.sighting(name, listing.stamp(name)?, None))));
        found
    }

    /// A function file may load modules from there, and fail because of them.
    fn depends_on(paths: &Paths) -> Option<&Path> {
        Some(&paths.lib)
    }

    fn pick_besides(listing: &Listing<'_>, besides: &mut Besides) {
        besides.functions.extend(picking::may_hold_functions(listing));
        if listing.is_at_the_top() {
            besides.providers = Some(picking::may_provide_tools(listing));
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
                let (file, judged) = trust::open_and_judge(path, &context.paths.root)?;
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
                    return Unread::because(
                        "it has neither metadata nor a `# mcp:` line, and is not executable; run `chmod +x` on it if it is \
                         a tool",
                    );
                }
                Says::Nothing => Metadata::default(),
            },
        };
        let has_command = metadata.command.as_deref().is_some_and(|command| command.get() != "null");
        match (is_alone, has_command) {
            (true, false) => {
                return Unread::because("there is no script of that name beside it, and no `command` in it");
            }
            (false, true) => {
                return Unread::because(
                    "it has a `command`, and there is a script too; give the script its arguments in `argv`, or take it away",
                );
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

    fn registered(text: &str, paths: &Paths, problems: &mut Vec<String>) -> Result<Self, EntryError> {
        let metadata = Metadata::from_json(text)?;
        if given_name(metadata.name.clone()).is_none() {
            return Err(EntryError::Missing("name"));
        }
        if metadata.command.is_some() && metadata.path.is_none() {
            let tool = Self::new(registration(paths), metadata, &paths.tools, problems)?;
            return Ok(Self { path: String::new(), ..tool });
        }
        let script = paths.tools.join(relative(metadata.path.as_deref(), "tools folder")?);
        if !look::is_file(&script) {
            return Err(EntryError::NoFile(script));
        }
        if metadata.command.is_some() {
            return Err("it has both `path` and `command`; a script is given its arguments in `argv`".into());
        }
        Self::new(script, metadata, &paths.tools, problems)
    }

    fn remembered(metadata: Metadata, paths: &Paths) -> Option<Self> {
        let mapped = mapping::read(&metadata).ok()?;
        let worker = Worker::read(metadata.worker.as_deref(), WorkerProgram::Itself).ok()?;
        let script = paths.tools.join(relative(metadata.path.as_deref(), "tools folder").ok()?);
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

    fn is_described(&self) -> bool {
        self.description.as_ref().is_some_and(|text| !text.is_empty()) || self.declares_arguments()
    }

    fn has_parts_elsewhere(&self) -> bool {
        self.icons.as_ref().is_some_and(|icons| icons.get().contains("\"data:"))
    }

    fn write(&self) -> String {
        let raw = |value: &Option<Box<RawValue>>| value.as_ref().map(|raw| raw.get().to_owned());
        let text = |value: &Option<String>| value.as_deref().map(write::string);
        let mapped = self.execution.mapping().into_iter().flat_map(|mapping| &mapping.written);
        let is_mapped = mapped.clone().any(|(key, _)| *key == "env");
        let members = [
            ("name", Some(write::string(&self.name))),
            ("title", text(&self.title)),
            ("description", Some(write::string(self.description.as_deref().unwrap_or_default()))),
            ("path", Some(write::string(&self.path))),
            ("inputSchema", Some(self.input_schema.get().to_owned())),
            ("outputSchema", raw(&self.output_schema)),
        ];
        let others = [
            ("worker", self.worker().map(|worker| worker.written().to_owned())),
            ("icons", raw(&self.icons)),
            ("annotations", raw(&self.annotations)),
            ("_meta", raw(&self.meta)),
        ];
        let mapping = mapped.map(|(key, text)| (*key, Some(text.clone())));
        let options = self.options.members().into_iter().filter(|(key, _)| *key != "env" || !is_mapped);
        let members = members.into_iter().chain(options).chain(others).chain(mapping);
        let members = members.filter_map(|(name, value)| Some(format!("\"{name}\":{}", value?)));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }
}

/// Whether a file in a folder of its own is a tool without a description. Other files beside a tool are helpers.
fn is_named_as_a_tool(file: &Path) -> bool {
    let folder = file.parent().and_then(Path::file_name);
    let stem = file.file_stem();
    stem.is_some_and(|stem| stem == "tool") || stem == folder || file.file_name() == folder
}

fn holds_line_break(name: &OsStr) -> bool {
    name.as_bytes().iter().any(|byte| matches!(byte, b'\n' | b'\r'))
}

/// The file in which the project registers its tools.
fn registration(paths: &Paths) -> PathBuf {
    let [json, hook] = ["register.json", "register.sh"].map(|name| paths.server.join(name));
    if look::metadata(&json).is_ok() { json } else { hook }
}
