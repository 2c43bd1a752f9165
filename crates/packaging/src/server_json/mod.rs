//! `server.json`: the entry of a server in the MCP registry, in the schema of 2025-12-11.

mod found;
mod inputs;
mod rules;

pub use rules::problems;

use serde_json::{Map, Value, json};

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json";

/// What an entry says.
#[derive(Debug, Clone, Default)]
pub struct Entry {
    /// With its namespace: `io.github.ann/tracker`.
    pub name: String,
    pub title: Option<String>,
    pub description: String,
    pub version: String,
    pub repository: Option<String>,
    pub website: Option<String>,
    pub packages: Vec<PackageFacts>,
    /// `packages` as the author declares them.
    pub declared_packages: Vec<Value>,
    /// Servers over HTTP, as the author declares them.
    pub remotes: Vec<Value>,
    /// What users have to set, for each package that does not say so itself.
    pub variables: Vec<VariableFacts>,
}

/// A bundle that can be downloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageFacts {
    pub url: String,
    pub sha256: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableFacts {
    pub name: String,
    pub description: Option<String>,
    pub is_secret: bool,
    pub is_required: bool,
}

impl Entry {
    /// The name that the registry expects of a repository: GitHub accounts own `io.github.ACCOUNT/…`.
    pub fn name_of(repository: &str, name: &str) -> Option<String> {
        let path = repository.strip_prefix("https://github.com/")?;
        let owner = path.split('/').next().filter(|owner| !owner.is_empty())?;
        Some(format!("io.github.{owner}/{name}"))
    }

    /// Where GitHub has the files of a release, if the repository is there.
    pub fn release_url(repository: &str, version: &str, file: &str) -> Option<String> {
        let path =
            repository.strip_prefix("https://github.com/")?.trim_end_matches('/').trim_end_matches(".git");
        let (owner, name) = path.split_once('/')?;
        let is_plain = |part: &str| !part.is_empty() && !part.contains('/');
        (is_plain(owner) && is_plain(name))
            .then(|| format!("https://github.com/{owner}/{name}/releases/download/v{version}/{file}"))
    }

    pub fn json(&self) -> Value {
        let mut json = json!({
            "$schema": SCHEMA,
            "name": self.name,
            "description": self.description,
            "version": self.version,
        });
        if let Some(title) = &self.title {
            json["title"] = title.as_str().into();
        }
        if let Some(url) = &self.repository {
            json["repository"] = json!({ "url": url, "source": source(url) });
        }
        if let Some(website) = &self.website {
            json["websiteUrl"] = website.as_str().into();
        }
        let bundles = self.packages.iter().map(|package| self.bundle(package));
        let declared = self.declared_packages.iter().map(|package| self.declared(package));
        let packages: Vec<Value> = bundles.chain(declared).collect();
        if !packages.is_empty() {
            json["packages"] = packages.into();
        }
        if !self.remotes.is_empty() {
            json["remotes"] = self.remotes.clone().into();
        }
        json
    }

    /// The registry wants neither a version nor a base URL here: the URL names the file.
    fn bundle(&self, package: &PackageFacts) -> Value {
        let json = json!({
            "registryType": "mcpb",
            "identifier": package.url,
            "fileSha256": package.sha256,
            "transport": { "type": "stdio" },
        });
        self.with_variables(json)
    }

    /// A package of another registry, with what is the same for most of them.
    fn declared(&self, package: &Value) -> Value {
        let mut json = package.clone();
        let Some(members) = json.as_object_mut() else { return json };
        if !members.contains_key("transport") {
            members.insert("transport".to_owned(), json!({ "type": "stdio" }));
        }
        let has_own_version =
            matches!(members.get("registryType").and_then(Value::as_str), Some("oci" | "mcpb"));
        if !has_own_version && !members.contains_key("version") {
            members.insert("version".to_owned(), self.version.as_str().into());
        }
        self.with_variables(json)
    }

    fn with_variables(&self, mut package: Value) -> Value {
        if !self.variables.is_empty() && package.get("environmentVariables").is_none() {
            package["environmentVariables"] = self.variables.iter().map(VariableFacts::json).collect();
        }
        package
    }
}

impl VariableFacts {
    fn json(&self) -> Value {
        let mut json =
            json!({ "name": self.name, "isRequired": self.is_required, "isSecret": self.is_secret });
        if let Some(description) = &self.description {
            json["description"] = description.as_str().into();
        }
        json
    }
}

/// The variables that a bundle asks its user for.
pub fn variables_of_manifest(manifest: &Value) -> Vec<VariableFacts> {
    let variables = manifest["server"]["mcp_config"]["env"].as_object().cloned().unwrap_or_default();
    let empty = Map::new();
    let inputs = manifest["user_config"].as_object().unwrap_or(&empty);
    let asked = |(name, value): (String, Value)| {
        let key = value.as_str()?.strip_prefix("${user_config.")?.strip_suffix('}')?.to_owned();
        let input = inputs.get(&key)?;
        Some(VariableFacts {
            name,
            description: input["description"].as_str().map(str::to_owned),
            is_secret: input["sensitive"] == true,
            is_required: input["required"] == true,
        })
    };
    variables.into_iter().filter_map(asked).collect()
}

fn source(url: &str) -> String {
    let host = url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
    host.trim_start_matches("www.").trim_end_matches(".com").to_owned()
}

#[cfg(test)]
mod tests;
