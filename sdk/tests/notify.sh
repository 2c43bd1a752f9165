# shellcheck shell=bash disable=SC2154,SC2016 # sourced by run
progress() {
	sdk "MCP_PROGRESS_STREAM=stream MCP_PROGRESS_TOKEN='$1'; : >stream; mcp_progress $2; cat stream"
	line="{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{$3}}"$'\n'
	check "progress $1 $2" "${3:+$line}" "$out"
}
progress 7 '50 "half \"way\""' '"progressToken":7,"progress":50,"message":"half \"way\""'
progress tok '25 x 200' '"progressToken":"tok","progress":25,"message":"x","total":200'
progress 007 '150 x' '"progressToken":"007","progress":100,"message":"x"'
progress -1.5 '150 x 200' '"progressToken":-1.5,"progress":150,"message":"x","total":200'
progress t '12.7 x' '"progressToken":"t","progress":12,"message":"x"'
progress t '-3 x many' '"progressToken":"t","progress":0,"message":"x"'
progress t 'abc' '"progressToken":"t","progress":0,"message":""'
progress t '08 x 09' '"progressToken":"t","progress":8,"message":"x","total":9'
progress t '99999999999999999999 x' '"progressToken":"t","progress":100,"message":"x"'
progress '' '50 x' ''
sdk 'MCP_PROGRESS_TOKEN=7; mcp_progress 50 x; MCP_PROGRESS_STREAM=/nonexistent/a/b; mcp_progress 50 x; mcp_log_info a b; echo on'
check "no stream, or one that cannot be written: nothing happens" $'0:on\n:' "$status:$out:$err"

sdk 'MCP_LOG_STREAM=stream; : >stream; mcp_log info me "{ \"a\":
1 }"; mcp_log WARNING me "\"x\""; mcp_log_debug me "a \"b\""; mcp_log_info me i; mcp_log_warn me w; mcp_log_error me e; cat stream'
check "log" '{"level":"info","logger":"me","data":{"a":1}}
{"level":"warning","logger":"me","data":"x"}
{"level":"debug","logger":"me","data":"a \"b\""}
{"level":"info","logger":"me","data":"i"}
{"level":"warning","logger":"me","data":"w"}
{"level":"error","logger":"me","data":"e"}' "$(jq -c 'select(.jsonrpc == "2.0" and .method == "notifications/message") | .params' <<<"$out")"
check "log: one line each" 6 "$(printf %s "$out" | wc -l | tr -d ' ')"
sdk 'MCP_LOG_STREAM=stream; : >stream; mcp_log loud me 1; cat stream'
check "log: unknown level" info "$(jq -r .params.level <<<"$out")"
check_match "log: unknown level is told" "*loud*" "$err"

sdk 't="é\"\\
" u=é; while [ "${#t}" -lt 20000 ]; do t=$t$t u=$u$u; done
MCP_LOG_STREAM=stream MCP_PROGRESS_STREAM=stream MCP_PROGRESS_TOKEN=t; : >stream
mcp_log_info me "$t"; mcp_log info me "{\"a\":\"$u\"}"; mcp_log_info "$t" x; mcp_progress 1 "$t"; cat stream'
check "a long line stays whole in a pipe" "4 true" "$(awk '{ if (length($0) > 4095) long = 1 } END { print NR, long ? "false" : "true" }' < <(LC_ALL=C tr '\200-\377' '?' <<<"${out%$'\n'}"))"
check "a long line is JSON, and marked" '[true,true,false,true]' "$(jq -cs 'map(.params | (.message // .data) | endswith("bytes in all]"))' <<<"$out")"
check "a long line has no halves of characters" 0 "$(iconv -f utf-8 -t utf-8 <<<"$out" >/dev/null 2>&1; echo $?)"

sdk 'mkfifo pipe 2>/dev/null; MCP_LOG_STREAM=pipe MCP_PROGRESS_STREAM=pipe MCP_PROGRESS_TOKEN=1
for ((i = 0; i < 100; i++)); do mcp_progress $i x; mcp_log_info a "$(printf %3000s x)"; done; echo on; rm pipe'
check "a pipe that nobody reads holds nobody up" $'0:on\n' "$status:$out"
sdk 'mkfifo pipe; exec 3<>pipe; MCP_LOG_STREAM=pipe; mcp_log_info a b; mcp_log_info a c
IFS= read -r one <&3; IFS= read -r two <&3; printf "%s\n" "$one" "$two"; rm pipe'
check "a pipe is written to" $'b\nc' "$(jq -r .params.data <<<"$out")"

sdk 'mcp_is_cancelled && echo yes || echo no'
check "is_cancelled: no file" $'no\n' "$out"
: >"$work/cancel"
sdk 'mcp_is_cancelled || echo no; rm -f cancel; mcp_is_cancelled && echo yes || echo no'
check "is_cancelled: not our file" $'no\nno\n' "$out"
export MCP_CANCEL_FILE=$work/cancel
sdk 'mcp_is_cancelled && echo yes || echo no; : >"$MCP_CANCEL_FILE"; mcp_is_cancelled && echo yes || echo no; [ "$MCP_TOOL_CANCELLATION_FILE" = "$MCP_CANCEL_FILE" ] && echo same'
check "is_cancelled" $'no\nyes\nsame\n' "$out"
unset MCP_CANCEL_FILE
rm -f "$work/cancel"

sdk 'mcp_debug quiet; MCPBASH_DEBUG_LOG=debug; : >debug; mcp_debug a "b  c"; cat debug'
check_match "debug" '\[[0-9][0-9]:[0-9][0-9]:[0-9][0-9]\] a?b  c
' "$out"
