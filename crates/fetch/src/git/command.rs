//! `git` command lines, as data.
//!
//! Nothing is ever checked out: files are read from the object database, so that no hooks, filters, links or names can
//! do anything on the disk.

use super::GitUri;
use mcp_bash_sandbox::Host;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitCommand {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<OsString>,
    /// The whole environment: nothing is inherited.
    pub(crate) environment: Vec<(&'static str, OsString)>,
    pub(crate) folder: PathBuf,
}

/// Settings for every call. The configuration of the user and of the system is not read, so these are all there are.
const CONFIGURATION: &[&str] = &[
    // One protocol, one host, no detour.
    "protocol.allow=never",
    "protocol.https.allow=always",
    "http.followRedirects=false",
    "http.proxy=",
    "http.sslVerify=true",
    "transfer.bundleURI=false",
    // No prompts, and no credentials that could be given away.
    "credential.helper=",
    "core.askPass=",
    // Nothing is run.
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "maintenance.auto=false",
    "gc.auto=0",
    // Nothing else is fetched.
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "fetch.fsckObjects=true",
];

impl GitCommand {
    fn new(program: &Path, folder: &Path, configuration: &[String], arguments: &[&str]) -> Self {
        let settings = CONFIGURATION.iter().map(ToString::to_string).chain(configuration.iter().cloned());
        let settings = settings.flat_map(|setting| ["-c".to_owned(), setting]);
        let arguments =
            settings.chain(arguments.iter().map(ToString::to_string)).map(OsString::from).collect();
        let environment = [
            ("GIT_ALLOW_PROTOCOL", "https"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_OPTIONAL_LOCKS", "0"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("LC_ALL", "C"),
        ];
        let mut environment: Vec<_> =
            environment.into_iter().map(|(name, value)| (name, OsString::from(value))).collect();
        environment.push(("HOME", folder.into()));
        environment.push(("GIT_CEILING_DIRECTORIES", folder.into()));
        Self { program: program.to_owned(), arguments, environment, folder: folder.to_owned() }
    }

    pub(super) fn version(program: &Path, folder: &Path) -> Self {
        Self::new(program, folder, &[], &["version"])
    }

    pub(super) fn init(program: &Path, folder: &Path) -> Self {
        Self::new(program, folder, &[], &["init", "--quiet", "--bare", "--template=", "repository"])
    }

    /// Fetches one commit of the repository, from these addresses and no others.
    pub(crate) fn fetch(program: &Path, folder: &Path, uri: &GitUri, addresses: &[SocketAddr]) -> Self {
        let mut configuration = Vec::new();
        if let Host::Name(name) = &uri.repository.host {
            let addresses: Vec<_> = addresses.iter().map(|address| written(*address)).collect();
            configuration.push(format!(
                "http.curloptResolve={name}:{}:{}",
                uri.repository.port,
                addresses.join(",")
            ));
        }
        let url = uri.repository.to_string();
        let fetch =
            ["--git-dir=repository", "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules"];
        let arguments = [&fetch[..], &["--", &url, &uri.reference]].concat();
        Self::new(program, folder, &configuration, &arguments)
    }

    /// Prints the file that is asked for on its standard input. Links are followed within the repository.
    pub(super) fn print(program: &Path, folder: &Path) -> Self {
        let print = ["--git-dir=repository", "cat-file", "--batch", "--follow-symlinks"];
        Self::new(program, folder, &[], &print)
    }
}

fn written(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    }
}
