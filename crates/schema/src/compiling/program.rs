//! Compiled schema: a list of nodes, one for each subschema that can be reached. References are resolved: a rule names
//! another node by its index.

use crate::compiling::pattern::Pattern;
use crate::types::JsonTypeSet;
use serde_json::{Number, Value};
use std::collections::HashMap;

/// The index of a node.
pub(crate) type NodeId = usize;
/// The index of a schema that has an address of its own, or of the whole.
pub(crate) type ResourceId = usize;
/// The index of a name that `$dynamicAnchor` gives.
pub(crate) type NameId = usize;

pub(crate) struct Program {
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: NodeId,
    /// The nodes that a dynamic reference may lead to.
    pub(crate) dynamic: HashMap<(ResourceId, NameId), NodeId>,
}

pub(crate) struct Node {
    /// The JSON Pointer of the subschema in its document.
    pub(crate) location: Box<str>,
    pub(crate) resource: ResourceId,
    /// In the order in which their problems are reported.
    pub(crate) rules: Vec<Rule>,
    /// Whether a reference leads here, so that the same value may arrive more than once.
    pub(crate) is_target: bool,
    /// Whether a rule depends on which members or elements the other rules have evaluated.
    pub(crate) needs_marks: bool,
}

/// What one keyword, or several that work together, requires of a value.
pub(crate) enum Rule {
    /// Nothing fits.
    Never,
    Type {
        types: JsonTypeSet,
        /// Whether `1.0` is an integer.
        by_value: bool,
    },
    Const(Value),
    Enum(Vec<Value>),
    Bound(Bound, Number),
    MultipleOf(Number),
    Size(Size, u64),
    Required(Vec<Box<str>>),
    /// Members that are required if the first one is given.
    DependentRequired(&'static str, Vec<(Box<str>, Vec<Box<str>>)>),
    Pattern(Pattern),
    UniqueItems,
    Members(Members),
    PropertyNames(NodeId),
    Elements(Elements),
    Contains(Contains),
    DependentSchemas(Vec<(Box<str>, NodeId)>),
    AllOf(Vec<NodeId>),
    AnyOf(Vec<NodeId>),
    OneOf(Vec<NodeId>),
    Not {
        node: NodeId,
        /// An excerpt of the schema.
        shown: Box<str>,
    },
    If {
        condition: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
    Ref(NodeId),
    /// Leads to the outermost schema on the way here that has this name; to `node` if none has.
    DynamicRef {
        name: NameId,
        node: NodeId,
    },
    UnevaluatedProperties {
        node: NodeId,
        /// The names under `properties` beside it.
        known: Vec<Box<str>>,
    },
    UnevaluatedItems(NodeId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
}

/// What is counted, and whether the limit is the least or the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    MinLength,
    MaxLength,
    MinItems,
    MaxItems,
    MinProperties,
    MaxProperties,
}

/// `properties`, `patternProperties` and `additionalProperties`.
#[derive(Default)]
pub(crate) struct Members {
    /// In the order of the schema.
    pub(crate) properties: Vec<(Box<str>, NodeId)>,
    /// Indices of the properties in the order of their names.
    pub(crate) by_name: Vec<u32>,
    pub(crate) patterns: Vec<(Pattern, NodeId)>,
    pub(crate) others: Others,
}

/// What is required of the members or elements that no other keyword names.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    /// Nothing, and they do not count as evaluated.
    #[default]
    Unsaid,
    /// There must be none.
    None,
    Fit(NodeId),
}

/// `prefixItems` and `items`, or `items` and `additionalItems` in older drafts.
#[derive(Default)]
pub(crate) struct Elements {
    pub(crate) first: Vec<NodeId>,
    pub(crate) others: Others,
}

/// `contains`, `minContains` and `maxContains`.
pub(crate) struct Contains {
    pub(crate) node: NodeId,
    pub(crate) least: Option<u64>,
    pub(crate) most: Option<u64>,
    /// Whether matching elements count as evaluated.
    pub(crate) marks: bool,
}

impl Members {
    pub(crate) fn new(properties: Vec<(Box<str>, NodeId)>) -> Self {
        let mut by_name: Vec<u32> = (0u32..).take(properties.len()).collect();
        by_name.sort_unstable_by_key(|place| &properties[*place as usize].0);
        Self { properties, by_name, ..Self::default() }
    }

    pub(crate) fn property(&self, name: &str) -> Option<NodeId> {
        let at = |place: &u32| &self.properties[*place as usize];
        let found = self.by_name.binary_search_by(|place| at(place).0.as_ref().cmp(name)).ok()?;
        Some(at(&self.by_name[found]).1)
    }
}

impl Rule {
    /// The place of the rule among those of its node: cheap rules first, and those last that depend on the others.
    pub(crate) fn order(&self) -> u8 {
        match self {
            Self::Never => 0,
            Self::Type { .. } => 1,
            Self::Const(_) => 2,
            Self::Enum(_) => 3,
            Self::Bound(bound, _) => 4 + *bound as u8,
            Self::MultipleOf(_) => 8,
            Self::Size(size, _) => 9 + *size as u8,
            Self::Required(_) => 15,
            Self::DependentRequired("dependentRequired", _) => 16,
            Self::Pattern(_) => 17,
            Self::UniqueItems => 18,
            Self::Members(_) => 19,
            Self::PropertyNames(_) => 20,
            Self::Elements(_) => 21,
            Self::Contains(_) => 22,
            Self::DependentRequired(..) => 23,
            Self::DependentSchemas(_) => 24,
            Self::AllOf(_) => 25,
            Self::AnyOf(_) => 26,
            Self::OneOf(_) => 27,
            Self::Not { .. } => 28,
            Self::If { .. } => 29,
            Self::Ref(_) | Self::DynamicRef { .. } => 30,
            Self::UnevaluatedProperties { .. } => 31,
            Self::UnevaluatedItems(_) => 32,
        }
    }
}
