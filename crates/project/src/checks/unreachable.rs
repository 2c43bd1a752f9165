//! Unreachable files: files that nothing will ever find or use, though they were surely meant to be used: misnamed
//! metadata, scripts that complete or read nothing, files of `server.d` under another name. Files that scripts may read
//! themselves are not reported.

use super::beginning;
use super::walk::{Folder, walk};
use crate::ground::interpreters::{has_shebang, is_executable};
use crate::languages::interpreter_by_ending;
use crate::walk::listing::{is_interface, metadata_stem};
use crate::{Catalog, Diagnostic, Repair, provider_script};
use mcp_bash_harmless::shell_path;
use mcp_bash_spelling::nearest;
use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// How much of a file is read to find out what it is, in bytes.
const BEGINNING: u64 = 16 * 1024;

/// The files of `server.d` that are read. The last one is for the `doctor` command.
const SERVER_FILES: [&str; 10] = [
    "server.meta.json",
    "server.instructions.md",
    "env.sh",
    "policy.sh",
    "policy.yaml",
    "roles.yaml",
    "health-checks.sh",
    "register.json",
    "register.sh",
    "requirements.json",
];

/// Other names that people give them.
const OTHER_NAMES: [(&str, &str); 8] = [
    ("server", "server.meta.json"),
    ("meta", "server.meta.json"),
    ("instructions", "server.instructions.md"),
    ("environment", "env.sh"),
    ("policies", "policy.sh"),
    ("health", "health-checks.sh"),
    ("registry", "register.json"),
    ("registration", "register.json"),
];

/// The folders of a project, and names that people give them instead.
const FOLDERS: [(&str, &[&str]); 6] = [
    ("tools", &["tool", "Tools"]),
    ("prompts", &["prompt", "Prompts"]),
    ("resources", &["resource", "Resources"]),
    ("completions", &["completion", "Completions"]),
    ("providers", &["provider", "Providers"]),
    ("server.d", &["serverd", "server-d", "server_d", "Server.d"]),
];

/// All such files, unordered.
pub fn unreachable(catalog: &Catalog) -> Vec<Diagnostic> {
    let paths = &catalog.paths;
    let mut found = Vec::new();
    check_folders(&paths.root, &mut found);
    for folder in [&paths.tools, &paths.prompts] {
        for folder in walk(folder).iter().filter(|folder| !folder.is_of_tests) {
            check_metadata_names(folder, &mut found);
            let interface =
                folder.files.iter().map(|name| folder.path.join(name)).find(|file| is_interface(file));
            found.extend(interface.map(|file| {
                let problem = "is not used: interfaces of tools (MCP Apps, `ui://`) are not served";
                Diagnostic::warning(
                    file,
                    problem,
                    "remove it, or leave it to other servers: clients show what the tool prints",
                )
            }));
        }
    }
    check_server(catalog, &mut found);
    // If nothing is served, that is the reason why nothing is used.
    if catalog.failure.is_none() {
        check_prompts(catalog, &mut found);
        check_completions(catalog, &mut found);
        check_providers(catalog, &mut found);
    }
    let told: HashSet<&Path> = catalog.diagnostics.iter().map(|known| &*known.path).collect();
    found.retain(|found| !told.contains(&*found.path));
    found
}

/// Texts for people.
fn is_for_people(name: &OsStr) -> bool {
    let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy().to_ascii_uppercase();
    ["README", "LICENSE", "LICENCE", "CHANGELOG", "NOTES", "TODO", "MAKEFILE"].contains(&&*stem)
}

fn check_folders(root: &Path, found: &mut Vec<Diagnostic>) {
    for (folder, others) in FOLDERS {
        if root.join(folder).exists() {
            continue;
        }
        for other in others.iter().map(|other| root.join(other)).filter(|other| other.is_dir()) {
            let problem = "is not searched: no part of a project is called so";
            let remedy = format!("rename it: `mv {} {}`", shell_path(&other), shell_path(&root.join(folder)));
            found.push(Diagnostic::warning(other, problem, &remedy));
        }
    }
}

/// Metadata that is not read, because its name does not end with a metadata suffix.
fn check_metadata_names(folder: &Folder, found: &mut Vec<Diagnostic>) {
    let described: HashSet<&[u8]> = folder.files.iter().filter_map(|name| metadata_stem(name)).collect();
    let is_described = |name: &OsStr| {
        let stem = Path::new(name).file_stem().unwrap_or(name);
        described.contains(name.as_encoded_bytes()) || described.contains(stem.as_encoded_bytes())
    };
    let is_entry = |name: &OsStr| {
        let file = folder.path.join(name);
        !is_data(name) && metadata_stem(name).is_none() && (is_executable(&file) || has_shebang(&file))
    };
    let mut entries = folder.files.iter().filter(|name| is_entry(name) && !is_described(name)).peekable();
    if entries.peek().is_none() {
        return;
    }
    let entries: Vec<&OsStr> = entries.map(OsString::as_os_str).collect();
    for name in folder.files.iter().filter(|name| is_data(name) && metadata_stem(name).is_none()) {
        let lower = name.to_string_lossy().to_ascii_lowercase();
        let means = |entry: &&&OsStr| {
            let stem =
                Path::new(entry).file_stem().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
            let rest = lower.strip_prefix(&*stem).unwrap_or(&lower);
            let word = rest.trim_matches(['.', '-', '_']);
            let word = word.split('.').next().unwrap_or_default();
            ["meta", "metadata", "json", "yaml", "yml", "jsonc", "json5", "toml", "schema"].contains(&word)
        };
        let Some(entry) = entries.iter().find(means) else { continue };
        let file = folder.path.join(name);
        let text = beginning(&file, BEGINNING);
        if !["inputSchema", "description"].iter().any(|word| text.contains(word)) {
            continue;
        }
        let stem = Path::new(entry).file_stem().unwrap_or_default().to_string_lossy();
        let ending = if lower.ends_with("yaml") || lower.ends_with("yml") { "yaml" } else { "json" };
        let remedy = format!("call it `{stem}.meta.{ending}` if it describes {}", entry.display());
        let problem = "is not read: the names of metadata end with `.meta.json` or `.meta.yaml`";
        found.push(Diagnostic::warning(file, problem, &remedy));
    }
}

/// Whether a file may hold data about another, by its extension.
fn is_data(name: &OsStr) -> bool {
    let ending = Path::new(name).extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    ["json", "yaml", "yml", "jsonc", "json5", "toml", "meta"].contains(&&*ending)
}

fn check_prompts(catalog: &Catalog, found: &mut Vec<Diagnostic>) {
    let prompts = catalog.prompts.items();
    let files: HashSet<&Path> = prompts.iter().map(|prompt| &*prompt.file).collect();
    let folders: HashSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
    let completing: HashSet<PathBuf> =
        prompts.iter().filter_map(|prompt| prompt.completion_script()).collect();
    for folder in walk(&catalog.paths.prompts).iter().filter(|folder| !folder.is_of_tests) {
        let own = folder.files.iter().filter(|name| !is_for_people(name) && metadata_stem(name).is_none());
        for file in own.map(|name| folder.path.join(name)).filter(|file| !files.contains(&**file)) {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_completion = name.ends_with(".completion") || name.ends_with(".completion.sh");
            if is_completion && !completing.contains(&file) {
                found.push(unused_completion(&file));
                continue;
            }
            // A prompt may have its files beside it.
            if is_completion || (folder.path != catalog.paths.prompts && folders.contains(&*folder.path)) {
                continue;
            }
            found.extend(no_prompt(&file));
        }
    }
}

fn unused_completion(file: &Path) -> Diagnostic {
    if !is_executable(file) && has_shebang(file) {
        let remedy = format!("run `chmod +x {}`", shell_path(file));
        let problem = "completes nothing: it is not executable";
        return Diagnostic::warning(file, problem, &remedy).repaired_by(Repair::executable(file.to_owned()));
    }
    let remedy = "call it like the prompt it completes for, with `.completion.sh` for the ending";
    Diagnostic::warning(file, "completes nothing: there is no prompt of that name beside it", remedy)
}

/// The finding for a file that looks like a prompt and is none.
fn no_prompt(file: &Path) -> Option<Diagnostic> {
    const TEXTS: [&str; 9] = ["text", "tpl", "j2", "jinja", "jinja2", "mustache", "hbs", "mdx", "rst"];
    let ending = file.extension()?.to_string_lossy().to_ascii_lowercase();
    let stem = file.file_stem()?.to_string_lossy().into_owned();
    if TEXTS.contains(&&*ending) {
        let problem = format!("is not served: texts that end with `.{ending}` are no prompts by themselves");
        let remedy = format!("call it `{stem}.txt` or `{stem}.md`, or put `{stem}.meta.json` beside it");
        return Some(Diagnostic::warning(file, problem, &remedy));
    }
    if interpreter_by_ending(file).is_some() && has_shebang(file) && !is_executable(file) {
        let problem = "is not served: it is not executable, and there is no metadata beside it";
        let remedy =
            format!("run `chmod +x {}` if it is a prompt, or move it out of the prompts", shell_path(file));
        return Some(Diagnostic::warning(file, problem, &remedy));
    }
    let is_list = ending == "json" && beginning(file, BEGINNING).contains("\"role\"");
    is_list.then(|| {
        let problem = "is not served: messages as JSON are a prompt only with metadata";
        Diagnostic::warning(file, problem, &format!("put `{stem}.meta.json` beside it"))
    })
}

fn check_completions(catalog: &Catalog, found: &mut Vec<Diagnostic>) {
    let used: HashSet<PathBuf> =
        catalog.completions.items().iter().filter_map(|known| known.script.canonicalize().ok()).collect();
    let folders: HashSet<&Path> = used.iter().filter_map(|script| script.parent()).collect();
    let root = &catalog.paths.root;
    for folder in walk(&catalog.paths.completions).iter().filter(|folder| !folder.is_of_tests) {
        let is_beside = folder.path.canonicalize().is_ok_and(|path| folders.contains(&*path));
        if is_beside && folder.path != catalog.paths.completions {
            continue;
        }
        for file in folder.files.iter().map(|name| folder.path.join(name)) {
            let is_script =
                is_executable(&file) || (interpreter_by_ending(&file).is_some() && has_shebang(&file));
            if !is_script || file.canonicalize().is_ok_and(|file| used.contains(&file)) {
                continue;
            }
            let below = file.strip_prefix(root).unwrap_or(&file).display().to_string();
            let hook = catalog.paths.server.join("register.sh");
            let is_hooked = beginning(&hook, BEGINNING).contains("completions");
            let remedy = if is_hooked {
                "server.d/register.sh runs only where MCPBASH_ALLOW_PROJECT_HOOKS is true: set it, or register it in \
                 server.d/register.json"
                    .to_owned()
            } else {
                format!(
                    "add {{\"name\": \"…\", \"path\": \"{below}\"}} to `completions` in server.d/register.json, with the \
                     name of a prompt or the URI of a resource"
                )
            };
            found.push(Diagnostic::warning(file, "completes nothing: it is not registered", &remedy));
        }
    }
}

fn check_providers(catalog: &Catalog, found: &mut Vec<Diagnostic>) {
    let paths = &catalog.paths;
    let resources = catalog.resources.items().iter().map(|resource| resource.provider.clone());
    let templates = catalog.templates.items().iter().filter_map(|template| template.provider.clone());
    let used: HashSet<String> = resources.chain(templates).collect();
    let wanted = |name: &str| {
        let words = format!("there is no provider `{name}`");
        catalog.diagnostics.iter().find(|known| known.problem.contains(&words))
    };
    let Some(folder) = walk(&paths.providers).into_iter().next() else { return };
    let mut by_name: HashMap<String, PathBuf> = HashMap::new();
    for file in folder.files.iter().filter(|name| !is_for_people(name)).map(|name| paths.providers.join(name))
    {
        let Some(name) = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()) else { continue };
        if !is_executable(&file) {
            if wanted(&name).is_some() && has_shebang(&file) {
                let problem = "reads nothing: it is not executable";
                let remedy = format!("run `chmod +x {}`", shell_path(&file));
                let told = Diagnostic::warning(&file, problem, &remedy);
                found.push(told.repaired_by(Repair::executable(file.clone())));
            }
            continue;
        }
        let chosen = by_name
            .entry(name.clone())
            .or_insert_with(|| provider_script(paths, &name).unwrap_or_else(|| PathBuf::from("")));
        if chosen.as_os_str().is_empty() {
            let problem = "reads nothing: the names of providers have letters, digits, `-`, `_` and `+` only";
            found.push(Diagnostic::warning(&file, problem, "rename it"));
        } else if *chosen != file {
            let other = chosen.file_name().unwrap_or_default().display().to_string();
            let problem = format!("reads nothing: {other} is beside it, and is used instead");
            found.push(Diagnostic::warning(&file, problem, "keep one of the two"));
        } else if !used.contains(&name) && !crate::OUR_PROVIDERS.contains(&&*name) {
            let problem = format!(
                "reads nothing: no resource or template names the provider `{name}` or has a URI that begins with `{name}:`"
            );
            let remedy = format!(
                "add a resource or a template for it, such as resources/{name}.meta.json with a `uriTemplate`"
            );
            found.push(Diagnostic::warning(&file, problem, &remedy));
        }
    }
}

fn check_server(catalog: &Catalog, found: &mut Vec<Diagnostic>) {
    let server = &catalog.paths.server;
    let Some(folder) = walk(server).into_iter().next() else { return };
    let scripts =
        folder.files.iter().filter(|name| Path::new(name).extension().is_some_and(|ending| ending == "sh"));
    let scripts: Vec<String> = scripts.map(|name| beginning(&server.join(name), BEGINNING)).collect();
    for name in &folder.files {
        let text = name.to_string_lossy();
        if is_for_people(name) || SERVER_FILES.contains(&&*text) {
            continue;
        }
        // A file that a script names belongs to that script.
        let is_used = scripts.iter().any(|script| script.contains(&*text));
        let Some(meant) = meant(&text).filter(|_| !is_used) else { continue };
        let problem = "is not read: no file of the server is called so".to_owned();
        let remedy = if server.join(meant).exists() {
            format!("{meant} is beside it: copy what is missing into it, and remove this one")
        } else {
            format!("call it `{meant}` if that is what you mean")
        };
        found.push(Diagnostic::warning(server.join(name), problem, &remedy));
    }
}

/// The file that a misspelled name was meant to be.
fn meant(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let stem = lower.split('.').next().unwrap_or_default();
    let same = SERVER_FILES.into_iter().find(|known| {
        let own = known.rsplit_once('.').map_or(*known, |(own, _)| own);
        lower == own || lower.rsplit_once('.').is_some_and(|(before, _)| before == own)
    });
    let other = || OTHER_NAMES.into_iter().find(|(known, _)| *known == stem).map(|(_, meant)| meant);
    same.or_else(|| nearest(&lower, SERVER_FILES)).or_else(other)
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn misnamed_files_of_the_server_are_known_by_what_they_were_meant_to_be() {
        for (name, expected) in [
            ("policy.bash", Some("policy.sh")),
            ("policy", Some("policy.sh")),
            ("Policy.sh", Some("policy.sh")),
            ("roles.yml", Some("roles.yaml")),
            ("health-check.sh", Some("health-checks.sh")),
            ("health.sh", Some("health-checks.sh")),
            ("server.meta.yaml", Some("server.meta.json")),
            ("server.json", Some("server.meta.json")),
            ("instructions.md", Some("server.instructions.md")),
            ("registry.json", Some("register.json")),
            ("register.yaml", Some("register.json")),
            ("helpers.sh", None),
            ("allowed-hosts.txt", None),
        ] {
            assert_eq!(meant(name), expected, "{name}");
        }
    }
}
