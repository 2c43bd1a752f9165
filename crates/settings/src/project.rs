//! Project settings: the object `settings` of `server.d/server.meta.json`. The environment wins.

use crate::given::{PROJECT_FILE, ProjectValues};
use crate::problem::{SettingProblem, excerpt};
use crate::{environment_only, names};
use serde_json::{Map, Value};

/// The settings of a project as texts, as variables would have them.
#[derive(Debug, Default)]
pub struct ProjectSettings {
    values: ProjectValues,
}

impl ProjectSettings {
    /// Takes what a project may set, and reports what cannot be used.
    pub fn new(written: &Map<String, Value>) -> (Self, Vec<SettingProblem>) {
        let (mut settings, mut problems) = (Self::default(), Vec::new());
        for (name, value) in written {
            problems.extend(settings.take(name, value).err());
        }
        (settings, problems)
    }

    pub(crate) fn values(&self) -> &ProjectValues {
        &self.values
    }

    fn take(&mut self, written: &str, value: &Value) -> Result<(), SettingProblem> {
        let problem = |words: &str| SettingProblem {
            name: PROJECT_FILE,
            problem: format!("`settings.{}` {words}", excerpt(written)),
            fatal: false,
        };
        let ignored = |why: &str| problem(&format!("is ignored: {why}"));
        let setting = names::find(written).ok_or_else(|| match names::meant(written) {
            Some(name) => ignored(&format!("there is no such setting; did you mean {name}?")),
            None => ignored("there is no such setting; docs/settings.md has them all"),
        })?;
        let name = setting.name();
        if let Some(reason) = environment_only::reason(name) {
            return Err(ignored(&format!("{reason}; set the variable {name} where the server is started")));
        }
        let separator = if setting.kind().starts_with("folders") { ":" } else { "," };
        let text = text_of(value, separator)
            .ok_or_else(|| ignored("it must be a text, a number, `true`, `false` or a list of texts"))?;
        match self.values.insert(name, text) {
            None => Ok(()),
            Some(_) => Err(problem(&format!("is a second value for {name}; the last one counts"))),
        }
    }
}

/// A value as a variable would have it.
fn text_of(value: &Value, separator: &str) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Array(members) => {
            let texts: Option<Vec<_>> = members.iter().map(Value::as_str).collect();
            texts.map(|texts| texts.join(separator))
        }
        Value::Null | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;
    use serde_json::json;
    use std::time::Duration;

    fn read(written: &Value, variables: &[(&str, &str)]) -> (Settings, Vec<String>) {
        let (project, mut problems) = ProjectSettings::new(written.as_object().unwrap());
        let value =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
        let (settings, more) = Settings::read_with_project(value, &project);
        problems.extend(more);
        (settings, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_project_sets_by_any_name_and_the_environment_wins() {
        let written = json!({ "defaultToolTimeout": 7, "MCPBASH_MAX_CONCURRENT_REQUESTS": "3",
            "compat_batches": true, "toolEnvAllowlist": ["A", "B"] });
        let (settings, problems) = read(&written, &[("MCPBASH_MAX_CONCURRENT_REQUESTS", "5")]);
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!((settings.default_timeout, settings.max_concurrent), (Duration::from_secs(7), 5));
        assert!(settings.compat_batches);
        let empty = [("MCPBASH_MAX_CONCURRENT_REQUESTS", " ")];
        assert_eq!(read(&written, &empty).0.max_concurrent, 3, "set to nothing is as good as not set");
    }

    #[test]
    fn gates_and_secrets_do_not_come_from_a_project() {
        for name in [
            "remoteToken",
            "allowProjectHooks",
            "toolEnvInheritAllow",
            "roots",
            "resourcesRoots",
            "toolAllowlist",
            "httpsAllowAll",
            "MCPBASH_PROJECT_ROOT",
            "debugPayloads",
        ] {
            let (settings, problems) = read(&json!({ name: "true" }), &[]);
            assert_eq!(problems.len(), 1, "{name}: {problems:?}");
            assert!(problems[0].contains("set the variable "), "{problems:?}");
            assert!(!settings.allow_hooks && settings.roots.is_none() && settings.remote_token.is_none());
        }
    }

    #[test]
    fn invalid_settings_are_named_with_their_place() {
        let (settings, problems) = read(&json!({ "defaultToolTimeout": "soon" }), &[]);
        assert_eq!(settings.default_timeout, Duration::from_secs(30));
        assert!(
            problems[0].starts_with("MCPBASH_DEFAULT_TOOL_TIMEOUT in server.d/server.meta.json must be ")
        );
        for (written, said) in [
            (json!({ "defaultToolTimout": 7 }), "did you mean MCPBASH_DEFAULT_TOOL_TIMEOUT?"),
            (json!({ "colour": "red" }), "no such setting"),
            (json!({ "defaultToolTimeout": { "a": 1 } }), "must be a text"),
            (json!({ "toolEnvAllowlist": ["A", 1] }), "must be a text"),
            (json!({ "a\u{1b}[31m": 1 }), r"`settings.a\u{1b}[31m`"),
        ] {
            let (_, problems) = read(&written, &[]);
            assert!(problems.len() == 1 && problems[0].contains(said), "{written}: {problems:?}");
        }
    }
}
