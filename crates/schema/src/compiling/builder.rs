//! Builder: the nodes of a program while it is compiled. A schema gets its node when it is first mentioned, and its
//! rules when its turn comes.

use crate::SchemaError;
use crate::compiling::draft::Draft;
use crate::compiling::program::{NameId, Node, NodeId, Rule};
use crate::compiling::resources::{Resources, Spot, identity};
use std::collections::HashMap;

/// Checks that the value at a JSON Pointer of the schema is a schema of this draft.
pub(crate) type Conforms<'c> = &'c dyn Fn(&str, Draft) -> Result<(), SchemaError>;

pub(crate) struct Builder<'d, 'c> {
    pub(crate) resources: Resources<'d>,
    conforms: Conforms<'c>,
    pub(crate) nodes: Vec<Node>,
    by_identity: HashMap<usize, NodeId>,
    /// The nodes without rules so far.
    pub(crate) queue: Vec<(NodeId, Spot<'d>)>,
    /// The names that dynamic references use.
    names: Vec<Box<str>>,
}

impl<'d, 'c> Builder<'d, 'c> {
    pub(crate) fn new(resources: Resources<'d>, conforms: Conforms<'c>) -> Self {
        let (nodes, by_identity) = (Vec::new(), HashMap::new());
        Self { resources, conforms, nodes, by_identity, queue: Vec::new(), names: Vec::new() }
    }

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
    pub(crate) fn target(&mut self, spot: Spot<'d>) -> NodeId {
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
        let (_, name) = crate::compiling::address::split(reference);
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

    /// The index of a name, if a dynamic reference uses it.
    pub(crate) fn used_name(&self, name: &str) -> Option<NameId> {
        self.names.iter().position(|known| **known == *name)
    }

    fn name(&mut self, name: &str) -> NameId {
        self.used_name(name).unwrap_or_else(|| {
            self.names.push(name.into());
            self.names.len() - 1
        })
    }
}
