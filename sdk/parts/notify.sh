# shellcheck shell=bash
# Part of tool-sdk.sh, sourced when one of its functions is first called: progress and logs.

# Writes a line for the server. A pipe is opened for reading too, so that it neither blocks nor fails without
# a reader.
_mcp_send() {
	{
		if [ -p "$1" ]; then
			printf '%s\n' "$2" 1<>"$1"
		else
			printf '%s\n' "$2" >>"$1"
		fi
	} 2>/dev/null || :
}

# Sends START, a text as JSON string, END as one line of less than 4096 bytes, which a pipe accepts
# atomically.
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

# Removes the last character of $piece if it is not ASCII, because it may have been cut in the middle.
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

# Sends START, JSON, END as one line. JSON that is too long becomes a text, which can be cut.
_mcp_send_json() {
	local LC_ALL=C json=$3
	if [ "${#json}" -gt 3000 ]; then
		_mcp_send_text "$@"
		return 0
	fi
	# A line break in JSON is only whitespace, but would end the line.
	case $json in *[$'\r\n']*) json=${json//[$'\r\n']/ } ;; esac
	_mcp_send "$1" "$2$json$4"
}

# Sends progress with a message that is text or json.
_mcp_send_progress() {
	local kind=$1 progress=${2-} message=${3-} total=${4-} most=100 token=$MCP_PROGRESS_TOKEN start end='}}'
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
	"_mcp_send_$kind" "$MCP_PROGRESS_STREAM" "$start" "$message" "$end" 2>/dev/null
}

mcp_progress() {
	_mcp_send_progress text "$@"
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
	local level=$1
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
	_mcp_log_start "$level" "$2"
	_mcp_send_json "$MCP_LOG_STREAM" "$_mcp_reply" "$3" '}}' 2>/dev/null
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
	printf -v time '%(%H:%M:%S)T' -1 2>/dev/null || time=$(exec date +%H:%M:%S 2>/dev/null) || time='??:??:??' # 3.2: `date`
	{ printf '[%s] %s\n' "$time" "$*" >>"$MCPBASH_DEBUG_LOG"; } 2>/dev/null || :
}
