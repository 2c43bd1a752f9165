# shellcheck shell=bash
#
# The SDK for MCP tools in bash: arguments, results, errors, progress, logs, questions to the user, roots,
# configuration and downloads. Sourced with
#
#     . "$MCP_SDK/tool-sdk.sh"
#
# and described in docs/bash-sdk.md. Two things shape the code. It runs on bash 3.2, which macOS still ships.
# And a process costs more than everything else here, so functions pass values to each other in `_mcp_reply`
# instead of through `$(…)`, bash itself parses small JSON, and each function starts at most one process.
# Rarely used functions are in parts/, sourced on their first call. Only mcp_* is for scripts; _mcp_* may
# change.

# With `x=$(mcp_args_require .x)` the refusal happens in a subshell; only errexit lets it end the script. Then
# standard error names the line: a failing pipeline prints nothing by itself.
case $- in *E*) _mcp_reply=$(trap -p ERR) ;; *) _mcp_reply='' ;; esac
set -Eeuo pipefail
# Reading the trap takes a process; a script with its own ERR trap that matters has turned on errtrace as
# well.
[ -n "$_mcp_reply" ] || trap '_mcp_report_failure "$?" "${PIPESTATUS[@]}"' ERR # 3.2: it is never empty

MCP_TOOL_CANCELLATION_FILE="${MCP_CANCEL_FILE:-}"
MCP_PROGRESS_STREAM="${MCP_PROGRESS_STREAM:-}"
MCP_PROGRESS_TOKEN="${MCP_PROGRESS_TOKEN:-}"
MCP_LOG_STREAM="${MCP_LOG_STREAM:-}"
# shellcheck disable=SC2034 # read in parts/ask.sh
MCP_ELICIT_DEFAULT_TIMEOUT="${MCPBASH_ELICITATION_TIMEOUT:-}"
MCPBASH_JSON_TOOL_BIN="${MCPBASH_JSON_TOOL_BIN:-jq}"
MCPBASH_JSON_TOOL="${MCPBASH_JSON_TOOL:-jq}"
MCPBASH_BIN="${MCPBASH_BIN:-mcp-bash}"

_mcp_reply=''
# The sizes above which a process is faster than bash: for parsing JSON, and for quoting text (piece by piece,
# because its substitution is quadratic in the length, and before bash 4 with a large factor).
_mcp_read_limit=1024
_mcp_quote_limit=262144
_mcp_quote_piece=4096
if ((BASH_VERSINFO[0] < 4)); then
	_mcp_quote_limit=8192
	_mcp_quote_piece=512
fi

# Groundwork ----------------------------------------------------------------------------------------------------------

_mcp_warn() {
	printf '%s\n' "$1" >&2
}

# Runs a function without tracing it, so that `bash -x` does not write arguments and secrets to a log.
_mcp_untraced() {
	local traced='' status=0
	case $- in
	*x*)
		traced=yes
		set +x
		;;
	esac
	"$@" || status=$?
	[ -z "$traced" ] || set -x
	return "$status"
}

# Functions that count bytes set LC_ALL locally. They are called with 2>/dev/null, because bash warns when it
# returns to a locale that is not installed.
_mcp_bytes() {
	local LC_ALL=C
	_mcp_reply=${#1}
}

_mcp_is_decimal() {
	case $1 in
	'' | . | *[!0-9.]* | *.*.*) return 1 ;;
	esac
}

# The content of a file, without a process. (Bytes after a NUL are not text, and are dropped.)
_mcp_read_file() {
	_mcp_reply=''
	IFS= read -r -d '' _mcp_reply <"$1" || [ -n "$_mcp_reply" ] || [ -r "$1" ]
}

# JSON ----------------------------------------------------------------------------------------------------------------

# Makes a JSON string from a text. Non-ASCII bytes stay unchanged.
_mcp_quote() {
	local LC_ALL=C text=$1 piece at=0 size
	size=${#text}
	if ((size > _mcp_quote_limit)); then
		# The here-string adds a line feed, which is removed with the last three characters.
		if _mcp_reply=$(exec "$MCPBASH_JSON_TOOL_BIN" -Rs . <<<"$text"); then
			_mcp_reply=${_mcp_reply%???}'"'
			return 0
		fi
	fi
	_mcp_reply='"'
	while ((at < size)); do
		piece=${text:at:_mcp_quote_piece}
		case $piece in *\\*) piece=${piece//\\/\\\\} ;; esac
		case $piece in *\"*) piece=${piece//\"/\\\"} ;; esac
		case $piece in *[$'\001'-$'\037']*) _mcp_quote_controls ;; esac
		_mcp_reply+=$piece
		at=$((at + _mcp_quote_piece))
	done
	_mcp_reply+='"'
}

# Makes a JSON array of strings.
_mcp_quote_all() {
	local value array='' comma=''
	for value in ${1+"$@"}; do
		_mcp_quote "$value" 2>/dev/null
		array+=$comma$_mcp_reply
		comma=,
	done
	_mcp_reply="[$array]"
}

# Parses exactly one JSON value, and sets _mcp_reply to it without whitespace. Meanwhile it records `type`,
# `message` and `progress` of an outermost object, if they are neither objects nor arrays, or in _mcp_found
# the member whose quoted name is $wanted.
#
# The text between strings and words is the structure of the whole, as {s:[v,s]} for {"a": [1, "x"]}. Valid
# parts of it shrink to a key (k), a member (m) or a value (v), until a single value is left.
_mcp_read_json() {
	local LC_ALL=C rest=$1 out='' shape='' before token='' name kind opened closed
	_mcp_type='' _mcp_message='' _mcp_progress=''
	while :; do
		before=${rest%%[-+.\"0-9a-zA-Z]*}
		rest=${rest:${#before}}
		name=$token
		case $before in *[$' \t\r\n']*) before=${before//[$' \t\r\n']/} ;; esac
		case $rest in
		'') break ;;
		\"*\"*)
			token=${rest#?}
			token=\"${token%%\"*}\"
			case $token in *[\\$'\001'-$'\037']*) _mcp_read_escapes || return 1 ;; esac
			kind=s
			;;
		*)
			token=${rest%%[!-+.0-9a-zA-Z]*}
			case $token in
			true | false | null | [0-9] | [1-9][0-9] | [1-9][0-9][0-9]) ;;
			*) [[ $token =~ ^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$ ]] || return 1 ;;
			esac
			kind=v
			;;
		esac
		rest=${rest:${#token}}
		out+=$before$token
		shape+=$before$kind
		case $before$name in
		':"type"' | ':"message"' | ':"progress"' | ":${wanted-}")
			opened=${shape//[!\{\[]/}
			closed=${shape//[!\}\]]/}
			if ((${#opened} - ${#closed} != 1)); then
				continue
			elif [[ $name == "${wanted-}" ]]; then
				_mcp_found=$token
			else
				printf -v "_mcp_${name//\"/}" '%s' "$token"
			fi
			;;
		esac
	done
	out+=$before
	shape+=$before
	shape=${shape//s:/k}
	shape=${shape//s/v}
	while [[ $shape != v* ]]; do
		before=$shape
		shape=${shape//kv/m}
		shape=${shape//m,m/m}
		shape=${shape//v,v/v}
		shape=${shape//\{m\}/v}
		shape=${shape//\[v\]/v}
		shape=${shape//\{\}/v}
		shape=${shape//\[\]/v}
		[[ $shape != "$before" ]] || return 1
	done
	_mcp_reply=$out
	[[ $shape == v ]]
}

# The same for JSON of any size.
_mcp_compact() {
	if [ "${#1}" -le "$_mcp_read_limit" ]; then
		_mcp_read_json "$1" 2>/dev/null
	else
		_mcp_reply=$(exec "$MCPBASH_JSON_TOOL_BIN" -cs 'if length == 1 then .[0] else error("one") end' <<<"$1" 2>/dev/null)
	fi
}

mcp_json_escape() {
	_mcp_quote "${1-}" 2>/dev/null
	printf '%s\n' "$_mcp_reply"
}

mcp_json_obj() {
	local object='' comma=''
	if [ $(($# % 2)) -ne 0 ]; then
		_mcp_warn "mcp_json_obj: a value is missing: expected an even number of arguments (key value …), got $#"
		exit 1
	fi
	while [ "$#" -gt 0 ]; do
		_mcp_quote "$1" 2>/dev/null
		object+=$comma$_mcp_reply:
		_mcp_quote "$2" 2>/dev/null
		object+=$_mcp_reply
		comma=,
		shift 2
	done
	printf '{%s}' "$object"
}

mcp_json_arr() {
	_mcp_quote_all ${1+"$@"}
	printf '%s' "$_mcp_reply"
}

mcp_is_valid_json() {
	_mcp_compact "${1-}" || return 1
}

mcp_byte_length() {
	_mcp_bytes "${1-}" 2>/dev/null
	printf '%s\n' "$_mcp_reply"
}

# Arguments and _meta of the request ----------------------------------------------------------------------------------

# The JSON in the file named by the second variable, otherwise in the first variable, otherwise an empty
# object.
_mcp_payload() {
	local inline=${!1:-} file=${!2:-}
	[ -n "$inline" ] || inline='{}'
	if [ -n "$file" ] && [ -f "$file" ]; then
		_mcp_read_file "$file"
	else
		_mcp_reply=$inline
	fi
}

_mcp_payload_print() {
	_mcp_payload "$1" "$2"
	printf '%s' "$_mcp_reply"
}

# Sets _mcp_reply to the result of a filter as simple as `.name`, if jq is not needed: the text is short and
# has no escapes, and the member is a string, a short integer, a word or missing. Fails otherwise. _mcp_null
# says whether it is JSON's null or missing, which a text can look like.
_mcp_member() {
	local wanted=\"${2#.}\"
	_mcp_null=''
	case $2 in .[a-zA-Z_]*) ;; *) return 1 ;; esac
	case ${2#.} in *[!a-zA-Z0-9_]*) return 1 ;; esac
	case $1 in *\\*) return 1 ;; esac
	[ "${#1}" -le "$_mcp_read_limit" ] || return 1
	_mcp_found=''
	_mcp_read_json "$1" 2>/dev/null || return 1
	case $_mcp_found in
	\"*)
		_mcp_reply=${_mcp_found#?}
		_mcp_reply=${_mcp_reply%?}
		;;
	'')
		case $_mcp_reply in *"$wanted:"* | [!\{]*) return 1 ;; esac
		_mcp_reply=null
		_mcp_null=yes
		;;
	null)
		_mcp_reply=null
		_mcp_null=yes
		;;
	true | false | 0) _mcp_reply=$_mcp_found ;;
	*)
		[[ $_mcp_found =~ ^-?[1-9][0-9]{0,14}$ ]] || return 1
		_mcp_reply=$_mcp_found
		;;
	esac
}

# Sets _mcp_reply to the output of a jq filter on a payload. A fourth argument is the filter for jq, if it
# differs.
_mcp_query() {
	local inline=${!1:-} file=${!2:-} filter=${4:-$3} status=0
	_mcp_null=''
	[ -n "$inline" ] || inline='{}'
	if [ -n "$file" ] && [ -f "$file" ]; then
		_mcp_reply=$(exec "$MCPBASH_JSON_TOOL_BIN" -rc "$filter" <"$file" 2>/dev/null) || status=$?
	elif ! _mcp_member "$inline" "$3"; then
		_mcp_reply=$(exec "$MCPBASH_JSON_TOOL_BIN" -rc "$filter" <<<"$inline" 2>/dev/null) || status=$?
	fi
	[ "$status" -eq 0 ] || _mcp_reply=''
	return "$status"
}

_mcp_query_print() {
	local status=0
	_mcp_query "$2" "$3" "$4" || status=$?
	if [ "$status" -ne 0 ]; then
		_mcp_warn "$1: '$MCPBASH_JSON_TOOL_BIN' could not apply the filter '$4' (exit $status)"
		return "$status"
	fi
	printf '%s' "$_mcp_reply"
}

# The same, with the newline that jq prints.
_mcp_query_lines() {
	_mcp_query_print "$@" || return
	[ -z "$_mcp_reply" ] || printf '\n'
}

# Sets _mcp_reply to an argument; fails if it is missing, null or empty. The text "null" is valid: a filter
# that finds a single null prints nothing, so any output is a text. (A filter may end in a comment.)
_mcp_arg() {
	_mcp_query MCP_TOOL_ARGS_JSON MCP_TOOL_ARGS_FILE "$1" "[$1
] | if . == [null] then empty else .[] end" || return 1
	[ -n "$_mcp_reply" ] && [ -z "$_mcp_null" ]
}

mcp_args_raw() {
	_mcp_untraced _mcp_payload_print MCP_TOOL_ARGS_JSON MCP_TOOL_ARGS_FILE
}

mcp_args_get() {
	_mcp_untraced _mcp_query_print mcp_args_get MCP_TOOL_ARGS_JSON MCP_TOOL_ARGS_FILE "$1"
}

mcp_meta_raw() {
	_mcp_untraced _mcp_payload_print MCP_TOOL_META_JSON MCP_TOOL_META_FILE
}

mcp_meta_get() {
	_mcp_untraced _mcp_query_lines mcp_meta_get MCP_TOOL_META_JSON MCP_TOOL_META_FILE "$1"
}

_mcp_args_require() {
	_mcp_arg "$1" || mcp_fail_invalid_args "${2:-$1 is required}"
	printf '%s' "$_mcp_reply"
}

mcp_args_require() {
	_mcp_untraced _mcp_args_require "$1" "${2-}"
}

# Results -------------------------------------------------------------------------------------------------------------

mcp_emit_text() {
	printf '%s' "${1-}"
}

mcp_emit_json() {
	_mcp_compact "${1-}" || _mcp_reply=${1-}
	printf '%s' "$_mcp_reply"
}

# Sets _mcp_reply to the result for some JSON. Fails if it is invalid, or too long for a text.
_mcp_success() {
	local LC_ALL=C whole text
	_mcp_read_json "$1" || return 1
	whole="{\"success\":true,\"result\":$_mcp_reply}"
	[ "${#whole}" -le "$2" ] || return 1
	# Nothing else needs quoting in JSON.
	text=${whole//\\/\\\\}
	text=${text//\"/\\\"}
	_mcp_reply="{\"content\":[{\"type\":\"text\",\"text\":\"$text\"}],\"structuredContent\":$whole,\"isError\":false}"
}

mcp_result_success() {
	local data=${1-} limit=${2:-${MCPBASH_MAX_TEXT_BYTES:-102400}}
	case $limit in
	*[!0-9]*)
		_mcp_uint "$limit" "${MCPBASH_MAX_TEXT_BYTES:-102400}"
		limit=$_mcp_reply
		;;
	esac
	if [ "${#data}" -le "$_mcp_read_limit" ] && _mcp_success "$data" "$limit" 2>/dev/null; then
		printf '%s\n' "$_mcp_reply"
	else
		_mcp_success_by_tool "$data" "$limit"
	fi
}

# Cancellation --------------------------------------------------------------------------------------------------------

mcp_is_cancelled() {
	[ -n "$MCP_TOOL_CANCELLATION_FILE" ] && [ -f "$MCP_TOOL_CANCELLATION_FILE" ]
}

# Parts read at their first call --------------------------------------------------------------------------------------

_mcp_home=${BASH_SOURCE[0]%/*}
[ "$_mcp_home" != "${BASH_SOURCE[0]}" ] || _mcp_home=.
case $_mcp_home in
/*) ;;
*) _mcp_home=$PWD/$_mcp_home ;;
esac

# Sources a part, which redefines the calling function, and calls it again.
_mcp_part() {
	# shellcheck source=/dev/null
	. "$_mcp_home/parts/$1.sh" || return
	shift
	"${FUNCNAME[1]}" "$@"
}

_mcp_quote_controls() { _mcp_part json; }
_mcp_read_escapes() { _mcp_part json; }

mcp_args_bool() { _mcp_part args "$@"; }
mcp_args_int() { _mcp_part args "$@"; }

mcp_result_error() { _mcp_part errors "$@"; }
mcp_error() { _mcp_part errors "$@"; }
mcp_fail() { _mcp_part errors "$@"; }
mcp_fail_invalid_args() { _mcp_part errors "$@"; }
_mcp_fail_with_result() { _mcp_part errors "$@"; }
_mcp_report_failure() { _mcp_part errors "$@"; }

mcp_json_truncate() { _mcp_part output "$@"; }
mcp_result_text_with_resource() { _mcp_part output "$@"; }
mcp_extract_cli_error() { _mcp_part output "$@"; }
_mcp_success_by_tool() { _mcp_part output "$@"; }
_mcp_uint() { _mcp_part output "$@"; }

mcp_progress() { _mcp_part notify "$@"; }
mcp_log() { _mcp_part notify "$@"; }
mcp_log_debug() { _mcp_part notify "$@"; }
mcp_log_info() { _mcp_part notify "$@"; }
mcp_log_warn() { _mcp_part notify "$@"; }
mcp_log_error() { _mcp_part notify "$@"; }
mcp_debug() { _mcp_part notify "$@"; }

mcp_with_retry() { _mcp_part run "$@"; }
mcp_run_with_progress() { _mcp_part run "$@"; }

_mcp_ask() { _mcp_part ask "$@"; }
mcp_elicit() { _mcp_part ask "$@"; }
mcp_elicit_url() { _mcp_part ask "$@"; }
mcp_elicit_string() { _mcp_part ask "$@"; }
mcp_elicit_confirm() { _mcp_part ask "$@"; }
mcp_elicit_choice() { _mcp_part ask "$@"; }
mcp_elicit_titled_choice() { _mcp_part ask "$@"; }
mcp_elicit_multi_choice() { _mcp_part ask "$@"; }
mcp_elicit_titled_multi_choice() { _mcp_part ask "$@"; }
mcp_sample() { _mcp_part ask "$@"; }
mcp_ask_all() { _mcp_part ask "$@"; }

mcp_path_collapse() { _mcp_part roots "$@"; }
mcp_path_normalize() { _mcp_part roots "$@"; }
mcp_roots_list() { _mcp_part roots "$@"; }
mcp_roots_count() { _mcp_part roots "$@"; }
mcp_roots_contains() { _mcp_part roots "$@"; }
mcp_require_path() { _mcp_part roots "$@"; }

mcp_config_load() { _mcp_part config "$@"; }
mcp_config_get() { _mcp_part config "$@"; }

mcp_download_safe() { _mcp_part download "$@"; }
mcp_download_safe_or_fail() { _mcp_part download "$@"; }
