//! The rules of the specification, and the tests that show them. A comment above a test names the rules it
//! shows (`// Shows: id-echoed, id-types`); `docs/compliance.md` is generated from both.

mod connection_rules;
mod feature_rules;
mod rule;
mod task_rules;

use super::reference::expect_page;
use rule::Rule;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The methods, and the revisions that have them, in order.
const METHODS: &[(&str, [&str; 5])] = &[
    ("`initialize`, `notifications/initialized`, `ping`", ["✓", "✓", "✓", "✓", "removed"]),
    ("`server/discover`, `subscriptions/listen`", ["", "", "", "", "✓"]),
    ("`tools/list`, `tools/call`", ["✓", "✓", "✓", "✓", "✓"]),
    ("`resources/list`, `resources/read`, `resources/templates/list`", ["✓", "✓", "✓", "✓", "✓"]),
    ("`resources/subscribe`, `resources/unsubscribe`", ["✓", "✓", "✓", "✓", "removed"]),
    ("`prompts/list`, `prompts/get`", ["✓", "✓", "✓", "✓", "✓"]),
    ("`completion/complete`", ["✓", "✓", "✓", "✓", "✓"]),
    ("`logging/setLevel`", ["✓", "✓", "✓", "✓", "removed"]),
    ("`notifications/message`", ["✓", "✓", "✓", "✓", "at the level of the request"]),
    ("`notifications/cancelled`, `notifications/progress`", ["✓", "✓", "✓", "✓", "✓"]),
    (
        "`notifications/tools/list_changed`, `…/resources/list_changed`, `…/prompts/list_changed`, `…/resources/updated`",
        ["✓", "✓", "✓", "✓", "on `subscriptions/listen`"],
    ),
    ("`notifications/subscriptions/acknowledged`", ["", "", "", "", "✓"]),
    ("`notifications/roots/list_changed` (from the client)", ["✓", "✓", "✓", "✓", "removed"]),
    ("`roots/list`, `sampling/createMessage` (to the client)", ["✓", "✓", "✓", "✓", "in a result"]),
    ("`elicitation/create` (to the client)", ["", "", "forms", "forms, pages", "in a result"]),
    ("`tasks/get`, `tasks/cancel`", ["", "", "", "experimental", "extension"]),
    ("`tasks/list`, `tasks/result`, `notifications/tasks/status`", ["", "", "", "experimental", ""]),
    ("`tasks/update`, `notifications/tasks`", ["", "", "", "", "extension"]),
    ("batches", ["", "✓", "", "", ""]),
];

/// The results of the official suite, and how to reproduce them. `tests/conformance/run` fails if they
/// differ.
const OFFICIAL_SUITE: &str = "
## The official conformance suite

`tests/conformance/run BINARY` installs the specification's own suite (`@modelcontextprotocol/conformance`, pinned in
`tests/conformance/package.json`) and lets it talk to `mcp-bash serve --http`, which serves `tests/conformance/project`:
every tool, resource and prompt that the suite asks for, as plain scripts in bash, Python and Node. Give the names of
scenarios to run only these. It is a part of `scripts/test`.

| revision | scenarios that count | others that are run | failures | warnings |
|---|---|---|---|---|
| 2025-11-25 | 30 of 30 pass | 3 of 3 pass: `server-session-lifecycle`, `json-schema-2020-12`, `server-sse-polling` | 0 | 0 |
| 2026-07-28 | 37 of 37 pass | 12 of 13 pass: `json-schema-2020-12`, `http-header-validation`, `http-custom-header-server-validation`, nine `tasks-*` | 0 | 0 |

- The exit code of the suite is not believed: it counts neither warnings nor scenarios without a score. The runner reads
  the checks that each scenario has written down. A scenario fails with any check that failed, was skipped or is a warning that
  `UNDERSTOOD` in the runner does not explain, and also if no check succeeded.
- Event streams are closed after a second (`MCPBASH_HTTP_STREAM_SECS=1`), so that the suite has to resume one.
- `tasks-status-notifications` always skips itself: the suite has no test for it yet. `UNDERSTOOD` names it, and nothing else.
- Its scenarios about authorization test clients and authorization servers; it has none for a server that receives tokens. The rules
  for such a server are [below](#authorization-over-http), and an official client logs in at a real authorization server.
- The suite looks at shapes. Contents, order and ids are looked at by
  [conformance_contents](../tests/protocol/conformance_contents/mod.rs), for the same fixtures, over HTTP and over standard input and output,
  with sessions and without.
";

/// All rules, by section.
fn sections() -> impl Iterator<Item = &'static (&'static str, &'static [Rule])> {
    connection_rules::RULES.iter().chain(feature_rules::RULES).chain(task_rules::RULES)
}

#[test]
fn every_rule_is_shown_by_a_test_and_the_page_says_by_which() {
    let shown = shown();
    let known = || sections().flat_map(|(_, rules)| rules.iter());
    for id in shown.keys() {
        assert!(known().any(|rule| rule.id == id), "a test shows `{id}`, which is no rule");
    }
    for rule in known() {
        assert!(shown.contains_key(rule.id), "no test shows `{}`", rule.id);
    }
    expect_page("compliance.md", &page(&shown));
}

/// The tests that show each rule: the path of the file in `tests/`, and the name of the function.
fn shown() -> BTreeMap<String, Vec<(String, String)>> {
    let mut shown: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
    for path in sources(&folder) {
        let text = std::fs::read_to_string(&path).unwrap();
        let file = path.strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some(ids) = line.strip_prefix("// Shows: ") else { continue };
            let attribute = lines.next().unwrap_or_default();
            assert!(
                attribute == "#[test]" || attribute.starts_with("#[tokio::test"),
                "{file}: `{line}` stands above no test"
            );
            let function = lines.by_ref().find_map(|line| line.split_once("fn ")).expect("a test");
            let name = function.1.split('(').next().unwrap_or_default().to_owned();
            for id in ids.split(", ") {
                shown.entry(id.to_owned()).or_default().push((file.clone(), name.clone()));
            }
        }
    }
    shown
}

/// The Rust files of a folder and its subfolders, in order.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let mut found: Vec<PathBuf> =
        files.into_iter().filter(|path| path.extension().is_some_and(|it| it == "rs")).collect();
    found.extend(folders.iter().flat_map(|folder| sources(folder)));
    found.sort();
    found
}

fn page(shown: &BTreeMap<String, Vec<(String, String)>>) -> String {
    let mut page = String::from(
        "# Protocol compliance\n\n\
         Which methods each revision of the specification has here, and which rules are held, each with the tests that show\n\
         it. The tests drive the binary from outside, over real pipes and connections. Every message that comes over pipes is\n\
         also read with the types that are generated from the official schema of its revision, and those over HTTP are\n\
         checked by the official suite. The sessions of the official clients (`tests/clients`) come on top.\n\n\
         This page is made from the tests: a rule without a test does not get in.\n\n\
         ## Methods\n\n\
         | method | 2024-11-05 | 2025-03-26 | 2025-06-18 | 2025-11-25 | 2026-07-28 |\n|---|---|---|---|---|---|\n",
    );
    for (method, revisions) in METHODS {
        let _ = writeln!(page, "| {method} | {} |", revisions.join(" | "));
    }
    page.push_str(OFFICIAL_SUITE);
    for (section, rules) in sections() {
        let _ =
            write!(page, "\n## {section}\n\n| rule | revisions | level | shown by |\n|---|---|---|---|\n");
        for rule in *rules {
            let tests = shown.get(rule.id).map(|tests| {
                let links = tests.iter().map(|(file, name)| format!("[{name}](../tests/{file})"));
                links.collect::<Vec<_>>().join("<br>")
            });
            let Rule { revisions, level, words, .. } = rule;
            let _ = writeln!(page, "| {words} | {revisions} | {level} | {} |", tests.unwrap_or_default());
        }
    }
    page.push_str("\n`handshake` means 2024-11-05 to 2025-11-25.\n");
    page
}
