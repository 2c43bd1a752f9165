//! Default profile: what every confined process may read in order to start: programs, libraries, and files of the system.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The longest `pyvenv.cfg` that is read, in bytes.
const LONGEST: u64 = 64 * 1024;

/// Folders of programs and libraries.
const PROGRAMS: [&str; 10] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/run/current-system",
    "/snap",
];

/// The configuration files of the system that programs read. No folder of services, and no file that holds a secret.
const CONFIGURATION: [&str; 54] = [
    "/etc/alternatives",
    "/etc/bash.bashrc",
    "/etc/bash_completion.d",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/crypto-policies",
    "/etc/debian_version",
    "/etc/default/locale",
    "/etc/environment",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/gitconfig",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/java-17-openjdk",
    "/etc/java-21-openjdk",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/localtime",
    "/etc/lsb-release",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/perl",
    "/etc/pki/ca-trust",
    "/etc/pki/java",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/openssl.cnf",
    "/etc/protocols",
    "/etc/python3",
    "/etc/python3.11",
    "/etc/python3.12",
    "/etc/python3.13",
    "/etc/redhat-release",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/shells",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
    "/etc/xml",
];

/// The files of the kernel and the devices that programs read. Not `/proc` itself, which shows the command lines of all
/// processes.
const KERNEL: [&str; 13] = [
    "/dev/random",
    "/dev/urandom",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys",
    "/proc/uptime",
    "/proc/version",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
];

/// Devices that every program may write to.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// Folders in a home that hold only installed programs: the folder on the search path, and everything that its programs need.
const INSTALLATIONS: [(&str, &[&str]); 10] = [
    (".pyenv/shims", &[".pyenv"]),
    (".rbenv/shims", &[".rbenv"]),
    (".asdf/shims", &[".asdf"]),
    (".volta/bin", &[".volta"]),
    (".bun/bin", &[".bun"]),
    (".deno/bin", &[".deno/bin"]),
    (".cargo/bin", &[".cargo/bin", ".rustup/toolchains", ".rustup/settings.toml"]),
    (".local/bin", &[".local/bin", ".local/lib", ".local/share/uv", ".local/share/pipx"]),
    ("go/bin", &["go/bin"]),
    ("bin", &["bin"]),
];

/// The paths of the system that every process may read, and those that it may write. Some may not exist.
pub(crate) fn of_system() -> (impl Iterator<Item = &'static Path>, impl Iterator<Item = &'static Path>) {
    let read = PROGRAMS.iter().chain(&CONFIGURATION).chain(&KERNEL).map(Path::new);
    (read, DEVICES.iter().map(Path::new))
}

/// The folder whose timestamp shows that a file of the system was replaced: a rule on a file does not apply to another file
/// that was renamed over it.
pub(crate) const REPLACED_IN: &str = "/etc";

/// The folders on a search path that are not the system's, with interpreters and other programs, each with the libraries beside
/// it.
pub(crate) fn of_search_path(search_path: &OsStr, home: Option<&Path>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in std::env::split_paths(search_path).filter(|folder| folder.is_absolute()) {
        // A link in the search path leads to the real folder.
        for folder in [std::fs::canonicalize(&folder).unwrap_or_default(), folder] {
            if folder.as_os_str().is_empty() || is_of_system(&folder) {
                continue;
            }
            found.extend(of_folder(&folder, home));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The folders that a program needs: those of its installation, if it is not the system's.
pub(crate) fn of_program(program: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    let real = std::fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    // A folder of another name may hold anything.
    let is_of_programs = |folder: &&Path| folder.file_name().is_some_and(|name| name == "bin");
    let folders = [program.parent(), real.parent()].into_iter().flatten().filter(is_of_programs);
    let mut found: Vec<PathBuf> =
        folders.filter(|folder| !is_of_system(folder)).flat_map(|folder| of_folder(folder, home)).collect();
    found.extend([program.to_owned(), real].into_iter().filter(|file| !is_of_system(file)));
    found
}

/// Whether a path is one of the system's in the profile.
pub(crate) fn is_of_system_profile(path: &Path) -> bool {
    let is_listed = |list: &[&str]| list.iter().any(|listed| path == Path::new(listed));
    is_listed(&PROGRAMS) || is_listed(&CONFIGURATION) || is_listed(&KERNEL) || is_listed(&DEVICES)
}

fn is_of_system(path: &Path) -> bool {
    PROGRAMS.iter().any(|folder| path.starts_with(folder))
}

fn of_folder(folder: &Path, home: Option<&Path>) -> Vec<PathBuf> {
    if let Some(below) = home.and_then(|home| folder.strip_prefix(home).ok()) {
        let known = INSTALLATIONS.iter().find(|(known, _)| Path::new(known) == below);
        if let (Some((_, needed)), Some(home)) = (known, home) {
            return needed.iter().map(|needed| home.join(needed)).collect();
        }
    }
    let Some(prefix) = folder.parent().filter(|_| folder.file_name().is_some_and(|name| name == "bin"))
    else {
        return vec![folder.to_owned()];
    };
    let beside = ["lib", "lib64", "libexec", "include", "share"].map(|name| prefix.join(name));
    // The interpreter that a virtual environment was made from.
    let environment = prefix.join("pyvenv.cfg");
    let base = base_of_environment(&environment).filter(|base| !is_of_system(base));
    let base = base.into_iter().flat_map(|base| match base.parent() {
        Some(prefix) => vec![base.clone(), prefix.join("lib")],
        None => vec![base],
    });
    [folder.to_owned(), environment].into_iter().chain(beside).chain(base).collect()
}

/// The folder of the interpreter in a `pyvenv.cfg`.
fn base_of_environment(configuration: &Path) -> Option<PathBuf> {
    let text = mcp_bash_files::read_text(configuration, LONGEST).ok()?;
    let home = text.lines().find_map(|line| line.strip_prefix("home")?.trim_start().strip_prefix('='))?;
    Some(PathBuf::from(home.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_path_brings_the_libraries_beside_its_programs_and_nothing_else_of_a_home() {
        let home = Path::new("/home/ann");
        let path = OsStr::new(
            "/usr/bin:/home/ann/.nvm/versions/node/v22/bin:/home/ann/.local/bin:/home/ann/bin:relative",
        );
        let found = of_search_path(path, Some(home));
        for expected in ["/home/ann/.nvm/versions/node/v22/lib", "/home/ann/.local/bin", "/home/ann/bin"] {
            assert!(found.contains(&PathBuf::from(expected)), "{expected}: {found:?}");
        }
        for secret in
            ["/home/ann/.ssh/id_rsa", "/home/ann/.local/share/keyrings/a", "/home/ann/lib/a", "/usr/bin"]
        {
            assert!(!found.iter().any(|folder| Path::new(secret).starts_with(folder)), "{secret}: {found:?}");
        }
    }

    #[test]
    fn no_configuration_folder_holds_private_keys_or_passwords() {
        let secrets = [
            "/etc/shadow",
            "/etc/ssh",
            "/etc/ssl/private",
            "/etc/pki/tls/private",
            "/etc/pki/nssdb",
            "/etc/sudoers",
        ];
        for secret in secrets.map(Path::new) {
            assert!(!CONFIGURATION.iter().any(|path| secret.starts_with(path)), "{}", secret.display());
        }
    }

    #[test]
    fn a_virtual_environment_brings_the_interpreter_it_was_made_from() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("venv/bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::write(folder.path().join("venv/pyvenv.cfg"), "home = /opt/python/bin\nversion = 3\n")
            .unwrap();
        let found = of_program(&bin.join("python"), None);
        assert!(found.contains(&PathBuf::from("/opt/python/lib")), "{found:?}");
    }
}
