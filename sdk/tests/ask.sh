# shellcheck shell=bash disable=SC2154,SC2016 # sourced by run
export STUB_ANSWER='{"result":{"action":"accept","content":{"value":"x"}}}' STUB_STATUS=0 MCP_ELICIT_SUPPORTED=1
export MCP_ASK_SOCKET=/nonexistent/socket
asked() {
	: >"$STUB_LOG"
	sdk "$1"
	check "$1: prints" '0:{"action":"accept","content":{"value":"x"}}' "$status:$out"
	check "$1: asks" "ask elicitation/create $2${3:+ --timeout $3}" "$(paste -sd' ' "$STUB_LOG")"
}
asked 'mcp_elicit "Who \"are\" you?" "{\"type\":\"object\"}"' '{"mode":"form","message":"Who \"are\" you?","requestedSchema":{"type":"object"}}'
asked 'mcp_elicit m "{}" 5' '{"mode":"form","message":"m","requestedSchema":{}}' 5
asked 'mcp_elicit m https://x.example 5 url' '{"mode":"url","message":"m","url":"https://x.example"}' 5
asked 'mcp_elicit_url m "https://x.example/?a=\"b\""' '{"mode":"url","message":"m","url":"https://x.example/?a=\"b\""}'
asked 'mcp_elicit_string m' '{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"value":{"type":"string"}},"required":["value"]}}'
asked 'mcp_elicit_string m "a\"b"' '{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"a\"b":{"type":"string"}},"required":["a\"b"]}}'
asked 'mcp_elicit_confirm m' '{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"confirmed":{"type":"boolean"}},"required":["confirmed"]}}'
asked 'mcp_elicit_choice m a "b c"' '{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"choice":{"type":"string","enum":["a","b c"]}},"required":["choice"]}}'
asked 'mcp_elicit_titled_choice m "a:Title: one" b' '{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"choice":{"type":"string","oneOf":[{"const":"a","title":"Title: one"},{"const":"b","title":"b"}]}},"required":["choice"]}}'
asked 'mcp_elicit_multi_choice m a b' '{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"choices":{"type":"array","items":{"type":"string","enum":["a","b"]}}},"required":["choices"]}}'
asked 'mcp_elicit_titled_multi_choice m a:A' '{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"choices":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}},"required":["choices"]}}'
MCPBASH_ELICITATION_TIMEOUT=99 asked 'mcp_elicit_confirm m' '{"mode":"form","message":"m","requestedSchema":{"type":"object","properties":{"confirmed":{"type":"boolean"}},"required":["confirmed"]}}' 99

answered() {
	STUB_ANSWER=$1 STUB_STATUS=$2 sdk 'mcp_elicit_confirm m'
	check "elicit answered $1" "$3" "$status:$out"
}
answered '{"result":{"action":"decline"}}' 0 '0:{"action":"decline","content":null}'
answered '{"result":{"action":"cancel"}}' 0 '0:{"action":"cancel","content":null}'
answered '{"result":{"action":"accept"}}' 0 '0:{"action":"accept","content":null}'
answered '{"result":{"action":"accept","content":{"a":{"b":{}}}}}' 0 '0:{"action":"accept","content":{"a":{"b":{}}}}'
answered '{"error":{"code":-32001,"message":"timeout"}}' 1 '1:{"action":"error","content":null}'
check_match "elicit: the error is told" '*mcp_elicit*timeout*' "$err"
answered 'nonsense' 0 '1:{"action":"error","content":null}'
answered '' 1 '1:{"action":"error","content":null}'
sdk 'MCPBASH_BIN=/nonexistent/x; mcp_elicit_confirm m'
check "elicit: no program" '1:{"action":"error","content":null}' "$status:$out"
: >"$work/cancel"
MCP_CANCEL_FILE=$work/cancel answered '{"error":{"code":-32800,"message":"cancelled"}}' 1 '1:{"action":"cancel","content":null}'
rm -f "$work/cancel" "$STUB_LOG"
sdk 'MCP_ELICIT_SUPPORTED=0; mcp_elicit_choice m a b'
check "elicit: not supported" '1:{"action":"decline","content":null}' "$status:$out"
check "elicit: not supported, said" "mcp_elicit: Client does not support elicitation" "${err%%$'\n'*}"
sdk 'unset MCP_ELICIT_SUPPORTED; mcp_elicit_url m u'
check "elicit_url: not supported" '1:{"action":"decline","content":null}' "$status:$out"
check "elicit: nobody was asked" no "$([ -e "$STUB_LOG" ] && echo yes || echo no)"
sdk 'mcp_elicit_choice m'
check "elicit_choice: no options" '1:{"action":"error","content":null}' "$status:$out"
sdk 'answer=$(mcp_elicit_confirm m) || answer=none; echo "$answer"'
check "elicit: in a subshell" '{"action":"accept","content":{"value":"x"}}'$'\n' "$out"

STUB_ANSWER='{"result":{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}}'
sdk 'mcp_sample "Say \"hi\"" --system "Be kind" --max-tokens 50'
check "sample" '0:{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}' "$status:$out"
check "sample: asks" 'ask
sampling/createMessage
{"messages":[{"role":"user","content":{"type":"text","text":"Say \"hi\""}}],"systemPrompt":"Be kind","maxTokens":50}
--timeout
120' "$(cat "$STUB_LOG")"
sdk 'mcp_sample --timeout 7 x'
check "sample: defaults" '{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"maxTokens":1000} --timeout 7' "$(tail -n +3 "$STUB_LOG" | paste -sd' ' -)"
sdk 'mcp_sample "$(printf %40000s x)"'
check "sample: a long message goes through stdin" "- 40000" "$(sed -n 3p "$STUB_LOG") $(jq -r '.messages[0].content.text | length' "$STUB_LOG.stdin")"
STUB_ANSWER='{"error":{"code":-32601,"message":"no sampling"}}' STUB_STATUS=1 sdk 'mcp_sample x'
check "sample: refused" "1:" "$status:$out"
check_match "sample: refused, said" "*no sampling*" "$err"
MCP_ASK_SOCKET='' sdk 'mcp_sample x'
check "sample: nobody to ask" "1:" "$status:$out"
check_match "sample: nobody to ask, said" "*mcp_sample: no answer: this client cannot be asked*" "$err"
sdk 'mcp_sample'
check "sample: no message" "1:" "$status:$out"
sdk 'mcp_sample x --max-tokens none'
check "sample: bad number" "1:" "$status:$out"
STUB_ANSWER='{"result":{"a":{"result":{}},"b":{"error":{"code":1,"message":"m"}}}}'
sdk 'mcp_ask_all "{\"a\":{}}" 7'
check "ask_all" '0:{"a":{"result":{}},"b":{"error":{"code":1,"message":"m"}}}' "$status:$out"
check "ask_all: asks" 'ask all {"a":{}} --timeout 7' "$(paste -sd' ' "$STUB_LOG")"
STUB_ANSWER='{"error":{"code":-32603,"message":"no such thing"}}' STUB_STATUS=1 sdk 'mcp_ask_all "{}"'
check "ask_all: refused" "1:" "$status:$out"
check_match "ask_all: refused, said" "*mcp_ask_all: no answer: *no such thing*" "$err"
unset STUB_ANSWER STUB_STATUS MCP_ELICIT_SUPPORTED
unset MCP_ASK_SOCKET
