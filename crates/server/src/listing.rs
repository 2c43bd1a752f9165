//! A catalog with its lists as text: definitions are written once for each revision that asks, and pages are cut from
//! them.

use crate::schemas::Schemas;
use crate::shape;
use mcp_bash_project::utc::now;
use mcp_bash_project::{Catalog, Tool};
use mcp_bash_wire::{Cursor, Object, Raw, Revision, RpcError};
use std::sync::OnceLock;

/// What is served at one moment.
pub(crate) struct Snapshot {
    pub(crate) catalog: Catalog,
    tools: [OnceLock<Vec<Box<str>>>; Revision::ALL.len()],
    /// For each tool of the catalog, in its order.
    schemas: Vec<Schemas>,
}

/// How many items a page has, unless fewer are asked for.
const PAGE: usize = 500;

/// A part of a list.
pub(crate) struct Page {
    /// The text of a JSON array.
    pub(crate) items: String,
    pub(crate) next: Option<String>,
    /// How many items the whole list has.
    pub(crate) total: usize,
}

impl Snapshot {
    pub(crate) fn new(catalog: Catalog) -> Self {
        let schemas = catalog.tools.iter().map(|_| Schemas::default()).collect();
        Self { catalog, tools: Default::default(), schemas }
    }

    /// The tool of that name, and its schemas.
    pub(crate) fn tool(&self, name: &str) -> Option<(&Tool, &Schemas)> {
        let place = self.catalog.place(name)?;
        Some((&self.catalog.tools[place], &self.schemas[place]))
    }

    /// The page of tools that `params` asks for.
    pub(crate) fn tools(&self, revision: Revision, params: Option<Raw<'_>>) -> Result<Page, RpcError> {
        let definitions = self.tools[revision as usize].get_or_init(|| {
            self.catalog.tools.iter().map(|tool| shape::tool(tool, revision).into()).collect()
        });
        page("tools", definitions, self.catalog.hash(), params)
    }
}

fn page(
    collection: &'static str,
    items: &[Box<str>],
    hash: &str,
    params: Option<Raw<'_>>,
) -> Result<Page, RpcError> {
    let (mut offset, mut limit) = (0, PAGE);
    if let Some(params) = params {
        let params = Object::read(params, "params", &["cursor", "limit"])?;
        if let Some(word) = params.optional_string("cursor")? {
            offset = Cursor::decode(&word, collection, hash)
                .filter(|offset| *offset < items.len())
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
    let end = items.len().min(offset + limit);
    let next = (end < items.len())
        .then(|| Cursor { collection, offset: end, hash: hash.to_owned(), timestamp: now() }.encode());
    Ok(Page { items: format!("[{}]", items[offset..end].join(",")), next, total: items.len() })
}
