//! Left out: what no package contains, whatever the project says. Caches, records, and above all secrets.

use memchr::memmem;
use std::fmt;

/// Why a file is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    VersionControl,
    Cache,
    Environment,
    Record,
    Secret,
    Package,
}

impl Reason {
    /// Whether users should learn of it even if they do not ask.
    pub fn is_secret(self) -> bool {
        self == Self::Secret
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::VersionControl => "version control",
            Self::Cache => "a cache, which is made again",
            Self::Environment => "a virtual environment, which works only where it was made",
            Self::Record => "a record of this machine",
            Self::Secret => "looks like a secret",
            Self::Package => "a package",
        })
    }
}

/// Patterns of names, with `*` at one end or both, and why they are left out. Names are compared without case.
const NAMES: &[(&str, Reason)] = &[
    (".git", Reason::VersionControl),
    (".hg", Reason::VersionControl),
    (".svn", Reason::VersionControl),
    (".gitignore", Reason::VersionControl),
    (".gitattributes", Reason::VersionControl),
    (".registry", Reason::Cache),
    (".schemas", Reason::Cache),
    ("__pycache__", Reason::Cache),
    ("*.pyc", Reason::Cache),
    (".pytest_cache", Reason::Cache),
    (".mypy_cache", Reason::Cache),
    (".ruff_cache", Reason::Cache),
    (".ds_store", Reason::Cache),
    ("thumbs.db", Reason::Cache),
    ("*.swp", Reason::Cache),
    ("*~", Reason::Cache),
    (".venv", Reason::Environment),
    ("venv", Reason::Environment),
    (".mcp-bash", Reason::Package),
    ("*.mcpb", Reason::Package),
    ("*.log", Reason::Record),
    (".debug", Reason::Record),
    ("*.pid", Reason::Record),
    (".env", Reason::Secret),
    (".env.*", Reason::Secret),
    ("*.env", Reason::Secret),
    (".envrc", Reason::Secret),
    (".netrc", Reason::Secret),
    ("_netrc", Reason::Secret),
    (".npmrc", Reason::Secret),
    (".pypirc", Reason::Secret),
    (".pgpass", Reason::Secret),
    (".htpasswd", Reason::Secret),
    (".git-credentials", Reason::Secret),
    (".aws", Reason::Secret),
    (".ssh", Reason::Secret),
    (".gnupg", Reason::Secret),
    (".kube", Reason::Secret),
    ("*.pem", Reason::Secret),
    ("*.key", Reason::Secret),
    ("*.p12", Reason::Secret),
    ("*.pfx", Reason::Secret),
    ("*.jks", Reason::Secret),
    ("*.keystore", Reason::Secret),
    ("*.kdbx", Reason::Secret),
    ("*.age", Reason::Secret),
    ("id_rsa*", Reason::Secret),
    ("id_dsa*", Reason::Secret),
    ("id_ecdsa*", Reason::Secret),
    ("id_ed25519*", Reason::Secret),
    ("secrets", Reason::Secret),
    ("secret", Reason::Secret),
    ("secrets.*", Reason::Secret),
    ("credentials", Reason::Secret),
    ("credentials.*", Reason::Secret),
    ("tokens", Reason::Secret),
    ("tokens.*", Reason::Secret),
    (".mcpregistry_*", Reason::Secret),
];

/// Names that look like secrets and are meant to be given away.
const HARMLESS: [&str; 3] = [".env.example", ".env.sample", ".env.template"];

/// Why the path, relative to the project, is left out of every package; `None` if it may go in. A tool may be called
/// `secrets` or `tokens`: these names count for files and outside the folders of tools, resources and prompts only.
pub fn reason(path: &str, is_folder: bool) -> Option<Reason> {
    let mut parts = path.split('/').peekable();
    let is_served = ["tools", "resources", "prompts", "completions", "providers"]
        .iter()
        .any(|folder| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')));
    while let Some(part) = parts.next() {
        let is_inner = parts.peek().is_some() || is_folder;
        let name = part.to_lowercase();
        let known = NAMES.iter().filter(|_| !HARMLESS.contains(&name.as_str()));
        let found = known.into_iter().find(|(pattern, _)| matches(pattern, &name)).map(|(_, reason)| *reason);
        let has_plain_name = !name.contains('.');
        match found {
            Some(Reason::Secret) if is_inner && is_served && has_plain_name => {}
            Some(found) => return Some(found),
            None => {}
        }
    }
    None
}

/// The same as patterns for the builders of images, which compare names with case. Names that a tool may have count at the
/// root, and in folders of a project that hold no entries: builders know no exception for the others.
pub(crate) fn patterns() -> impl Iterator<Item = String> {
    let all = NAMES.iter().flat_map(|(pattern, reason)| {
        let folders: &[&str] = if reason.is_secret() && !pattern.contains(['.', '*', '_']) {
            &["", "config/**/", "lib/**/", "server.d/**/"]
        } else {
            &["**/"]
        };
        folders.iter().map(|folder| format!("{folder}{}", in_any_case(pattern)))
    });
    all.chain(HARMLESS.iter().map(|name| format!("!**/{name}")))
}

/// `key` as `[kK][eE][yY]`.
fn in_any_case(pattern: &str) -> String {
    let mut written = String::with_capacity(pattern.len() * 4);
    for letter in pattern.chars() {
        if letter.is_ascii_lowercase() {
            written.extend(['[', letter, letter.to_ascii_uppercase(), ']']);
        } else {
            written.push(letter);
        }
    }
    written
}

fn matches(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (_, Some(start)) => name.starts_with(start),
        _ => pattern == name,
    }
}

/// Whether a file contains a private key, whatever its name is: in lines, or within a JSON text, as in the key of a service
/// account.
pub fn holds_private_key(bytes: &[u8]) -> bool {
    const BEGIN: &[u8] = b"-----BEGIN ";
    memmem::find_iter(bytes, BEGIN).any(|at| is_private_key(&bytes[at + BEGIN.len()..]))
}

/// Whether a text that follows `-----BEGIN ` is a private key. A script that looks for keys has the words in a pattern, and no
/// line of Base64 after them.
fn is_private_key(text: &[u8]) -> bool {
    const LONGEST_LABEL: usize = 64;
    const DASHES: &[u8] = b"-----";
    let Some(end) = memmem::find(&text[..text.len().min(LONGEST_LABEL)], DASHES) else { return false };
    let (label, rest) = (&text[..end], &text[end + DASHES.len()..]);
    if !label.ends_with(b"PRIVATE KEY") && label != b"PGP PRIVATE KEY BLOCK" {
        return false;
    }
    let Some(mut body) = after_line_break(rest) else { return false };
    while let Some(rest) = after_header(body) {
        body = rest;
    }
    body.len() > 40 && body[..40].iter().all(u8::is_ascii_graphic)
}

/// The text after an empty line or a line like `Proc-Type: 4,ENCRYPTED`, which stand before the key itself.
fn after_header(text: &[u8]) -> Option<&[u8]> {
    const LONGEST_LINE: usize = 200;
    let mut places = 0..text.len().min(LONGEST_LINE);
    let (line, rest) = places.find_map(|at| Some((&text[..at], after_line_break(&text[at..])?)))?;
    (line.is_empty() || memmem::find(line, b": ").is_some()).then_some(rest)
}

/// The text after a line break, as it is or escaped in a string.
fn after_line_break(text: &[u8]) -> Option<&[u8]> {
    let breaks: [&[u8]; 4] = [b"\n", b"\r\n", b"\\n", b"\\r\\n"];
    breaks.iter().find_map(|line_break| text.strip_prefix(*line_break))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_caches_and_records_are_left_out_at_any_depth() {
        for (path, expected) in [
            (".git/config", Reason::VersionControl),
            (".registry/tools.json", Reason::Cache),
            ("tools/x/.env", Reason::Secret),
            ("tools/x/.ENV.local", Reason::Secret),
            ("config/prod.env", Reason::Secret),
            ("lib/server.key", Reason::Secret),
            ("lib/ID_RSA", Reason::Secret),
            ("server.d/secrets.json", Reason::Secret),
            ("secrets/github", Reason::Secret),
            ("tokens", Reason::Secret),
            ("tools/x/debug.log", Reason::Record),
            ("tools/__pycache__/x.pyc", Reason::Cache),
            (".venv/bin/python", Reason::Environment),
            ("dist/x-1.0.0.mcpb", Reason::Package),
            (".mcp-bash/mcp-bash", Reason::Package),
        ] {
            assert_eq!(reason(path, false), Some(expected), "{path}");
        }
        for path in [
            "tools/hello/tool.sh",
            "server.d/env.sh",
            "lib/keys.py",
            "resources/catalog.txt",
            "tools/tokens/tool.sh",
            "tools/secrets/tool.meta.json",
            "data/environment",
            "tools/x/.env.example",
            "lib/monkey.sh",
        ] {
            assert_eq!(reason(path, false), None, "{path}");
        }
        assert_eq!((reason("tools/secrets", true), reason("secrets", true)), (None, Some(Reason::Secret)));
    }

    #[test]
    fn patterns_of_builders_leave_out_the_same_names() {
        let all: Vec<String> = patterns().collect();
        for expected in [
            "**/.[eE][nN][vV]",
            "**/*.[pP][eE][mM]",
            "**/[iI][dD]_[eE][dD]25519*",
            "[sS][eE][cC][rR][eE][tT][sS]",
            "config/**/[tT][oO][kK][eE][nN][sS]",
            "!**/.env.example",
        ] {
            assert!(all.iter().any(|pattern| pattern == expected), "{expected}");
        }
    }

    #[test]
    fn a_private_key_is_known_by_its_contents() {
        let key = format!("x\n-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n", "b3BlbnNz".repeat(8));
        assert!(holds_private_key(key.as_bytes()));
        assert!(holds_private_key(key.replace('\n', "\r\n").as_bytes()));
        let base64 = "b3BlbnNz".repeat(8);
        for key in [
            format!("{{\"private_key\": \"-----BEGIN PRIVATE KEY-----\\n{base64}\\n\"}}"),
            format!("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{base64}\n"),
            format!("-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n{base64}\n"),
            format!(
                "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0\n\n{base64}\n"
            ),
        ] {
            assert!(holds_private_key(key.as_bytes()), "{key}");
        }
        for harmless in [
            "grep -q 'BEGIN PRIVATE KEY' \"$1\"",
            "-----BEGIN RSA PRIVATE KEY-----",
            "-----BEGIN CERTIFICATE-----\nMIIB",
            "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nb3BlbnNzb3BlbnNzb3BlbnNzb3BlbnNzb3BlbnNzb3BlbnNz",
            "begin=\"-----BEGIN PRIVATE KEY-----\\n\" # what the other side expects before its own key",
            "case $x in\n'-----BEGIN PRIVATE KEY-----'\n) echo no such key in this file, please ;;",
        ] {
            assert!(!holds_private_key(harmless.as_bytes()), "{harmless}");
        }
    }
}
