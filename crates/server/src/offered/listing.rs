//! Lists of a catalog: definitions are rendered once for each revision that is used, and pages are built from them.

use super::schemas::Schemas;
use super::tool_facts::ToolFacts;
use crate::callers::Rights;
use crate::replies::definitions::AboutTool;
use crate::replies::{Answer, Members, definitions};
use mcp_bash_project::utc::now;
use mcp_bash_project::{Catalog, Resource, Tool};
use mcp_bash_wire::{Cursor, Object, Raw, Revision, RpcError};
use std::collections::HashMap;
use std::sync::OnceLock;

/// The catalog at one point in time.
pub(crate) struct Snapshot {
    pub(crate) catalog: Catalog,
    tools: Definitions,
    resources: Definitions,
    templates: Definitions,
    /// The index of each resource, by its URI.
    places_by_uri: OnceLock<HashMap<Box<str>, usize>>,
    prompts: Definitions,
    /// Whether any tool can be called as a task.
    has_tasks: OnceLock<bool>,
    /// One for each tool of the catalog, in its order.
    schemas: Vec<Schemas>,
    /// One for each tool of the catalog, in its order.
    facts: Vec<ToolFacts>,
}

/// The definitions of one kind of entries, for each revision that is used.
#[derive(Default)]
struct Definitions([OnceLock<Vec<OnceLock<Box<str>>>>; Revision::ALL.len()]);

impl Definitions {
    /// The definition at `place` of `total` entries. `render` creates it on first use.
    fn get(&self, revision: Revision, total: usize, place: usize, render: impl FnOnce() -> String) -> &str {
        let all = self.0[revision as usize].get_or_init(|| vec![OnceLock::new(); total]);
        all[place].get_or_init(|| render().into())
    }
}

/// The most items of a page.
const PAGE: usize = 500;

/// A page of a list.
pub(crate) struct Page {
    /// A JSON array.
    items: String,
    next: Option<String>,
    /// The number of items in the whole list.
    total: usize,
}

impl Page {
    /// The result of a list method, with the items under this name.
    pub(crate) fn into_answer(self, name: &str) -> Answer {
        let mut result = Members::default();
        result.raw(name, &self.items);
        result.string("nextCursor", self.next.as_deref());
        let meta = format!("\"mcpbash/total\":{}", self.total);
        Answer { meta, ..Answer::members(result.into_text()).cacheable() }
    }
}

impl Snapshot {
    pub(crate) fn new(catalog: Catalog) -> Self {
        let schemas = catalog.tools.items().iter().map(|_| Schemas::default()).collect();
        let facts = catalog.tools.items().iter().map(|_| ToolFacts::default()).collect();
        Self {
            catalog,
            tools: Definitions::default(),
            prompts: Definitions::default(),
            resources: Definitions::default(),
            templates: Definitions::default(),
            places_by_uri: OnceLock::new(),
            has_tasks: OnceLock::new(),
            schemas,
            facts,
        }
    }

    /// An error if the project cannot be served at all.
    pub(crate) fn check_served(&self) -> Result<(), RpcError> {
        match &self.catalog.failure {
            None => Ok(()),
            Some(failure) => Err(RpcError::internal(failure.clone())),
        }
    }

    /// The resource with this URI; the first, if there are several.
    pub(crate) fn resource(&self, uri: &str) -> Option<&Resource> {
        let resources = self.catalog.resources.items();
        let places = self.places_by_uri.get_or_init(|| {
            let places = resources.iter().enumerate().rev();
            places.map(|(place, resource)| (resource.uri.as_str().into(), place)).collect()
        });
        Some(&resources[*places.get(uri)?])
    }

    /// The requested page of the resources that the caller sees.
    pub(crate) fn resources(
        &self,
        revision: Revision,
        params: Option<Raw<'_>>,
        rights: Option<&Rights>,
    ) -> Result<Page, RpcError> {
        let resources = self.catalog.resources.items();
        let definition = |place: usize| {
            let render = || definitions::resource(&resources[place], revision);
            self.resources.get(revision, resources.len(), place, render)
        };
        let is_seen = |place: usize| rights.is_none_or(|rights| rights.shows_resource(&resources[place]));
        let hash = || self.catalog.resources.hash();
        page("resources", resources.len(), is_seen, definition, hash, params)
    }

    /// The requested page of the templates that the caller sees.
    pub(crate) fn templates(
        &self,
        revision: Revision,
        params: Option<Raw<'_>>,
        rights: Option<&Rights>,
    ) -> Result<Page, RpcError> {
        let templates = self.catalog.templates.items();
        let definition = |place: usize| {
            let render = || definitions::resource_template(&templates[place], revision);
            self.templates.get(revision, templates.len(), place, render)
        };
        let is_seen = |place: usize| rights.is_none_or(|rights| rights.shows_template(&templates[place]));
        let hash = || self.catalog.templates.hash();
        page("resourceTemplates", templates.len(), is_seen, definition, hash, params)
    }

    /// The tool of this name, and its schemas.
    pub(crate) fn tool(&self, name: &str) -> Option<(&Tool, &Schemas)> {
        let place = self.catalog.tools.place(name)?;
        Some((&self.catalog.tools.items()[place], &self.schemas[place]))
    }

    /// The facts about a tool of this snapshot.
    pub(crate) fn facts(&self, tool: &Tool) -> Option<&ToolFacts> {
        self.catalog.tools.place(&tool.name).map(|place| &self.facts[place])
    }

    /// Whether any tool can be called as a task.
    pub(crate) fn has_tasks(&self) -> bool {
        *self.has_tasks.get_or_init(|| self.catalog.has_tasks())
    }

    /// The requested page of the tools that the caller sees. `sandbox_of` describes the sandbox of a tool, if it has one.
    pub(crate) fn tools(
        &self,
        revision: Revision,
        params: Option<Raw<'_>>,
        rights: Option<&Rights>,
        sandbox_of: impl Fn(&Tool) -> Option<String>,
    ) -> Result<Page, RpcError> {
        let tools = self.catalog.tools.items();
        let definition = |place: usize| {
            let about = |tool: &Tool| AboutTool {
                sandbox: sandbox_of(tool),
                needs_consent: tool.needs_consent(self.catalog.identity.confirm),
                tasks: self.catalog.task_support(tool),
            };
            let render = || definitions::tool(&tools[place], revision, about);
            self.tools.get(revision, tools.len(), place, render)
        };
        let is_seen = |place: usize| rights.is_none_or(|rights| rights.shows(&tools[place]));
        page("tools", tools.len(), is_seen, definition, || self.catalog.tools.hash(), params)
    }

    /// The requested page of the prompts that the caller sees.
    pub(crate) fn prompts(
        &self,
        revision: Revision,
        params: Option<Raw<'_>>,
        rights: Option<&Rights>,
    ) -> Result<Page, RpcError> {
        let prompts = self.catalog.prompts.items();
        let definition = |place: usize| {
            self.prompts
                .get(revision, prompts.len(), place, || definitions::prompt(&prompts[place], revision))
        };
        let is_seen = |place: usize| rights.is_none_or(|rights| rights.shows_prompt(&prompts[place].name));
        page("prompts", prompts.len(), is_seen, definition, || self.catalog.prompts.hash(), params)
    }
}

/// Builds the requested page of a list, of which the caller may see only a part. Cursors contain an index into the whole list,
/// so they stay valid when the caller's rights change. The hash is computed only for lists of several pages.
fn page<'a>(
    collection: &'static str,
    length: usize,
    is_seen: impl Fn(usize) -> bool,
    item: impl Fn(usize) -> &'a str,
    hash: impl Fn() -> &'a str,
    params: Option<Raw<'_>>,
) -> Result<Page, RpcError> {
    let (mut offset, mut limit) = (0, PAGE);
    if let Some(params) = params {
        let params = Object::read(params, "params", &["cursor", "limit"])?;
        if let Some(word) = params.optional_string("cursor")? {
            offset = Cursor::decode(&word, collection, hash())
                .filter(|offset| *offset < length)
                .ok_or_else(|| RpcError::invalid_params("Invalid cursor: leave it out to start over"))?;
        }
        if let Some(wanted) = params.get("limit").filter(|raw| !raw.is_null()) {
            limit = match wanted.text().parse::<usize>() {
                Ok(wanted) if wanted > 0 => wanted.min(PAGE),
                _ => {
                    return Err(RpcError::invalid_params(
                        "Invalid params: `limit` must be a whole number above 0",
                    ));
                }
            };
        }
    }
    let mut left = (offset..length).filter(|place| is_seen(*place));
    let mut items = String::from("[");
    for place in left.by_ref().take(limit) {
        if items.len() > 1 {
            items.push(',');
        }
        items.push_str(item(place));
    }
    items.push(']');
    let next = left.next();
    let next =
        next.map(|offset| Cursor { collection, offset, hash: hash().to_owned(), timestamp: now() }.encode());
    let total = (0..length).filter(|place| is_seen(*place)).count();
    Ok(Page { items, next, total })
}
