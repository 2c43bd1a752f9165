//! Rules: things that only some files may do. Comments, strings and tests do not count.

use super::code::{code_only, test_modules};
use super::repository;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Something that only the files in `allowed` may do. An entry that ends with `/` covers a whole folder.
struct Rule {
    what: &'static str,
    /// The texts in a line of code that do it. Texts joined by ` & ` must all occur, each as a whole word.
    signs: &'static [&'static str],
    allowed: &'static [&'static str],
}

const RULES: &[Rule] = &[
    Rule {
        what: "hold unsafe code",
        signs: &["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"],
        allowed: &[
            "memory/src/",
            "runner/src/exit/kqueue.rs",
            "runner/src/launch/",
            "runner/src/leftovers/elsewhere/libproc.rs",
            "runner/src/quick_exit.rs",
            "runner/src/system_calls.rs",
            "runner/src/warden/start/sharing_memory.rs",
            "sandbox/src/linux/",
            "sandbox/src/seccomp/install.rs",
            "transport/src/http/listen/inherited.rs",
        ],
    },
    Rule {
        what: "start a process past the runner",
        signs: &["process:: & Command"],
        allowed: &[
            // Commands that a person runs: a server, the inspector, tests of the project.
            "cli/src/commands/run_tool/source.rs",
            "cli/src/commands/validate/inspector.rs",
            "cli/src/commands/validate/usage.rs",
            "client/src/process.rs",
            // The bridge, which is a process of the runner itself.
            "launchers/src/bridge/local.rs",
            "runner/src/",
            // The maker of namespaces, which has to run before the runner can use them.
            "sandbox/src/linux/namespaces.rs",
            "testing/src/external.rs",
        ],
    },
    Rule {
        what: "exit the process",
        signs: &["process::exit(", "process::abort("],
        allowed: &["cli/src/", "runner/src/warden/process.rs"],
    },
    Rule {
        what: "start a thread that cannot be refused",
        signs: &["thread::spawn(", "scope.spawn("],
        allowed: &[],
    },
    Rule {
        what: "compare revisions",
        signs: &["< Revision::", "> Revision::", "<= Revision::", ">= Revision::"],
        // `wire/src/revision.rs` compares them as `Self`.
        allowed: &[],
    },
    Rule {
        what: "build an invocation",
        signs: &["= Invocation {", "Ok(WorkerInvocation {"],
        // `scripts/src/running/process.rs` builds those of scripts as `Self`.
        allowed: &["fetch/src/git/", "scripts/src/workers/mod.rs"],
    },
    Rule {
        what: "write to standard output past the terminal",
        signs: &["io::stdout()"],
        // The bridge and the probe are processes of their own, which answer on their standard output.
        allowed: &[
            "cli/src/",
            "launchers/src/bridge/streams.rs",
            "sandbox/src/linux/probe.rs",
            "terminal/src/",
        ],
    },
];

/// The line numbers in the code of a file where a text of the rule occurs.
fn breaches(rule: &Rule, file: &str, text: &str) -> Vec<String> {
    if rule
        .allowed
        .iter()
        .any(|allowed| file == *allowed || allowed.ends_with('/') && file.starts_with(allowed))
    {
        return Vec::new();
    }
    let lines = code_only(text);
    let is_breach = |line: &&str| rule.signs.iter().any(|sign| sign.split(" & ").all(|part| has(line, part)));
    let found = lines.lines().enumerate().filter(|(_, line)| is_breach(line));
    found.map(|(at, line)| format!("crates/{file}:{}: {}", at + 1, line.trim())).collect()
}

/// Whether a line contains a text as a whole word.
fn has(line: &str, text: &str) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    line.match_indices(text).any(|(at, _)| {
        let (before, after) = (line[..at].chars().next_back(), line[at + text.len()..].chars().next());
        let joins = |inner: Option<char>, outer: Option<char>| {
            inner.is_some_and(is_word) && outer.is_some_and(is_word)
        };
        !joins(text.chars().next(), before) && !joins(text.chars().next_back(), after)
    })
}

/// All sources of all crates except tests, by their paths in `crates/`.
fn sources() -> BTreeMap<String, String> {
    let root = repository().join("crates");
    let (mut sources, mut folders) = (BTreeMap::new(), vec![root.clone()]);
    while let Some(folder) = folders.pop() {
        let entries: Vec<PathBuf> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        let files = entries.iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
        for file in files.clone() {
            let name = file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            if name.contains("/src/") {
                sources.insert(name, fs::read_to_string(file).unwrap());
            }
        }
        folders.extend(entries.into_iter().filter(|path| path.is_dir()));
    }
    let is_test = |file: &str| {
        let path = Path::new(file);
        let parts: Vec<&str> = file.split('/').collect();
        parts.contains(&"tests")
            || path.file_stem().is_some_and(|stem| stem == "tests")
            || declared_for_tests(file, &sources)
    };
    let tests: Vec<String> = sources.keys().filter(|file| is_test(file)).cloned().collect();
    for test in tests {
        sources.remove(&test);
    }
    sources
}

/// Whether the file that declares this module does so for tests only.
fn declared_for_tests(file: &str, sources: &BTreeMap<String, String>) -> bool {
    let path = Path::new(file);
    let (Some(folder), Some(stem)) = (path.parent(), path.file_stem().and_then(|stem| stem.to_str())) else {
        return false;
    };
    let beside = ["mod.rs", "lib.rs", "main.rs"].map(|name| folder.join(name));
    let above = folder.with_extension("rs");
    let parents = beside.iter().chain([&above]).filter_map(|parent| sources.get(parent.to_str()?));
    parents.into_iter().any(|parent| test_modules(parent).iter().any(|name| name == stem))
}

#[test]
fn only_allowed_files_match_a_rule() {
    let sources = sources();
    assert!(sources.len() > 500, "the sources were not found");
    for rule in RULES {
        let all = sources.iter().flat_map(|(file, text)| breaches(rule, file, text));
        let all: Vec<String> = all.collect();
        assert!(all.is_empty(), "only the files of the rule may {}:\n{}", rule.what, all.join("\n"));
    }
}

#[test]
fn every_entry_of_a_rule_is_needed() {
    let sources = sources();
    for rule in RULES {
        for allowed in rule.allowed {
            let alone = Rule { what: rule.what, signs: rule.signs, allowed: &[] };
            let of_entry =
                |file: &str| file == *allowed || allowed.ends_with('/') && file.starts_with(allowed);
            let is_used =
                sources.iter().any(|(file, text)| of_entry(file) && !breaches(&alone, file, text).is_empty());
            assert!(is_used, "`{allowed}` does not {}: take it out of the rule", rule.what);
        }
    }
}

#[test]
fn a_planted_breach_is_found() {
    for rule in RULES {
        for sign in rule.signs {
            let sign = sign.replace(" & ", "");
            let text = format!("fn f() {{\n    {sign}\n}}\n// {sign}\nconst S: &str = \"{sign}\";\n");
            let found = breaches(rule, "planted/src/lib.rs", &text);
            assert_eq!(found.len(), 1, "{sign}: {found:?}");
            assert!(found[0].starts_with("crates/planted/src/lib.rs:2:"), "{found:?}");
        }
    }
}
