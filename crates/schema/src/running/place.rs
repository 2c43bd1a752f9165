//! Places: the way to a value and to a schema, as lists on the stack. They become text only when something is wrong.

use crate::compiling::program::ResourceId;
use std::fmt::Write;

/// The way from the whole value to a part of it.
pub(crate) struct Place<'a> {
    parent: Option<&'a Place<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
pub(crate) enum Step<'a> {
    /// The JSON Pointer of the first value.
    Start(&'a str),
    /// A member that the schema names under `properties`.
    Property(&'a str),
    /// A member that it describes in another way.
    Member(&'a str),
    Element(usize),
}

impl<'a> Place<'a> {
    pub(crate) fn start(pointer: &'a str) -> Self {
        Self { parent: None, step: Step::Start(pointer) }
    }

    pub(crate) fn then<'b>(&'b self, step: Step<'b>) -> Place<'b> {
        Place { parent: Some(self), step }
    }

    /// Whether the last step was by name under `properties`.
    pub(crate) fn is_declared(&self) -> bool {
        matches!(self.step, Step::Property(_))
    }

    /// The JSON Pointer of the value.
    pub(crate) fn pointer(&self) -> String {
        let mut steps = Vec::new();
        let mut place = Some(self);
        while let Some(here) = place {
            steps.push(here.step);
            place = here.parent;
        }
        let mut pointer = String::new();
        for step in steps.into_iter().rev() {
            match step {
                Step::Start(start) => pointer.push_str(start),
                Step::Property(name) | Step::Member(name) => push_name(&mut pointer, name),
                // Writing to a string cannot fail.
                Step::Element(index) => drop(write!(pointer, "/{index}")),
            }
        }
        pointer
    }
}

/// Appends the name of a member to a JSON Pointer.
pub(crate) fn push_name(pointer: &mut String, name: &str) {
    pointer.push('/');
    if name.contains(['~', '/']) {
        pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
    } else {
        pointer.push_str(name);
    }
}

/// The JSON Pointer of the member `name` of the value at `path`.
pub(crate) fn below(path: &str, name: &str) -> String {
    let mut pointer = path.to_owned();
    push_name(&mut pointer, name);
    pointer
}

/// The schemas with an address of their own that led to a schema, the innermost first. It decides where dynamic
/// references lead.
pub(crate) struct Scope<'a> {
    outer: Option<&'a Scope<'a>>,
    pub(crate) resource: ResourceId,
}

impl<'a> Scope<'a> {
    pub(crate) fn start(resource: ResourceId) -> Self {
        Self { outer: None, resource }
    }

    pub(crate) fn enter(&'a self, resource: ResourceId) -> Self {
        Self { outer: Some(self), resource }
    }

    /// From the innermost to the outermost.
    pub(crate) fn resources(&'a self) -> impl Iterator<Item = ResourceId> {
        std::iter::successors(Some(self), |scope| scope.outer).map(|scope| scope.resource)
    }
}
