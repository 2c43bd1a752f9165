//! Package runners: programs that download a package into a cache of theirs and start it from there. A path in that cache is
//! no command for an entry, because the cache is cleared now and then; the runner itself is one.

use std::path::{Component, Path};

/// A runner that we have a package for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackageRunner {
    Npx,
    Pipx,
    Uvx,
}

/// The name of our packages.
const PACKAGE: &str = "mcp-bash";

/// Options of the runners that take the next word.
const WITH_VALUE: &[&str] =
    &["--from", "--with", "--python", "--index", "--index-url", "--spec", "--package", "-p"];

impl PackageRunner {
    const ALL: [Self; 3] = [Self::Npx, Self::Pipx, Self::Uvx];

    /// The runner whose cache this program is in.
    pub fn of_program(program: &Path) -> Option<Self> {
        let parts: Vec<&str> = program.components().map(text).collect();
        // CACHE/_npx/HASH/node_modules/…
        if parts.windows(3).any(|parts| parts[0] == "_npx" && parts[2] == "node_modules") {
            return Some(Self::Npx);
        }
        let [.., above, bucket, environment, "bin", _] = parts[..] else { return None };
        if bucket.starts_with("archive-v") || bucket.starts_with("environments-v") {
            let cache = program.ancestors().nth(4)?;
            return cache.join("CACHEDIR.TAG").is_file().then_some(Self::Uvx);
        }
        let is_hash = environment.len() >= 8 && environment.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_cache = bucket == "pipx" || (bucket == ".cache" && above.contains("pipx"));
        (is_hash && is_cache).then_some(Self::Pipx)
    }

    /// The name of its program.
    pub fn command(self) -> &'static str {
        match self {
            Self::Npx => "npx",
            Self::Pipx => "pipx",
            Self::Uvx => "uvx",
        }
    }

    /// The words after that name that start our program.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            // Otherwise it would ask before it downloads, and nobody is there to answer.
            Self::Npx => &["-y", PACKAGE],
            Self::Pipx => &["run", PACKAGE],
            Self::Uvx => &[PACKAGE],
        }
    }

    /// Whether it starts by its path alone. `npx` has to find `node`, too: where `PATH` has that, it has both, and the folder
    /// of both is often that of one version.
    pub fn starts_by_path(self) -> bool {
        self != Self::Npx
    }

    /// The runner that a command is, by its name in any folder, and how many of its words are not for our program.
    pub(crate) fn of_command(command: &str, args: &[String]) -> Option<(Self, usize)> {
        let name = Path::new(command).file_stem()?;
        let runner = Self::ALL.into_iter().find(|runner| name == runner.command())?;
        let mut words = args.iter().enumerate();
        while let Some((index, word)) = words.next() {
            if word == PACKAGE || word.strip_prefix(PACKAGE).is_some_and(|rest| rest.starts_with('@')) {
                return Some((runner, index + 1));
            }
            if WITH_VALUE.contains(&word.as_str()) {
                words.next();
            }
            let is_of_runner = word.starts_with('-') || (runner == Self::Pipx && word == "run");
            if !is_of_runner {
                return None;
            }
        }
        None
    }
}

/// A part of a path that is no text is none that we look for.
fn text(part: Component<'_>) -> &str {
    part.as_os_str().to_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_tells_its_runner_and_an_installation_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let uv = folder.path().join("uv");
        std::fs::create_dir(&uv).unwrap();
        std::fs::write(uv.join("CACHEDIR.TAG"), "").unwrap();
        let uv = uv.to_str().unwrap();
        for (path, runner) in [
            (format!("{uv}/archive-v0/WRbmx7EGycjnnBTN/bin/mcp-bash"), Some(PackageRunner::Uvx)),
            (format!("{uv}/environments-v2/5f3a/bin/mcp-bash"), Some(PackageRunner::Uvx)),
            // No cache of uv: a folder that has such a name.
            ("/srv/archive-v0/one/bin/mcp-bash".into(), None),
            ("/home/me/.local/share/uv/tools/mcp-bash/bin/mcp-bash".into(), None),
            (
                "/home/me/.npm/_npx/2f40f517/node_modules/mcp-bash-linux-x64/bin/mcp-bash".into(),
                Some(PackageRunner::Npx),
            ),
            ("/usr/lib/node_modules/mcp-bash/node_modules/mcp-bash-linux-x64/bin/mcp-bash".into(), None),
            ("/home/me/_npx/mcp-bash".into(), None),
            ("/home/me/.cache/pipx/df3bc7ab34f7db2/bin/mcp-bash".into(), Some(PackageRunner::Pipx)),
            ("/opt/pipx/.cache/df3bc7ab34f7db2/bin/mcp-bash".into(), Some(PackageRunner::Pipx)),
            ("/home/me/.local/share/pipx/venvs/mcp-bash/bin/mcp-bash".into(), None),
            ("/home/me/.cache/df3bc7ab34f7db2/bin/mcp-bash".into(), None),
            ("/usr/local/bin/mcp-bash".into(), None),
            ("mcp-bash".into(), None),
            (String::new(), None),
        ] {
            assert_eq!(PackageRunner::of_program(Path::new(&path)), runner, "{path}");
        }
    }

    #[test]
    fn a_command_of_a_runner_is_ours_if_it_runs_our_package() {
        let of = |line: &str| {
            let mut words = line.split(' ').map(str::to_owned);
            let command = words.next().unwrap();
            PackageRunner::of_command(&command, &words.collect::<Vec<_>>())
        };
        for (line, found) in [
            ("uvx mcp-bash --project-root /p", Some((PackageRunner::Uvx, 1))),
            ("/home/me/.local/bin/uvx --from x.whl mcp-bash", Some((PackageRunner::Uvx, 3))),
            ("npx -y mcp-bash@1.2.3 /p", Some((PackageRunner::Npx, 2))),
            ("pipx run mcp-bash", Some((PackageRunner::Pipx, 2))),
            ("uvx run mcp-bash", None),
            ("npx -y mcp-remote mcp-bash", None),
            ("npx -y mcp-bashful", None),
            ("npx", None),
            ("uvx --from mcp-bash", None),
            ("bash mcp-bash", None),
        ] {
            assert_eq!(of(line), found, "{line}");
        }
    }
}
