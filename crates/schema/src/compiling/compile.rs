//! Compiler: makes a [`Program`] of a schema. It starts at the root and follows references, with a queue in place of
//! recursion, so that no chain of references is too long. Subschemas that nothing refers to are not compiled.
//!
//! The schema is known to conform to its meta-schema, so keywords whose values have another shape are not looked for.

use crate::SchemaError;
use crate::compiling::builder::{Builder, Conforms};
use crate::compiling::program::{Program, ResourceId, Rule};
use crate::compiling::resources::Resources;
use crate::compiling::rules::Rules;
use std::collections::{HashMap, HashSet};

/// Compiles the first of these resources, and whatever it refers to.
pub(crate) fn compile(resources: Resources<'_>, conforms: Conforms<'_>) -> Result<Program, SchemaError> {
    let root = resources.root();
    let mut builder = Builder::new(resources, conforms);
    let root = builder.node(root);
    let mut dynamic = HashMap::new();
    loop {
        while let Some((id, spot)) = builder.queue.pop() {
            let rules = Rules::read(&mut builder, &spot)?;
            let node = &mut builder.nodes[id];
            node.needs_marks = rules
                .iter()
                .any(|rule| matches!(rule, Rule::UnevaluatedProperties { .. } | Rule::UnevaluatedItems(_)));
            node.rules = rules;
        }
        // Dynamic references may lead to all names in the resources that were entered, which may have further
        // references.
        let entered: HashSet<ResourceId> = builder.nodes.iter().map(|node| node.resource).collect();
        for (resource, name, spot) in builder.resources.dynamic() {
            if let Some(name) = builder.used_name(name).filter(|_| entered.contains(&resource)) {
                dynamic.insert((resource, name), builder.target(spot));
            }
        }
        if builder.queue.is_empty() {
            return Ok(Program { nodes: builder.nodes, root, dynamic });
        }
    }
}
