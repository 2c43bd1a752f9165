//! Roles file: YAML, or JSON, which is YAML too.

use crate::error::RolesError;
use crate::grant::Grant;
use crate::roles::{Given, MOST_ROLES, Role, Roles};
use mcp_bash_settings::AllowedNames;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// How deep the values of a file may be.
const DEEPEST: usize = 16;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    toolsets: Entries<Vec<String>>,
    roles: Entries<RoleEntry>,
    default: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RoleEntry {
    tools: Option<Vec<String>>,
    resources: Option<Vec<String>>,
    prompts: Option<Vec<String>>,
    #[serde(default)]
    read_only: bool,
    rate: Option<String>,
    concurrency: Option<usize>,
    hours: Option<String>,
    #[serde(default)]
    given: GivenEntry,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenEntry {
    #[serde(default)]
    tokens: Vec<String>,
    #[serde(default)]
    groups: Vec<String>,
    #[serde(default)]
    scopes: Vec<String>,
    #[serde(default)]
    certificates: Vec<String>,
    #[serde(default)]
    callers: Vec<String>,
}

/// A map in the order of the file.
struct Entries<T>(Vec<(String, T)>);

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrder<T> {
            type Value = Entries<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map of names")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<T>, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(InOrder(PhantomData))
    }
}

impl Roles {
    pub fn parse(text: &str) -> Result<Self, RolesError> {
        let options = serde_saphyr::options! { budget: serde_saphyr::budget! { max_depth: DEEPEST } };
        let file: File = serde_saphyr::from_str_with_options(text, options)
            .map_err(|error| RolesError::Syntax(error.without_snippet().to_string()))?;
        let Entries(entries) = file.roles;
        if entries.is_empty() {
            return Err(RolesError::NoRoles);
        }
        if entries.len() > MOST_ROLES {
            return Err(RolesError::TooMany(entries.len()));
        }
        for (name, tools) in &file.toolsets.0 {
            if tools.iter().any(|tool| tool.starts_with('@')) {
                return Err(RolesError::NestedToolset(name.clone()));
            }
        }
        let roles = entries.into_iter().map(|(name, entry)| entry.role(name, &file.toolsets.0));
        let roles = roles.collect::<Result<Vec<Role>, _>>()?;
        let place = |name: String| {
            let found = roles.iter().position(|role| *role.name == *name);
            found.ok_or(RolesError::UnknownDefault(name))
        };
        let default = file.default.map(place).transpose()?;
        let is_given = |(place, role): &(usize, &Role)| Some(*place) == default || !role.given.is_nobody();
        if let Some((_, role)) = roles.iter().enumerate().find(|role| !is_given(role)) {
            return Err(RolesError::GivenToNobody(role.name.to_string()));
        }
        Ok(Self::new(roles, default))
    }
}

impl RoleEntry {
    fn role(self, name: String, toolsets: &[(String, Vec<String>)]) -> Result<Role, RolesError> {
        let rate = self.rate.map(|rate| rate.parse()).transpose();
        let rate = rate.map_err(|error| RolesError::Rate { role: name.clone(), error })?;
        let hours = self.hours.map(|hours| hours.parse()).transpose();
        let hours = hours.map_err(|error| RolesError::Hours { role: name.clone(), error })?;
        if self.concurrency == Some(0) {
            return Err(RolesError::NoConcurrency(name));
        }
        let tools = self.tools.map(|tools| expand(&name, tools, toolsets)).transpose()?;
        let list = |names: Option<Vec<String>>| names.map(AllowedNames::from_iter);
        let GivenEntry { tokens, groups, scopes, certificates, callers } = self.given;
        let [tokens, groups, scopes, certificates, callers] =
            [tokens, groups, scopes, certificates, callers].map(AllowedNames::from_iter);
        Ok(Role {
            name: name.into(),
            grant: Arc::new(Grant {
                tools: list(tools),
                resources: list(self.resources),
                prompts: list(self.prompts),
                read_only: self.read_only,
                hours,
            }),
            rate,
            concurrency: self.concurrency,
            given: Given { tokens, groups, scopes, certificates, callers },
        })
    }
}

/// The names of the tools, those of toolsets (`@name`) in place.
fn expand(
    role: &str,
    tools: Vec<String>,
    toolsets: &[(String, Vec<String>)],
) -> Result<Vec<String>, RolesError> {
    let mut all = Vec::with_capacity(tools.len());
    for tool in tools {
        let Some(toolset) = tool.strip_prefix('@') else {
            all.push(tool);
            continue;
        };
        let Some((_, known)) = toolsets.iter().find(|(name, _)| name == toolset) else {
            let names: Vec<String> = toolsets.iter().map(|(name, _)| format!("`@{name}`")).collect();
            let suggestion = match names.join(", ") {
                none if none.is_empty() => "; there are none: add them under `toolsets:`".to_owned(),
                names => format!("; there are {names}"),
            };
            let (role, toolset) = (role.to_owned(), toolset.to_owned());
            return Err(RolesError::UnknownToolset { role, toolset, suggestion });
        };
        all.extend(known.iter().cloned());
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::collections::BTreeSet;

    /// The keys that are read where this text has an unknown one, as the error lists them.
    fn keys_read(text: &str) -> BTreeSet<String> {
        let error = Roles::parse(text).expect_err("an unknown key").to_string();
        let (_, expected) =
            error.split_once("expected one of ").unwrap_or_else(|| panic!("no list of keys: {error}"));
        let (expected, _) = expected.split_once(" at line").unwrap_or((expected, ""));
        expected.split(", ").map(str::to_owned).collect()
    }

    #[test]
    fn the_published_schema_has_the_keys_that_are_read() {
        let schema: Value = serde_json::from_str(include_str!("../../../schemas/roles.schema.json")).unwrap();
        let described = |object: &Value| -> BTreeSet<String> {
            object["properties"].as_object().unwrap().keys().cloned().collect()
        };
        assert_eq!(described(&schema), keys_read("unknown: 1"));
        assert_eq!(described(&schema["$defs"]["role"]), keys_read("roles: {a: {unknown: 1}}"));
        assert_eq!(described(&schema["$defs"]["given"]), keys_read("roles: {a: {given: {unknown: 1}}}"));
    }
}
