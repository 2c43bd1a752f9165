//! The rules of tasks.

use super::rule::Rule;

pub(super) const RULES: &[(&str, &[Rule])] = &[(
    "Tasks",
    &[
        Rule {
            id: "tasks-capability",
            revisions: "2026-07-28",
            level: "MUST",
            words: "tasks are an extension that each request declares; without it `tasks/*` and tools that are only tasks are refused with -32021, others run as calls",
        },
        Rule {
            id: "tasks-create",
            revisions: "2026-07-28",
            level: "MUST",
            words: "a call that becomes a task is answered with the flat task when it is durable, and can be asked for at once",
        },
        Rule {
            id: "tasks-outcomes",
            revisions: "2026-07-28",
            level: "MUST",
            words: "a tool that reports a failure completes its task, an error of the protocol fails it",
        },
        Rule {
            id: "tasks-unknown",
            revisions: "2026-07-28",
            level: "MUST",
            words: "an unknown or expired task is refused with -32602; `tasks/result` and `tasks/list` are unknown methods",
        },
        Rule {
            id: "tasks-cancel",
            revisions: "2026-07-28",
            level: "MUST",
            words: "`tasks/cancel` is acknowledged, also for a task that has ended, and stops it to the last process",
        },
        Rule {
            id: "tasks-ttl",
            revisions: "2026-07-28",
            level: "MUST",
            words: "a task is kept for as long as it says",
        },
        Rule {
            id: "tasks-input",
            revisions: "2026-07-28",
            level: "MUST",
            words: "questions are shown by the task and answered with `tasks/update`; unknown keys are ignored, and no key is used twice",
        },
        Rule {
            id: "tasks-partial-input",
            revisions: "2026-07-28",
            level: "SHOULD",
            words: "questions can be answered one at a time; those that are answered are shown no more",
        },
        Rule {
            id: "tasks-after-questions",
            revisions: "2026-07-28",
            level: "MAY",
            words: "a call can ask its first questions itself, and become a task with the answers",
        },
        Rule {
            id: "tasks-notifications",
            revisions: "2026-07-28",
            level: "MUST",
            words: "`subscriptions/listen` with `taskIds` is granted for the caller's own tasks, and sends the whole task at each change",
        },
        Rule {
            id: "tasks-headers",
            revisions: "2026-07-28",
            level: "MUST",
            words: "`Mcp-Name` is the id of the task; a wrong one is refused",
        },
        Rule {
            id: "tasks-owner",
            revisions: "2026-07-28, 2025-11-25",
            level: "MUST",
            words: "another caller can neither see, list, cancel nor answer a task",
        },
        Rule {
            id: "tasks-restart",
            revisions: "2026-07-28, 2025-11-25",
            level: "SHOULD",
            words: "a task whose server is gone fails with the reason",
        },
        Rule {
            id: "tasks-run-again",
            revisions: "2026-07-28, 2025-11-25",
            level: "MAY",
            words: "one that may run again is run again by exactly one server",
        },
        Rule {
            id: "requested-tasks",
            revisions: "2025-11-25",
            level: "MUST",
            words: "a client asks for a task with `task` in its call, and `tasks/result` waits for the result; related messages name the task",
        },
        Rule {
            id: "requested-tasks-cancel",
            revisions: "2025-11-25",
            level: "MUST",
            words: "`tasks/cancel` answers with the cancelled task; one that has ended is refused with -32602",
        },
        Rule {
            id: "requested-tasks-misuse",
            revisions: "2025-11-25",
            level: "MUST",
            words: "a tool that cannot be a task refuses `task` with -32601, and so does one that can only be a task without it",
        },
        Rule {
            id: "requested-tasks-input",
            revisions: "2025-11-25",
            level: "MUST",
            words: "questions of the task reach the client while it waits for the result",
        },
        Rule {
            id: "requested-tasks-status",
            revisions: "2025-11-25",
            level: "MAY",
            words: "`notifications/tasks/status` tells the session of each change",
        },
    ],
)];
