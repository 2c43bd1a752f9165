//! Other entries of a project: resources, templates and their readers, prompts and their completion, and an executable
//! that provides tools.

pub(super) const SCRIPTS: &[(&str, &str)] = &[
    ("tools/odd/tool.sh", "#!/bin/sh\necho 'its metadata is something else than a file now and then'\n"),
    ("providers/note.sh", "#!/bin/sh\necho \"a note: $1\"\n"),
    ("providers/status.sh", "#!/bin/sh\ndate +%s\n"),
    (
        "providers/wild.sh",
        "#!/bin/sh\nsetsid sleep 20 & (setsid sleep 21 >/dev/null 2>&1 &)\nyes \"$1\" | head -c 300000 >&2\necho \"wild: $1\"\n",
    ),
    ("prompts/speak.sh", "#!/bin/sh\nprintf 'You said %s' \"$MCP_PROMPT_ARGS_JSON\"\n"),
    (
        "prompts/wild.sh",
        "#!/bin/sh\nsetsid sleep 20 &\nsleep 21 &\nprintf 'You said %s' \"$MCP_PROMPT_ARGS_JSON\"\n",
    ),
    (
        "prompts/greet.completion.sh",
        "#!/bin/sh\nvalue=${MCP_COMPLETION_ARGS_JSON#*\\\"query\\\":\\\"}\nvalue=${value%%\\\"*}\necho \"$value-one\"\necho \"$value-two\"\n",
    ),
    (
        "tools/provider",
        r#"#!/bin/sh
case "$1" in
list) echo '{"name":"provided","description":"A tool of the soak","inputSchema":{"type":"object"}}' ;;
provided)
	word=${2#*\"word\":\"}
	printf '{"content":[{"type":"text","text":"%s"}]}\n' "${word%%\"*}"
	;;
*) exit 1 ;;
esac
"#,
    ),
];

pub(super) const FILES: &[(&str, &str)] = &[
    ("prompts/odd.md", "Its metadata is something else than a file now and then.\n"),
    ("server.d/server.meta.json", r#"{"name":"soak","version":"1.0.0"}"#),
    ("server.d/server.instructions.md", "Be patient.\n"),
    ("resources/fixed.txt", "always the same\n"),
    ("resources/changing.txt", "0\n"),
    ("resources/note.meta.json", r#"{"name":"note","uriTemplate":"note://{word}"}"#),
    ("resources/wild.meta.json", r#"{"name":"wild","uriTemplate":"wild://{word}"}"#),
    ("resources/status.meta.json", r#"{"name":"status","uri":"status://now","mimeType":"text/plain"}"#),
    ("prompts/greet.md", "Say hello to {{word}}.\n"),
    ("prompts/greet.meta.json", r#"{"arguments":[{"name":"word","required":true}]}"#),
    ("prompts/speak.meta.json", r#"{"arguments":[{"name":"word","required":true}]}"#),
    ("prompts/wild.meta.json", r#"{"arguments":[{"name":"word","required":true}]}"#),
];
