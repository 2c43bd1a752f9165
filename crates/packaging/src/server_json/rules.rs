//! Rules of an entry: those of the schema, and those that the registry adds for each kind of package.

use super::found::Found;
use super::inputs::{check_arguments, check_named, check_names_in_url, check_variables};
use crate::manifest::is_url;
use serde_json::{Map, Value};

/// The longest texts, in characters.
const LONGEST_NAME: usize = 200;
const LONGEST_DESCRIPTION: usize = 100;
const LONGEST_TITLE: usize = 100;
const LONGEST_VERSION: usize = 255;

const PACKAGE_KEYS: [&str; 10] = [
    "registryType",
    "registryBaseUrl",
    "identifier",
    "version",
    "fileSha256",
    "runtimeHint",
    "transport",
    "runtimeArguments",
    "packageArguments",
    "environmentVariables",
];

/// Everything that the registry would refuse, each with its place. Empty if it can be published.
pub fn problems(entry: &Value) -> Vec<String> {
    let mut found = Found::default();
    let text = |key: &str| entry[key].as_str().unwrap_or_default();
    if !is_name(text("name")) {
        found.add(
            "name",
            "expected NAMESPACE/NAME, such as io.github.ann/tracker, of letters, digits, `.`, `_` and `-`",
        );
    }
    let length = text("description").trim().chars().count();
    if !(1..=LONGEST_DESCRIPTION).contains(&length) {
        found.add(
            "description",
            &format!("expected 1 to {LONGEST_DESCRIPTION} characters, and it has {length}"),
        );
    }
    if !is_version(text("version")) {
        found.add("version", "expected one version, and no range or `latest`");
    }
    if entry.get("title").is_some() && !(1..=LONGEST_TITLE).contains(&text("title").chars().count()) {
        found.add("title", &format!("expected 1 to {LONGEST_TITLE} characters"));
    }
    if entry.get("websiteUrl").is_some() && !text("websiteUrl").starts_with("https://") {
        found.add("websiteUrl", "expected a URL that begins with https://");
    }
    if let Some(repository) = entry.get("repository") {
        let has_source = repository["source"].as_str().is_some_and(|source| !source.is_empty());
        if !repository["url"].as_str().is_some_and(is_url) || !has_source {
            found.add("repository", "expected the URL of a repository that begins with https://");
        }
    }
    let packages = found.list("packages", entry.get("packages"));
    for (at, package) in packages.iter().enumerate() {
        check_package(&format!("packages[{at}]"), package, &mut found);
    }
    let remotes = found.list("remotes", entry.get("remotes"));
    for (at, remote) in remotes.iter().enumerate() {
        check_remote(&format!("remotes[{at}]"), remote, &mut found);
    }
    if packages.is_empty() && remotes.is_empty() {
        found.add("packages", "there is neither a package nor a remote, so nobody could use the server");
    }
    found.0
}

fn check_package(place: &str, package: &Value, found: &mut Found) {
    let Some(members) = found.members(place, package, &[&PACKAGE_KEYS]) else { return };
    let text = |key: &str| members.get(key).and_then(Value::as_str).unwrap_or_default();
    if text("identifier").is_empty() {
        found.add(place, "`identifier` is missing: the name of the package, or the URL of the file");
    }
    match text("registryType") {
        "mcpb" => check_bundle(place, members, found),
        "oci" => {
            if members.contains_key("version") || members.contains_key("registryBaseUrl") {
                found.add(
                    place,
                    "an image has its registry and version in `identifier` (ghcr.io/ann/tracker:1.0.0)",
                );
            }
            if !text("identifier").rsplit('/').next().is_some_and(|name| name.contains([':', '@'])) {
                found.add(place, "`identifier` must end with a tag or a digest (ghcr.io/ann/tracker:1.0.0)");
            }
        }
        "npm" | "pypi" | "nuget" | "cargo" => {
            if !is_version(text("version")) {
                found.add(place, "`version` must be one version, and no range or `latest`");
            }
        }
        _ => found.add(place, "`registryType` must be one of mcpb, npm, pypi, oci, nuget, cargo"),
    }
    if let Some(sha256) = members.get("fileSha256")
        && !sha256.as_str().is_some_and(is_sha256)
    {
        found.add(place, "`fileSha256` must be 64 hexadecimal digits");
    }
    if members.get("runtimeHint").is_some_and(|hint| !hint.is_string()) {
        found.add(place, "`runtimeHint` must be a text");
    }
    let inside = |key: &str| format!("{place}.{key}");
    let mut names = check_named(&inside("environmentVariables"), members.get("environmentVariables"), found);
    for key in ["runtimeArguments", "packageArguments"] {
        names.extend(check_arguments(&inside(key), members.get(key), found));
    }
    check_transport(&inside("transport"), members.get("transport"), &names, found);
}

/// Bundles are files of a release, which nobody else can put there.
fn check_bundle(place: &str, members: &Map<String, Value>, found: &mut Found) {
    let url = members.get("identifier").and_then(Value::as_str).unwrap_or_default();
    if !is_release_file(url) {
        found.add(
            place,
            &format!(
                "`{url}` is no file of a release: https://github.com/OWNER/NAME/releases/download/TAG/FILE, or the same of gitlab.com"
            ),
        );
    } else if !url.contains("mcp") {
        found.add(place, &format!("the URL `{url}` must contain \"mcp\", so name the file NAME.mcpb"));
    }
    for key in ["version", "registryBaseUrl"].into_iter().filter(|key| members.contains_key(*key)) {
        found.add(place, &format!("a bundle must not have `{key}`: its URL names it"));
    }
    if !members.contains_key("fileSha256") {
        found.add(place, "`fileSha256` is missing");
    }
}

fn is_release_file(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("https://") else { return false };
    let mut parts = rest.split('/');
    let host = parts.next().unwrap_or_default();
    let parts: Vec<&str> = parts.collect();
    let is_whole = parts.iter().all(|part| !part.is_empty() && !part.contains(['?', '#', ' ']));
    is_whole
        && match host.trim_start_matches("www.") {
            "github.com" => parts.len() == 6 && parts[2..4] == ["releases", "download"],
            "gitlab.com" => {
                let dash = parts.iter().position(|part| *part == "-").filter(|at| *at >= 2);
                dash.is_some_and(|at| {
                    matches!(
                        parts[at + 1..],
                        ["releases", _, "downloads", ..] | ["package_files", _, "download"]
                    )
                })
            }
            _ => false,
        }
}

/// How a client reaches the server of a package. Its URL may contain what the user is asked for, by the names of the package.
fn check_transport(place: &str, transport: Option<&Value>, names: &[&str], found: &mut Found) {
    let Some(transport) = transport else { return found.add(place, "it is missing") };
    let kind = transport["type"].as_str();
    let keys: &[&str] = match kind {
        Some("stdio") => &["type"],
        Some("streamable-http" | "sse") => &["type", "url", "headers"],
        _ => return found.add(place, "it must have a `type`: stdio, streamable-http or sse"),
    };
    let Some(members) = found.members(place, transport, &[keys]) else { return };
    if kind == Some("stdio") {
        return;
    }
    match members.get("url").and_then(Value::as_str).filter(|url| is_url(url)) {
        Some(url) => check_names_in_url(place, url, names, found),
        None => found.add(place, "it has no `url` that begins with https:// or http://"),
    }
    check_named(&format!("{place}.headers"), members.get("headers"), found);
}

fn check_remote(place: &str, remote: &Value, found: &mut Found) {
    let Some(members) = found.members(place, remote, &[&["type", "url", "headers", "variables"]]) else {
        return;
    };
    if !matches!(remote["type"].as_str(), Some("streamable-http" | "sse")) {
        found.add(place, "`type` must be streamable-http or sse");
    }
    let url = remote["url"].as_str().unwrap_or_default();
    let host =
        url.strip_prefix("https://").and_then(|rest| rest.split(['/', ':']).next()).unwrap_or_default();
    if host.is_empty() || !is_url(url) {
        found.add(place, "`url` must begin with https://");
    } else if host == "localhost" || host.starts_with("127.") || host.starts_with('[') {
        found.add(place, "`url` is on this machine, where nobody else can reach it");
    }
    let names = check_variables(&format!("{place}.variables"), members.get("variables"), found);
    check_names_in_url(place, url, &names, found);
    check_named(&format!("{place}.headers"), members.get("headers"), found);
}

fn is_name(name: &str) -> bool {
    let Some((namespace, rest)) = name.split_once('/') else { return false };
    let is_of = |text: &str, more: &str| {
        !text.is_empty() && text.chars().all(|sign| sign.is_ascii_alphanumeric() || more.contains(sign))
    };
    name.len() <= LONGEST_NAME && is_of(namespace, ".-") && is_of(rest, "._-")
}

fn is_version(version: &str) -> bool {
    let is_range = version.starts_with(['^', '~', '>', '<', '='])
        || version.contains(['*', ' ', '|', ','])
        || version.split('.').any(|part| part.eq_ignore_ascii_case("x"));
    !version.is_empty() && version.len() <= LONGEST_VERSION && version != "latest" && !is_range
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
