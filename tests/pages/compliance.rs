//! What the specification asks for, and the test that shows it. A test says which rules it shows in a comment above it
//! (`// Shows: id-echoed, id-types`); `docs/compliance.md` is made of both.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

struct Rule {
    id: &'static str,
    /// The revisions that have it: `all`, `handshake` (2024-11-05 to 2025-11-25), or by name.
    revisions: &'static str,
    level: &'static str,
    words: &'static str,
}

/// The methods, and the revisions that have them: the five in their order.
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
    ("batches", ["", "✓", "", "", ""]),
];

/// What is not there yet, so that nobody looks for it in the table.
const NOT_YET: &[&str] = &[
    "OAuth over HTTP; callers are known by tokens of a file",
    "tasks (experimental in 2025-11-25, an extension since)",
];

/// What the official suite says, and how to have it said again. `tests/conformance/run` fails where this is not so.
const OFFICIAL_SUITE: &str = "
## The official conformance suite

`tests/conformance/run BINARY` installs the specification's own suite (`@modelcontextprotocol/conformance`, pinned in
`tests/conformance/package.json`) and lets it talk to `mcp-bash serve --http`, which serves `tests/conformance/project`:
every tool, resource and prompt that the suite asks for, as plain scripts in bash, Python and Node. Give the names of
scenarios to run only these. It is a part of `scripts/test`.

| revision | scenarios that count | others that are run | failures | warnings |
|---|---|---|---|---|
| 2025-11-25 | 30 of 30 pass | 3 of 3 pass: `server-session-lifecycle`, `json-schema-2020-12`, `server-sse-polling` | 0 | 0 |
| 2026-07-28 | 37 of 37 pass | 3 of 3 pass: `json-schema-2020-12`, `http-header-validation`, `http-custom-header-server-validation` | 0 | 0 |

- The exit code of the suite is not believed: it counts neither warnings nor scenarios without a score. The runner reads
  the checks that each scenario has written down. A scenario fails with any check that failed, was skipped or is a warning that
  `UNDERSTOOD` in the runner does not explain, and also if no check succeeded. That list is empty.
- Event streams are closed after a second (`MCPBASH_HTTP_STREAM_SECS=1`), so that the suite has to resume one.
- Not run: `tasks-*`, an extension that is not there yet.
- The suite looks at shapes. Contents, order and ids are looked at by
  [conformance_contents](../tests/protocol/conformance_contents.rs), for the same fixtures, over HTTP and over standard input and output,
  with sessions and without.
";

const RULES: &[(&str, &[Rule])] = &[
    (
        "Messages",
        &[
            Rule {
                id: "json-rpc",
                revisions: "all",
                level: "MUST",
                words: "every message is valid JSON-RPC 2.0 in UTF-8, and of the shape that the schema of its revision gives it",
            },
            Rule {
                id: "id-echoed",
                revisions: "all",
                level: "MUST",
                words: "an answer has the id of its request, as it was written",
            },
            Rule {
                id: "id-types",
                revisions: "all",
                level: "MUST",
                words: "an id is a string or an integer; `null` and everything else is refused",
            },
            Rule {
                id: "id-unique",
                revisions: "all",
                level: "MUST",
                words: "an id is used once while its request is in flight; a second one is refused",
            },
            Rule {
                id: "one-answer",
                revisions: "all",
                level: "MUST",
                words: "each request is answered once",
            },
            Rule {
                id: "notifications-unanswered",
                revisions: "all",
                level: "MUST",
                words: "notifications are not answered",
            },
            Rule {
                id: "parse-error",
                revisions: "all",
                level: "MUST",
                words: "what is no JSON is answered with -32700 and no id",
            },
            Rule {
                id: "invalid-request",
                revisions: "all",
                level: "MUST",
                words: "what is JSON and no request is answered with -32600",
            },
            Rule {
                id: "unknown-method",
                revisions: "all",
                level: "MUST",
                words: "an unknown method is answered with -32601, wrong params with -32602",
            },
            Rule {
                id: "batches",
                revisions: "2025-03-26",
                level: "MUST",
                words: "batches are received, and answered with one array; other revisions refuse them",
            },
            Rule {
                id: "batch-empty",
                revisions: "2025-03-26",
                level: "MUST",
                words: "an empty batch is refused, one of notifications not answered",
            },
            Rule {
                id: "batch-initialize",
                revisions: "2025-03-26",
                level: "MUST",
                words: "`initialize` is no part of a batch",
            },
        ],
    ),
    (
        "Standard input and output",
        &[
            Rule {
                id: "one-line",
                revisions: "all",
                level: "MUST",
                words: "one message a line, with no line break inside",
            },
            Rule {
                id: "stdout-only-messages",
                revisions: "all",
                level: "MUST",
                words: "nothing but messages on standard output",
            },
            Rule {
                id: "end-of-input",
                revisions: "all",
                level: "SHOULD",
                words: "the server ends when its input does, after what is in flight is answered",
            },
            Rule {
                id: "end-by-signal",
                revisions: "all",
                level: "SHOULD",
                words: "the server ends when it is told to by a signal, with all it has started",
            },
        ],
    ),
    (
        "Streamable HTTP",
        &[
            Rule {
                id: "http-form",
                revisions: "all",
                level: "MUST",
                words: "an answer is JSON, or a stream of events where something is told before it",
            },
            Rule {
                id: "http-notifications",
                revisions: "all",
                level: "MUST",
                words: "notifications, and answers to questions, are taken with 202 and nothing else",
            },
            Rule {
                id: "http-statuses",
                revisions: "2026-07-28",
                level: "MUST",
                words: "what is refused has the status that belongs to its code: 404 for an unknown method, 400 for a message that cannot be served; other errors are answers",
            },
            Rule {
                id: "http-headers",
                revisions: "2026-07-28",
                level: "MUST",
                words: "the version, the method and the name in the headers are those of the message, or it is refused with -32020; names of headers in any case, values as they are",
            },
            Rule {
                id: "http-param-headers",
                revisions: "2026-07-28",
                level: "MUST",
                words: "arguments that a tool wants in headers are there and the same, also encoded ones",
            },
            Rule {
                id: "http-order",
                revisions: "2026-07-28",
                level: "SHOULD",
                words: "of several faults the first is told, in the order of the specification",
            },
            Rule {
                id: "http-event-ids",
                revisions: "all",
                level: "MUST",
                words: "events have ids, unique in their session, where a revision resumes by them, and none in 2026-07-28; the empty first event is for 2025-11-25 only",
            },
            Rule {
                id: "http-resumption",
                revisions: "handshake",
                level: "SHOULD",
                words: "whoever comes back with the id of an event gets what came after it and nothing else, also once the answer was sent",
            },
            Rule {
                id: "http-sessions",
                revisions: "handshake",
                level: "MUST",
                words: "sessions have unguessable ids; without one 400, unknown and ended ones 404",
            },
            Rule {
                id: "http-version",
                revisions: "all",
                level: "MUST",
                words: "a version in the header that no session speaks is 400; GET and DELETE are 405 where there are no sessions",
            },
            Rule {
                id: "http-origin",
                revisions: "all",
                level: "MUST",
                words: "pages of other origins are refused with 403, other names of the server too",
            },
            Rule {
                id: "http-loopback",
                revisions: "all",
                level: "SHOULD",
                words: "nobody but this machine is served without authentication",
            },
        ],
    ),
    (
        "Lifecycle of a session",
        &[
            Rule {
                id: "version-echoed",
                revisions: "handshake",
                level: "MUST",
                words: "a revision that is supported is echoed; for any other the newest one with a handshake is offered",
            },
            Rule {
                id: "before-initialize",
                revisions: "handshake",
                level: "MUST",
                words: "before `initialize` only `ping` is served",
            },
            Rule {
                id: "before-initialized",
                revisions: "handshake",
                level: "SHOULD",
                words: "before `notifications/initialized` the server sends nothing but pings and logs; impatient clients may ping and set the level",
            },
            Rule {
                id: "initialize-uncancellable",
                revisions: "handshake",
                level: "MUST",
                words: "`initialize` cannot be cancelled",
            },
            Rule {
                id: "capabilities-true",
                revisions: "all",
                level: "MUST",
                words: "the capabilities that are declared are those that are served, and no method of another is",
            },
            Rule {
                id: "undeclared-unasked",
                revisions: "handshake",
                level: "MUST",
                words: "a client is asked nothing that it has not declared",
            },
        ],
    ),
    (
        "Requests without a session",
        &[
            Rule {
                id: "meta-complete",
                revisions: "2026-07-28",
                level: "MUST",
                words: "a request without the version or the capabilities in its `_meta` is refused with -32602",
            },
            Rule {
                id: "version-unsupported",
                revisions: "2026-07-28",
                level: "MUST",
                words: "another version is refused with -32022, with what was asked for and what would do",
            },
            Rule {
                id: "nothing-remembered",
                revisions: "2026-07-28",
                level: "MUST",
                words: "nothing is inferred from earlier requests",
            },
            Rule {
                id: "discover",
                revisions: "2026-07-28",
                level: "MUST",
                words: "`server/discover` tells versions, capabilities and instructions",
            },
            Rule {
                id: "probe",
                revisions: "2026-07-28",
                level: "MUST",
                words: "a probe pins no era: both live side by side on one process",
            },
            Rule {
                id: "removed-methods",
                revisions: "2026-07-28",
                level: "MUST",
                words: "`initialize`, `ping`, `logging/setLevel` and the other removed methods are not found",
            },
            Rule {
                id: "result-type",
                revisions: "2026-07-28",
                level: "MUST",
                words: "every result says its `resultType`; older revisions get none",
            },
            Rule {
                id: "server-info",
                revisions: "2026-07-28",
                level: "SHOULD",
                words: "every result names the server in its `_meta`",
            },
            Rule {
                id: "reserved-codes",
                revisions: "all",
                level: "MUST",
                words: "no code of a reserved range is used that the specification does not define",
            },
            Rule {
                id: "caching",
                revisions: "2026-07-28",
                level: "MUST",
                words: "`ttlMs` and `cacheScope` on discovery, on the lists and on what is read",
            },
        ],
    ),
    (
        "Questions to the client",
        &[
            Rule {
                id: "elicitation-form",
                revisions: "2025-06-18 to 2025-11-25",
                level: "MUST",
                words: "forms are flat, of the types that the revision knows, and their answer reaches the script",
            },
            Rule {
                id: "elicitation-url",
                revisions: "2025-11-25 on",
                level: "MUST",
                words: "pages are shown only to clients that declare them",
            },
            Rule {
                id: "sampling",
                revisions: "all",
                level: "MUST",
                words: "the client's model is asked only where the client declares it",
            },
            Rule {
                id: "roots",
                revisions: "all",
                level: "MUST",
                words: "roots are the client's, and asked for again when they change",
            },
            Rule {
                id: "roots-respected",
                revisions: "all",
                level: "SHOULD",
                words: "nothing outside of the roots is a path to work on",
            },
            Rule {
                id: "input-required",
                revisions: "2026-07-28",
                level: "MUST",
                words: "a client is never sent a request: a question is an `input_required` result, and the retry goes on where the script waits",
            },
            Rule {
                id: "input-required-keys",
                revisions: "2026-07-28",
                level: "SHOULD",
                words: "several questions are asked at once, each under its own key; missing answers are asked for again, others ignored",
            },
            Rule {
                id: "input-required-capabilities",
                revisions: "2026-07-28",
                level: "MUST",
                words: "nothing is asked that the client does not declare",
            },
            Rule {
                id: "input-required-prompts",
                revisions: "2026-07-28",
                level: "MAY",
                words: "prompts ask as tools do",
            },
            Rule {
                id: "missing-capability",
                revisions: "2026-07-28",
                level: "MUST",
                words: "a request that needs a capability which its client does not declare is refused with -32021, and told which",
            },
            Rule {
                id: "trace-context",
                revisions: "all",
                level: "SHOULD",
                words: "`traceparent`, `tracestate` and `baggage` reach the script, if they have their form",
            },
            Rule {
                id: "state-hostile",
                revisions: "2026-07-28",
                level: "MUST",
                words: "the state that comes back is not believed: a wrong, foreign or used one is an error that tells nothing",
            },
            Rule {
                id: "client-never-returns",
                revisions: "2026-07-28",
                level: "MUST",
                words: "a client that never comes back costs a bounded amount",
            },
        ],
    ),
    (
        "Cancellation and progress",
        &[
            Rule {
                id: "cancel-silent",
                revisions: "all",
                level: "MUST",
                words: "nothing is sent for a request that was cancelled, and its processes are gone",
            },
            Rule {
                id: "cancel-unknown",
                revisions: "all",
                level: "MUST",
                words: "the cancellation of what is unknown or finished is ignored",
            },
            Rule {
                id: "cancel-exact",
                revisions: "all",
                level: "MUST",
                words: "a cancellation means the very id that it names",
            },
            Rule {
                id: "progress-increasing",
                revisions: "all",
                level: "MUST",
                words: "progress has the client's own token and increases",
            },
            Rule {
                id: "progress-ends",
                revisions: "all",
                level: "MUST",
                words: "no progress after the answer; the last value before it is told",
            },
            Rule {
                id: "progress-token",
                revisions: "all",
                level: "MUST",
                words: "without a token nothing is told",
            },
            Rule {
                id: "progress-message",
                revisions: "2025-03-26 on",
                level: "MAY",
                words: "progress has a message; the oldest revision gets none",
            },
            Rule {
                id: "progress-rate",
                revisions: "all",
                level: "SHOULD",
                words: "progress is limited in its rate",
            },
        ],
    ),
    (
        "Tools",
        &[
            Rule {
                id: "tools-list",
                revisions: "all",
                level: "MUST",
                words: "tools are listed with a name and an object schema, with what the revision knows and nothing else",
            },
            Rule {
                id: "tools-unknown",
                revisions: "all",
                level: "MUST",
                words: "an unknown tool is answered with -32602",
            },
            Rule {
                id: "tools-failure",
                revisions: "all",
                level: "MUST",
                words: "a tool that fails says so in its result, with `isError`",
            },
            Rule {
                id: "tools-input",
                revisions: "all",
                level: "MUST",
                words: "arguments are checked against the schema before anything runs",
            },
            Rule {
                id: "tools-output",
                revisions: "2025-06-18 on",
                level: "MUST",
                words: "structured results are what their schema promises",
            },
            Rule {
                id: "tools-structured-text",
                revisions: "2025-06-18 on",
                level: "SHOULD",
                words: "structured content is also given as text",
            },
            Rule {
                id: "tools-structured-any",
                revisions: "2026-07-28",
                level: "MAY",
                words: "structured content of any type; older revisions get objects only",
            },
            Rule {
                id: "tools-content",
                revisions: "all",
                level: "MUST",
                words: "content of a kind that a revision does not know reaches it as words",
            },
            Rule {
                id: "tools-changed",
                revisions: "all",
                level: "SHOULD",
                words: "clients are told when the list has changed, and only then",
            },
            Rule {
                id: "tools-rate",
                revisions: "all",
                level: "MUST",
                words: "calls are limited in number and time",
            },
            Rule {
                id: "tools-access",
                revisions: "all",
                level: "MUST",
                words: "who may call what is decided before anything runs",
            },
        ],
    ),
    (
        "Schemas",
        &[Rule {
            id: "schema-dialect",
            revisions: "all",
            level: "MUST",
            words: "the dialect that a schema names is followed, and no `$ref` over the network; a schema that cannot be used is the \
                    tool's fault, and said so",
        }],
    ),
    (
        "Resources",
        &[
            Rule {
                id: "resources-list",
                revisions: "all",
                level: "MUST",
                words: "resources are listed with what the revision knows",
            },
            Rule {
                id: "resources-read",
                revisions: "all",
                level: "MUST",
                words: "text comes as it is, bytes in Base64, with their type",
            },
            Rule {
                id: "resources-unknown",
                revisions: "all",
                level: "MUST",
                words: "an unknown resource is answered with -32002, from 2026-07-28 on with -32602",
            },
            Rule {
                id: "resources-traversal",
                revisions: "all",
                level: "MUST",
                words: "no spelling of a URI and no link leads out of the folders that may be read",
            },
            Rule {
                id: "resources-templates",
                revisions: "all",
                level: "MUST",
                words: "templates are listed, and a URI finds the template that could have made it",
            },
            Rule {
                id: "resources-subscribe",
                revisions: "handshake",
                level: "MUST",
                words: "whoever subscribes is told of changes until it unsubscribes",
            },
            Rule {
                id: "resources-changed",
                revisions: "all",
                level: "SHOULD",
                words: "clients are told when the list has changed",
            },
            Rule {
                id: "https",
                revisions: "all",
                level: "MUST",
                words: "nothing on a private network is fetched",
            },
        ],
    ),
    (
        "Subscriptions without a session",
        &[
            Rule {
                id: "listen-acknowledged",
                revisions: "2026-07-28",
                level: "MUST",
                words: "the acknowledgement comes first, with what is honoured",
            },
            Rule {
                id: "listen-kinds",
                revisions: "2026-07-28",
                level: "MUST",
                words: "a stream hears what it asked for, with the id of its request, and nothing else",
            },
            Rule {
                id: "listen-cancelled",
                revisions: "2026-07-28",
                level: "MUST",
                words: "a stream that is cancelled is silent",
            },
            Rule {
                id: "listen-end",
                revisions: "2026-07-28",
                level: "SHOULD",
                words: "the end of the server answers every stream",
            },
        ],
    ),
    (
        "Prompts and completion",
        &[
            Rule {
                id: "prompts-list",
                revisions: "all",
                level: "MUST",
                words: "prompts are listed with their arguments",
            },
            Rule {
                id: "prompts-arguments",
                revisions: "all",
                level: "MUST",
                words: "missing and unknown arguments, and unknown prompts, are answered with -32602",
            },
            Rule {
                id: "prompts-injection",
                revisions: "all",
                level: "MUST",
                words: "what a client puts into a prompt is never expanded",
            },
            Rule {
                id: "prompts-changed",
                revisions: "all",
                level: "SHOULD",
                words: "clients are told when the list has changed",
            },
            Rule {
                id: "completion-limit",
                revisions: "all",
                level: "MUST",
                words: "at most 100 values, and whether there are more",
            },
            Rule {
                id: "completion-unknown",
                revisions: "all",
                level: "MUST",
                words: "what nobody knows is refused with -32602",
            },
            Rule {
                id: "completion-context",
                revisions: "2025-06-18 on",
                level: "MAY",
                words: "a script is told the arguments that are known already",
            },
        ],
    ),
    (
        "Lists and logs",
        &[
            Rule {
                id: "pages",
                revisions: "all",
                level: "MUST",
                words: "pages hold every entry once and in order",
            },
            Rule {
                id: "cursors",
                revisions: "all",
                level: "SHOULD",
                words: "a cursor that was not given is refused with -32602",
            },
            Rule {
                id: "log-level",
                revisions: "handshake",
                level: "MUST",
                words: "all eight levels are known, and no other",
            },
            Rule {
                id: "log-filter",
                revisions: "handshake",
                level: "MUST",
                words: "a session hears events of the level it asks for",
            },
            Rule {
                id: "log-stateless",
                revisions: "2026-07-28",
                level: "MUST",
                words: "logs come only with a request that asks for them",
            },
            Rule {
                id: "log-secrets",
                revisions: "all",
                level: "MUST",
                words: "no secret, argument or result is logged",
            },
        ],
    ),
];

#[test]
fn every_rule_is_shown_by_a_test_and_the_page_says_by_which() {
    let shown = shown();
    let known = || RULES.iter().flat_map(|(_, rules)| rules.iter());
    for id in shown.keys() {
        assert!(known().any(|rule| rule.id == id), "a test shows `{id}`, which is no rule");
    }
    for rule in known() {
        assert!(shown.contains_key(rule.id), "no test shows `{}`", rule.id);
    }
    crate::pages::reference::expect_page("compliance.md", &page(&shown));
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

/// The Rust files of a folder and of those in it, in order.
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
    for (section, rules) in RULES {
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
    page.push_str("\n`handshake` means 2024-11-05 to 2025-11-25.\n\n## Not there yet\n\n");
    for missing in NOT_YET {
        let _ = writeln!(page, "- {missing}");
    }
    page
}
