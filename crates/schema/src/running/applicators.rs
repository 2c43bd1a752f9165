//! Applicators: rules that apply other schemas to a value or to its parts.

use crate::compiling::program::{Contains, Elements, Members, Node, NodeId, Others, Rule};
use crate::running::place::{Place, Step};
use crate::running::run::{At, Run, Sink};
use crate::running::violation::{Kind, Violation};
use crate::tree::{self, Body, Tree};

impl<'p> Run<'p> {
    pub(crate) fn applicator(
        &mut self,
        node: &'p Node,
        rule: &'p Rule,
        at: At<'_>,
        sink: &mut Sink<'p>,
    ) -> bool {
        match rule {
            Rule::Members(rule) => self.members(node, rule, at, sink),
            Rule::PropertyNames(names) => self.property_names(node, *names, at, sink),
            Rule::Elements(rule) => self.elements(node, rule, at, sink),
            Rule::Contains(rule) => self.contains(node, rule, at, sink),
            Rule::DependentSchemas(schemas) => {
                let Body::Object(members) = &at.value.body else { return true };
                let given = schemas.iter().filter(|(name, _)| members.get(name).is_some());
                self.all(given.map(|(_, id)| *id), at, sink)
            }
            Rule::AllOf(ids) => self.all(ids.iter().copied(), at, sink),
            Rule::AnyOf(ids) => self.any_of(node, ids, at, sink),
            Rule::OneOf(ids) => self.one_of(node, ids, at, sink),
            Rule::Not { node: inner, shown } => {
                !self.node(*inner, at, &mut Sink::default())
                    || self.breaks(node, at, sink, || Kind::Not(shown))
            }
            Rule::If { condition, then, otherwise } => {
                let mut verdict = sink.verdict();
                let holds = self.node(*condition, at, &mut verdict);
                if holds {
                    sink.merge(verdict.marks.as_ref());
                }
                let next = if holds { then } else { otherwise };
                next.is_none_or(|id| self.node(id, at, sink))
            }
            Rule::Ref(id) => self.node(*id, at, sink),
            Rule::DynamicRef { name, node } => {
                let dynamic = &self.program.dynamic;
                let named = at.scope.resources().filter_map(|resource| dynamic.get(&(resource, *name)));
                let id = named.last().unwrap_or(node);
                self.node(*id, at, sink)
            }
            Rule::UnevaluatedProperties { node: inner, known } => {
                self.unevaluated_properties(node, *inner, known, at, sink)
            }
            Rule::UnevaluatedItems(inner) => self.unevaluated_items(node, *inner, at, sink),
            // All others are assertions.
            _ => true,
        }
    }

    /// Applies a schema to a part of the value, whose marks are of no interest.
    fn part(
        &mut self,
        id: NodeId,
        value: &Tree<'_>,
        place: &Place<'_>,
        at: At<'_>,
        sink: &mut Sink<'p>,
    ) -> bool {
        let marks = sink.marks.take();
        let fits = self.node(id, At { value, place, scope: at.scope }, sink);
        sink.marks = marks;
        fits
    }

    fn all(&mut self, ids: impl Iterator<Item = NodeId>, at: At<'_>, sink: &mut Sink<'p>) -> bool {
        let mut fits = true;
        for id in ids {
            fits &= self.node(id, at, sink);
            if !fits && sink.is_done() {
                break;
            }
        }
        fits
    }

    fn members(&mut self, node: &'p Node, rule: &'p Members, at: At<'_>, sink: &mut Sink<'p>) -> bool {
        let Body::Object(members) = &at.value.body else { return true };
        let mut fits = true;
        let mut unexpected = Vec::new();
        for (position, member) in members.list.iter().enumerate() {
            if !self.meter.look(0) {
                return false;
            }
            let name = member.name.as_ref();
            let (mut is_known, mut is_fit) = (false, true);
            if let Some(id) = rule.property(name) {
                is_known = true;
                is_fit &= self.part(id, &member.value, &at.place.then(Step::Property(name)), at, sink);
            }
            let place = at.place.then(Step::Member(name));
            for (pattern, id) in &rule.patterns {
                if self.looks_at(name.len()) && pattern.is_match(name) {
                    is_known = true;
                    is_fit &= self.part(*id, &member.value, &place, at, sink);
                }
            }
            match rule.others {
                Others::Fit(id) if !is_known => {
                    is_known = true;
                    is_fit = self.part(id, &member.value, &place, at, sink);
                }
                Others::None if !is_known => {
                    is_fit = false;
                    if sink.violations.is_some() {
                        unexpected.push(name.to_owned());
                    }
                }
                _ => {}
            }
            if is_known && let Some(marks) = &mut sink.marks {
                marks.mark(position);
            }
            fits &= is_fit;
            if !fits && sink.is_done() {
                return false;
            }
        }
        if !unexpected.is_empty() {
            self.breaks(node, at, sink, || Kind::Unexpected {
                keyword: "additionalProperties",
                names: unexpected,
                known: rule.properties.iter().map(|(name, _)| name.as_ref()).collect(),
            });
        }
        fits
    }

    fn property_names(&mut self, node: &'p Node, id: NodeId, at: At<'_>, sink: &mut Sink<'p>) -> bool {
        let Body::Object(members) = &at.value.body else { return true };
        let mut fits = true;
        for member in &members.list {
            let name = Tree::of_name(&member.name);
            let mut inner = Sink { violations: sink.violations.is_some().then(Vec::new), ..Sink::default() };
            fits &= self.looks_at(member.name.len())
                && self.node(id, At { value: &name, place: at.place, scope: at.scope }, &mut inner);
            for violation in inner.violations.into_iter().flatten() {
                let kind = || Kind::PropertyName(member.name.to_string(), Box::new(violation));
                self.breaks(node, at, sink, kind);
            }
            if !fits && sink.is_done() || self.meter.is_over() {
                return false;
            }
        }
        fits
    }

    fn elements(&mut self, node: &'p Node, rule: &'p Elements, at: At<'_>, sink: &mut Sink<'p>) -> bool {
        let Body::Array(elements) = &at.value.body else { return true };
        let mut fits = true;
        for (position, element) in elements.iter().enumerate() {
            let id = match (rule.first.get(position), rule.others) {
                (Some(id), _) => *id,
                (None, Others::Fit(id)) => id,
                (None, Others::Unsaid) => break,
                (None, Others::None) => {
                    return self.breaks(node, at, sink, || Kind::AdditionalItems(rule.first.len()));
                }
            };
            fits &= self.part(id, element, &at.place.then(Step::Element(position)), at, sink);
            if let Some(marks) = &mut sink.marks {
                marks.mark(position);
            }
            if !fits && sink.is_done() || self.meter.is_over() {
                return false;
            }
        }
        fits
    }

    fn contains(&mut self, node: &'p Node, rule: &'p Contains, at: At<'_>, sink: &mut Sink<'p>) -> bool {
        let Body::Array(elements) = &at.value.body else { return true };
        let mut count = 0;
        for (position, element) in elements.iter().enumerate() {
            let place = at.place.then(Step::Element(position));
            if !self.part(rule.node, element, &place, at, &mut Sink::default()) {
                continue;
            }
            count += 1;
            if let Some(marks) = &mut sink.marks {
                if rule.marks {
                    marks.mark(position);
                }
            } else if rule.most.is_none() && count >= rule.least.unwrap_or(1) {
                break;
            }
        }
        let keyword = match (rule.least, rule.most) {
            (_, Some(most)) if count > most => "maxContains",
            (Some(least), _) if count < least => "minContains",
            (None, _) if count < 1 => "contains",
            _ => return true,
        };
        self.breaks(node, at, sink, || Kind::Contains(keyword))
    }

    fn any_of(&mut self, node: &'p Node, ids: &'p [NodeId], at: At<'_>, sink: &mut Sink<'p>) -> bool {
        // Whether any fits is decided first, since the violations of the others would be of no interest.
        let mut fits = false;
        for id in ids {
            let mut verdict = sink.verdict();
            if self.node(*id, at, &mut verdict) {
                fits = true;
                sink.merge(verdict.marks.as_ref());
                if sink.marks.is_none() {
                    break;
                }
            }
        }
        fits || self.no_alternative(node, "anyOf", ids, at, sink)
    }

    fn one_of(&mut self, node: &'p Node, ids: &'p [NodeId], at: At<'_>, sink: &mut Sink<'p>) -> bool {
        let mut fitting = 0;
        for id in ids {
            let mut verdict = sink.verdict();
            if self.node(*id, at, &mut verdict) {
                fitting += 1;
                sink.merge(verdict.marks.as_ref());
                if fitting > 1 {
                    return self.breaks(node, at, sink, || Kind::ManyAlternatives);
                }
            }
        }
        fitting == 1 || self.no_alternative(node, "oneOf", ids, at, sink)
    }

    /// Collects the violations of every alternative.
    fn no_alternative(
        &mut self,
        node: &'p Node,
        keyword: &'static str,
        ids: &'p [NodeId],
        at: At<'_>,
        sink: &mut Sink<'p>,
    ) -> bool {
        if sink.violations.is_none() {
            return false;
        }
        let mut branches: Vec<Vec<Violation<'p>>> = Vec::with_capacity(ids.len());
        for id in ids {
            let mut branch = Sink { violations: Some(Vec::new()), ..Sink::default() };
            self.node(*id, at, &mut branch);
            branches.extend(branch.violations);
        }
        self.breaks(node, at, sink, || Kind::NoAlternative(keyword, branches))
    }

    fn unevaluated_properties(
        &mut self,
        node: &'p Node,
        id: NodeId,
        known: &'p [Box<str>],
        at: At<'_>,
        sink: &mut Sink<'p>,
    ) -> bool {
        let Body::Object(members) = &at.value.body else { return true };
        if !self.meter.look(members.list.len()) {
            return false;
        }
        let is_evaluated = |position| sink.marks.as_ref().is_some_and(|marks| marks.is_marked(position));
        let left: Vec<&tree::Member<'_>> = (members.list.iter().enumerate())
            .filter(|(position, _)| !is_evaluated(*position))
            .map(|(_, member)| member)
            .collect();
        let mut names = Vec::new();
        for member in left {
            let place = at.place.then(Step::Member(&member.name));
            if !self.part(id, &member.value, &place, at, &mut Sink::default()) {
                names.push(member.name.to_string());
                if sink.violations.is_none() {
                    return false;
                }
            }
        }
        if let Some(marks) = &mut sink.marks {
            marks.mark_all();
        }
        let kind = |names| Kind::Unexpected {
            keyword: "unevaluatedProperties",
            names,
            known: known.iter().map(AsRef::as_ref).collect(),
        };
        names.is_empty() || self.breaks(node, at, sink, || kind(names))
    }

    fn unevaluated_items(&mut self, node: &'p Node, id: NodeId, at: At<'_>, sink: &mut Sink<'p>) -> bool {
        let Body::Array(elements) = &at.value.body else { return true };
        let mut unexpected = 0;
        if !self.meter.look(elements.len()) {
            return false;
        }
        for (position, element) in elements.iter().enumerate() {
            if sink.marks.as_ref().is_some_and(|marks| marks.is_marked(position)) {
                continue;
            }
            let place = at.place.then(Step::Element(position));
            if !self.part(id, element, &place, at, &mut Sink::default()) {
                unexpected += 1;
                if sink.violations.is_none() {
                    return false;
                }
            }
        }
        if let Some(marks) = &mut sink.marks {
            marks.mark_all();
        }
        unexpected == 0 || self.breaks(node, at, sink, || Kind::UnevaluatedItems(unexpected))
    }
}
