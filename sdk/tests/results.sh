# shellcheck shell=bash disable=SC2154,SC2016 # sourced by run
sdk 'mcp_result_success "{ \"a\" : 1 }"'
check "success" '{"content":[{"type":"text","text":"{\"success\":true,\"result\":{\"a\":1}}"}],"structuredContent":{"success":true,"result":{"a":1}},"isError":false}'$'\n' "$out"
for value in false null 0 '""' '[]' '"é \" \\ \n"' '{"result":{"success":true}}' '[[[[1]]]]'; do
	sdk "mcp_result_success '$value'"
	check "success $value" "$(jq -cS --argjson v "$value" -n '{success: true, result: $v} | {content: [{type: "text", text: tojson}], structuredContent: ., isError: false}')" \
		"$(meaning "$out" | jq -cS '.content[0].text |= (fromjson | {success, result} | tojson)')"
	check "success $value: status" 0 "$status"
done
sdk 't="[0"; while [ "${#t}" -lt 6000 ]; do t="$t,\"äbc\""; done; mcp_result_success "$t]" | jq -c "[.isError, (.content[0].text | fromjson == {success: true, result: '"'"'$t]'"'"'})]" 2>/dev/null || mcp_result_success "$t]" | jq -c "[.isError, (.content[0].text | fromjson) == .structuredContent, (.structuredContent.result | length)]"'
check_match "success: long" '\[false,true,*' "$out"
sdk 'mcp_result_success "[1,2,3]" 10'
check "success: summary of an array" '"Success: array with 3 items"' "$(jq '.content[0].text' <<<"$out")"
sdk 'MCPBASH_MAX_TEXT_BYTES=10; mcp_result_success "{\"a\":1,\"b\":2}"'
check "success: summary of an object" '["Success: object with 2 keys",{"success":true,"result":{"a":1,"b":2}}]' "$(jq -c '[.content[0].text, .structuredContent]' <<<"$out")"
sdk 'mcp_result_success "\"text\"" 1'
check "success: summary of a text" '"Success: text"' "$(jq '.content[0].text' <<<"$out")"
sdk 'mcp_result_success "{\"a\":1}" many'
check "success: a limit that is no number" '"{\"success\":true,\"result\":{\"a\":1}}"' "$(jq '.content[0].text' <<<"$out")"
sdk 'mcp_result_success ""'
check "success: empty" '0:{"content":[{"type":"text","text":"Empty data passed to mcp_result_success"}],"structuredContent":{"success":false,"error":{"type":"internal_error","message":"Empty data passed to mcp_result_success"}},"isError":true}'$'\n' "$status:$out"
sdk 'mcp_result_success "{bad"'
check "success: not JSON" '[true,"internal_error","Invalid JSON passed to mcp_result_success"]' "$(jq -c '[.isError, .structuredContent.error.type, .content[0].text]' <<<"$out")"
check "success: not JSON: status" 0 "$status"
sdk 'mcp_result_success "1 2"'
check "success: two values" '{"content":[{"type":"text","text":"Error: input must be single JSON value"}],"structuredContent":{"success":false,"error":{"type":"internal_error","message":"Input contained multiple JSON values","count":2}},"isError":true}'$'\n' "$out"
sdk 'MCPBASH_JSON_TOOL_BIN=/nonexistent/jq; mcp_result_success "[1]"; mcp_error t m'
check_match "results need no JSON tool" '*"result":*"type":"t","message":"m"*' "$out"

sdk 'mcp_result_error "{ \"type\": \"not_found\", \"message\": \"no \\\"x\\\"\", \"id\": 7 }"'
check "error" '{"content":[{"type":"text","text":"no \"x\""}],"structuredContent":{"success":false,"error":{"type":"not_found","message":"no \"x\"","id":7}},"isError":true}'$'\n' "$out"
error() {
	sdk "mcp_result_error '$1'"
	check "result_error $1" "$2" "$(jq -cS '[.isError, .content[0].text, .structuredContent]' <<<"$out")"
	check "result_error $1: status" 0 "$status"
}
error '' '[true,"Unknown error (empty error object)",{"error":{"message":"Unknown error (empty error object)","type":"internal_error"},"success":false}]'
error '{"type":"x"}' '[true,"Unknown error",{"error":{"message":"Unknown error","type":"x"},"success":false}]'
error '{"message":"m"}' '[true,"m",{"error":{"message":"m","type":"internal_error"},"success":false}]'
error '{"message":{"a":1},"type":"t"}' '[true,"{\"a\":1}",{"error":{"message":{"a":1},"type":"t"},"success":false}]'
error '{"error":{"message":"inner","type":"t"}}' '[true,"Unknown error",{"error":{"error":{"message":"inner","type":"t"},"message":"Unknown error","type":"internal_error"},"success":false}]'
error '"text"' '[true,"Error payload must be an object",{"error":{"message":"Error payload must be an object","raw":"text","type":"internal_error"},"success":false}]'
error '{} {}' '[true,"Error payload must be single JSON value",{"error":{"message":"Error payload must be single JSON value","raw":"multiple values: 2","type":"internal_error"},"success":false}]'
error 'not "json"' '[true,"Invalid error JSON passed to mcp_result_error",{"error":{"message":"Invalid error JSON passed to mcp_result_error","raw":"not \"json\"","type":"internal_error"},"success":false}]'

sdk 'MCP_LOG_STREAM=log; : >log; mcp_error not_found "no such \"user\"" --hint "check the id" --data "{ \"id\": 1 }"; cat log'
check "mcp_error" '{"content":[{"type":"text","text":"no such \"user\". Hint: check the id"}],"structuredContent":{"success":false,"error":{"type":"not_found","message":"no such \"user\"","hint":"check the id","data":{"id":1}}},"isError":true}
{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","logger":"mcp_error","data":"type=not_found: no such \"user\""}}
{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"mcp_error","data":"type=not_found hint: no such \"user\""}}'$'\n' "$out"
sdk 'mcp_error t "Too late!" --hint "Try $(printf "%s" tomorrow)."'
check "mcp_error: a sentence and its hint" 'Too late! Hint: Try tomorrow.' "$(jq -r '.content[0].text' <<<"$out")"
sdk 'mcp_error; mcp_error t m --data "{bad" --unknown; mcp_error t m --data null'
check "mcp_error: defaults, bad data, no data" '{"message":"Unknown error","type":"internal_error"}
{"data":{"_invalid_json":"{bad"},"message":"m","type":"t"}
{"message":"m","type":"t"}' "$(jq -cS '.structuredContent.error' <<<"$out")"
check "mcp_error: status" 0 "$status"

sdk 'MCP_TOOL_ERROR_FILE=error; : >error; (mcp_fail -32001 "stop \"it\"" "{ \"a\": 1 }"); cat error'
check "fail" '{"code":-32001,"message":"stop \"it\"","data":{"a":1}}' "${out%%$'\n'*}"
sdk 'mcp_fail -32001 "stop" "{bad"; echo on'
check "fail: data that is not JSON" '1:{"code":-32001,"message":"stop","data":null}'$'\n' "$status:$out"
check "fail: stderr" stop "$err"
sdk 'mcp_fail "no such thing"'
check "fail: a message only" '{"code":-32603,"message":"no such thing","data":null}'$'\n' "$out"
sdk 'mcp_fail'
check "fail: nothing" '1:{"code":-32603,"message":"Tool failed","data":null}'$'\n' "$status:$out"
sdk 'MCP_TOOL_ERROR_FILE=/nonexistent/x/y; mcp_fail_invalid_args'
check "fail_invalid_args" '1:{"code":-32602,"message":"Invalid params","data":null}'$'\n' "$status:$out"
check "fail_invalid_args: stderr" 'Invalid params' "$err"

cli() {
	sdk "mcp_extract_cli_error '$1' '$2' '$3'"
	check "extract_cli_error $1" "$4" "$out"
}
cli '{"error":{"message":"m1"}}' e 3 m1
cli '{"error":"m2","message":"x"}' e 3 m2
cli '{"success":false,"message":"m3"}' e 3 m3
cli '{"ok":false,"message":"m4"}' e 3 m4
cli '{"status":"error","message":"m5"}' e 3 m5
cli '{"errors":[{"message":"m6"}]}' e 3 m6
cli '{"success":true,"message":"fine"}' e 3 e
cli '{"error":null}' '' 3 'CLI exited with code 3'
cli 'plain' 'e' 3 e
cli '[1]' '' 4 'CLI exited with code 4'
cli '{bad' 'e' 3 e
cli '' '' 127 'CLI exited with code 127'

export MCP_TOOL_RESOURCES_FILE=$work/resources
printf 'text\n' >"$work/a b.txt"
printf '{}' >"$work/tab	|.json"
ln -sf "a b.txt" "$work/link"
ln -sf nowhere "$work/broken"
sdk 'mcp_result_text_with_resource "{\"n\":1}" --path "$PWD/a b.txt" --path "$PWD/tab	|.json" --mime application/json --uri "x://y" --path link --path broken --path "" --path / --bad'
check "with_resource: result" '{"n":1}' "$(jq -c .structuredContent.result <<<"$out")"
check "with_resource: file" "[[\"$work/a b.txt\",null,null],[\"$work/tab\\t|.json\",\"application/json\",\"x://y\"],[\"link\",null,null]]" \
	"$(jq -c 'map([.path, .mimeType, .uri])' "$work/resources")"
sdk 'mcp_result_text_with_resource "just \"text\"" --path link --mime'
check "with_resource: text" '[false,"just \"text\""]' "$(jq -c '[.isError, .structuredContent.result]' <<<"$out")"
check "with_resource: replaces" 1 "$(jq length "$work/resources")"
sdk 't="{\"a\":\"$(printf %2000s x)\"}"; mcp_result_text_with_resource "$t"; mcp_result_text_with_resource "text $t"'
check "with_resource: long JSON, long text" $'object\nstring' "$(jq -r '.structuredContent.result | type' <<<"$out")"
rm "$work/resources"
sdk 'mcp_result_text_with_resource "{}"'
check "with_resource: none" "0:false:no" "$status:$(jq .isError <<<"$out"):$([ -e "$work/resources" ] && echo yes || echo no)"
sdk 'mcp_result_text_with_resource ""'
check "with_resource: no data" true "$(jq .isError <<<"$out")"
sdk 'unset MCP_TOOL_RESOURCES_FILE; MCP_LOG_STREAM=log; : >log; mcp_result_text_with_resource "{}" --path link >/dev/null; cat log'
check_match "with_resource: nowhere to write" '*"level":"warning"*MCP_TOOL_RESOURCES_FILE*' "$out"
unset MCP_TOOL_RESOURCES_FILE

# A failure that ends a script names its line. ($before, the SDK and $after are the first three lines.)
case $variant in
lenient) pipeline='' ;;
strict*) pipeline=trapped ;;
*)
	# Bash 3.2 knows the line only in a file.
	place='*: line 5'
	[ "$major" -ge 4 ] || place='*: line *'
	pipeline="$place: a command failed (exit 1; the parts of the pipeline ended with 0 1 0)"
	;;
esac
sdk 'f() {
printf x | grep y | cat; }
f'
check_match "failure: in a pipeline" "$pipeline" "$err"
# In bash 3.2 the ERR trap of a script is run in the subshell too.
sdk 'if false; then :; fi; false || :; x=$(false) || :; exit 3'
[ "$major" -ge 4 ] || err=${err#trapped}
check "failure: on purpose" "3:" "$status:$err"
