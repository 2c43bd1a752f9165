//! Container images: a Containerfile with what the scripts of a project need, and nothing else of this machine.

mod packages;

pub use packages::{Found, package_of};

use crate::left_out;
use std::collections::BTreeSet;
use std::fmt::Write;

/// What an image is made of.
#[derive(Debug, Clone, Default)]
pub struct ImageFacts {
    pub title: String,
    /// The name in the registry of servers, which images repeat in a label.
    pub registry_name: Option<String>,
    pub program: ProgramSource,
    /// Programs that scripts are written in or call.
    pub programs: BTreeSet<String>,
    /// The file that lists Python packages, below the project.
    pub python_packages: Option<PythonPackages>,
    /// Whether `package.json` has dependencies.
    pub node_packages: Option<NodePackages>,
}

/// Where the program of the image comes from.
#[derive(Debug, Clone, Default)]
pub enum ProgramSource {
    /// A static file below the project.
    File(String),
    /// An image that contains it, which the person who builds names.
    #[default]
    Image,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PythonPackages {
    Requirements,
    Pyproject,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodePackages {
    /// Whether the exact versions are in `package-lock.json`.
    pub is_locked: bool,
}

/// A Containerfile, and the programs for which no package is known.
#[derive(Debug)]
pub struct Containerfile {
    pub text: String,
    pub unknown: Vec<String>,
}

impl Containerfile {
    pub fn new(facts: &ImageFacts) -> Self {
        let (mut packages, mut unknown) = (BTreeSet::new(), Vec::new());
        for program in &facts.programs {
            match package_of(program) {
                Found::Package(package) => {
                    packages.insert(package);
                }
                Found::InBase => {}
                Found::Unknown => unknown.push(program.clone()),
            }
        }
        if facts.python_packages.is_some() {
            packages.insert("python3");
        }
        if facts.node_packages.is_some() {
            packages.insert("nodejs");
        }
        let mut text = String::new();
        stages(&mut text, facts);
        packages_step(&mut text, &packages, &unknown);
        project_steps(&mut text, facts);
        Self { text, unknown }
    }
}

/// What is needed to build the image and stays out of it.
fn stages(text: &mut String, facts: &ImageFacts) {
    let _ = writeln!(
        text,
        "# An image of {}. Made by `mcp-bash image`; change it as you like.",
        one_line(&facts.title)
    );
    if matches!(facts.program, ProgramSource::Image) {
        text.push_str(
            "\n# An image that contains mcp-bash: `--build-arg MCP_BASH_IMAGE=…` names it.\n\
             ARG MCP_BASH_IMAGE\n\
             # hadolint ignore=DL3006\n\
             FROM ${MCP_BASH_IMAGE} AS program\n",
        );
    }
    if let Some(python) = facts.python_packages {
        let (file, install) = match python {
            PythonPackages::Requirements => {
                ("requirements.txt", "pip install --no-cache-dir -r requirements.txt")
            }
            PythonPackages::Pyproject => (
                "pyproject.toml",
                "pip install --no-cache-dir uv \\
 && .venv/bin/uv pip install --no-cache --python .venv/bin/python -r pyproject.toml",
            ),
        };
        let _ = writeln!(
            text,
            "\nFROM {BASE} AS python\n# hadolint ignore=DL3008\nRUN apt-get update \\\n \
             && apt-get install -y --no-install-recommends python3 python3-venv \\\n \
             && rm -rf /var/lib/apt/lists/*\nWORKDIR /srv/project\nCOPY {file} ./\n# hadolint ignore=DL3013\n\
             RUN python3 -m venv .venv \\\n && .venv/bin/{install}"
        );
    }
    if let Some(node) = facts.node_packages {
        let (files, install) = if node.is_locked {
            ("package.json package-lock.json", "npm ci --omit=dev")
        } else {
            ("package.json", "npm install --omit=dev --no-audit --no-fund")
        };
        let _ = writeln!(
            text,
            "\nFROM {BASE} AS node\n# hadolint ignore=DL3008\nRUN apt-get update \\\n \
             && apt-get install -y --no-install-recommends nodejs npm \\\n \
             && rm -rf /var/lib/apt/lists/*\nWORKDIR /srv/project\nCOPY {files} ./\nRUN {install}"
        );
    }
    let _ = writeln!(text, "\nFROM {BASE}");
}

const BASE: &str = "debian:stable-slim";

/// The program in our own images: `packaging/image/Containerfile`.
const PROGRAM_IN_IMAGES: &str = "/usr/bin/mcp-bash";

fn packages_step(text: &mut String, packages: &BTreeSet<&str>, unknown: &[String]) {
    if !packages.is_empty() {
        let packages: Vec<&str> = packages.iter().copied().collect();
        let _ = writeln!(
            text,
            "\n# What the scripts call. The server itself needs nothing.\n# hadolint ignore=DL3008\nRUN apt-get update \\\n \
             && apt-get install -y --no-install-recommends {} \\\n && rm -rf /var/lib/apt/lists/*",
            packages.join(" ")
        );
    }
    if !unknown.is_empty() {
        let names: Vec<String> = unknown.iter().map(|name| one_line(name)).collect();
        let _ = writeln!(
            text,
            "\n# Scripts also call these, and it is not known which package has them: {}",
            names.join(" ")
        );
    }
}

fn project_steps(text: &mut String, facts: &ImageFacts) {
    match &facts.program {
        ProgramSource::File(path) => {
            let _ = writeln!(text, "\nCOPY --chmod=0755 {}", copied(&[path, "/usr/local/bin/mcp-bash"]));
        }
        ProgramSource::Image => {
            let _ = writeln!(text, "\nCOPY --from=program {PROGRAM_IN_IMAGES} /usr/local/bin/mcp-bash");
        }
    }
    text.push_str("COPY --chown=root:root . /srv/project\n");
    if facts.python_packages.is_some() {
        text.push_str("COPY --from=python /srv/project/.venv /srv/project/.venv\n");
    }
    if facts.node_packages.is_some() {
        text.push_str("COPY --from=node /srv/project/node_modules /srv/project/node_modules\n");
    }
    text.push_str(
        "\n# Files that other users could write are never run, and root owns these. A mistake in the project ends the build.\n\
         RUN chmod -R go-w /srv/project \\\n && mcp-bash validate --project-root /srv/project\n",
    );
    if let Some(name) = &facts.registry_name {
        let _ = writeln!(text, "\nLABEL io.modelcontextprotocol.server.name=\"{name}\"");
    }
    text.push_str(
        "\n# Nothing is written but /tmp: `--read-only --tmpfs /tmp` works.\nUSER 10001:10001\nENV HOME=/tmp\n\
         HEALTHCHECK --interval=60s --timeout=10s CMD [\"mcp-bash\", \"health\", \"--quiet\", \"--project-root\", \"/srv/project\"]\n\
         ENTRYPOINT [\"mcp-bash\", \"serve\", \"/srv/project\"]\n",
    );
}

/// The paths of a COPY in its JSON form, which takes any name.
fn copied(paths: &[&str]) -> String {
    serde_json::Value::from(paths.to_vec()).to_string()
}

/// A text that cannot end a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect()
}

/// `.dockerignore`, which Podman reads too: what packages leave out because of its name. A folder below `tools` may have a
/// name like `secrets`, and a key in a file with another name is not known.
pub fn ignore_file(facts: &ImageFacts) -> String {
    let mut text = String::from("# What never enters an image. Made by `mcp-bash image`.\n");
    for pattern in left_out::patterns() {
        text.push_str(&pattern);
        text.push('\n');
    }
    text.push_str("Containerfile*\nDockerfile*\n.dockerignore\n.containerignore\n");
    if facts.node_packages.is_some() {
        text.push_str("node_modules\n");
    }
    if let ProgramSource::File(path) = &facts.program {
        let _ = writeln!(text, "!{path}");
    }
    text
}

#[cfg(test)]
mod tests;
