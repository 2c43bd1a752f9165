//! JSON reports: a table of members says how each command names what it knows of a finding.

use super::finding::Finding;
use super::text::placed;
use super::{Group, Report};
use serde_json::{Map, Value, json};

/// Something that is known of a finding.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Member {
    Id,
    Grade,
    /// The title of its group.
    Group,
    File,
    Line,
    Column,
    Problem,
    /// The problem with its place, as a line for people.
    PlacedProblem,
    /// The problem, and after it what to do.
    ProblemAndRemedy,
    Remedy,
    Command,
    IsFixable,
}

impl Report {
    /// The findings that `is_shown`, as objects with these members.
    pub(crate) fn findings_to_json(
        &self,
        members: &[(&str, Member)],
        is_shown: impl Fn(&Finding) -> bool,
    ) -> Value {
        let all =
            self.groups.iter().flat_map(|group| group.findings.iter().map(move |finding| (group, finding)));
        let shown = all.filter(|(_, finding)| is_shown(finding));
        let object = |(group, finding): (&Group, &Finding)| {
            let members = members.iter();
            let members =
                members.map(|(name, member)| ((*name).to_owned(), self.value(*member, group, finding)));
            Value::Object(members.collect::<Map<String, Value>>())
        };
        shown.map(object).collect()
    }

    fn value(&self, member: Member, group: &Group, finding: &Finding) -> Value {
        match member {
            Member::Id => json!(finding.id),
            Member::Grade => json!(finding.grade.as_str()),
            Member::Group => json!(group.title),
            Member::File => json!(finding.file.as_ref().map(|file| file.to_string_lossy())),
            Member::Line => json!(finding.line),
            Member::Column => json!(finding.column),
            Member::Problem => json!(finding.problem),
            Member::PlacedProblem => json!(placed(finding, self.root.as_deref())),
            Member::ProblemAndRemedy => match &finding.remedy {
                Some(remedy) => json!(format!("{}; {remedy}", finding.problem)),
                None => json!(finding.problem),
            },
            Member::Remedy => json!(finding.remedy),
            Member::Command => json!(finding.command),
            Member::IsFixable => json!(finding.fix.is_some()),
        }
    }
}
