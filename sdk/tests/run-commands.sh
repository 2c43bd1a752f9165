# shellcheck shell=bash disable=SC2154,SC2016 # sourced by run
sdk 'try() { n=$(($(cat n) + 1)); echo $n >n; [ $n -ge 3 ] || return 7; echo done; }
echo 0 >n; mcp_with_retry 5 0.01 -- try; cat n'
check "retry: until it works" $'0:done\n3\n' "$status:$out"
sdk 'try() { echo x; return 7; }; mcp_with_retry 3 0.01 try || echo "status $?"'
check "retry: up to the limit" $'x\nx\nx\nstatus 7\n' "$out"
for code in 1 2; do
	sdk "try() { echo x; return $code; }; mcp_with_retry 3 1 -- try || echo \"status \$?\""
	check "retry: not after exit $code" $'x\n'"status $code"$'\n' "$out"
done
sdk 'mcp_with_retry x 1 -- true || echo "status $?"; mcp_with_retry 1 x -- true || echo "status $?"; mcp_with_retry 1 1. -- echo fine; mcp_with_retry 0 1 -- echo once'
check "retry: wrong numbers" $'status 1\nstatus 1\nfine\nonce\n' "$out"
check "retry: wrong numbers, said" $'mcp_with_retry: max_attempts must be a positive integer\nmcp_with_retry: base_delay must be a number' "$(grep -v trapped <<<"$err")"
sdk 'attempt=mine delay=mine status=mine; show() { echo "$attempt $delay $status"; attempt=theirs; }; mcp_with_retry 1 1 -- show; echo $attempt'
check "retry: a function sees the variables of its script" $'mine mine mine\ntheirs\n' "$out"
sdk 'try() { return 7; }; SECONDS=0; mcp_with_retry 2 1 -- try || [ "$SECONDS" -ge 1 ] && echo waited'
check "retry: waits" $'waited\n' "$out"
sdk 'try() { return 7; }; sleep() { echo slept; }; ulimit -n 39; mcp_with_retry 2 1 -- try || echo "status $?"'
check "retry: waits where a descriptor cannot be had" $'slept\nstatus 7\n' "$out"

mkdir -p "$work/tmp"
export TMPDIR=$work/tmp
cat >"$work/lines" <<'SCRIPT'
echo '{"progress":10,"message":"one \"x\" C:\\y"}' >&2
echo "plain 1" >&2
echo '{"progress":"60.9"}' >&2
echo '{"progress":"bad"}' >&2
echo '{"type":"note"}' >&2
echo '{broken' >&2
printf '{"progress":100,"message":"end"}' >&2
echo "result"
exit "${1:-0}"
SCRIPT
sdk 'mcp_run_with_progress --pattern "^\{" --dry-run --quiet --stderr-file rest -- bash lines 3 || echo "status $?"; cat rest'
check "run: stdout, exit code and the rest" $'result\nstatus 3\nplain 1\n' "$out"
check "run: progress" '{"progress":10,"message":"one \"x\" C:\\y"}
{"progress":60,"message":"Working..."}
{"progress":100,"message":"end"}' "$(grep -v trapped <<<"$err")"
progress_of() {
	sdk "say() { printf '%s\n' '$1' >&2; }; mcp_run_with_progress --pattern . --dry-run --quiet -- say"
	check "run: progress of $1" "$2" "$err"
}
progress_of ' { "message" : "caf\u00e9 \"[", "data": {"progress": 1, "message": "no"}, "progress" : 7 } ' '{"progress":7,"message":"caf\u00e9 \"["}'
progress_of '{"progress":7,"message":12}' '{"progress":7,"message":"12"}'
progress_of '{"progress":7,"message":null}' '{"progress":7,"message":"Working..."}'
progress_of '{"progress":7,"message":""}' '{"progress":7,"message":""}'
progress_of '{"data":{"progress":7}}' ''
progress_of '{"progress":-7}' ''
progress_of '[{"progress":7}]' ''
sdk 'MCP_PROGRESS_STREAM=stream MCP_PROGRESS_TOKEN=t; : >stream; printf -v long %5000s é; say() { echo "{\"progress\":7,\"message\":\"\\\"$long\"}" >&2; }; mcp_run_with_progress --pattern . -- say; jq -r ".params.message[-13:]" stream'
check "run: a long message is cut" $'bytes in all]\n' "$out"
sdk 'MCP_PROGRESS_STREAM=stream MCP_PROGRESS_TOKEN=t MCP_LOG_STREAM=log; : >stream; : >log; mcp_run_with_progress --pattern "^\{" --stdout result -- bash lines; cat result; jq -r .params.progress stream; jq -r .params.data log'
check "run: sends, and logs other lines" $'result\n10\n60\n100\nsubprocess output: plain 1\n' "$out"
sdk 'mcp_run_with_progress --pattern "([0-9.]+)%" --extract match1 --dry-run --quiet -- bash -c "echo at 08.5% >&2; echo no >&2; echo at 100% >&2"'
check "run: match1" '{"progress":8,"message":"at 08.5%"}
{"progress":100,"message":"at 100%"}' "$err"
sdk 'mcp_run_with_progress --pattern "n=([0-9]*)" --extract match1 --total 50 --dry-run --quiet -- bash -c "echo n=10 >&2; echo n= >&2"'
check "run: match1 of a total" '{"progress":10,"total":50,"message":"n=10"}' "$err"
sdk 'MCP_PROGRESS_STREAM=stream MCP_PROGRESS_TOKEN=t; : >stream; mcp_run_with_progress --pattern "n=([0-9]*)" --extract match1 --total 250 --quiet -- bash -c "echo n=120 >&2; echo n=300 >&2"; jq -c "[.params.progress, .params.total]" stream'
check "run: the total is sent, and nothing exceeds it" $'[120,250]\n[250,250]\n' "$out"
sdk 'mcp_run_with_progress --pattern "([0-9]+)/([0-9]+)" --extract ratio --total 7 --dry-run --quiet -- bash -c "echo 1/4 >&2"'
check "run: a ratio has a total of its own" '{"progress":25,"message":"1/4"}' "$err"
sdk 'mcp_run_with_progress --from stdout --pattern "^n=([0-9]*)" --extract match1 --dry-run -- bash -c "echo first; echo n=10; echo aside >&2; printf last"'
check "run: progress from stdout" $'first\nlast\n' "$out"
check_match "run: stderr stays stderr" '*aside*' "$err"
check_match "run: progress from stdout is reported" '*{"progress":10,"message":"n=10"}*' "$err"
sdk 'mcp_run_with_progress --from stdout --stdout result --pattern "^n=([0-9]*)" --extract match1 --dry-run -- bash -c "echo n=1; echo rest; exit 3" || echo "status $?"; cat result'
check "run: the rest of stdout goes to its file" $'status 3\nrest\n' "$out"
sdk 'mcp_run_with_progress --pattern "\[([0-9]+)/([0-9]+)\]" --extract ratio --dry-run --quiet -- bash -c "echo [1/4] >&2; echo [1/0] >&2; echo [4/4] >&2"'
check "run: ratio" '{"progress":25,"message":"[1/4]"}
{"progress":100,"message":"[4/4]"}' "$err"
sdk 'echo old >pf; mcp_run_with_progress --progress-file pf --pattern "^t=([0-9]+)" --extract match1 --total 200 --dry-run --quiet -- bash -c "printf t=5 >>pf; sleep 0.1; echo 0 >>pf; echo noise >&2; echo t=200 >>pf"'
check "run: a progress file, and a line that comes in two pieces" '{"progress":50,"total":200,"message":"t=50"}
{"progress":200,"total":200,"message":"t=200"}' "$err"
sdk 'mkfifo pipe; exec 3<>pipe; MCP_PROGRESS_STREAM=pipe; mcp_run_with_progress --pattern alive --extract match1 --quiet -- bash -c "echo alive >&2"; IFS= read -r -t 5 line <&3 && echo "sign: $line"; rm pipe'
check "run: a sign of life without progress" $'sign: \n' "$out"
sdk 'MCP_TOOL_CANCELLATION_FILE=$PWD/cancel; : >cancel; mcp_run_with_progress --pattern x -- sleep 60 || echo "status $?"; rm cancel'
check "run: cancelled" $'status 130\n' "$out"
sdk 'MCP_TOOL_CANCELLATION_FILE=$PWD/cancel; silent() { : >cancel; exec sleep 60; }; mcp_run_with_progress --pattern x -- silent || echo "status $?"; rm cancel'
check "run: cancelled while it says nothing" $'status 130\n' "$out"
sdk 'mcp_run_with_progress --pattern x --quiet -- bash -c "sleep 60 >/dev/null 2>&1 & echo started"'
check "run: does not wait for what stays in the background" $'started\n' "$out"
sdk 'mcp_run_with_progress --pattern x --quiet -- bash -c "{ sleep 0.1; echo late >&2 && echo well >late; } >/dev/null &"; sleep 0.3; cat late'
check "run: what stays in the background can still write" $'well\n' "$out"
sdk 'exec 3>&1; set -C; mcp_run_with_progress --pattern x --quiet -- bash -c "echo fine >&3"; case $- in *C*) echo kept ;; esac'
check "run: descriptors and options of the script" $'fine\nkept\n' "$out"
sdk 'MCP_TOOL_ERROR_FILE=$PWD/tmp/error; mcp_run_with_progress --pattern x --quiet -- ls tmp'
check_match "run: its file is beside those of the call" 'error.*' "$out"
sdk 'MCP_TOOL_ERROR_FILE=/nonexistent/error; mcp_run_with_progress --pattern x -- true || echo "status $?"'
check_match "run: no place for its file" $'status 1\n*cannot make the file /nonexistent/error.*' "$out$err"
sdk 'mcp_run_with_progress --pattern x --stderr-file /nonexistent/y --quiet -- echo fine'
check "run: a stderr file that cannot be written" $'0:fine\n' "$status:$out"
sdk 'trap "echo mine" EXIT; mcp_run_with_progress --pattern x --quiet -- true'
check "run: leaves the traps of the script alone" $'mine\n' "$out"
wrong() {
	sdk "mcp_run_with_progress $1 -- echo ran || echo \"status \$?\""
	check "run $1" "status 1|mcp_run_with_progress: $2" "${out%$'\n'}|$(grep -v trapped <<<"$err")"
}
wrong '' '--pattern is required'
wrong '--pattern "["' '--pattern is not a regular expression'
wrong '--pattern x --extract y' "unknown extract mode 'y'"
wrong '--pattern x --total 0' '--total must be positive integer'
wrong '--pattern x --total abc' '--total must be positive integer'
wrong '--pattern x --from nowhere' "unknown source 'nowhere', --from takes stderr or stdout"
wrong '--pattern x --from stdout --progress-file pf' '--from stdout excludes --progress-file and --stderr-file'
wrong '--pattern x --interval 0' '--interval must be a positive number'
wrong '--pattern x --interval 0.0' '--interval must be a positive number'
check "run: no file stays" "" "$(ls -A "$TMPDIR")"
unset TMPDIR
