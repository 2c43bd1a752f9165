//! Honest scripts: they do their job and name the call they serve.

/// The number of log lines of `honest`, and the value of its last progress.
pub(crate) const LOGS: u32 = 2;
pub(crate) const LAST_PROGRESS: f64 = 3.0;

/// Name, timeout in seconds, and the code after the prelude. Scripts that never wait have long timeouts: they
/// must succeed on a busy machine too.
pub(super) const TOOLS: &[(&str, u32, &str)] = &[
    (
        "honest",
        50,
        r#"progress 1; log 1; progress 2
echo "$word on stderr" >&2
log 2; progress 3
printf '{"word":"%s","pid":%d}\n' "$word" $$
"#,
    ),
    ("plain", 50, "echo \"hello $word\"\n"),
    ("reads-input", 50, "cat; echo\n"),
    (
        "sdk",
        50,
        r#"exec /usr/bin/env bash -c '. "$MCP_SDK/tool-sdk.sh"
word=$(mcp_args_require .word)
mcp_progress 1 "$word begins"
mcp_log_info soak "$word logs"
mcp_progress 3 "$word ends"
mcp_result_success "$(mcp_json_obj word "$word")"'
"#,
    ),
    (
        "whole-result",
        50,
        r#"printf '{"content":[{"type":"text","text":"%s"}],"structuredContent":{"word":"%s"}}' "$word" "$word"
"#,
    ),
    (
        "slow",
        2,
        r#"step=1
while [ $step -le "$(number steps)" ]; do progress $step; sleep 0.1; step=$((step + 1)); done
echo "$word has rested"
"#,
    ),
    (
        "large",
        50,
        r#"echo "$word begins"
line='0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde'
left=$(number lines)
while [ "$left" -gt 0 ]; do echo "$line"; left=$((left - 1)); done
echo "$word ends"
"#,
    ),
    ("fails", 50, "echo \"$word fails\" >&2\nexit 3\n"),
    (
        "error-file",
        50,
        r#"printf '{"code":-32001,"message":"%s is an error","data":{"word":"%s"}}' "$word" "$word" >"$MCP_TOOL_ERROR_FILE"
exit 1
"#,
    ),
    (
        "embeds",
        50,
        r#"printf 'resources/fixed.txt\ttext/plain\tsoak://%s\n' "$word" >"$MCP_TOOL_RESOURCES_FILE"
echo "$word embeds"
"#,
    ),
];

/// Says the planted secret in every way that a script has, and its word.
pub(super) const TELLS_SECRET: (&str, &str) = (
    "tells-secret",
    r#"word="$word $PLANTED"; progress 1; log 1; word=${word%% *}
echo "$PLANTED on stderr" >&2
printf %s "$PLANTED" | base64 >&2
echo "$word $PLANTED"
"#,
);
