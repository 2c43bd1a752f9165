//! Server configuration: the part of `server.d/server.meta.json` about how the project is served: its settings, and the
//! variables that its scripts need. `identity` reads the rest, and reports a file that cannot be read.

use crate::declarations::{launcher, sandbox, variable_names};
use crate::ground::json::LONGEST;
use crate::ground::optional::may_mention;
use crate::{Diagnostic, Paths, trust};
use mcp_bash_launchers::Launchers;
use mcp_bash_sandbox::Declaration;
use mcp_bash_secrets::{Author, Sources};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

#[derive(Debug, Clone, PartialEq)]
pub struct ServerConfig {
    /// Settings by name, as written.
    pub settings: Map<String, Value>,
    /// The variables that all scripts of the project need.
    pub variables: Vec<String>,
    /// What scripts may do unless they declare it themselves; or why that is not known.
    /// Running them without the restrictions that the project meant would be a guess.
    pub sandbox: Result<Option<Declaration>, String>,
    /// What starts tools on other hosts; or why that is not known. Running them here instead would be a guess.
    pub launchers: Result<Launchers, String>,
    /// The arguments of tools that the audit log has as they are, by tool.
    pub audited: BTreeMap<String, Vec<String>>,
    /// Where secrets are, unless the operator says it.
    pub secrets: Sources,
}

/// The fields of the file.
#[derive(Deserialize)]
pub(crate) struct Written {
    settings: Option<Value>,
    env: Option<Box<RawValue>>,
    sandbox: Option<Box<RawValue>>,
    launcher: Option<Box<RawValue>>,
    launchers: Option<Box<RawValue>>,
    secrets: Option<Value>,
    audit: Option<Box<RawValue>>,
}

/// The member `audit`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenAudit {
    #[serde(default)]
    arguments: BTreeMap<String, Vec<String>>,
}

/// Keys for packages of the project. They are known here, and read by the commands that make packages.
pub(crate) const OF_BUNDLES: [&str; 19] = [
    "author",
    "repository",
    "license",
    "keywords",
    "homepage",
    "documentation",
    "support",
    "long_description",
    "long_description_file",
    "user_config",
    "user_config_env_map",
    "user_config_args_map",
    "privacy_policies",
    "compatibility",
    "screenshots",
    "localization",
    "platform_overrides",
    "registry",
    "server",
];

impl Default for ServerConfig {
    fn default() -> Self {
        let (settings, variables, audited) = (Map::new(), Vec::new(), BTreeMap::new());
        let (sandbox, launchers) = (Ok(None), Ok(Launchers::default()));
        Self { settings, variables, sandbox, launchers, audited, secrets: Sources::default() }
    }
}

impl ServerConfig {
    /// Reads the configuration. It decides how scripts are run, so a file that another user may have written is not used.
    pub fn read(paths: &Paths, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let path = paths.server.join("server.meta.json");
        let read = trust::open_and_judge(&path, &paths.root)
            .and_then(|(file, judged)| Ok((mcp_bash_files::read_all_text(&file, LONGEST)?, judged)));
        let (text, judged) = match read {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::NotFound => return Self::default(),
            Err(error) => return Self::unusable(&path, &error.to_string()),
        };
        let written = match serde_json::from_str::<Written>(text.trim_start_matches('\u{feff}')) {
            Ok(written) => written,
            Err(error) => return Self::unusable(&path, &error.to_string()),
        };
        // Even if another user wrote the file: a sandbox only restricts.
        let sandbox = sandbox::read(written.sandbox.as_deref()).map_err(|error| error.to_string());
        if let Err(why) = &sandbox {
            diagnostics.push(Diagnostic::new(&path, format!("no script is run: {why}")));
        }
        let has_launchers = written.launcher.is_some() || written.launchers.is_some();
        let is_rest_empty = written.audit.is_none() && written.secrets.is_none() && !has_launchers;
        if written.settings.is_none() && written.env.is_none() && is_rest_empty {
            return Self { sandbox, ..Self::default() };
        }
        if let Err(distrust) = judged.and_then(|()| trust::judge_folder(&paths.server, &paths.root)) {
            let problem =
                format!("its `settings`, `env`, `audit`, `launchers` and `secrets` are ignored: {distrust}");
            diagnostics.push(Diagnostic::new(path, problem));
            let launchers = if has_launchers { Err(distrust.to_string()) } else { Ok(Launchers::default()) };
            return Self { sandbox, launchers, ..Self::default() };
        }
        let mut problems = Vec::new();
        let variables = variable_names::read(written.env.as_deref(), &mut problems);
        let env = written.env.as_deref().filter(|env| !matches!(env.get(), "null" | "{}"));
        if problems.is_empty() && env.is_some_and(|env| !variable_names::is_only_names(env)) {
            problems
                .push("`env` may only name variables; the metadata of a tool can set them too".to_owned());
        }
        let settings = match written.settings {
            Some(Value::Object(settings)) => settings,
            None | Some(Value::Null) => Map::new(),
            Some(_) => {
                problems.push("`settings` is ignored: it must be an object".to_owned());
                Map::new()
            }
        };
        let audit = written.audit.map(|audit| serde_json::from_str::<WrittenAudit>(audit.get()));
        let audited = match audit {
            Some(Ok(audit)) => audit.arguments,
            None => BTreeMap::new(),
            Some(Err(error)) => {
                let expected = r#"`{"arguments": {"TOOL": ["ARGUMENT"]}}`"#;
                problems.push(format!("`audit` is ignored: expected {expected}: {error}"));
                BTreeMap::new()
            }
        };
        let secrets = match written.secrets {
            Some(Value::Object(entries)) => Sources::parse(&entries, Author::Project),
            None | Some(Value::Null) => Sources::default(),
            Some(_) => {
                problems.push("`secrets` is ignored: it must be an object".to_owned());
                Sources::default()
            }
        };
        let launchers = launcher::of_project(written.launchers.as_deref(), written.launcher.as_deref());
        problems.extend(launchers.as_ref().err().map(|why| format!("no tool is run: {why}")));
        problems.extend(secrets.wrong().map(|(name, why)| format!("`secrets.{name}` cannot be used: {why}")));
        diagnostics.extend(problems.into_iter().map(|problem| Diagnostic::new(&path, problem)));
        Self { settings, variables, sandbox, launchers, audited, secrets }
    }

    /// The configuration of a file that cannot be used: a sandbox or launchers that it may declare are not known.
    fn unusable(path: &Path, why: &str) -> Self {
        let may_declare = |member| may_mention(path, LONGEST, member);
        let sandbox = if may_declare("\"sandbox\"") { Err(why.to_owned()) } else { Ok(None) };
        let launchers =
            if may_declare("\"launcher") { Err(why.to_owned()) } else { Ok(Launchers::default()) };
        Self { sandbox, launchers, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The configuration of a project with this file.
    fn read(bytes: &[u8]) -> ServerConfig {
        let temp = tempfile::tempdir().unwrap();
        let project = temp.path().canonicalize().unwrap();
        std::fs::create_dir(project.join("server.d")).unwrap();
        std::fs::write(project.join("server.d/server.meta.json"), bytes).unwrap();
        ServerConfig::read(&Paths::of(&project), &mut Vec::new())
    }

    #[test]
    fn an_unusable_file_that_may_restrict_scripts_lets_none_run() {
        for (bytes, knows_sandbox, knows_launchers) in [
            (&b"{\"title\": \"Gr\xf6\xdfe\"}"[..], true, true),
            (b"{\"title\": \"Gr\xf6\xdfe\", \"sandbox\": {}}", false, true),
            (b"{\"sandbox\": {},}", false, true),
            (b"{\"launchers\": {},}", true, false),
            (b"{\"title\": \"\xff\", \"launcher\": {\"use\": \"ssh\"}}", true, false),
            (b"{\"title\": }", true, true),
        ] {
            let config = read(bytes);
            let text = String::from_utf8_lossy(bytes);
            assert_eq!(
                (config.sandbox.is_ok(), config.launchers.is_ok()),
                (knows_sandbox, knows_launchers),
                "{text}"
            );
        }
        let mut long = b"{\"settings\": {}}".to_vec();
        long.resize(usize::try_from(LONGEST).unwrap() + 1, b' ');
        let config = read(&long);
        assert!(config.sandbox.is_err() && config.launchers.is_err());
    }
}
