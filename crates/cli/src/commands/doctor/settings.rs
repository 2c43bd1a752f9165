//! Effective settings, and where each comes from.

use super::diagnosis::Diagnosis;
use crate::report::Group;
use crate::report::finding::Finding;
use mcp_bash_settings::{InForce, ProjectSettings, Source, in_force_with_project};
use serde_json::{Value, json};

pub(super) fn look(report: &mut Diagnosis, project: &ProjectSettings, all: bool) {
    let in_force = in_force_with_project(|name| std::env::var_os(name), project);
    let is_shown = |setting: &&InForce| all || setting.source != Source::Default;
    let shown = in_force.iter().filter(is_shown).map(|setting| {
        let from = match setting.source {
            Source::Default => "the default".to_owned(),
            Source::Variable(name) if name == setting.name => "the environment".to_owned(),
            Source::Variable(name) => format!("the variable {name}"),
            Source::Project => "server.d/server.meta.json".to_owned(),
        };
        Finding::note("settings.in_force", format!("{} = {} (from {from})", setting.name, setting.value))
    });
    let mut checks: Vec<Finding> = shown.collect();
    if !all {
        let rest = in_force.iter().filter(|setting| setting.source == Source::Default).count();
        let words = format!("{rest} settings have their defaults; `mcp-bash doctor -v` shows them");
        checks.push(Finding::good("settings.defaults", words));
    }
    report.add(Group::new("Settings", checks));
    report.fact("settings", in_force.iter().map(to_json).collect());
}

fn to_json(setting: &InForce) -> Value {
    let (source, variable) = match setting.source {
        Source::Default => ("default", None),
        Source::Variable(name) => ("environment", Some(name)),
        Source::Project => ("project", None),
    };
    json!({ "name": setting.name, "value": setting.value, "source": source, "variable": variable })
}
