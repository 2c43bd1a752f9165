//! Hostile scripts: they do what no script should. A correct server answers their calls, and no other call is affected.
//!
//! Attacks that no server can prevent are not here: a script that runs as the same user can kill the server, or write
//! to its standard output through `/proc`. Nor do these scripts damage the files of other calls.

#[derive(Debug)]
pub(crate) struct Hostile {
    pub(crate) name: &'static str,
    /// It runs until it is cancelled or times out.
    pub(crate) waits: bool,
    pub(super) body: &'static str,
}

const fn quick(name: &'static str, body: &'static str) -> Hostile {
    Hostile { name, waits: false, body }
}

const fn waiting(name: &'static str, body: &'static str) -> Hostile {
    Hostile { name, waits: true, body }
}

#[rustfmt::skip]
pub(crate) const HOSTILE: &[Hostile] = &[
    // Processes that try to outlive their call.
    quick("leaves-children", "sleep 20 & sleep 21 &\necho \"$word leaves children\"\n"),
    quick("escapes-its-session", r#"setsid sleep 20 &
(setsid sh -c 'sleep 21' >/dev/null 2>&1 &)
echo "$word escapes"
"#),
    quick("escapes-and-talks", r#"(setsid sh -c '
	n=10
	while [ $n -lt 160 ]; do
		printf "{\"method\":\"notifications/progress\",\"params\":{\"progress\":$n,\"message\":\"$0 escaped\"}}\n" >>"$1" || exit
		printf "{\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"logger\":\"soak\",\"data\":\"$0 escaped\"}}\n" >>"$1"
		n=$((n + 1)); sleep 0.03
	done' "$word" "${MCP_PROGRESS_STREAM:-/dev/null}" >/dev/null 2>&1 &)
echo "$word talks behind our back"
"#),
    quick("forgets-its-environment", "env -i setsid sh -c \"sleep 20; : $word\" >/dev/null 2>&1 &\nsleep 0.02\necho \"$word forgets\"\n"),
    quick("fork-chain", r#"chain() { [ "$1" -gt 0 ] || exit 0; progress $((1000 - $1)); sleep 0.01; (chain $(($1 - 1)) &) }
chain 500 >/dev/null 2>&1
echo "$word forks on"
"#),
    quick("fork-chain-in-sessions", r#"exec 9>&1
link='[ "$1" -gt 0 ] || exit 0; sleep 0.01; setsid sh -c "$0" "$0" $(($1 - 1)) "$2" &'
(setsid sh -c "$link" "$link" 400 "$word" >/dev/null 2>&1 9>&- &)
sleep 0.03
echo "$word forks on"
"#),
    // Each process exits before it can be observed, and starts another, so they leave traces in a file.
    quick("fork-chain-at-full-speed", r#"chain='open F, ">>", shift; for (1..100000) { exit if fork; setsid; syswrite F, "x" }'
for n in 1 2; do perl -MPOSIX -e "$chain" "$MCPBASH_SOAK_TRACES/$word" >/dev/null 2>&1; done
echo "$word forks on"
"#),
    // The same without inherited state: environment, limits, group, session.
    quick("fork-chain-incognito", r#"chain='open F, ">>", shift; for (1..100000) { exit if fork; setsid; syswrite F, "x" }'
bash -c 'ulimit -x 123456; exec env -i perl -MPOSIX -e "$0" "$1"' "$chain" "$MCPBASH_SOAK_TRACES/$word" </dev/null >/dev/null 2>&1
echo "$word forks on"
"#),
    quick("leaves-zombies", "sh -c 'for n in 1 2 3 4 5; do sleep 0.01 & done; exec sleep 0.1'\necho \"$word leaves zombies\"\n"),
    quick("stops-a-child", "sleep 20 & kill -STOP $!\necho \"$word stops a child\"\n"),
    waiting("stops-itself", "kill -STOP $$\n"),
    waiting("ignores-term", "trap '' TERM INT HUP\n(trap '' TERM; sleep 20) &\nwhile :; do sleep 0.1; done\n"),
    waiting("sleeps", "sleep 20\n"),
    waiting("spins", "while :; do :; done\n"),
    quick("kills-itself", "echo \"$word dies\"\nkill -KILL $$\n"),
    quick("kills-its-group", "echo \"$word dies\" >&2\nkill -TERM 0\nsleep 20\n"),
    quick("crashes", "echo \"$word crashes\"\nkill -SEGV $$\n"),
    // Too much of everything.
    quick("floods-stdout", "yes \"$word\" | head -c 3000000\n"),
    quick("floods-stderr", "yes \"$word\" | head -c 3000000 >&2\necho \"$word floods\"\n"),
    waiting("floods-for-ever", "yes \"$word\" >&2\n"),
    quick("floods-progress", r#"n=1
while [ $n -le 400 ]; do progress $n; log $n; n=$((n + 1)); done
echo "$word talks a lot"
"#),
    quick("prints-nonsense", "printf '\\377\\376{\"content\":[%s' \"$word\"\n"),
    quick("prints-wrong-shapes", "printf '{\"content\":[1,{\"type\":\"image\"},{\"type\":5}],\"structuredContent\":\"%s\",\"isError\":\"no\"}' \"$word\"\n"),
    quick("prints-depth", "awk 'BEGIN { for (n = 0; n < 20000; n++) printf \"[\" }'\n"),
    // Garbage on the progress stream.
    quick("progress-garbage", r#"s=${MCP_PROGRESS_STREAM:-/dev/null}
printf 'nonsense\n{"method":1}\n[]\n\377\376\n\n{"method":"notifications/progress"}\n' >>"$s"
tell '{"method":"notifications/progress","params":{"progressToken":"t1","progress":1e999,"message":"x"}}'
tell "{\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"other\",\"progress\":2,\"message\":\"$word\"}}"
tell "{\"method\":\"notifications/tools/list_changed\",\"params\":{\"data\":\"$word\"}}"
tell "{\"id\":1,\"result\":{\"data\":\"$word\"}}"
echo "$word says nothing of use"
"#),
    quick("progress-half-a-line", r#"progress 1
[ -z "${MCP_PROGRESS_STREAM-}" ] || printf '{"method":"notifications/progress","params":{"progress":7,"message":"%s half' "$word" >>"$MCP_PROGRESS_STREAM"
echo "$word stops half-way"
"#),
    quick("progress-long-line", r#"progress 1
[ -z "${MCP_PROGRESS_STREAM-}" ] || head -c 200000 /dev/zero | tr '\0' x >>"$MCP_PROGRESS_STREAM"
progress 2
[ -z "${MCP_PROGRESS_STREAM-}" ] || head -c 70000 /dev/zero | tr '\0' x >>"$MCP_PROGRESS_STREAM"
echo "$word never comes to an end"
"#),
    quick("progress-held-open", r#"(setsid sh -c 'exec 9<>"$0"; sleep 20' "${MCP_PROGRESS_STREAM:-/dev/null}" >/dev/null 2>&1 &)
progress 1
echo "$word holds on"
"#),
    // Special files in place of regular ones.
    quick("stream-removed", "[ -z \"${MCP_PROGRESS_STREAM-}\" ] || rm -f \"$MCP_PROGRESS_STREAM\"\necho \"$word removes\"\n"),
    quick("stream-fifo", "[ -z \"${MCP_PROGRESS_STREAM-}\" ] || { rm -f \"$MCP_PROGRESS_STREAM\"; mkfifo \"$MCP_PROGRESS_STREAM\"; }\necho \"$word replaces\"\n"),
    quick("stream-link", "[ -z \"${MCP_PROGRESS_STREAM-}\" ] || ln -sf /dev/null \"$MCP_PROGRESS_STREAM\"\necho \"$word links\"\n"),
    quick("stream-folder", "[ -z \"${MCP_PROGRESS_STREAM-}\" ] || { rm -f \"$MCP_PROGRESS_STREAM\"; mkdir -p \"$MCP_PROGRESS_STREAM/x\"; }\necho \"$word makes a folder\"\n"),
    quick("error-fifo", "mkfifo \"$MCP_TOOL_ERROR_FILE\"\necho \"$word\" >&2\nexit 1\n"),
    quick("error-folder", "mkdir -p \"$MCP_TOOL_ERROR_FILE/x\"\necho \"$word\" >&2\nexit 1\n"),
    quick("error-link", "ln -s /dev/zero \"$MCP_TOOL_ERROR_FILE\"\necho \"$word\" >&2\nexit 1\n"),
    quick("error-nonsense", "printf '{\"code\":\"%s\"' \"$word\" >\"$MCP_TOOL_ERROR_FILE\"\necho \"$word\" >&2\nexit 1\n"),
    quick("error-though-well", "printf '{\"code\":-32001,\"message\":\"%s\"}' \"$word\" >\"$MCP_TOOL_ERROR_FILE\"\necho \"$word is well\"\n"),
    quick("resources-fifo", "mkfifo \"$MCP_TOOL_RESOURCES_FILE\"\necho \"$word\"\n"),
    quick("resources-folder", "mkdir -p \"$MCP_TOOL_RESOURCES_FILE/x\"\necho \"$word\"\n"),
    quick("resources-link", "ln -s /dev/zero \"$MCP_TOOL_RESOURCES_FILE\"\necho \"$word\"\n"),
    quick("resources-odd", r#"[ -p odd.fifo ] || mkfifo odd.fifo 2>/dev/null
printf '["/dev/zero","/etc/passwd","../..","odd.fifo","no-such-%s"]' "$word" >"$MCP_TOOL_RESOURCES_FILE"
echo "$word embeds oddly"
"#),
    waiting("cancel-fifo", "mkfifo \"$MCP_CANCEL_FILE\"\nsleep 20\n"),
    waiting("cancel-folder", "mkdir -p \"$MCP_CANCEL_FILE/x\"\nsleep 20\n"),
    waiting("cancel-link", "ln -s /dev/full \"$MCP_CANCEL_FILE\"\nsleep 20\n"),
    quick("question-fifo", r#"[ -z "${MCP_ELICIT_REQUEST_FILE-}" ] || { mkfifo "$MCP_ELICIT_REQUEST_FILE.x"; mv "$MCP_ELICIT_REQUEST_FILE.x" "$MCP_ELICIT_REQUEST_FILE"; sleep 0.05; }
echo "$word asks with a pipe"
"#),
    quick("question-folder", r#"[ -z "${MCP_ELICIT_REQUEST_FILE-}" ] || { mkdir -p "$MCP_ELICIT_REQUEST_FILE" "$MCP_ELICIT_RESPONSE_FILE/x"; sleep 0.05; }
echo "$word asks with a folder"
"#),
    quick("question-link", r#"[ -z "${MCP_ELICIT_REQUEST_FILE-}" ] || { ln -s /dev/zero "$MCP_ELICIT_REQUEST_FILE.x"; mv "$MCP_ELICIT_REQUEST_FILE.x" "$MCP_ELICIT_REQUEST_FILE"; sleep 0.05; }
echo "$word asks with a link"
"#),
    quick("leaves-files", r#"folder=$(dirname "$MCP_TOOL_ERROR_FILE")
mkdir -p "$folder/junk-$word/deep/deeper"
echo "$word" >"$folder/junk-$word/deep/file"
mkfifo "$folder/junk-$word/fifo"
ln -s "$MCPBASH_PROJECT_ROOT" "$folder/junk-$word/project"
echo "$word leaves files"
"#),
    // Descriptors.
    quick("closes-everything", "exec <&- >&- 2>&-\nsleep 0.02\n"),
    quick("reads-nothing", "exec <&-\necho \"$word reads nothing\"\n"),
    quick("writes-to-its-parent", "for n in 0 1 2; do echo \"$word was here\" >\"/proc/$PPID/fd/$n\"; done 2>/dev/null\necho \"$word writes to us\"\n"),
];
