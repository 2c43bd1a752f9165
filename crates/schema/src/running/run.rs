//! Run: applies a compiled schema to a value.
//!
//! There is one traversal for both questions. With a list, it collects all violations; without one, it returns at the
//! first. Each visit of a node is counted by the [`Meter`]: once that says that the run is over, nothing fits and the
//! outcome is meaningless.

use crate::compiling::program::{Node, NodeId, Program, Rule};
use crate::running::marks::Marks;
use crate::running::meter::Meter;
use crate::running::place::{Place, Scope};
use crate::running::violation::{Kind, Violation};
use crate::tree::{Body, Tree};
use std::collections::HashMap;

pub(crate) struct Run<'p> {
    pub(crate) program: &'p Program,
    pub(crate) meter: Meter,
    /// Values that fit whatever the schema says, by identity.
    exempt: Vec<usize>,
    /// The targets of references that are being applied, and the values by identity.
    active: Vec<(NodeId, usize)>,
    /// Whether values fit targets of references, kept if finding out took long.
    verdicts: HashMap<(NodeId, usize), bool>,
}

/// A value, the way to it and the way to the schema that is applied to it.
#[derive(Clone, Copy)]
pub(crate) struct At<'a> {
    pub(crate) value: &'a Tree<'a>,
    pub(crate) place: &'a Place<'a>,
    pub(crate) scope: &'a Scope<'a>,
}

/// What is to be found out besides whether a value fits.
#[derive(Default)]
pub(crate) struct Sink<'p> {
    pub(crate) violations: Option<Vec<Violation<'p>>>,
    /// Whether one violation is enough.
    pub(crate) only_first: bool,
    pub(crate) marks: Option<Marks>,
}

impl Sink<'_> {
    /// A sink that wants no violations.
    pub(crate) fn verdict(&self) -> Self {
        Self { marks: self.marks.is_some().then(Marks::default), ..Self::default() }
    }

    /// Takes the marks of a schema that fits the same value.
    pub(crate) fn merge(&mut self, marks: Option<&Marks>) {
        if let (Some(own), Some(marks)) = (&mut self.marks, marks) {
            own.merge(marks);
        }
    }

    /// Whether further violations make no difference.
    pub(crate) fn is_done(&self) -> bool {
        self.violations.as_ref().is_none_or(|list| self.only_first && !list.is_empty())
    }
}

/// Deciding whether a value fits is repeated rather than remembered if it took less work than this.
const CHEAP: u64 = 64;

impl<'p> Run<'p> {
    pub(crate) fn new(program: &'p Program, meter: Meter) -> Self {
        Self { program, meter, exempt: Vec::new(), active: Vec::new(), verdicts: HashMap::new() }
    }

    /// The same, except that some values fit whatever the schema says.
    pub(crate) fn exempting<'t>(self, values: impl Iterator<Item = &'t Tree<'t>>) -> Self {
        Self { exempt: values.map(identity).collect(), ..self }
    }

    /// Whether a value fits. `pointer` is its own location.
    pub(crate) fn fits(&mut self, value: &Tree<'_>, pointer: &str) -> bool {
        self.start(value, pointer, &mut Sink::default())
    }

    /// All violations, or the first.
    pub(crate) fn violations(
        &mut self,
        value: &Tree<'_>,
        pointer: &str,
        only_first: bool,
    ) -> Vec<Violation<'p>> {
        let mut sink = Sink { violations: Some(Vec::new()), only_first, marks: None };
        self.start(value, pointer, &mut sink);
        sink.violations.unwrap_or_default()
    }

    fn start(&mut self, value: &Tree<'_>, pointer: &str, sink: &mut Sink<'p>) -> bool {
        let root = self.program.root;
        let scope = Scope::start(self.program.nodes[root].resource);
        self.node(root, At { value, place: &Place::start(pointer), scope: &scope }, sink)
    }

    /// Whether a value fits a node.
    pub(crate) fn node(&mut self, id: NodeId, at: At<'_>, sink: &mut Sink<'p>) -> bool {
        let program = self.program;
        let (mut id, mut node) = (id, &program.nodes[id]);
        // A node that only refers to another one takes no stack.
        let mut steps = 0;
        while let [Rule::Ref(target)] = node.rules[..] {
            if program.nodes[target].resource != node.resource {
                break;
            }
            steps += 1;
            if steps > program.nodes.len() {
                return true;
            }
            (id, node) = (target, &program.nodes[target]);
        }
        if !self.meter.look(steps) {
            return false;
        }
        if !self.exempt.is_empty() && self.exempt.contains(&identity(at.value)) {
            return true;
        }
        let fits = if node.is_target { self.target(id, node, at, sink) } else { self.within(node, at, sink) };
        fits && !self.meter.is_over()
    }

    /// Applies the target of a reference: not to a value that it is being applied to already, and not again if the
    /// outcome is known.
    fn target(&mut self, id: NodeId, node: &'p Node, at: At<'_>, sink: &mut Sink<'p>) -> bool {
        let key = (id, identity(at.value));
        // Other values are further down the stack.
        let same = self.active.iter().rev().take_while(|(_, value)| *value == key.1);
        let mut depth = 0;
        if same.inspect(|_| depth += 1).any(|active| *active == key) {
            return true;
        }
        if !self.meter.look(depth) {
            return false;
        }
        // Where dynamic references lead depends on the way here.
        let is_certain = self.program.dynamic.is_empty() && sink.violations.is_none() && sink.marks.is_none();
        let may_remember = is_certain && matches!(at.value.body, Body::Array(_) | Body::Object(_));
        if may_remember && let Some(fits) = self.verdicts.get(&key) {
            return *fits;
        }
        let before = self.meter.work_left();
        self.active.push(key);
        let fits = self.within(node, at, sink);
        self.active.pop();
        if may_remember && before - self.meter.work_left() > CHEAP {
            self.verdicts.insert(key, fits);
        }
        fits
    }

    /// Applies the rules of a node in the scope of its resource.
    fn within(&mut self, node: &'p Node, at: At<'_>, sink: &mut Sink<'p>) -> bool {
        if node.resource == at.scope.resource {
            return self.marking(node, at, sink);
        }
        let scope = at.scope.enter(node.resource);
        self.marking(node, At { value: at.value, place: at.place, scope: &scope }, sink)
    }

    /// Applies the rules of a node, with marks of its own if it needs them.
    fn marking(&mut self, node: &'p Node, at: At<'_>, sink: &mut Sink<'p>) -> bool {
        if !node.needs_marks {
            return self.rules(node, at, sink);
        }
        let outer = sink.marks.replace(Marks::default());
        let fits = self.rules(node, at, sink);
        let own = std::mem::replace(&mut sink.marks, outer);
        sink.merge(own.as_ref());
        fits
    }

    fn rules(&mut self, node: &'p Node, at: At<'_>, sink: &mut Sink<'p>) -> bool {
        let mut fits = true;
        for rule in &node.rules {
            if !self.rule(node, rule, at, sink) {
                fits = false;
                if sink.is_done() {
                    break;
                }
            }
        }
        fits
    }

    /// Notes that the value breaks a rule. Each violation takes memory, so it is counted like a visit.
    pub(crate) fn breaks(
        &self,
        node: &'p Node,
        at: At<'_>,
        sink: &mut Sink<'p>,
        kind: impl FnOnce() -> Kind<'p>,
    ) -> bool {
        if let Some(list) = &mut sink.violations
            && self.meter.look(0)
        {
            list.push(Violation {
                path: at.place.pointer(),
                is_declared: at.place.is_declared(),
                location: &node.location,
                kind: kind(),
            });
        }
        false
    }
}

/// The place of a value in memory, which is its identity while it lives.
fn identity(value: &Tree<'_>) -> usize {
    std::ptr::from_ref(value).addr()
}
