//! Schema resources: the schemas within a document that have an address of their own, the names within them, and where
//! a reference leads. Documents are the schema itself and the meta-schemas; nothing else is ever read.

use crate::SchemaError;
use crate::compiling::draft::Draft;
use crate::compiling::keywords::{Within, each_subschema, shape};
use crate::compiling::program::ResourceId;
use crate::compiling::{address, meta};
use crate::excerpt::clip;
use crate::running::place::push_name;
use crate::tree::unescape;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// A schema and where it is.
#[derive(Clone)]
pub(crate) struct Spot<'d> {
    pub(crate) schema: &'d Value,
    /// The JSON Pointer in its document.
    pub(crate) location: String,
    pub(crate) resource: ResourceId,
}

struct Resource<'d> {
    address: String,
    draft: Draft,
    root: Spot<'d>,
    anchors: HashMap<&'d str, Spot<'d>>,
    /// The names that dynamic references can lead to. The empty one is that of `$recursiveAnchor`.
    dynamic: Vec<&'d str>,
    /// Whether it is in the schema itself, and not in a meta-schema.
    is_own: bool,
}

pub(crate) struct Resources<'d> {
    list: Vec<Resource<'d>>,
    by_address: HashMap<String, ResourceId>,
    /// By the memory address of the schema that each is.
    roots: HashMap<usize, ResourceId>,
    /// The memory addresses of all schemas that were found.
    seen: HashSet<usize>,
    /// The references that were found, and the resources they are in.
    references: Vec<(ResourceId, &'d str)>,
}

/// The place of a schema in memory, which is its identity while it is compiled.
pub(crate) fn identity(schema: &Value) -> usize {
    std::ptr::from_ref(schema).addr()
}

impl<'d> Resources<'d> {
    /// All resources of a schema.
    pub(crate) fn of(schema: &'d Value, draft: Draft) -> Result<Self, SchemaError> {
        let mut resources = Self {
            list: Vec::new(),
            by_address: HashMap::new(),
            roots: HashMap::new(),
            seen: HashSet::new(),
            references: Vec::new(),
        };
        resources.add_document(schema, "", draft, true)?;
        Ok(resources)
    }

    /// The schemas in other dialects than the one that contains them: where they are, and their drafts.
    pub(crate) fn foreign(&self) -> Vec<(&str, Draft)> {
        let root = &self.list[0];
        let own = self.list.iter().skip(1).filter(|each| each.is_own && each.draft != root.draft);
        own.map(|each| (each.root.location.as_str(), each.draft)).collect()
    }

    /// Checks that no reference leads outside, not even one that is never followed.
    pub(crate) fn check_references(&mut self) -> Result<(), SchemaError> {
        for (resource, reference) in std::mem::take(&mut self.references) {
            self.target_resource(resource, reference)?;
        }
        Ok(())
    }

    pub(crate) fn root(&self) -> Spot<'d> {
        self.list[0].root.clone()
    }

    pub(crate) fn draft(&self, resource: ResourceId) -> Draft {
        self.list[resource].draft
    }

    /// The resource that a schema belongs to: its own if it is one.
    pub(crate) fn resource_of(&self, spot: &Spot<'d>) -> ResourceId {
        self.roots.get(&identity(spot.schema)).copied().unwrap_or(spot.resource)
    }

    /// Whether a schema is in a place where the document is known to have one.
    pub(crate) fn has_seen(&self, spot: &Spot<'d>) -> bool {
        self.seen.contains(&identity(spot.schema))
    }

    pub(crate) fn is_own(&self, resource: ResourceId) -> bool {
        self.list[resource].is_own
    }

    /// Takes in a schema that was found only by a reference to it.
    pub(crate) fn adopt(&mut self, spot: &Spot<'d>) -> Result<(), SchemaError> {
        self.scan(spot.schema, &mut spot.location.clone(), spot.resource)?;
        self.check_references()
    }

    /// All names that dynamic references can lead to.
    pub(crate) fn dynamic(&self) -> Vec<(ResourceId, &'d str, Spot<'d>)> {
        let of = |(id, resource): (ResourceId, &Resource<'d>)| {
            let spot = |name: &&'d str| match resource.anchors.get(*name) {
                Some(spot) if !name.is_empty() => spot.clone(),
                _ => resource.root.clone(),
            };
            resource.dynamic.iter().map(|name| (id, *name, spot(name))).collect::<Vec<_>>()
        };
        self.list.iter().enumerate().flat_map(of).collect()
    }

    /// Whether a name in a resource is one that dynamic references can lead to.
    pub(crate) fn is_dynamic(&self, resource: ResourceId, name: &str) -> bool {
        self.list[resource].dynamic.contains(&name)
    }

    /// The schema that a reference leads to.
    pub(crate) fn target(&mut self, from: ResourceId, reference: &str) -> Result<Spot<'d>, SchemaError> {
        let resource = self.target_resource(from, reference)?;
        let (_, fragment) = address::split(reference);
        let root = &self.list[resource].root;
        let found = if fragment.is_empty() {
            Some(root.clone())
        } else if fragment.starts_with('/') {
            self.follow(root.clone(), &address::decode(fragment))
        } else {
            self.list[resource].anchors.get(address::decode(fragment).as_str()).cloned()
        };
        found.ok_or_else(|| SchemaError::DanglingReference(clip(&format!("#{fragment}"), 200).into_owned()))
    }

    fn target_resource(&mut self, from: ResourceId, reference: &str) -> Result<ResourceId, SchemaError> {
        if reference.is_empty() || reference.starts_with('#') {
            return Ok(from);
        }
        check(reference)?;
        let address = address::resolve(&self.list[from].address, reference);
        if let Some(known) = self.by_address.get(&address) {
            return Ok(*known);
        }
        match meta::at(&address) {
            Some((draft, document)) => self.add_document(document, &address, draft, false),
            None => Err(SchemaError::OutsideReference(clip(&address, 200).into_owned())),
        }
    }

    fn add_document(
        &mut self,
        schema: &'d Value,
        address: &str,
        draft: Draft,
        is_own: bool,
    ) -> Result<ResourceId, SchemaError> {
        let id = self.add(schema, String::new(), address.to_owned(), draft, is_own);
        self.scan(schema, &mut String::new(), id)?;
        Ok(id)
    }

    fn add(
        &mut self,
        schema: &'d Value,
        location: String,
        address: String,
        draft: Draft,
        is_own: bool,
    ) -> ResourceId {
        let id = self.list.len();
        self.by_address.entry(address.clone()).or_insert(id);
        self.roots.insert(identity(schema), id);
        let root = Spot { schema, location, resource: id };
        let (anchors, dynamic) = (HashMap::new(), Vec::new());
        self.list.push(Resource { address, draft, root, anchors, dynamic, is_own });
        id
    }

    /// Notes the addresses, names and references of a schema and of those within it. The depth of a document limits
    /// the recursion.
    fn scan(
        &mut self,
        schema: &'d Value,
        location: &mut String,
        outer: ResourceId,
    ) -> Result<(), SchemaError> {
        if !self.seen.insert(identity(schema)) {
            return Ok(());
        }
        let Value::Object(keywords) = schema else { return Ok(()) };
        let resource = self.enter(schema, keywords, location, outer)?;
        let draft = self.list[resource].draft;
        self.note_names(schema, keywords, location, resource);
        for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
            // The oldest draft has no schema for `$ref`, but gives it its meaning.
            let is_known = keyword == "$ref" || shape(draft, keyword).is_some();
            let reference = keywords.get(keyword).and_then(Value::as_str);
            self.references.extend(reference.filter(|_| is_known).map(|reference| (resource, reference)));
        }
        let mut outcome = Ok(());
        let length = location.len();
        each_subschema(draft, keywords, &mut |keyword, within, schema| {
            push_within(location, keyword, within);
            if outcome.is_ok() {
                outcome = self.scan(schema, location, resource);
            }
            location.truncate(length);
        });
        outcome
    }

    /// The resource that a schema belongs to: a new one if it has an address.
    fn enter(
        &mut self,
        schema: &'d Value,
        keywords: &'d Map<String, Value>,
        location: &str,
        outer: ResourceId,
    ) -> Result<ResourceId, SchemaError> {
        let is_root = self.roots.get(&identity(schema)) == Some(&outer);
        let draft = if is_root { self.list[outer].draft } else { self.list[outer].draft.within(keywords) };
        let Some(id) = draft.id(keywords) else { return Ok(outer) };
        let (base, fragment) = address::split(id);
        check(id)?;
        if draft <= Draft::Draft7 && base.is_empty() && !fragment.is_empty() {
            return Ok(outer);
        }
        let address = address::resolve(&self.list[outer].address, id);
        if is_root {
            self.by_address.entry(address.clone()).or_insert(outer);
            self.list[outer].address = address;
            return Ok(outer);
        }
        let is_own = self.list[outer].is_own;
        Ok(self.add(schema, location.to_owned(), address, draft, is_own))
    }

    fn note_names(
        &mut self,
        schema: &'d Value,
        keywords: &'d Map<String, Value>,
        location: &str,
        resource: ResourceId,
    ) {
        let draft = self.list[resource].draft;
        let text = |keyword: &str| keywords.get(keyword).and_then(Value::as_str);
        let spot = || Spot { schema, location: location.to_owned(), resource };
        if draft <= Draft::Draft7 {
            // A name is written as the fragment of an address. Even beside a reference it does no harm.
            let name = text(draft.id_keyword()).map(|id| address::split(id).1);
            if let Some(name) = name.filter(|name| !name.is_empty()) {
                self.list[resource].anchors.entry(name).or_insert_with(spot);
            }
            return;
        }
        if let Some(name) = text("$anchor") {
            self.list[resource].anchors.entry(name).or_insert_with(spot);
        }
        let here = &mut self.list[resource];
        if draft == Draft::Draft202012 {
            if let Some(name) = text("$dynamicAnchor") {
                here.anchors.entry(name).or_insert_with(spot);
                here.dynamic.push(name);
            }
        } else if std::ptr::eq(here.root.schema, schema)
            && keywords.get("$recursiveAnchor") == Some(&Value::Bool(true))
        {
            here.dynamic.push("");
        }
    }

    /// What a JSON Pointer leads to.
    fn follow(&self, mut spot: Spot<'d>, pointer: &str) -> Option<Spot<'d>> {
        for segment in pointer.split('/').skip(1) {
            let name = unescape(segment);
            spot.schema = match spot.schema {
                Value::Object(members) => members.get(name.as_ref())?,
                Value::Array(elements) => elements.get(name.parse::<usize>().ok()?)?,
                _ => return None,
            };
            push_name(&mut spot.location, &name);
            spot.resource = self.resource_of(&spot);
        }
        Some(spot)
    }
}

/// Appends the way from a schema to one within it.
pub(crate) fn push_within(location: &mut String, keyword: &str, within: Within<'_>) {
    push_name(location, keyword);
    match within {
        Within::Whole => {}
        Within::Member(name) => push_name(location, name),
        // Writing to a string cannot fail.
        Within::Element(index) => drop(write!(location, "/{index}")),
    }
}

fn check(reference: &str) -> Result<(), SchemaError> {
    if address::is_valid(reference) {
        return Ok(());
    }
    Err(SchemaError::Invalid(format!("`{}` is no URI reference", clip(reference, 200))))
}
