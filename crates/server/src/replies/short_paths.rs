//! Short paths: hides from clients where files are on this machine. Clients receive paths relative to the project; of other
//! paths, the home folder, the private temporary folder and the folders above the project are replaced. The operator, who reads
//! standard error and the log file, sees full paths.
//!
//! Paths are shortened where a text is sent to a client, whatever wrote it, so no message is missed. URIs stay complete, since
//! clients need them to name a resource again, and so do paths that the request itself contains.

use mcp_bash_project::Paths;
use mcp_bash_settings::Settings;
use mcp_bash_wire::{Raw, RpcError};
use serde_json::Value;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Replaces folders that clients need not know.
const ELSEWHERE: &str = "…";

/// The most bytes of params that are searched for paths the client knows.
const LONGEST_KNOWN: usize = 64 * 1024;

/// The hidden path prefixes, longest first; none if clients receive full paths.
#[derive(Debug, Default)]
pub(crate) struct ShortPaths(Vec<Prefix>);

#[derive(Debug)]
struct Prefix {
    folder: String,
    instead: Instead,
    /// Whether the text before it must be checked, because the prefix is short: `/tmp` is also a part of `/mnt/tmp`.
    is_short: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Instead {
    /// Removed: the rest is relative to the project.
    Relative,
    Words(Cow<'static, str>),
}

impl ShortPaths {
    /// `private` contains the private files of the project's processes.
    pub(crate) fn new(settings: &Settings, paths: &Paths, private: &Path) -> Self {
        if settings.log_verbose {
            return Self::default();
        }
        let mut short = Self::default();
        short.add(&paths.root, &Instead::Relative);
        let Paths { root: _, tools, resources, prompts, completions, providers, lib, server, registry } =
            paths;
        for folder in [tools, resources, prompts, completions, providers, lib, server, registry] {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !folder.starts_with(&paths.root) {
                short.add(folder, &Instead::Words(name.into()));
            }
        }
        if let Some(home) = std::env::home_dir() {
            short.add(&home, &Instead::Words("~".into()));
        }
        let elsewhere = Instead::Words(ELSEWHERE.into());
        short.add(private, &elsewhere);
        let above = |folder: &Path| folder.ancestors().skip(1).map(Path::to_owned).collect::<Vec<PathBuf>>();
        for folder in above(&paths.root) {
            // `/usr` or `/srv` reveals nothing.
            if folder.components().count() > 2 {
                short.add(&folder, &elsewhere);
            }
        }
        short.0.sort_by_key(|prefix| std::cmp::Reverse(prefix.folder.len()));
        short
    }

    /// Adds a folder as named and with links resolved, unless it has a replacement already.
    fn add(&mut self, folder: &Path, instead: &Instead) {
        let real = folder.canonicalize().ok();
        for folder in [Some(folder.to_owned()), real].into_iter().flatten() {
            let depth = folder.components().count() - 1;
            let Some(text) = folder.to_str().map(|text| text.trim_end_matches('/')) else { continue };
            if depth == 0 || !folder.is_absolute() || self.0.iter().any(|known| known.folder == text) {
                continue;
            }
            self.0.push(Prefix { folder: text.to_owned(), instead: instead.clone(), is_short: depth == 1 });
        }
    }

    /// Shortens the paths in a text.
    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.text_but(text, "")
    }

    /// Shortens the paths in a text, except those that the client sent.
    pub(crate) fn text_but<'a>(&self, text: &'a str, sent: &str) -> Cow<'a, str> {
        let mut shortened = String::new();
        let mut told = 0;
        let mut from = 0;
        while let Some(at) = text[from..].find('/').map(|at| from + at) {
            from = at + 1;
            let Some(prefix) = self.0.iter().find(|prefix| prefix.begins(text, at)) else { continue };
            let end = at + prefix.folder.len();
            let path = path_at(text, at, end);
            if names(sent, path) {
                from = at + path.len();
                continue;
            }
            shortened.push_str(&text[told..at]);
            let rest = &text[end..];
            told = end;
            match &prefix.instead {
                // `/mnt/backup/home/ann`: the rest is relative to a folder that is not shown.
                _ if is_inside_path(&text[..at]) => {
                    shortened.push('/');
                    shortened.push_str(ELSEWHERE);
                }
                Instead::Words(words) => shortened.push_str(words),
                Instead::Relative if rest.starts_with('/') && rest[1..].starts_with(is_name) => told += 1,
                Instead::Relative => shortened.push('.'),
            }
            from = told;
        }
        if told == 0 {
            return Cow::Borrowed(text);
        }
        shortened.push_str(&text[told..]);
        Cow::Owned(shortened)
    }

    /// Shortens the paths in the message of an error. Its data come from a script or a client, and stay as they are.
    pub(crate) fn error(&self, mut error: RpcError, params: Option<Raw<'_>>) -> RpcError {
        if let Cow::Owned(message) = self.text_but(&error.message, params.map_or("", Raw::text)) {
            error.message = message.into();
        }
        error
    }

    /// Shortens the paths in all texts of a JSON value.
    pub(crate) fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.text(text).into(),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), self.value(value))).collect()
            }
            other => other.clone(),
        }
    }
}

impl Prefix {
    /// Whether a path that begins with the folder is at `at`, the position of a slash.
    fn begins(&self, text: &str, at: usize) -> bool {
        let Some(rest) = text[at..].strip_prefix(&*self.folder) else { return false };
        let before = &text[..at];
        if before.ends_with("://") || (self.is_short && before.ends_with(|c| is_name(c) || c == '/')) {
            return false;
        }
        let mut following = rest.chars();
        match following.next() {
            // The end of a sentence.
            Some('.') => following.next().is_none_or(char::is_whitespace),
            Some(next) => !is_name(next),
            None => true,
        }
    }
}

/// The path that begins at `at` and extends at least to `end`, without a final full stop.
fn path_at(text: &str, at: usize, end: usize) -> &str {
    let rest = text[end..].find(|c| !is_name(c) && c != '/').map_or(text.len(), |length| end + length);
    let path = &text[at..rest];
    &text[at..end.max(at + path.trim_end_matches('.').len())]
}

/// Whether a path after this text continues a longer path. The path of an option, as in `-I/usr/include`, does not.
fn is_inside_path(before: &str) -> bool {
    let rest = before.trim_end_matches(|c| is_name(c) || c == '/');
    let word = &before[rest.len()..];
    let is_option = word.starts_with('-') && !word.contains('/');
    !is_option && word.contains(char::is_alphanumeric)
}

/// Whether the client sent this path, or one that begins with it.
fn names(sent: &str, path: &str) -> bool {
    if sent.len() > LONGEST_KNOWN {
        return false;
    }
    sent.match_indices(path).any(|(at, _)| {
        !sent[..at].ends_with(|c| is_name(c) || c == '/') && !sent[at + path.len()..].starts_with(is_name)
    })
}

/// Whether the character is common in file names.
fn is_name(character: char) -> bool {
    character.is_alphanumeric() || "_-.+@~".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn short() -> ShortPaths {
        let (settings, _) = Settings::read(|_| None);
        let mut paths = Paths::of(Path::new("/home/ann/code/project"));
        paths.tools = "/opt/team/scripts".into();
        ShortPaths::new(&settings, &paths, Path::new("/tmp"))
    }

    #[test]
    fn paths_are_relative_to_the_project() {
        for (whole, told) in [
            ("/home/ann/code/project/tools/x.sh: no", "tools/x.sh: no"),
            ("in `/home/ann/code/project` it is", "in `.` it is"),
            ("in /home/ann/code/project.", "in .."),
            ("cd /home/ann/code/project/ first", "cd ./ first"),
            ("/opt/team/scripts/x/tool.sh", "scripts/x/tool.sh"),
            ("/home/ann/code/other/file", "…/other/file"),
            ("/home/ann/code/project2/file", "…/project2/file"),
            ("-I/home/ann/code/project/include", "-Iinclude"),
            ("PATH=/tmp/a:/home/ann/code/project/bin", "PATH=…/a:bin"),
            ("/proc/self/root/home/ann/code/project/resources/a.txt", "/proc/self/root/…/resources/a.txt"),
            ("/mnt/backup/home/ann/code/project", "/mnt/backup/…"),
            ("copy/home/ann/code/other/x and /home/ann/code/project/y", "copy/…/other/x and y"),
            ("/mnt/opt/team/scripts/x", "/mnt/…/x"),
            ("@/home/ann/code/project/body.json", "@body.json"),
            ("/tmp/mcpbash.1/home/sdk/tool-sdk.sh", "…/mcpbash.1/home/sdk/tool-sdk.sh"),
        ] {
            assert_eq!(short().text(whole), told, "{whole}");
        }
    }

    #[test]
    fn other_text_stays() {
        for text in [
            "/usr/bin/env: no such file",
            "/mnt/tmp/x",
            "/tmpfile",
            "file:///home/ann/code/project/resources/a",
            "https://example.org/tmp/x",
            "a/b // c",
            "/",
            "",
        ] {
            assert!(matches!(short().text(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn paths_from_the_client_stay() {
        let sent = r#"{"a":"/home/ann/code/other","b":"/tmp/x y","c":"/mnt/tmp","d":"/home/annika"}"#;
        for (whole, told) in [
            ("'/home/ann/code/other' is no repository", "'/home/ann/code/other' is no repository"),
            ("cannot open /home/ann/code/other.", "cannot open /home/ann/code/other."),
            ("/tmp/x y: no", "/tmp/x y: no"),
            ("/home/ann/code/other/secret", "…/other/secret"),
            ("/home/ann/code/others", "…/others"),
            ("/home/ann/code/other and /home/ann/code/project/a", "/home/ann/code/other and a"),
            ("/home/ann/code is above", "/home/ann/code is above"),
            ("/tmp is full", "/tmp is full"),
            ("/home/ann/code/project", "."),
        ] {
            assert_eq!(short().text_but(whole, sent), told, "{whole}");
        }
        assert_eq!(short().text_but("/tmp/x", r#"{"c":"/mnt/tmp/x","d":"/tmp/xy"}"#), "…/x");
        let long = format!("{}/tmp/x", " ".repeat(LONGEST_KNOWN));
        assert_eq!(short().text_but("/tmp/x", &long), "…/x");
    }

    #[test]
    fn details_are_shortened_at_any_depth() {
        let details = json!({ "a": ["/tmp/x", { "b": "/tmp" }], "n": 1 });
        assert_eq!(short().value(&details), json!({ "a": ["…/x", { "b": "…" }], "n": 1 }));
    }

    #[test]
    fn absolute_paths_are_sent_on_request() {
        let (settings, _) = Settings::read(|name| (name == "MCPBASH_LOG_VERBOSE").then(|| "true".to_owned()));
        let short = ShortPaths::new(&settings, &Paths::of(Path::new("/home/ann/project")), Path::new("/tmp"));
        assert_eq!(short.text("/home/ann/project/x"), "/home/ann/project/x");
    }
}
