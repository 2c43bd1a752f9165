//! Settings reader: reads rows one by one, and remembers effective values and problems.

use crate::given::{Given, InForce, Lookup, ProjectValues, Source};
use crate::kind::Kind;
use crate::problem::SettingProblem;
use crate::row::{Reading, Row};

pub(crate) struct Reader<'l> {
    given: Given<'l>,
    pub(crate) problems: Vec<SettingProblem>,
    pub(crate) in_force: Vec<InForce>,
}

impl<'l> Reader<'l> {
    pub(crate) fn new(variables: Lookup<'l>) -> Self {
        Self::with_project(variables, None)
    }

    /// The same, including what a project sets.
    pub(crate) fn with_project(variables: Lookup<'l>, project: Option<&'l ProjectValues>) -> Self {
        let given = Given { variables, project };
        Self { given, problems: Vec::new(), in_force: Vec::new() }
    }

    pub(crate) fn value<K: Kind>(&mut self, row: &'static Row<K>) -> K::Value {
        let Reading { value, shown, source, problem } = row.read(self.given);
        self.problems.extend(problem);
        self.in_force.push(InForce { name: row.name, value: shown, source });
        value
    }

    /// Whether the value of a row that was read comes from its own variable, or from the project.
    pub(crate) fn is_set<K: Kind>(&self, row: &Row<K>) -> bool {
        let own = [Source::Variable(row.name), Source::Project];
        self.in_force.iter().any(|read| read.name == row.name && own.contains(&read.source))
    }

    /// Whether the value of a row that was read has a problem.
    pub(crate) fn is_refused<K: Kind>(&self, row: &Row<K>) -> bool {
        self.problems.iter().any(|problem| problem.name == row.name)
    }

    /// Records that another value than the one that was read is used, and what decides that.
    pub(crate) fn overrule<K: Kind>(&mut self, row: &Row<K>, value: &'static str, source: Source) {
        for read in self.in_force.iter_mut().filter(|read| read.name == row.name) {
            (read.value, read.source) = (value.into(), source);
        }
    }

    /// Reports a problem of a value that was read, caused by another value.
    pub(crate) fn report<K: Kind>(&mut self, row: &Row<K>, problem: String) {
        self.problems.push(SettingProblem { name: row.name, problem, fatal: false });
    }
}
