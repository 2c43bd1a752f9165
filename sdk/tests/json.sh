# shellcheck shell=bash disable=SC2154,SC2016 # sourced by run
sdk 'mcp_json_escape "a\"b\\c/d"'
check "escape: quotes and backslashes" '"a\"b\\c/d"'$'\n' "$out"
sdk 'mcp_json_escape ""'
check "escape: nothing" '""'$'\n' "$out"
sdk 'mcp_json_escape'
check "escape: no argument" '""'$'\n' "$out"
sdk 'mcp_json_escape $'"'\\001\\002\\003\\004\\005\\006\\a\\b\\t\\n\\v\\f\\r\\016\\017\\020\\033\\034\\035\\036\\037\\177'"
check "escape: every kind of control character" \
	'"\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f\u0010\u001b\u001c\u001d\u001e\u001f'$'\177''"'$'\n' "$out"
sdk 'for c in 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f; do
	printf -v char "%b" "\\x$c"
	printf "%s" "$(mcp_json_escape "<$char>")" | jq -ej --arg c "$c" "explode == [60, (\$c | explode | map(if . > 96 then . - 87 else . - 48 end) | .[0] * 16 + .[1]), 62]" || printf " %s" "$c"
done'
check "escape: jq reads each control character back" "truetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetruetrue" "$out"
sdk 'mcp_json_escape "é€😀 & \\& \$x * ? [a]"'
check "escape: beyond ASCII, and characters that mean something in bash" '"é€😀 & \\& $x * ? [a]"'$'\n' "$out"
sdk 'mcp_json_escape $'"'a\\377\\303b\\200\"'"
check "escape: bytes that are not UTF-8 stay" $'"a\377\303b\200\\""'$'\n' "$out"
sdk 't="{\"k\":\"väl\\n\"} "; while [ "${#t}" -lt 30000 ]; do t=$t$t; done
[ "$(mcp_json_escape "$t" | jq -j .)" = "$t" ] && echo same'
check "escape: long text" $'same\n' "$out"
sdk 't="x\"\\ "; while [ "${#t}" -lt 300000 ]; do t=$t$t; done
[ "$(mcp_json_escape "$t" | jq -j .; echo .)" = "$t." ] && echo same'
check "escape: text for the JSON tool" $'same\n' "$out"
sdk 'unset MCPBASH_JSON_TOOL_BIN; . "$MCP_SDK/tool-sdk.sh"; echo "$MCPBASH_JSON_TOOL_BIN"'
check "the JSON tool is jq by default" $'jq\n' "$out"

sdk 'mcp_json_obj a 1 "b c" "x\"y" "" ""'
check "obj" '{"a":"1","b c":"x\"y","":""}' "$out"
sdk 'mcp_json_obj'
check "obj: empty" '{}' "$out"
sdk 'mcp_json_obj a; echo on'
check "obj: odd number of arguments ends the script" "1:" "$status:$out"
check_match "obj: and says so" "*mcp_json_obj*got 1*" "$err"
sdk 'mcp_json_arr a "b \"c\"" "*"'
check "arr" '["a","b \"c\"","*"]' "$out"
sdk 'mcp_json_arr'
check "arr: empty" '[]' "$out"

sdk 'mcp_byte_length "é€😀a"; mcp_byte_length ""'
check "byte_length" $'10\n0\n' "$out"

says() {
	sdk "while IFS= read -r json; do if mcp_is_valid_json \"\$json\"; then echo yes; else echo no; fi; done <<\\END
$2
END"
	while IFS= read -r json && IFS= read -r answer <&3; do
		check "is_valid_json $json" "$1" "$answer"
	done <<<"$2" 3<<<"$out"
	check "is_valid_json: number of answers" "$(wc -l <<<"$2")" "$(printf %s "$out" | wc -l)"
}
says yes '{"a":1}
 [ 1 , -0.5e+3 ,true,null , "x\u00e9\n\"" ] 
false
null
0
-0
10.25E7
"x"
[]
{ }
[{},[[]],{"a":{"b":[]}}]'
says no '
   
{"a":1} {"b":2}
1 2
{"a":1,}
[1,]
[,1]
{,}
{"a"}
{"a":}
{a:1}
{1:2}
[1 2]
{"a":1]
[1}
[
{
"x
"\x"
"\u12g4"
01
1.
.5
1e
1e+
-
+1
tru
truefalse
nul
nan
hello
]'
sdk 'mcp_is_valid_json $'"'\"a\\tb\"'"
check "is_valid_json: a bare tab in a string" 1 "$status"
sdk 't="[0"; while [ "${#t}" -lt 6000 ]; do t="$t,\"abc\""; done; mcp_is_valid_json "$t]" && echo long; mcp_is_valid_json "$t" || echo open; mcp_is_valid_json "$t] 1" || echo two'
check "is_valid_json: long" $'long\nopen\ntwo\n' "$out"

sdk 'mcp_emit_json "{ \"a\" : [ 1, 2 ] }"; echo; mcp_emit_json "no json"; echo; mcp_emit_json "1.50"; echo; mcp_emit_text "a b\n"'
check "emit" $'{"a":[1,2]}\nno json\n1.50\na b\\n' "$out"

truncated() {
	sdk "mcp_json_truncate $1"
	check "truncate $1" "$2" "$out"
	check "truncate $1: status" 0 "$status"
}
truncated "'[1,2,3]' 1000" $'{"result":[1,2,3],"truncated":false}\n'
truncated "'[ 1, 2, 3, 4, 5 ]' 7" $'{"result":[1,2,3],"truncated":true,"kept":3,"total":5}\n'
truncated "'[\"é\",\"é\",\"é\"]' 11" $'{"result":["é","é"],"truncated":true,"kept":2,"total":3}\n'
truncated "'[\"xxxxxxxxxxxxxx\",1]' 10" $'{"result":[],"truncated":true,"kept":0,"total":2,"_warning":"individual items exceed max_bytes"}\n'
truncated "'{\"results\":[1,2,3,4,5,6,7],\"n\":1}' 25" $'{"result":{"results":[1,2,3],"n":1},"truncated":true,"kept":3,"total":7}\n'
truncated "'{\"data\":[1,2,3],\"n\":1}' --array-path .data 20" $'{"result":{"data":[1,2],"n":1},"truncated":true,"kept":2,"total":3}\n'
truncated "--array-path .a.b '{\"a\":{\"b\":[1,2]}}' 1000" $'{"result":{"a":{"b":[1,2]}},"truncated":false,"kept":2,"total":2}\n'
truncated "'{\"a\":[]}' 1 --array-path .a" $'{"result":{"a":[]},"truncated":false,"kept":0,"total":0}\n'
truncated "'{\"a\":1}' 10 --array-path .b" $'{"result":null,"truncated":false,"error":{"type":"path_not_found","message":"Path not found: .b"}}\n'
truncated "'{\"a\":1}' 10 --array-path .a" $'{"result":null,"truncated":false,"error":{"type":"invalid_array_path","message":"Path is not an array: .a"}}\n'
truncated "'{\"a\":1}' --array-path" $'{"result":null,"truncated":false,"error":{"type":"invalid_path_syntax","message":"--array-path requires a value"}}\n'
truncated "'{\"n\":\"xxxxxxxxxxxxxxxx\",\"a\":[1]}' 10 --array-path .a" \
	$'{"result":null,"truncated":false,"error":{"type":"output_too_large","message":"Response too large (31 bytes) even with empty array at .a"}}\n'
truncated "'{\"data\":\"xxxxxxxxxxxxxxxx\"}' 10" \
	$'{"result":null,"truncated":false,"error":{"type":"output_too_large","message":"Response too large (27 bytes) and cannot be safely truncated (not an array)"}}\n'
truncated "'{bad
json'" $'{"result":null,"truncated":false,"error":{"type":"invalid_json","message":"Invalid JSON: parse error","raw":"{bad\\njson"}}\n'
truncated "'1 2'" $'{"result":null,"truncated":false,"error":{"type":"invalid_json","message":"Multiple JSON values found (2): expected exactly one","raw":"1 2"}}\n'
truncated "''" $'{"result":null,"truncated":false,"error":{"type":"invalid_json","message":"Empty input: expected exactly one JSON value","raw":""}}\n'
for path in items '.[0]' '.a-b' '.a b' '.a.' '.a | halt' .é; do
	sdk "mcp_json_truncate '{\"items\":[1]}' 10 --array-path '$path'"
	check_match "truncate: path $path" '*"type":"invalid_path_syntax"*' "$out"
done
sdk "mcp_json_truncate '{\"a\":\"text\"}' 10 --array-path .a.b"
check_match "truncate: path through a text" '*"type":"invalid_path"*' "$out"
