//! The manifest of a bundle, `manifest.json` of MCPB 0.3.

mod rules;
mod user_config;

pub(crate) use rules::is_url;
pub use rules::problems;
pub use user_config::SecretInput;

use crate::about::About;
use crate::error::PackagingError;
use crate::program::Platform;
use crate::version::Version;
use serde_json::{Map, Value, json};
use user_config::UserConfig;

/// What the project offers, and what its author says.
#[derive(Debug)]
pub struct ManifestFacts<'f> {
    pub about: &'f About,
    pub name: &'f str,
    pub title: &'f str,
    pub version: &'f Version,
    /// The text of the long description.
    pub long_description: Option<&'f str>,
    pub tools: &'f [Listed],
    /// Whether there may be tools that are not listed.
    pub tools_generated: bool,
    /// The prompts whose text is the same for each use.
    pub prompts: &'f [ListedPrompt],
    pub prompts_generated: bool,
    pub secrets: &'f [SecretInput],
    /// The entries of the author's own `user_config`.
    pub user_config: &'f Map<String, Value>,
    /// Paths in the bundle.
    pub icon: Option<&'f str>,
    pub screenshots: &'f [String],
    pub start: Start,
}

/// A tool of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub name: String,
    pub description: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPrompt {
    pub name: String,
    pub description: Option<String>,
    pub text: String,
}

/// What a client starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// The program in the bundle, which is for one platform.
    Program(Platform),
    /// A script that looks for the program on the machine.
    Launcher(Vec<Platform>),
}

/// A manifest, and remarks about it.
#[derive(Debug)]
pub struct Manifest {
    pub json: Value,
    pub notes: Vec<String>,
}

/// Where things are in a bundle.
pub(crate) const PROGRAM: &str = "bin/mcp-bash";
pub(crate) const LAUNCHER: &str = "bin/run-server.sh";
pub(crate) const PROJECT: &str = "server";

impl Start {
    fn platforms(&self) -> Vec<Platform> {
        match self {
            Self::Program(platform) => vec![*platform],
            Self::Launcher(platforms) => platforms.clone(),
        }
    }

    /// The file that is started, by its path in the bundle.
    pub fn entry_point(&self) -> &'static str {
        match self {
            Self::Program(_) => PROGRAM,
            Self::Launcher(_) => LAUNCHER,
        }
    }

    /// The path of a project's file in the bundle.
    pub fn project_path(path: &str) -> String {
        format!("{PROJECT}/{path}")
    }
}

impl Manifest {
    pub fn new(facts: &ManifestFacts<'_>) -> Result<Self, PackagingError> {
        let about = facts.about;
        let description = about.description.as_deref().ok_or(PackagingError::NoDescription)?;
        let author = about.author.name.as_deref().ok_or(PackagingError::NoAuthor)?;
        let inputs = UserConfig::new(facts);
        let mut json = json!({
            "manifest_version": "0.3",
            "name": facts.name,
            "display_name": facts.title,
            "version": facts.version.to_string(),
            "description": description,
            "author": { "name": author },
            "server": server(facts, &inputs),
            "tools": facts.tools.iter().map(Listed::json).collect::<Vec<_>>(),
            "tools_generated": facts.tools_generated,
            "prompts_generated": facts.prompts_generated,
            "compatibility": compatibility(facts),
        });
        add_text(&mut json["author"], "email", about.author.email.as_deref());
        add_text(&mut json["author"], "url", about.author.url.as_deref());
        for (key, text) in [
            ("long_description", facts.long_description),
            ("homepage", about.homepage.as_deref()),
            ("documentation", about.documentation.as_deref()),
            ("support", about.support.as_deref()),
            ("icon", facts.icon),
            ("license", about.license.as_deref()),
        ] {
            add_text(&mut json, key, text);
        }
        if let Some(url) = &about.repository {
            json["repository"] = json!({ "type": "git", "url": url });
        }
        for (key, list) in [
            ("screenshots", facts.screenshots),
            ("keywords", &about.keywords),
            ("privacy_policies", &about.privacy_policies),
        ] {
            if !list.is_empty() {
                json[key] = json!(list);
            }
        }
        if !facts.prompts.is_empty() {
            json["prompts"] = facts.prompts.iter().map(ListedPrompt::json).collect();
        }
        if let Some(localization) = &about.localization {
            json["localization"] = localization.clone();
        }
        if !inputs.entries.is_empty() {
            json["user_config"] = Value::Object(inputs.entries);
        }
        Ok(Self { json, notes: inputs.notes })
    }

    /// The file.
    pub fn written(&self) -> String {
        format!("{:#}\n", self.json)
    }
}

fn server(facts: &ManifestFacts<'_>, inputs: &UserConfig) -> Value {
    let entry_point = facts.start.entry_point();
    let place = |path: &str| format!("${{__dirname}}/{path}");
    let mut configuration = match &facts.start {
        Start::Program(_) => {
            json!({ "command": place(entry_point), "args": ["--project-root", place(PROJECT)] })
        }
        // Started by a shell, it does not need the mode that some programs lose when they unpack it.
        Start::Launcher(_) => json!({ "command": "/bin/sh", "args": [place(entry_point)] }),
    };
    let variables = match facts.start.platforms()[..] {
        [only] => variables_on(only, facts, inputs),
        _ => inputs.variables.clone(),
    };
    for platform in facts.start.platforms() {
        let own = variables_on(platform, facts, inputs);
        if own != variables {
            // Clients take them in place of the others, not besides.
            configuration["platform_overrides"][platform.name()] = json!({ "env": own });
        }
    }
    if !variables.is_empty() {
        configuration["env"] = Value::Object(variables);
    }
    json!({ "type": "binary", "entry_point": entry_point, "mcp_config": configuration })
}

/// The variables of the server on one platform.
fn variables_on(platform: Platform, facts: &ManifestFacts<'_>, inputs: &UserConfig) -> Map<String, Value> {
    let own = facts.about.platform_variables.iter().filter(|(of, _, _)| of == platform.name());
    let own = own.map(|(_, name, value)| (name.clone(), value.clone().into()));
    inputs.variables.clone().into_iter().chain(own).collect()
}

fn compatibility(facts: &ManifestFacts<'_>) -> Value {
    let names: Vec<&str> = facts.start.platforms().into_iter().map(Platform::name).collect();
    let mut compatibility = json!({ "platforms": names });
    add_text(&mut compatibility, "claude_desktop", facts.about.claude_desktop.as_deref());
    let mut runtimes = json!({});
    add_text(&mut runtimes, "python", facts.about.python.as_deref());
    add_text(&mut runtimes, "node", facts.about.node.as_deref());
    if runtimes != json!({}) {
        compatibility["runtimes"] = runtimes;
    }
    compatibility
}

fn add_text(object: &mut Value, key: &str, text: Option<&str>) {
    if let Some(text) = text {
        object[key] = text.into();
    }
}

impl Listed {
    fn json(&self) -> Value {
        let mut json = json!({ "name": self.name });
        add_text(&mut json, "description", self.description.as_deref());
        json
    }
}

impl ListedPrompt {
    fn json(&self) -> Value {
        let mut json = json!({ "name": self.name, "text": self.text });
        add_text(&mut json, "description", self.description.as_deref());
        json
    }
}

#[cfg(test)]
mod tests;
