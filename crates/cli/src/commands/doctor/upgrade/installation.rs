//! How this copy of the program was installed, by its path, and the command that upgrades it.

use mcp_bash_harmless::shell_path;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Installation {
    Npm {
        is_global: bool,
    },
    Npx,
    Pip {
        python: PathBuf,
    },
    Pipx,
    UvTool,
    Uvx,
    Homebrew,
    Nix,
    Cargo,
    Debian,
    Rpm,
    /// Built in a checkout.
    Checkout,
    /// One file in a folder: the install script, or an archive.
    Script {
        folder: PathBuf,
    },
}

impl Installation {
    /// Recognises the installation of the program at `path`, whose symbolic links are resolved. `exists` looks for files.
    pub(super) fn of(path: &Path, exists: impl Fn(&Path) -> bool) -> Self {
        let folder = path.parent().unwrap_or(Path::new("/"));
        let has = |names: &[&str]| {
            let parts: Vec<_> = path.iter().collect();
            parts
                .windows(names.len())
                .any(|window| window.iter().zip(names).all(|(part, name)| *part == *name))
        };
        if has(&["_npx"]) {
            Self::Npx
        } else if has(&["node_modules"]) {
            Self::Npm { is_global: has(&["lib", "node_modules"]) }
        } else if has(&["nix", "store"]) {
            Self::Nix
        } else if has(&["Cellar"]) {
            Self::Homebrew
        } else if has(&["pipx", "venvs"]) {
            Self::Pipx
        } else if has(&["uv", "tools"]) {
            Self::UvTool
        } else if has(&["uv", "archive-v0"]) || has(&["uv", "environments-v2"]) {
            Self::Uvx
        } else if folder.parent().is_some_and(|above| exists(&above.join("pyvenv.cfg"))) {
            Self::Pip { python: folder.join("python") }
        } else if has(&[".cargo", "bin"]) {
            Self::Cargo
        } else if has(&["target", "debug"]) || has(&["target", "release"]) || has(&["target", "dist"]) {
            Self::Checkout
        } else if path.starts_with("/usr/bin") && exists(Path::new("/var/lib/dpkg/info/mcp-bash.list")) {
            Self::Debian
        } else if path.starts_with("/usr/bin") && RPM.iter().any(|database| exists(Path::new(database))) {
            Self::Rpm
        } else {
            Self::Script { folder: folder.to_owned() }
        }
    }

    /// Its name for programs.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Npm { .. } => "npm",
            Self::Npx => "npx",
            Self::Pip { .. } => "pip",
            Self::Pipx => "pipx",
            Self::UvTool => "uv-tool",
            Self::Uvx => "uvx",
            Self::Homebrew => "homebrew",
            Self::Nix => "nix",
            Self::Cargo => "cargo",
            Self::Debian => "deb",
            Self::Rpm => "rpm",
            Self::Checkout => "checkout",
            Self::Script { .. } => "script",
        }
    }

    /// The command that installs `version` in its place.
    pub(super) fn upgrade(&self, version: &str, repository: &str) -> String {
        let release = format!("{repository}/releases/download/v{version}");
        match self {
            Self::Npm { is_global: true } => format!("npm install -g mcp-bash@{version}"),
            Self::Npm { is_global: false } => format!("npm install mcp-bash@{version}"),
            Self::Npx => format!("npx mcp-bash@{version}"),
            Self::Pip { python } => {
                let python = shell_path(python);
                format!("{python} -m pip install --upgrade mcp-bash=={version}")
            }
            Self::Pipx => "pipx upgrade mcp-bash".to_owned(),
            Self::UvTool => "uv tool upgrade mcp-bash".to_owned(),
            Self::Uvx => format!("uvx mcp-bash@{version}"),
            Self::Homebrew => "brew upgrade mcp-bash".to_owned(),
            Self::Nix => "nix profile upgrade mcp-bash".to_owned(),
            Self::Cargo => format!("cargo install --locked --git {repository} --tag v{version} mcp-bash"),
            Self::Debian => {
                let architecture = architecture(["amd64", "arm64"]);
                let package = format!("mcp-bash_{}-1_{architecture}.deb", of_package(version));
                format!("curl -fLO {release}/{package} && sudo apt install ./{package}")
            }
            Self::Rpm => {
                let architecture = architecture(["x86_64", "aarch64"]);
                let version = of_package(version);
                format!("sudo dnf install {release}/mcp-bash-{version}-1.{architecture}.rpm")
            }
            Self::Checkout => format!("git fetch --tags && git checkout v{version} && cargo build --release"),
            Self::Script { folder } => {
                let folder = shell_path(folder);
                format!("curl -fsSL {release}/install.sh | sh -s -- --to {folder}")
            }
        }
    }
}

/// Where systems with rpm keep its database.
const RPM: [&str; 2] = ["/usr/lib/sysimage/rpm", "/var/lib/rpm"];

/// A version in the name of a package, where `-` begins the number of the package.
fn of_package(version: &str) -> String {
    version.replace('-', ".")
}

/// The name that packages have for this architecture: on x86-64 the first, on ARM the second.
fn architecture(names: [&'static str; 2]) -> &'static str {
    names[usize::from(cfg!(target_arch = "aarch64"))]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(path: &str, files: &[&str]) -> &'static str {
        Installation::of(Path::new(path), |file| files.iter().any(|known| Path::new(known) == file)).name()
    }

    #[test]
    fn the_path_says_how_the_program_was_installed() {
        let rows: &[(&str, &[&str], &str)] = &[
            ("/usr/lib/node_modules/mcp-bash/node_modules/mcp-bash-linux-x64/bin/mcp-bash", &[], "npm"),
            ("/home/a/app/node_modules/mcp-bash-linux-x64/bin/mcp-bash", &[], "npm"),
            ("/home/a/.npm/_npx/0f1e/node_modules/mcp-bash-linux-x64/bin/mcp-bash", &[], "npx"),
            ("/home/a/app/.venv/bin/mcp-bash", &["/home/a/app/.venv/pyvenv.cfg"], "pip"),
            ("/home/a/.local/share/pipx/venvs/mcp-bash/bin/mcp-bash", &[], "pipx"),
            ("/home/a/.local/share/uv/tools/mcp-bash/bin/mcp-bash", &[], "uv-tool"),
            ("/home/a/.cache/uv/archive-v0/x1/bin/mcp-bash", &[], "uvx"),
            ("/opt/homebrew/Cellar/mcp-bash/1.0.0/bin/mcp-bash", &[], "homebrew"),
            ("/nix/store/abc-mcp-bash-1.0.0/bin/mcp-bash", &[], "nix"),
            ("/home/a/.cargo/bin/mcp-bash", &[], "cargo"),
            ("/usr/bin/mcp-bash", &["/var/lib/dpkg/info/mcp-bash.list"], "deb"),
            ("/usr/bin/mcp-bash", &["/var/lib/rpm"], "rpm"),
            ("/home/a/src/mcp-bash/target/release/mcp-bash", &[], "checkout"),
            ("/home/a/.local/bin/mcp-bash", &[], "script"),
            ("/usr/local/bin/mcp-bash", &["/var/lib/dpkg/info/mcp-bash.list"], "script"),
            ("/home/npm/my-node_modules/mcp-bash", &[], "script"),
            ("/usr/bin/mcp-bash", &[], "script"),
        ];
        for (path, files, expected) in rows {
            assert_eq!(name(path, files), *expected, "{path}");
        }
    }

    #[test]
    fn the_command_upgrades_this_copy_and_quotes_its_path() {
        let of = |path: &str| Installation::of(Path::new(path), |_| false).upgrade("1.2.3", "https://h/o/r");
        assert_eq!(
            of("/home/a b/bin/mcp-bash"),
            "curl -fsSL https://h/o/r/releases/download/v1.2.3/install.sh | sh -s -- --to '/home/a b/bin'"
        );
        assert_eq!(of("/usr/lib/node_modules/x/bin/mcp-bash"), "npm install -g mcp-bash@1.2.3");
        let early = Installation::Rpm.upgrade("1.2.3-rc.1", "https://h/o/r");
        assert!(early.contains("/v1.2.3-rc.1/mcp-bash-1.2.3.rc.1-1."), "{early}");
        let pip =
            Installation::of(Path::new("/v e/bin/mcp-bash"), |file| file == Path::new("/v e/pyvenv.cfg"));
        assert_eq!(
            pip.upgrade("1.2.3", "https://h/o/r"),
            "'/v e/bin/python' -m pip install --upgrade mcp-bash==1.2.3"
        );
    }
}
