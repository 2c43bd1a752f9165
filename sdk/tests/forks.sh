# shellcheck shell=bash disable=SC2154,SC2016 # sourced by run
# No function starts more than one process, not counting the command that it runs. strace counts them if it
# can be used; otherwise only programs are counted. Shell options make no difference.
[ "$variant" = "as sourced" ] || return 0

mkdir -p "$work/programs"
if strace -o /dev/null true 2>/dev/null; then
	cat >"$work/counted" <<-SCRIPT
		#!/usr/bin/env bash
		exec strace -fqq -e trace='?clone,?clone3,?fork,?vfork' -e signal=none -o '$work/started' '$bash_under_test' "\$@"
	SCRIPT
else
	for program in date jq mktemp readlink realpath rm sleep; do
		if path=$(command -v "$program"); then
			printf '#!/bin/sh\necho "= 1" >>"%s"\nexec "%s" "$@"\n' "$work/started" "$path" >"$work/programs/$program"
		fi
	done
	chmod +x "$work/programs"/*
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$bash_under_test" >"$work/counted"
fi
chmod +x "$work/counted"

# started CALL: sets the number of processes that it started
started() {
	: >"$work/started"
	PATH=$work/programs:$PATH bash_under_test=$work/counted sdk "$1"
	started=$(grep -v CLONE_THREAD "$work/started" | grep -c ' = [0-9]\|^= ')
}

mkdir -p "$work/folder"
ln -sfn folder "$work/shortcut"
export MCP_TOOL_ARGS_JSON='{"a":1,"b":true,"path":"'$work/shortcut/x'"}' MCP_TOOL_META_JSON='{"m":1}'
export MCP_ROOTS_PATHS=$work/shortcut/y$'\n'$work/shortcut MCP_ROOTS_COUNT=2
export MCP_LOG_STREAM=$work/stream MCP_PROGRESS_STREAM=$work/stream MCP_PROGRESS_TOKEN=1 MCPBASH_DEBUG_LOG=$work/debug
printf -v LONG_JSON '[%2000d]' 1
export LONG_JSON MCP_ELICIT_SUPPORTED=1 STUB_ANSWER='{"result":{"action":"decline"}}'
called=''
while IFS= read -r call; do
	started "$call"
	check_match "forks: $call" '[01]' "$started"
	called+="${call%% *}"$'\n'
done <<'CALLS'
mcp_args_raw
mcp_args_get .a
mcp_args_require .a
mcp_args_bool .b
mcp_args_int .a --min 0
mcp_meta_raw
mcp_meta_get .m
mcp_json_escape $'\e[1m"x"\n'
mcp_json_obj a 1 b 2
mcp_json_arr a b c
mcp_json_truncate '[1,2,3]' 5
mcp_is_valid_json '{"a":[1,2,{}]}'
mcp_byte_length abc
mcp_emit_text abc
mcp_emit_json '[ 1 ]'
mcp_result_success '{"a":1}'
mcp_result_success "$LONG_JSON"
mcp_result_error '{"type":"t","message":"m"}'
mcp_result_error '{"no":"type"}'
mcp_error t m --hint h --data '{"a":1}'
mcp_result_text_with_resource text --path folder
mcp_fail -32000 m '{"a":1}'
mcp_fail_invalid_args m
mcp_extract_cli_error '{"error":"e"}' '' 1
mcp_progress 50 half
mcp_is_cancelled
mcp_log info me '{"a":1}'
mcp_log_debug me x
mcp_log_info me x
mcp_log_warn me x
mcp_log_error me x
mcp_debug x
mcp_with_retry 4 0.001 -- eval 'three() { return 3; }; three'
mcp_elicit m '{}'
mcp_elicit_url m https://example.org
mcp_elicit_string m
mcp_elicit_confirm m
mcp_elicit_choice m a b
mcp_elicit_titled_choice m a:A b:B
mcp_elicit_multi_choice m a b
mcp_elicit_titled_multi_choice m a:A b:B
mcp_sample m
mcp_ask_all '{}'
mcp_roots_list
mcp_roots_count
mcp_roots_contains shortcut/x
mcp_require_path .path
mcp_path_normalize shortcut/x
mcp_path_collapse ./a/../b
mcp_config_load --defaults "$LONG_JSON" --env MCP_TOOL_ARGS_JSON
mcp_config_load --defaults "$LONG_JSON"
mcp_config_get .a --default 1
mcp_download_safe --url https://example.org --out x
mcp_download_safe_or_fail --url https://example.org --out x
CALLS
tick='tick() { for i in 1 2 3; do echo "{\"progress\":$i}" >&2; _mcp_sleep 250; done; };'
for options in '' '--quiet --interval 0.01' "--stdout out --progress-file lines --extract match1"; do
	started "$tick mcp_run_with_progress --pattern '\"progress\":(.)' $options -- tick"
	check_match "forks: mcp_run_with_progress $options" '[012]' "$started"
done
called+=mcp_run_with_progress
check "forks: every function was called" "" \
	"$(comm -23 <(grep -oE '^mcp_[a-z_0-9]+' "$MCP_SDK/tool-sdk.sh" | sort -u) <(sort -u <<<"$called"))"
unset MCP_TOOL_ARGS_JSON MCP_TOOL_META_JSON MCP_ROOTS_PATHS MCP_ROOTS_COUNT MCP_LOG_STREAM MCP_PROGRESS_STREAM
unset MCP_PROGRESS_TOKEN LONG_JSON MCPBASH_DEBUG_LOG MCP_ELICIT_SUPPORTED STUB_ANSWER
