# shellcheck shell=bash
#
# What a script of an MCP server written in bash needs: its arguments, results, errors, progress, logs, questions to
# the user, roots, configuration and downloads. Sourced with
#
#     . "$MCP_SDK/tool-sdk.sh"
#
# and described in docs/bash-sdk.md. Two things shape the code. It runs on bash 3.2, which macOS still ships. And a
# process costs more than everything else here, so functions hand values to each other in `_mcp_reply` instead of
# through `$(…)`, small JSON is read by bash itself, and no helper starts the JSON tool twice. What most scripts never
# call is in parts/, read at its first call. Only mcp_* is for scripts; _mcp_* may change.

# A value taken with `x=$(mcp_args_require .x)` is refused by a subshell; only errexit lets that end the script.
set -euo pipefail

MCP_TOOL_CANCELLATION_FILE="${MCP_CANCEL_FILE:-}"
MCP_PROGRESS_STREAM="${MCP_PROGRESS_STREAM:-}"
MCP_PROGRESS_TOKEN="${MCP_PROGRESS_TOKEN:-}"
MCP_LOG_STREAM="${MCP_LOG_STREAM:-}"
# shellcheck disable=SC2034 # read in parts/ask.sh
MCP_ELICIT_DEFAULT_TIMEOUT="${MCPBASH_ELICITATION_TIMEOUT:-30}"
MCPBASH_JSON_TOOL_BIN="${MCPBASH_JSON_TOOL_BIN:-jq}"
MCPBASH_JSON_TOOL="${MCPBASH_JSON_TOOL:-jq}"
MCPBASH_BIN="${MCPBASH_BIN:-mcp-bash}"

_mcp_reply=''
# Where bash stops being quicker than a process: in reading JSON, and in quoting text (piece by piece, because its
# substitution takes time with the square of the length, and before bash 4 with a large factor).
_mcp_read_limit=1024
_mcp_quote_limit=262144
_mcp_quote_piece=4096
if [ "${BASH_VERSINFO[0]}" -lt 4 ]; then
	_mcp_quote_limit=8192
	_mcp_quote_piece=512
fi

# Groundwork ----------------------------------------------------------------------------------------------------------

_mcp_warn() {
	printf '%s\n' "$1" >&2
}

# Runs a function without tracing it, so that `bash -x` does not write arguments and secrets into a log.
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

# The first of two values that is a whole number, else 0.
_mcp_uint() {
	local value
	for value in "$1" "$2"; do
		value=${value#"${value%%[![:space:]]*}"}
		value=${value%"${value##*[![:space:]]}"}
		case $value in
		'' | *[!0-9]*) ;;
		*)
			_mcp_reply=$value
			return 0
			;;
		esac
	done
	_mcp_reply=0
}

# Functions that count bytes set LC_ALL for themselves. They are called with 2>/dev/null, because bash warns when it
# returns to a locale that the machine lacks.
_mcp_bytes() {
	local LC_ALL=C
	_mcp_reply=${#1}
}

_mcp_is_decimal() {
	case $1 in
	'' | . | *[!0-9.]* | *.*.*) return 1 ;;
	esac
}

# The content of a file, without a process. (Bytes after a NUL are not text, and are left out.)
_mcp_read_file() {
	_mcp_reply=''
	IFS= read -r -d '' _mcp_reply <"$1" || [ -n "$_mcp_reply" ] || [ -r "$1" ]
}

# JSON ----------------------------------------------------------------------------------------------------------------

# Makes a JSON string of a text. Bytes above ASCII stay as they are.
_mcp_quote() {
	local LC_ALL=C text=$1 piece at=0 size code char
	size=${#text}
	if [ "$size" -gt "$_mcp_quote_limit" ]; then
		# The here-string brings a line feed of its own, which goes again with the last three characters.
		if _mcp_reply=$(exec "$MCPBASH_JSON_TOOL_BIN" -Rs . <<<"$text"); then
			_mcp_reply=${_mcp_reply%???}'"'
			return 0
		fi
	fi
	_mcp_reply='"'
	while [ "$at" -lt "$size" ]; do
		piece=${text:at:_mcp_quote_piece}
		at=$((at + _mcp_quote_piece))
		case $piece in *\\*) piece=${piece//\\/\\\\} ;; esac
		case $piece in *\"*) piece=${piece//\"/\\\"} ;; esac
		case $piece in
		*[$'\001'-$'\037']*)
			piece=${piece//$'\n'/\\n}
			piece=${piece//$'\t'/\\t}
			piece=${piece//$'\r'/\\r}
			;;
		esac
		case $piece in
		*[$'\001'-$'\037']*)
			for code in 01 02 03 04 05 06 07 08 0b 0c 0e 0f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f; do
				printf -v char '%b' "\\x$code"
				case $code in
				08) code=b ;;
				0c) code=f ;;
				*) code=u00$code ;;
				esac
				piece=${piece//"$char"/\\$code}
			done
			;;
		esac
		_mcp_reply+=$piece
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

# Reads exactly one JSON value, and sets _mcp_reply to it without needless whitespace. On the way it notes `type` and
# `message` of an outermost object, if they are strings.
_mcp_read_json() {
	local LC_ALL=C rest=$1 out='' open='' want=value name='' text token digits
	local space=$'[ \t\r\n]' other=$'[! \t\r\n]' hex='[0-9a-fA-F]'
	_mcp_type=''
	_mcp_message=''
	while :; do
		# shellcheck disable=SC2254,SC2295 # these are patterns
		case $rest in $space*) rest=${rest#"${rest%%$other*}"} ;; esac
		case $want:$rest in
		value:\"* | first:\"* | key:\"* | member:\"*)
			rest=${rest#?}
			text='"'
			while :; do
				token=${rest%%[\"\\]*}
				case $token in *[$'\001'-$'\037']*) return 1 ;; esac
				rest=${rest:${#token}}
				text+=$token
				# shellcheck disable=SC2254 # these are patterns
				case $rest in
				\"*)
					rest=${rest#?}
					break
					;;
				\\[\"\\/bfnrt]*)
					text+=${rest:0:2}
					rest=${rest:2}
					;;
				\\u$hex$hex$hex$hex*)
					text+=${rest:0:6}
					rest=${rest:6}
					;;
				*) return 1 ;;
				esac
			done
			text+='"'
			out+=$text
			case $want in
			key | member)
				name=$text
				want='colon'
				;;
			*)
				want=end
				case $open$name in
				'}"message"') _mcp_message=$text ;;
				'}"type"') _mcp_type=$text ;;
				esac
				;;
			esac
			;;
		value:\{* | first:\{*)
			open="}$open"
			out+='{'
			rest=${rest#?}
			want=member
			;;
		value:\[* | first:\[*)
			open="]$open"
			out+='['
			rest=${rest#?}
			want=first
			;;
		colon::*)
			out+=:
			rest=${rest#?}
			want=value
			;;
		end:,*)
			case $open in
			\}*) want=key ;;
			\]*) want=value ;;
			*) return 1 ;;
			esac
			out+=,
			rest=${rest#?}
			;;
		end:\}* | end:\]* | member:\}* | first:\]*)
			token=${rest:0:1}
			[ "$token" = "${open:0:1}" ] || return 1
			open=${open#?}
			out+=$token
			rest=${rest#?}
			want=end
			;;
		end:)
			[ -z "$open" ] || return 1
			_mcp_reply=$out
			return 0
			;;
		value:[-0-9a-z]* | first:[-0-9a-z]*)
			token=${rest%%[!-+.0-9a-zA-Z]*}
			rest=${rest:${#token}}
			out+=$token
			want=end
			case $token in
			true | false | null | [0-9] | [1-9][0-9]) continue ;;
			esac
			token=${token#-}
			digits=${token%%[!0-9]*}
			case $digits in '' | 0?*) return 1 ;; esac
			token=${token:${#digits}}
			case $token in
			.[0-9]*)
				token=${token#.}
				token=${token#"${token%%[!0-9]*}"}
				;;
			esac
			case $token in
			[eE]*)
				token=${token#?}
				token=${token#[-+]}
				case $token in '' | *[!0-9]*) return 1 ;; esac
				token=''
				;;
			esac
			[ -z "$token" ] || return 1
			;;
		*) return 1 ;;
		esac
	done
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
	printf '%s' "$_mcp_reply"
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
	printf '%s' "$_mcp_reply"
}

# Arguments and _meta of the request ----------------------------------------------------------------------------------

# The JSON in the file named by the second variable, else in the first variable, else an empty object.
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

# Sets _mcp_reply to what a jq filter makes of a payload.
_mcp_query() {
	local inline=${!1:-} file=${!2:-} status=0
	[ -n "$inline" ] || inline='{}'
	if [ -n "$file" ] && [ -f "$file" ]; then
		_mcp_reply=$(exec "$MCPBASH_JSON_TOOL_BIN" -rc "$3" <"$file" 2>/dev/null) || status=$?
	else
		_mcp_reply=$(exec "$MCPBASH_JSON_TOOL_BIN" -rc "$3" <<<"$inline" 2>/dev/null) || status=$?
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

# Sets _mcp_reply to an argument; fails when it is missing, null or empty.
_mcp_arg() {
	_mcp_query MCP_TOOL_ARGS_JSON MCP_TOOL_ARGS_FILE "$1" || return 1
	[ -n "$_mcp_reply" ] && [ "$_mcp_reply" != null ]
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
	_mcp_untraced _mcp_query_print mcp_meta_get MCP_TOOL_META_JSON MCP_TOOL_META_FILE "$1"
}

_mcp_args_require() {
	_mcp_arg "$1" || mcp_fail_invalid_args "${2:-$1 is required}"
	printf '%s' "$_mcp_reply"
}

mcp_args_require() {
	_mcp_untraced _mcp_args_require "$1" "${2-}"
}

_mcp_args_bool() {
	local pointer=$1 default=''
	shift
	while [ "${1-}" = --default ]; do
		default=${2:-false}
		shift 2 || shift
	done
	if ! _mcp_arg "$pointer"; then
		[ -n "$default" ] || mcp_fail_invalid_args "$pointer is required"
		_mcp_reply=$default
	fi
	case $_mcp_reply in
	true | 1) printf true ;;
	*) printf false ;;
	esac
}

mcp_args_bool() {
	_mcp_untraced _mcp_args_bool "$@"
}

_mcp_args_int() {
	local pointer=$1 default='' min='' max=''
	shift
	while [ "$#" -gt 0 ]; do
		case $1 in
		--default) default=${2-} ;;
		--min) min=${2-} ;;
		--max) max=${2-} ;;
		*) break ;;
		esac
		shift 2 || shift
	done
	if [ -n "$min" ] && [ -n "$max" ] && ! [ "$min" -le "$max" ] 2>/dev/null; then
		mcp_fail_invalid_args "mcp_args_int: --min cannot exceed --max"
	fi
	if ! _mcp_arg "$pointer"; then
		[ -n "$default" ] || mcp_fail_invalid_args "$pointer is required"
		_mcp_reply=$default
	fi
	case ${_mcp_reply#-} in
	'' | *[!0-9]*) mcp_fail_invalid_args "$pointer must be an integer" ;;
	esac
	if [ -n "$min" ] && ! [ "$_mcp_reply" -ge "$min" ] 2>/dev/null; then
		mcp_fail_invalid_args "$pointer must be >= $min"
	fi
	if [ -n "$max" ] && ! [ "$_mcp_reply" -le "$max" ] 2>/dev/null; then
		mcp_fail_invalid_args "$pointer must be <= $max"
	fi
	printf '%s' "$_mcp_reply"
}

mcp_args_int() {
	_mcp_untraced _mcp_args_int "$@"
}

# Results -------------------------------------------------------------------------------------------------------------

mcp_emit_text() {
	printf '%s' "${1-}"
}

mcp_emit_json() {
	_mcp_compact "${1-}" || _mcp_reply=${1-}
	printf '%s' "$_mcp_reply"
}

# Prints an error result from a message and an error object, both JSON.
_mcp_print_error() {
	printf '{"content":[{"type":"text","text":%s}],"structuredContent":{"success":false,"error":%s},"isError":true}\n' \
		"$1" "$2"
}

_mcp_print_internal_error() {
	_mcp_print_error "\"$1\"" "{\"type\":\"internal_error\",\"message\":\"$1\"}"
}

mcp_result_success() {
	local data=${1-} limit envelope
	_mcp_uint "${2-}" "${MCPBASH_MAX_TEXT_BYTES:-102400}"
	limit=$_mcp_reply
	if [ -z "$data" ]; then
		_mcp_print_internal_error "Empty data passed to mcp_result_success"
		return 0
	fi
	if [ "${#data}" -le "$_mcp_read_limit" ] && _mcp_read_json "$data" 2>/dev/null; then
		envelope="{\"success\":true,\"result\":$_mcp_reply}"
		_mcp_bytes "$envelope" 2>/dev/null
		if [ "$_mcp_reply" -le "$limit" ]; then
			_mcp_quote "$envelope" 2>/dev/null
			printf '{"content":[{"type":"text","text":%s}],"structuredContent":%s,"isError":false}\n' \
				"$_mcp_reply" "$envelope"
			return 0
		fi
	fi
	# shellcheck disable=SC2016 # variables of the JSON tool
	"$MCPBASH_JSON_TOOL_BIN" -cs --argjson limit "$limit" '
		if length != 1 then {
			content: [{type: "text", text: "Error: input must be single JSON value"}],
			structuredContent: {success: false, error:
				{type: "internal_error", message: "Input contained multiple JSON values", count: length}},
			isError: true
		} else .[0] as $data | {success: true, result: $data} | tojson as $text | {
			content: [{type: "text", text: (
				if ($text | utf8bytelength) <= $limit then $text
				elif ($data | type) == "array" then "Success: array with \($data | length) items"
				elif ($data | type) == "object" then "Success: object with \($data | length) keys"
				else "Success: \($data | tostring | .[:100])" end)}],
			structuredContent: .,
			isError: false
		} end' <<<"$data" 2>/dev/null || _mcp_print_internal_error "Invalid JSON passed to mcp_result_success"
}

mcp_result_error() {
	local error=${1-}
	if [ -z "$error" ]; then
		_mcp_print_internal_error "Unknown error (empty error object)"
		return 0
	fi
	if [ "${#error}" -le "$_mcp_read_limit" ] && _mcp_read_json "$error" 2>/dev/null &&
		[ -n "$_mcp_type" ] && [ -n "$_mcp_message" ]; then
		_mcp_print_error "$_mcp_message" "$_mcp_reply"
		return 0
	fi
	if ! "$MCPBASH_JSON_TOOL_BIN" -cs '
		if length != 1 then
			{type: "internal_error", message: "Error payload must be single JSON value", raw: "multiple values: \(length)"}
		elif (.[0] | type) != "object" then
			{type: "internal_error", message: "Error payload must be an object", raw: (.[0] | tostring)}
		else .[0] | . + {type: (.type // "internal_error"), message: (.message // "Unknown error")} end
		| {content: [{type: "text", text: (.message | tostring)}],
			structuredContent: {success: false, error: .}, isError: true}' <<<"$error" 2>/dev/null; then
		local message='"Invalid error JSON passed to mcp_result_error"'
		_mcp_quote "$error" 2>/dev/null
		_mcp_print_error "$message" "{\"type\":\"internal_error\",\"message\":$message,\"raw\":$_mcp_reply}"
	fi
}

mcp_error() {
	local type=${1:-internal_error} message=${2:-Unknown error} hint='' data='' error quoted
	shift 2 || shift $#
	while [ "$#" -gt 0 ]; do
		case $1 in
		--hint)
			hint=${2-}
			shift 2 || shift
			;;
		--data)
			data=${2-}
			shift 2 || shift
			;;
		*) shift ;;
		esac
	done
	_mcp_quote "$type" 2>/dev/null
	error="{\"type\":$_mcp_reply"
	_mcp_quote "$message" 2>/dev/null
	quoted=$_mcp_reply
	error+=",\"message\":$quoted"
	if [ -n "$hint" ]; then
		_mcp_quote "$hint" 2>/dev/null
		error+=",\"hint\":$_mcp_reply"
	fi
	if [ -n "$data" ]; then
		if ! _mcp_compact "$data"; then
			_mcp_quote "$data" 2>/dev/null
			_mcp_reply="{\"_invalid_json\":$_mcp_reply}"
		fi
		[ "$_mcp_reply" = null ] || error+=",\"data\":$_mcp_reply"
	fi
	mcp_log_debug mcp_error "type=$type: $message"
	[ -z "$hint" ] || mcp_log_warn mcp_error "type=$type hint: $message"
	_mcp_print_error "$quoted" "$error}"
}

# Errors of the protocol ----------------------------------------------------------------------------------------------

mcp_fail() {
	local code=${1-} message=${2-} data=null error
	case ${code#[-+]} in
	'' | *[!0-9]*)
		[ -n "$message" ] || message=$code
		code=-32603
		;;
	esac
	message=${message:-Tool failed}
	if [ -n "${3-}" ] && _mcp_compact "$3"; then
		data=$_mcp_reply
	fi
	_mcp_quote "$message" 2>/dev/null
	error="{\"code\":${code#+},\"message\":$_mcp_reply,\"data\":$data}"
	if [ -n "${MCP_TOOL_ERROR_FILE:-}" ]; then
		{ printf '%s\n' "$error" >"$MCP_TOOL_ERROR_FILE"; } 2>/dev/null || :
	fi
	printf '%s\n' "$error"
	_mcp_warn "$message"
	exit 1
}

mcp_fail_invalid_args() {
	mcp_fail -32602 "${1:-Invalid params}" "${2-}"
}

# Progress, logs and cancellation -------------------------------------------------------------------------------------

# Writes a line for the server. A pipe is opened for reading too, which neither waits for a reader nor dies without one.
_mcp_send() {
	{
		if [ -p "$1" ]; then
			printf '%s\n' "$2" 1<>"$1"
		else
			printf '%s\n' "$2" >>"$1"
		fi
	} 2>/dev/null || :
}

# Sends START, a text as JSON string, END as one line of less than 4096 bytes, which a pipe takes in one piece.
_mcp_send_text() {
	local LC_ALL=C stream=$1 start=$2 text=$3 end=$4 room keep piece
	room=$((4000 - ${#start} - ${#end}))
	piece=$text
	[ "${#text}" -le "$room" ] || piece=${text:0:room}
	_mcp_quote "$piece"
	if [ "${#piece}" -lt "${#text}" ] || [ "${#_mcp_reply}" -gt "$room" ]; then
		keep=$((room - 40))
		while [ "$keep" -gt 0 ]; do
			piece=${text:0:keep}
			_mcp_trim_character
			_mcp_quote "$piece… [cut: ${#text} bytes in all]"
			[ "${#_mcp_reply}" -gt "$room" ] || break
			keep=$((keep * 3 / 4))
		done
		[ "$keep" -gt 0 ] || return 0
	fi
	_mcp_send "$stream" "$start$_mcp_reply$end"
}

# Takes the last character of $piece away if it is not ASCII, for it may have been cut in its middle.
_mcp_trim_character() {
	local tries=3
	while [ "$tries" -gt 0 ]; do
		case $piece in
		*[$'\200'-$'\277']) piece=${piece%?} ;;
		*) break ;;
		esac
		tries=$((tries - 1))
	done
	case $piece in *[$'\300'-$'\377']) piece=${piece%?} ;; esac
}

mcp_is_cancelled() {
	[ -n "$MCP_TOOL_CANCELLATION_FILE" ] && [ -f "$MCP_TOOL_CANCELLATION_FILE" ]
}

mcp_progress() {
	local progress=${1-} message=${2-} total=${3-} most=100 token=$MCP_PROGRESS_TOKEN start end='}}'
	if [ -z "$token" ] || [ -z "$MCP_PROGRESS_STREAM" ]; then
		return 0
	fi
	case $total in
	'' | *[!0-9]* | ???????????????*) ;;
	*)
		total=$((10#$total))
		[ "$total" -le "$most" ] || most=$total
		end=",\"total\":$total}}"
		;;
	esac
	progress=${progress%%.*}
	case $progress in
	'' | *[!0-9]*) progress=0 ;;
	???????????????*) progress=$most ;;
	*)
		progress=$((10#$progress))
		[ "$progress" -le "$most" ] || progress=$most
		;;
	esac
	if ! [[ $token =~ ^-?(0|[1-9][0-9]*)(\.[0-9]+)?$ ]]; then
		_mcp_quote "$token" 2>/dev/null
		token=$_mcp_reply
	fi
	start='{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":'
	start+="$token,\"progress\":$progress,\"message\":"
	_mcp_send_text "$MCP_PROGRESS_STREAM" "$start" "$message" "$end" 2>/dev/null
}

# Sets _mcp_reply to a log line up to its data.
_mcp_log_start() {
	local logger=$2
	_mcp_quote "${logger:0:200}" 2>/dev/null
	_mcp_reply="\"params\":{\"level\":\"$1\",\"logger\":$_mcp_reply,\"data\":"
	_mcp_reply="{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",$_mcp_reply"
}

_mcp_log_text() {
	[ -n "$MCP_LOG_STREAM" ] || return 0
	_mcp_log_start "$1" "$2"
	_mcp_send_text "$MCP_LOG_STREAM" "$_mcp_reply" "$3" '}}' 2>/dev/null
}

mcp_log() {
	local level=$1 data=$3
	case $level in
	[Dd][Ee][Bb][Uu][Gg]) level=debug ;;
	[Ii][Nn][Ff][Oo]) level=info ;;
	[Nn][Oo][Tt][Ii][Cc][Ee]) level=notice ;;
	[Ww][Aa][Rr][Nn] | [Ww][Aa][Rr][Nn][Ii][Nn][Gg]) level=warning ;;
	[Ee][Rr][Rr][Oo][Rr]) level=error ;;
	[Cc][Rr][Ii][Tt][Ii][Cc][Aa][Ll]) level=critical ;;
	[Aa][Ll][Ee][Rr][Tt]) level=alert ;;
	[Ee][Mm][Ee][Rr][Gg][Ee][Nn][Cc][Yy]) level=emergency ;;
	*)
		_mcp_warn "mcp_log: invalid level '$level', logged as 'info'"
		level=info
		;;
	esac
	[ -n "$MCP_LOG_STREAM" ] || return 0
	_mcp_log_json "$level" "$2" "$data" 2>/dev/null
}

# Data that is too long for a line becomes a text, which can be cut.
_mcp_log_json() {
	local LC_ALL=C data=$3
	if [ "${#data}" -gt 3000 ]; then
		_mcp_log_text "$1" "$2" "$data"
		return 0
	fi
	# A line break in JSON is mere whitespace, but would end the line.
	case $data in *[$'\r\n']*) data=${data//[$'\r\n']/ } ;; esac
	_mcp_log_start "$1" "$2"
	_mcp_send "$MCP_LOG_STREAM" "$_mcp_reply$data}}"
}

mcp_log_debug() {
	_mcp_log_text debug "$1" "$2"
}

mcp_log_info() {
	_mcp_log_text info "$1" "$2"
}

mcp_log_warn() {
	_mcp_log_text warning "$1" "$2"
}

mcp_log_error() {
	_mcp_log_text error "$1" "$2"
}

mcp_debug() {
	local time=''
	[ -n "${MCPBASH_DEBUG_LOG:-}" ] || return 0
	# bash 3.2 has no clock.
	printf -v time '%(%H:%M:%S)T' -1 2>/dev/null || time=$(exec date +%H:%M:%S 2>/dev/null) || time='??:??:??'
	{ printf '[%s] %s\n' "$time" "$*" >>"$MCPBASH_DEBUG_LOG"; } 2>/dev/null || :
}

# Parts read at their first call --------------------------------------------------------------------------------------

_mcp_home=${BASH_SOURCE[0]%/*}
[ "$_mcp_home" != "${BASH_SOURCE[0]}" ] || _mcp_home=.
case $_mcp_home in
/*) ;;
*) _mcp_home=$PWD/$_mcp_home ;;
esac

# Reads a part, which brings the function that is called, and calls it.
_mcp_part() {
	# shellcheck source=/dev/null
	. "$_mcp_home/parts/$1.sh"
	shift
	"$@"
}

mcp_json_truncate() { _mcp_part output mcp_json_truncate "$@"; }
mcp_result_text_with_resource() { _mcp_part output mcp_result_text_with_resource "$@"; }
mcp_extract_cli_error() { _mcp_part output mcp_extract_cli_error "$@"; }

mcp_path_collapse() { _mcp_part roots mcp_path_collapse "$@"; }
mcp_path_normalize() { _mcp_part roots mcp_path_normalize "$@"; }
mcp_roots_list() { _mcp_part roots mcp_roots_list "$@"; }
mcp_roots_count() { _mcp_part roots mcp_roots_count "$@"; }
mcp_roots_contains() { _mcp_part roots mcp_roots_contains "$@"; }
mcp_require_path() { _mcp_part roots mcp_require_path "$@"; }

mcp_with_retry() { _mcp_part run mcp_with_retry "$@"; }
mcp_run_with_progress() { _mcp_part run mcp_run_with_progress "$@"; }

mcp_elicit() { _mcp_part ask mcp_elicit "$@"; }
mcp_elicit_url() { _mcp_part ask mcp_elicit_url "$@"; }
mcp_elicit_string() { _mcp_part ask mcp_elicit_string "$@"; }
mcp_elicit_confirm() { _mcp_part ask mcp_elicit_confirm "$@"; }
mcp_elicit_choice() { _mcp_part ask mcp_elicit_choice "$@"; }
mcp_elicit_titled_choice() { _mcp_part ask mcp_elicit_titled_choice "$@"; }
mcp_elicit_multi_choice() { _mcp_part ask mcp_elicit_multi_choice "$@"; }
mcp_elicit_titled_multi_choice() { _mcp_part ask mcp_elicit_titled_multi_choice "$@"; }
mcp_sample() { _mcp_part ask mcp_sample "$@"; }

mcp_config_load() { _mcp_part config mcp_config_load "$@"; }
mcp_config_get() { _mcp_part config mcp_config_get "$@"; }

mcp_download_safe() { _mcp_part download mcp_download_safe "$@"; }
mcp_download_safe_or_fail() { _mcp_part download mcp_download_safe_or_fail "$@"; }
