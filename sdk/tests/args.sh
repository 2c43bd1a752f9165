# shellcheck shell=bash disable=SC2154,SC2016 # sourced by run
export MCP_TOOL_ARGS_JSON='{"name":"a \"b\" é","n":5,"neg":-3,"pi":3.14,"yes":true,"one":1,"no":false,"nil":null,"empty":"","list":["x","y"],"big":99999999999999999999}'
export MCP_TOOL_META_JSON='{"progressToken":7,"who":"me"}'
sdk 'mcp_args_raw'
check "args_raw" "$MCP_TOOL_ARGS_JSON" "$out"
sdk 'unset MCP_TOOL_ARGS_JSON; mcp_args_raw'
check "args_raw: none" '{}' "$out"
sdk 'printf "{\"f\":1}\n" >args; MCP_TOOL_ARGS_FILE=args; mcp_args_raw; mcp_args_get .f; rm args'
check "args: from a file" $'{"f":1}\n1' "$out"
sdk 'MCP_TOOL_ARGS_FILE=/nonexistent mcp_args_get .n'
check "args: a missing file is not read" 5 "$out"
sdk 'mcp_args_get .name; echo; mcp_args_get ".list[]"; echo; mcp_args_get .list; echo; mcp_args_get ".missing // \"World\""; echo; mcp_args_get .missing'
check "args_get" $'a "b" é\nx\ny\n["x","y"]\nWorld\nnull' "$out"
sdk 'mcp_args_get ".name[" || echo "failed"'
check "args_get: bad filter" $'failed\n' "$out"
check_match "args_get: says which" '*mcp_args_get*.name\[*' "$err"
sdk 'MCP_TOOL_ARGS_JSON="{bad" mcp_args_get .a || echo failed'
check "args_get: bad arguments" $'failed\n' "$out"
sdk 'mcp_meta_raw; echo; mcp_meta_get .who'
check "meta" "$MCP_TOOL_META_JSON"$'\nme\n' "$out"
sdk 'mcp_meta_get empty; mcp_meta_get ".who, .who"'
check "meta: as many lines as values" $'me\nme\n' "$out"
sdk 'MCP_TOOL_META_JSON="" mcp_meta_raw; mcp_meta_get .missing'
check "meta: none" $'{}null\n' "$out"
sdk 'MCPBASH_JSON_TOOL_BIN=/nonexistent/jq; mcp_args_get ".n + 1" || echo "failed"'
check "args_get: no JSON tool" $'failed\n' "$out"

# Plain members are found without jq, and must equal the result of jq.
documents=(
	'{"a":"x","b":{"a":"inner"},"c":[{"a":1}],"n":-3}' ' { "b" : { "a" : 1 } , "a" : "last" , "a" : "wins" } '
	'{"a":true}' '{"a":false}' '{"a":null}' '{"a":0}' '{"a":-0}' '{"a":12345678901234567890}' '{"a":1.50}' '{"a":1e3}'
	'{"a":{}}' '{"a":[]}' '{"a":{"a":1}}' '{"a":""}' '{"a":"é ☃ "}' '{"a":"\u0041\n"}' '{"\u0061":"x"}' '{"aa":"x"}' '{}' '[]'
	'{"a":"null"}' '{"a":"false"}' '{"a":"0"}'
	'"a"' '[{"a":1}]' '{"a":1' '{"a":1}}' '{"a":1} {"a":2}' 'null' '{"x":"a","a":" y: "}' '{"b":"a","\"a":1}'
)
for document in "${documents[@]}"; do
	expected=$(jq -rc .a <<<"$document" 2>/dev/null) || expected=failed
	MCP_TOOL_ARGS_JSON=$document sdk 'mcp_args_get .a || printf failed'
	check "args_get: .a of $document" "$expected" "$out"
done
sdk 'MCPBASH_JSON_TOOL_BIN=/nonexistent/jq; MCP_TOOL_ARGS_JSON={\"a\":\"x\",\"n\":7}; mcp_args_get .a; mcp_args_get .n; mcp_args_get .none'
check "args_get: plain members need no JSON tool" x7null "$out"

sdk 'mcp_args_require .name; echo; mcp_args_require .no'
check "args_require" $'a "b" é\nfalse' "$out"
export MCP_TOOL_ERROR_FILE=$work/error
for pointer in .missing .nil .empty '.['; do
	: >"$work/error"
	sdk "mcp_args_require '$pointer'; echo on"
	check "args_require $pointer" "1:{\"code\":-32602,\"message\":\"$pointer is required\",\"data\":null}"$'\n' "$status:$out"
	check "args_require $pointer: error file" "{\"code\":-32602,\"message\":\"$pointer is required\",\"data\":null}" "$(cat "$work/error")"
	check "args_require $pointer: message" "$pointer is required" "$err"
done
# The text "null" is a text in both readers: bash, or jq if there is an escape or a file.
for document in '{"a":"null","zero":0,"text":"false","nil":null}' '{"a":"null","zero":0,"text":"false","nil":null,"esc":"\n"}'; do
	for place in inline file; do
		given=$document
		MCP_TOOL_ARGS_FILE=''
		if [ "$place" = file ]; then
			printf '%s' "$document" >"$work/args"
			given='' MCP_TOOL_ARGS_FILE=$work/args
		fi
		export MCP_TOOL_ARGS_FILE
		MCP_TOOL_ARGS_JSON=$given sdk 'mcp_args_require .a; mcp_args_require ".a # as it is"; mcp_args_require .zero; mcp_args_require .text; mcp_args_get .a
mcp_args_bool .a --default true; mcp_args_bool .text; mcp_args_bool .nil --default true; mcp_args_int .zero --default 5; mcp_args_int .nil --default 5'
		check "args: null as a text, $place" nullnull0falsenullfalsefalsetrue05 "$out"
		MCP_TOOL_ARGS_JSON=$given sdk 'mcp_args_int .a --default 5'
		check_match "args_int: null as a text, $place" '1:*".a must be an integer"*' "$status:$out"
		for pointer in .nil .missing '.nil # no'; do
			MCP_TOOL_ARGS_JSON=$given sdk "mcp_args_require '$pointer'"
			check_match "args_require: $pointer, $place" '1:*is required"*' "$status:$out"
		done
		MCP_TOOL_ARGS_JSON=$given sdk 'mcp_args_require ".nil, .zero, .nil"'
		check "args_require: nulls among others, $place" $'null\n0\nnull' "$out"
	done
done
unset MCP_TOOL_ARGS_FILE
sdk 'mcp_args_require .missing "tell me"'
check "args_require: own words" $'{"code":-32602,"message":"tell me","data":null}\n' "$out"
sdk 'value=$(mcp_args_require .missing); echo "on with $value"'
case $variant in
lenient) check "args_require in a subshell, lenient" 0 "$status" ;;
*) check "args_require in a subshell ends the script" "1:" "$status:$out" ;;
esac

sdk 'for p in .yes .one .no .name .n; do mcp_args_bool $p; printf " "; done'
check "args_bool" "true true false false false " "$out"
sdk 'mcp_args_bool .missing --default true; mcp_args_bool .missing --default 1; mcp_args_bool .missing --default no; mcp_args_bool .no --default true'
check "args_bool: default" truetruefalsefalse "$out"
sdk 'mcp_args_bool .missing; echo on'
check_match "args_bool: missing" '1:*".missing is required"*' "$status:$out"

sdk 'mcp_args_int .n --min 1 --max 10; mcp_args_int .neg --min -5 --max 0; mcp_args_int .missing --default 7; mcp_args_int .n --default 9'
check "args_int" 5-375 "$out"
refused() {
	sdk "mcp_args_int $1; echo on"
	check_match "args_int $1" "1:*\"message\":\"$2\"*" "$status:$out"
}
refused ".pi" ".pi must be an integer"
refused ".name" ".name must be an integer"
refused ".missing" ".missing is required"
refused ".n --min 6" ".n must be >= 6"
refused ".n --max 4" ".n must be <= 4"
refused ".n --min 6 --max 4" "mcp_args_int: --min cannot exceed --max"
refused ".missing --default x" ".missing must be an integer"
refused ".big --max 10" ".big must be *"

sdk 'exec 7>trace; BASH_XTRACEFD=7; PS4="+ "; exec 2>&7; set -x
mcp_args_raw >/dev/null; mcp_args_get .name >/dev/null; mcp_args_require .name >/dev/null; mcp_meta_raw >/dev/null; mcp_meta_get .who >/dev/null
set +x; exec 2>/dev/null
grep -c "a .b. é\|\"who\":\"me\"" trace || :; grep -q "mcp_args_get .name" trace && echo traced'
check "a trace does not show arguments" $'0\ntraced\n' "$out"
unset MCP_TOOL_ARGS_JSON MCP_TOOL_META_JSON MCP_TOOL_ERROR_FILE
