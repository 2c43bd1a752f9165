# shellcheck shell=bash disable=SC2154,SC2016 # sourced by run
export STUB_ANSWER='{"success":true,"bytes":3,"path":"/tmp/x \"y\""}' STUB_STATUS=0
sdk 'mcp_download_safe --url https://x.example/a --out "/tmp/x \"y\"" --allow x.example --allow y.example --deny z.example --max-bytes 10 --timeout 60 --user-agent "me 1" --retry 3 --retry-delay .5'
check "download" "0:$STUB_ANSWER" "$status:$out"
check "download: command" 'download
https://x.example/a
--out
/tmp/x "y"
--retry
3
--retry-delay
.5
--allow-host
x.example
--allow-host
y.example
--deny-host
z.example
--user-agent
me 1
--max-bytes
10
--timeout
60' "$(cat "$STUB_LOG")"
sdk 'mcp_download_safe --url https://x.example/a --out o'
check "download: defaults" 'download https://x.example/a --out o --retry 1 --retry-delay 1.0' "$(paste -sd' ' - <"$STUB_LOG")"
sdk 'mcp_download_safe_or_fail --url https://x.example/a --out "/tmp/x \"y\""'
check "download_or_fail" '0:/tmp/x "y"' "$status:$out"
rm -f "$STUB_LOG"
refuse() {
	sdk "mcp_download_safe $1"
	check "download $1" "0:{\"success\":false,\"error\":{\"type\":\"$2\",\"message\":\"$3\"}}" "$status:$out"
}
refuse '--out x' invalid_url '--url is required'
refuse '--url "" --out x' invalid_url '--url is required'
refuse '--url https://x' invalid_params '--out is required'
refuse '--url http://x --out y' invalid_url 'URL must use https://'
refuse '--alow x' invalid_params 'Unknown option: --alow'
refuse '"a\"b"' invalid_params 'Unexpected argument: a\"b'
refuse '--url' invalid_params '--url requires a value'
refuse '--url https://x --out y --max-bytes 1k' invalid_params '--max-bytes must be a positive integer'
refuse '--url https://x --out y --timeout x' invalid_params '--timeout must be a positive integer'
refuse '--url https://x --out y --timeout 61' invalid_params '--timeout cannot exceed 60 seconds'
refuse '--url https://x --out y --retry 0' invalid_params '--retry must be a positive integer'
refuse '--url https://x --out y --retry x' invalid_params '--retry must be a positive integer'
refuse '--url https://x --out y --retry-delay x' invalid_params '--retry-delay must be a number (e.g., 0.5, 1, 2.0)'
check "download: nothing was started for those" no "$([ -e "$STUB_LOG" ] && echo yes || echo no)"
STUB_ANSWER='{"success":false,"error":{"type":"redirect","location":"https://y","message":"it \"moved\" to \\ \/"}}' STUB_STATUS=1
sdk 'mcp_download_safe --url https://x --out y'
check "download: an error" "0:$STUB_ANSWER" "$status:$out"
sdk 'mcp_download_safe_or_fail --url https://x --out y; echo on'
check "download_or_fail: an error" '1:{"code":-32602,"message":"Download failed (redirect): it \"moved\" to \\ /","data":null}'$'\n' "$status:$out"
sdk 'mcp_download_safe_or_fail --url ftp://x --out y'
check "download_or_fail: refused" '{"code":-32602,"message":"Download failed (invalid_url): URL must use https://","data":null}'$'\n' "$out"
sdk 'MCPBASH_BIN=/nonexistent/x; mcp_download_safe --url https://x --out y'
check_match "download: no program" '0:{"success":false,"error":{"type":"provider_unavailable",*' "$status:$out"
unset STUB_ANSWER STUB_STATUS
