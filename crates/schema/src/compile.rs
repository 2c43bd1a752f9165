//! Compiler: makes a [`Program`] of a schema. It starts at the root and follows references, with a queue in place of
//! recursion, so that no chain of references is too long. Subschemas that nothing refers to are not compiled.
//!
//! The schema is known to conform to its meta-schema, so keywords whose values have another shape are not looked for.

use crate::SchemaError;
use crate::draft::Draft;
use crate::program::{NameId, Node, NodeId, Program, ResourceId, Rule};
use crate::resources::{Resources, Spot, identity};
use crate::rules::Rules;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Checks that the value at a JSON Pointer of the schema is a schema of this draft.
pub(crate) type Conforms<'c> = &'c dyn Fn(&str, Draft) -> Result<(), SchemaError>;

/// Compiles a meta-schema.
pub(crate) fn compile(schema: &Value, draft: Draft) -> Result<Program, SchemaError> {
    compile_resources(Resources::of(schema, draft)?, &|_, _| Ok(()))
}

pub(crate) fn compile_resources(
    resources: Resources<'_>,
    conforms: Conforms<'_>,
) -> Result<Program, SchemaError> {
    let root = resources.root();
    let mut compiler = Compiler {
        resources,
        conforms,
        nodes: Vec::new(),
        by_identity: HashMap::new(),
        queue: Vec::new(),
        names: Vec::new(),
    };
    let root = compiler.node(root);
    let mut dynamic = HashMap::new();
    loop {
        while let Some((id, spot)) = compiler.queue.pop() {
            let rules = Rules::read(&mut compiler, &spot)?;
            let node = &mut compiler.nodes[id];
            node.needs_marks = rules
                .iter()
                .any(|rule| matches!(rule, Rule::UnevaluatedProperties { .. } | Rule::UnevaluatedItems(_)));
            node.rules = rules;
        }
        // Dynamic references may lead to all names in the resources that were entered, which may have further references.
        let entered: HashSet<ResourceId> = compiler.nodes.iter().map(|node| node.resource).collect();
        for (resource, name, spot) in compiler.resources.dynamic() {
            let name = compiler.names.iter().position(|known| **known == *name);
            if let Some(name) = name.filter(|_| entered.contains(&resource)) {
                dynamic.insert((resource, name), compiler.target(spot));
            }
        }
        if compiler.queue.is_empty() {
            return Ok(Program { nodes: compiler.nodes, root, dynamic });
        }
    }
}

pub(crate) struct Compiler<'d, 'c> {
    pub(crate) resources: Resources<'d>,
    conforms: Conforms<'c>,
    nodes: Vec<Node>,
    by_identity: HashMap<usize, NodeId>,
    queue: Vec<(NodeId, Spot<'d>)>,
    /// The names that dynamic references use.
    names: Vec<Box<str>>,
}

impl<'d> Compiler<'d, '_> {
    /// The node of a schema, which is compiled later if it is new.
    pub(crate) fn node(&mut self, mut spot: Spot<'d>) -> NodeId {
        let id = *self.by_identity.entry(identity(spot.schema)).or_insert(self.nodes.len());
        if id == self.nodes.len() {
            spot.resource = self.resources.resource_of(&spot);
            self.nodes.push(Node {
                location: spot.location.as_str().into(),
                resource: spot.resource,
                rules: Vec::new(),
                is_target: false,
                needs_marks: false,
            });
            self.queue.push((id, spot));
        }
        id
    }

    /// The node that a reference leads to.
    fn target(&mut self, spot: Spot<'d>) -> NodeId {
        let id = self.node(spot);
        self.nodes[id].is_target = true;
        id
    }

    /// The rule of a reference.
    pub(crate) fn reference(&mut self, from: &Spot<'d>, reference: &str) -> Result<Rule, SchemaError> {
        let spot = self.find(from, reference)?;
        Ok(Rule::Ref(self.target(spot)))
    }

    /// The rule of a reference that leads to the outermost schema with the same name, if it leads to one with a name.
    pub(crate) fn dynamic_reference(
        &mut self,
        from: &Spot<'d>,
        reference: &str,
    ) -> Result<Rule, SchemaError> {
        let spot = self.find(from, reference)?;
        let (_, name) = crate::address::split(reference);
        let resource = self.resources.resource_of(&spot);
        let is_dynamic = self.resources.is_dynamic(resource, name);
        let node = self.target(spot);
        Ok(if is_dynamic { Rule::DynamicRef { name: self.name(name), node } } else { Rule::Ref(node) })
    }

    fn find(&mut self, from: &Spot<'d>, reference: &str) -> Result<Spot<'d>, SchemaError> {
        let spot = self.resources.target(from.resource, reference)?;
        if !self.resources.has_seen(&spot) {
            if self.resources.is_own(spot.resource) {
                (self.conforms)(&spot.location, self.resources.draft(spot.resource))?;
            }
            self.resources.adopt(&spot)?;
        }
        Ok(spot)
    }

    fn name(&mut self, name: &str) -> NameId {
        self.names.iter().position(|known| **known == *name).unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        })
    }
}
