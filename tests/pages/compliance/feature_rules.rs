//! Rules of calls, tools, resources, prompts and lists, by section.

use super::rule::Rule;

pub(super) const RULES: &[(&str, &[Rule])] = &[
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
                words: "no progress after the answer; the last value before it is sent",
            },
            Rule {
                id: "progress-token",
                revisions: "all",
                level: "MUST",
                words: "without a token no progress is sent",
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
                words: "arguments are checked against the schema before the tool runs",
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
                words: "clients are notified when the list has changed, and only then",
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
                words: "a subscriber is notified of changes until it unsubscribes",
            },
            Rule {
                id: "resources-changed",
                revisions: "all",
                level: "SHOULD",
                words: "clients are notified when the list has changed",
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
                words: "missing arguments and unknown prompts are answered with -32602",
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
                words: "clients are notified when the list has changed",
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
                words: "a script receives the arguments that are known already",
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
                words: "no argument and no result of a call is logged",
            },
        ],
    ),
];
