//! Scripts that ask the client. A question names its call, and how the client should answer.

/// Their common start: bash and its SDK, the word, the plan and the timeout for an answer.
pub(super) const PRELUDE: &str = r#"#!/usr/bin/env bash
. "$MCP_SDK/tool-sdk.sh"
set +eu
args=$MCP_TOOL_ARGS_JSON
member() { local value=${args#*\"$1\":}; value=${value#\"}; printf '%s' "${value%%[\",\}]*}"; }
word=$(member word) plan=$(member plan) seconds=$(member seconds)
form='{"type":"object","properties":{"value":{"type":"string"}}}'
"#;

pub(super) const TOOLS: &[(&str, &str)] = &[
    (
        "ask",
        r#"answer=$(mcp_elicit "$word plan=$plan" "$form" "$seconds")
echo "$word was told $answer"
"#,
    ),
    (
        "ask-twice",
        r#"first=$(mcp_elicit "$word plan=$plan" "$form" "$seconds")
mcp_progress 50 "$word goes on"
second=$(mcp_elicit "$word plan=$plan" "$form" "$seconds")
echo "$word was told $first and $second"
"#,
    ),
    (
        "ask-at-once",
        r#"for n in 1 2 3; do
	{ answer=$(mcp_elicit "$word plan=$plan" "$form" "$seconds"); echo "$word was told $answer"; } &
done
wait
"#,
    ),
    (
        "ask-model",
        r#"answer=$(mcp_sample "$word plan=$plan" --timeout "$seconds")
echo "$word was told $answer"
"#,
    ),
    (
        "ask-and-withdraw",
        r#""$MCPBASH_BIN" ask elicitation/create "{\"mode\":\"form\",\"message\":\"$word plan=never\",\"requestedSchema\":$form}" --timeout 5 &
sleep 0.1
kill $! 2>/dev/null
wait
echo "$word does not want to know"
"#,
    ),
    (
        "ask-and-leave",
        r#""$MCPBASH_BIN" ask elicitation/create "{\"mode\":\"form\",\"message\":\"$word plan=never\",\"requestedSchema\":$form}" --timeout 5 >/dev/null 2>&1 &
sleep 0.05
echo "$word leaves its question behind"
"#,
    ),
    (
        "ask-by-file",
        r#"if [ -z "${MCP_ELICIT_REQUEST_FILE-}" ]; then echo "$word cannot ask"; exit; fi
printf '{"message":"%s plan=%s","schema":%s,"mode":"form"}' "$word" "$plan" "$form" >"$MCP_ELICIT_REQUEST_FILE.tmp"
mv "$MCP_ELICIT_REQUEST_FILE.tmp" "$MCP_ELICIT_REQUEST_FILE"
for n in {1..60}; do [ -f "$MCP_ELICIT_RESPONSE_FILE" ] && break; sleep 0.05; done
answer=$(cat "$MCP_ELICIT_RESPONSE_FILE" 2>/dev/null)
echo "$word was told $answer"
"#,
    ),
    (
        "ask-nonsense",
        r#"if [ -z "${MCP_ASK_SOCKET-}" ]; then echo "$word cannot ask"; exit; fi
MCP_ASK_KEY=wrong "$MCPBASH_BIN" ask elicitation/create '{}' --timeout 1 >/dev/null 2>&1
"$MCPBASH_BIN" ask no/such '{}' --timeout 1 >/dev/null 2>&1
perl -MSocket -e '
	for my $text ("", "x", "$ENV{MCP_ASK_KEY}", "$ENV{MCP_ASK_KEY}\n{", "$ENV{MCP_ASK_KEY}\nnonsense\n", "x" x 100000, "\xff\n\xff\n") {
		socket(my $desk, PF_UNIX, SOCK_STREAM, 0) && connect($desk, sockaddr_un($ENV{MCP_ASK_SOCKET})) or next;
		syswrite($desk, $text);
		close($desk);
	}' 2>/dev/null
echo "$word talks nonsense"
"#,
    ),
];
