//! The launchers of a project: those that are built in, those that it names itself, and its default.

use crate::declaration::{Declaration, HERE, Says};
use crate::error::LauncherError;
use crate::launcher::Launcher;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The launchers that are built in.
pub const READY: [&str; 3] = ["ssh", "slurm", "kubernetes"];

/// The launchers of a project.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Launchers {
    named: BTreeMap<String, Map<String, Value>>,
    default: Option<Declaration>,
}

impl Launchers {
    /// Reads `launchers` and `launcher` of `server.meta.json`, and checks each.
    pub fn read(named: Option<&str>, default: Option<&str>) -> Result<Self, LauncherError> {
        let named = match named.map(serde_json::from_str) {
            None | Some(Ok(Value::Null)) => Map::new(),
            Some(Ok(Value::Object(named))) => named,
            Some(_) => return Err(LauncherError::NotAnObject),
        };
        let mut all = Self::default();
        for (name, launcher) in named {
            if name == HERE || READY.contains(&name.as_str()) {
                return Err(LauncherError::Taken(name));
            }
            if name.is_empty()
                || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
            {
                return Err(LauncherError::Name(name));
            }
            let Value::Object(members) = launcher else {
                return Err(LauncherError::Named { name, source: Box::new(LauncherError::Shape) });
            };
            all.resolve_members(&name, &members)
                .map_err(|source| LauncherError::Named { name: name.clone(), source: Box::new(source) })?;
            all.named.insert(name, members);
        }
        all.default = default.filter(|text| *text != "null").map(Declaration::parse).transpose()?;
        all.of(None)?;
        Ok(all)
    }

    /// The launcher of a tool with this declaration. `None` if it runs on the host of the server.
    pub fn of(&self, own: Option<&Declaration>) -> Result<Option<Launcher>, LauncherError> {
        match own.or(self.default.as_ref()).map(|declaration| &declaration.says) {
            None | Some(Says::Here) => Ok(None),
            Some(Says::Named(name)) => self.of_name(name, &Map::new()).map(Some),
            Some(Says::Members(members)) => match members.get("use").and_then(Value::as_str) {
                Some(name) => self.of_name(name, members).map(Some),
                None => Launcher::read("custom", members).map(Some),
            },
        }
    }

    /// The launcher of that name; `own` members take the place of its.
    fn of_name(&self, name: &str, own: &Map<String, Value>) -> Result<Launcher, LauncherError> {
        let Some(named) = self.named.get(name) else { return self.resolve_members(name, own) };
        let mut members = named.clone();
        members.extend(
            own.iter().filter(|(key, _)| *key != "use").map(|(key, value)| (key.clone(), value.clone())),
        );
        self.resolve_members(name, &members)
    }

    /// A launcher that is built in, or one that says which of these it uses, or one with its own commands.
    fn resolve_members(&self, name: &str, members: &Map<String, Value>) -> Result<Launcher, LauncherError> {
        if READY.contains(&name) || members.contains_key("run") {
            return Launcher::read(name, members);
        }
        match members.get("use").and_then(Value::as_str) {
            Some(used) if READY.contains(&used) => Launcher::read(name, members),
            used => Err(self.unknown(used.unwrap_or(name))),
        }
    }

    fn unknown(&self, name: &str) -> LauncherError {
        let known: Vec<&str> = READY.into_iter().chain(self.named.keys().map(String::as_str)).collect();
        let meant = mcp_bash_spelling::nearest(name, known.iter().copied()).map(str::to_owned);
        let known = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        LauncherError::Unknown { name: name.to_owned(), meant, known }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launcher::Kind;

    fn launchers(named: &str, default: &str) -> Result<Launchers, LauncherError> {
        Launchers::read(Some(named), Some(default))
    }

    fn of(launchers: &Launchers, own: &str) -> Result<Option<Launcher>, LauncherError> {
        launchers.of(Some(&Declaration::parse(own)?))
    }

    #[test]
    fn a_tool_overrides_the_members_of_a_named_launcher() {
        let named = r#"{"cluster": {"use": "slurm", "options": ["--mem=1G"], "temporary": "/scratch"}}"#;
        let all = launchers(named, r#""cluster""#).unwrap();
        let default = all.of(None).unwrap().unwrap();
        assert_eq!(default.words(), "cluster (slurm)");
        let own = of(&all, r#"{"use": "cluster", "options": ["--mem=9G"]}"#).unwrap().unwrap();
        assert_eq!(own.kind, Kind::Slurm { options: vec!["--mem=9G".to_owned()] });
        assert_eq!(own.temporary.as_deref(), Some("/scratch"));
        assert_eq!(of(&all, r#""here""#).unwrap(), None);
    }

    #[test]
    fn the_operator_allows_by_name_by_kind_or_by_host() {
        let named = r#"{"builds": {"use": "ssh", "host": "build1"}}"#;
        let launcher = launchers(named, r#""builds""#).unwrap().of(None).unwrap().unwrap();
        let allowed = |name: &str| launcher.is_allowed(&[name.to_owned()]);
        assert!(["builds", "ssh", "ssh:build1", "*"].into_iter().all(allowed));
        assert!(!["off", "slurm", "ssh:build2", "builds:build1", ""].into_iter().any(allowed));
    }

    #[test]
    fn mistakes_in_the_launchers_of_a_project_are_refused() {
        for named in [
            "[]",
            r#"{"ssh": {"use": "ssh", "host": "a"}}"#,
            r#"{"a b": {"use": "slurm"}}"#,
            r#"{"a": "ssh"}"#,
            r#"{"a": {"use": "b"}}"#,
            r#"{"a": {"use": "ssh"}}"#,
            r#"{"a": {}}"#,
        ] {
            assert!(launchers(named, "null").is_err(), "{named}");
        }
        assert!(launchers("{}", r#""nobody""#).is_err());
    }
}
