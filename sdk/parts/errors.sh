# shellcheck shell=bash
# Part of tool-sdk.sh, sourced when one of its functions is first called: error results and protocol errors.

# Prints an error result from a message and an error object, both JSON.
_mcp_print_error() {
	printf '{"content":[{"type":"text","text":%s}],"structuredContent":{"success":false,"error":%s},"isError":true}\n' \
		"$1" "$2"
}

mcp_result_error() {
	local error=${1-}
	[ -n "$error" ] || error='{"type":"internal_error","message":"Unknown error (empty error object)"}'
	# shellcheck disable=SC2154 # set in tool-sdk.sh
	if [ "${#error}" -le "$_mcp_read_limit" ] && _mcp_read_json "$error" 2>/dev/null &&
		[[ $_mcp_type == \"* && $_mcp_message == \"* ]]; then
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
	local type=${1:-internal_error} message=${2:-Unknown error} hint='' data='' error text
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
	text=$_mcp_reply
	error+=",\"message\":$text"
	if [ -n "$hint" ]; then
		_mcp_quote "$hint" 2>/dev/null
		error+=",\"hint\":$_mcp_reply"
		# Most models see only the text.
		case $message in
		*[.!?]) _mcp_quote "$message Hint: $hint" 2>/dev/null ;;
		*) _mcp_quote "$message. Hint: $hint" 2>/dev/null ;;
		esac
		text=$_mcp_reply
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
	_mcp_print_error "$text" "$error}"
}

# Ends the script with an error result, so that the model can correct its call. The server reads it from the
# error file: inside $(…) standard output is not that of the script, and the output could be taken for a
# value.
_mcp_fail_with_result() {
	local message text error
	message=$2
	_mcp_quote "$message" 2>/dev/null
	text=$_mcp_reply
	error="{\"type\":\"$1\",\"message\":$text}"
	if [ -z "${MCP_TOOL_ERROR_FILE:-}" ] ||
		! { _mcp_print_error "$text" "$error" >"$MCP_TOOL_ERROR_FILE"; } 2>/dev/null; then
		_mcp_print_error "$text" "$error"
		_mcp_warn "$message"
	fi
	exit 1
}

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

# Reports the place of a failed command that ends the script: $1 is its status, the rest are those of its
# pipeline. A subshell leaves the report to its parent shell, and a script that has reported an error needs no
# other.
_mcp_report_failure() {
	local at=1 IFS=' ' status=$1 parts=''
	shift
	case $- in *e*) ;; *) return 0 ;; esac
	if [ "$BASH_SUBSHELL" -gt 0 ] || [ -s "${MCP_TOOL_ERROR_FILE:-}" ]; then
		return 0
	fi
	# The line of the script, and not one in this file.
	while [ "$at" -lt "$((${#BASH_SOURCE[@]} - 1))" ]; do
		case ${BASH_SOURCE[at]} in "$_mcp_home"/*) at=$((at + 1)) ;; *) break ;; esac
	done
	[ "$#" -lt 2 ] || parts="; the parts of the pipeline ended with $*"
	_mcp_warn "${BASH_SOURCE[at]:-$0}: line ${BASH_LINENO[at - 1]}: a command failed (exit $status$parts)"
}
