//! The entry of a project in the registry: from bundles, or from what the project declares.

use super::Arguments;
use super::bundles::{self, BundleFile};
use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::open::package_facts::{PackageFacts, WrittenFacts};
use crate::open::startup;
use mcp_bash_packaging::{Entry, PackageFacts as BundleFacts, VariableFacts, variables_of_manifest};
use mcp_bash_project::Identity;
use serde_json::{Map, Value};

pub(super) fn read(common: &Common, arguments: &Arguments) -> Result<Entry, Error> {
    let bundles = bundles::read(&arguments.files)?;
    match bundles.first() {
        Some(first) => of_bundles(common, arguments, first, &bundles),
        None => of_project(common, arguments),
    }
}

fn of_bundles(
    common: &Common,
    arguments: &Arguments,
    first: &BundleFile,
    bundles: &[BundleFile],
) -> Result<Entry, Error> {
    let manifest = &first.manifest;
    let text = |key: &str| manifest[key].as_str().map(str::to_owned);
    let (name, version) = (text("name").unwrap_or_default(), text("version").unwrap_or_default());
    let repository = manifest["repository"]["url"].as_str().map(str::to_owned);
    let declared = declared_beside(common, &name);
    let packages = bundles.iter().map(|bundle| {
        let url = match &arguments.url {
            Some(url) if bundles.len() == 1 && !url.ends_with('/') => url.clone(),
            Some(folder) => format!("{}/{}", folder.trim_end_matches('/'), bundle.file_name),
            None => {
                let url =
                    repository.as_deref().and_then(|at| Entry::release_url(at, &version, &bundle.file_name));
                url.ok_or_else(no_url)?
            }
        };
        Ok(BundleFacts { url, sha256: bundle.sha256.clone() })
    });
    let packages = packages.collect::<Result<_, Error>>()?;
    Ok(Entry {
        name: entry_name(arguments, &declared, repository.as_deref(), &name)?,
        title: text("display_name"),
        description: text("description").unwrap_or_default(),
        version,
        website: text("homepage"),
        packages,
        declared_packages: list(&declared, "packages")?,
        remotes: list(&declared, "remotes")?,
        variables: variables_of_manifest(manifest),
        repository,
    })
}

/// `registry` of the project here, if it is the one that was bundled.
fn declared_beside(common: &Common, name: &str) -> Map<String, Value> {
    let Ok((paths, _)) = startup::project(common) else { return Map::new() };
    let Ok(written) = WrittenFacts::read(&paths) else { return Map::new() };
    let identity = Identity::read(&paths, &mut Vec::new());
    match written.name(None, &identity) {
        Ok(own) if own == name => written.registry,
        _ => Map::new(),
    }
}

fn of_project(common: &Common, arguments: &Arguments) -> Result<Entry, Error> {
    let facts = PackageFacts::read(common, None, None)?;
    let (about, registry) = (&facts.written.about, &facts.written.registry);
    if registry.is_empty() {
        let words = "name bundles to publish (`mcp-bash bundle` makes them), or declare packages or remotes in `registry` of \
                     server.d/server.meta.json";
        return Err(Error::of_command(Exit::Usage, words));
    }
    let (secrets, _) = facts.secrets();
    let variables = secrets.into_iter().map(|secret| VariableFacts {
        name: secret.variable,
        description: Some(format!("A secret, used by {}", secret.users.join(", "))),
        is_secret: true,
        is_required: true,
    });
    Ok(Entry {
        name: entry_name(arguments, registry, about.repository.as_deref(), &facts.name)?,
        title: Some(facts.project.catalog.identity.title.clone()),
        description: about.description.clone().unwrap_or_default(),
        version: facts.version.to_string(),
        repository: about.repository.clone(),
        website: about.homepage.clone(),
        packages: Vec::new(),
        declared_packages: list(registry, "packages")?,
        remotes: list(registry, "remotes")?,
        variables: variables.collect(),
    })
}

fn entry_name(
    arguments: &Arguments,
    declared: &Map<String, Value>,
    repository: Option<&str>,
    name: &str,
) -> Result<String, Error> {
    let named = arguments.name.clone().or_else(|| Some(declared.get("name")?.as_str()?.to_owned()));
    let found = named.or_else(|| Entry::name_of(repository?, name));
    found.ok_or_else(|| {
        let words = "the registry needs a name with a namespace that you own: `--name io.github.OWNER/NAME`, `registry.name` in \
                     server.d/server.meta.json, or a repository on GitHub in the package";
        Error::of_command(Exit::Usage, words)
    })
}

fn no_url() -> Error {
    let words = "the registry needs to know where the bundle can be downloaded: name the URL of a release with `--url`, or a \
                 repository on GitHub in the package (MCPB_REPOSITORY)";
    Error::of_command(Exit::Usage, words)
}

/// Packages or remotes, as they are declared.
fn list(declared: &Map<String, Value>, key: &str) -> Result<Vec<Value>, Error> {
    match declared.get(key) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items.clone()),
        Some(_) => {
            let words = format!("`registry.{key}` in server.d/server.meta.json must be a list");
            Err(Error::of_command(Exit::Usage, words))
        }
    }
}
