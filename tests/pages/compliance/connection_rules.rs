//! Rules of messages, transports, sessions and questions, by section.

use super::rule::Rule;

pub(super) const RULES: &[(&str, &[Rule])] = &[
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
                words: "a signal shuts the server down, with all it has started",
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
                words: "an answer is JSON, or a stream of events if messages precede it",
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
                words: "of several faults the first is reported, in the order of the specification",
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
                words: "a client that reconnects with the id of an event receives what came after it and nothing else, also once the answer was sent",
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
                words: "pages of other origins are refused with 403, other names of the server with 421",
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
];
