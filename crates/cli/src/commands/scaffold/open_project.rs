//! Open project: the project that something is added to, and the names it already has.

use super::ScaffoldError;
use crate::base::common::Common;
use crate::base::error::Error;
use crate::open::startup::{self, SettingProblems};
use mcp_bash_project::{Catalog, Location, Paths, trust};
use std::path::{Path, PathBuf};

pub(super) struct OpenProject {
    pub(super) paths: Paths,
    pub(super) catalog: Catalog,
}

impl OpenProject {
    pub(super) fn find(common: &Common) -> Result<Self, Error> {
        let (settings, _) = startup::settings();
        let location = startup::location(common, &settings)?;
        let Location::Folder(root) = &location else { return Err(ScaffoldError::NoProject.into()) };
        let settings = startup::settings_at(&location, None, settings, &mut SettingProblems::default());
        let (runtime, scripts) = startup::scripts(settings)?;
        let paths = startup::paths(root, scripts.settings());
        let reading = scripts.reading(&paths);
        let catalog = startup::read_whole(&runtime, &scripts, &paths, &reading);
        // Finding functions takes a process for each file: this saves it for the next scaffold.
        catalog.store_definitions(&reading);
        Ok(Self { paths, catalog })
    }

    /// Fails if a tool of that name exists, in any file.
    pub(super) fn require_no_tool(&self, name: &str) -> Result<(), ScaffoldError> {
        let tools = self.catalog.tools.items().iter();
        require_free("tool", name, tools.map(|tool| (&*tool.name, tool.script.clone())))
    }

    pub(super) fn require_no_prompt(&self, name: &str) -> Result<(), ScaffoldError> {
        let prompts = self.catalog.prompts.items().iter();
        require_free("prompt", name, prompts.map(|prompt| (&*prompt.name, prompt.file.clone())))
    }

    pub(super) fn require_no_resource(&self, name: &str) -> Result<(), ScaffoldError> {
        let below = |path: &str| self.paths.resources.join(path);
        let resources = self.catalog.resources.items().iter();
        let templates = self.catalog.templates.items().iter();
        let resources = resources.map(|resource| (&*resource.about.name, below(&resource.path)));
        let templates = templates.map(|template| (&*template.about.name, below(&template.path)));
        require_free("resource", name, resources.chain(templates))
    }

    /// Whether there is a prompt, a resource or a template of that name.
    pub(super) fn has_prompt_or_resource(&self, name: &str) -> bool {
        self.require_no_prompt(name).is_err() || self.require_no_resource(name).is_err()
    }

    /// A note if a kind is registered by hand, so that it is not searched for.
    pub(super) fn registered_by_hand(&self, kind: &str, path: &str) -> Option<String> {
        self.lists(kind).then(|| {
            format!("server.d/register.json lists the {kind}, so that others are not found: add one with the path {path}")
        })
    }

    /// A note if tools are registered by hand: functions cannot be.
    pub(super) fn functions_are_not_found(&self) -> Option<String> {
        self.lists("tools").then(|| {
            "server.d/register.json lists the tools, so that functions are not found: take the tools out of it, or use \
             --script and add one"
                .to_owned()
        })
    }

    fn lists(&self, kind: &str) -> bool {
        let text = super::registration::read(&self.paths).ok().flatten();
        text.is_some_and(|text| super::registration::lists(&text, kind))
    }
}

fn require_free<'a>(
    kind: &'static str,
    name: &str,
    mut taken: impl Iterator<Item = (&'a str, PathBuf)>,
) -> Result<(), ScaffoldError> {
    match taken.find(|(taken, _)| *taken == name) {
        Some((_, file)) => Err(ScaffoldError::Taken { kind, name: name.to_owned(), file }),
        None => Ok(()),
    }
}

/// A note if scripts in a folder will not be run.
pub(crate) fn others_may_write(folder: &Path, root: &Path) -> Option<String> {
    let distrust = trust::judge_folder(folder, root).err()?;
    Some(format!("scripts here will not be run yet: {distrust}"))
}
