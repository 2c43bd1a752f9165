# shellcheck shell=bash
# Part of tool-sdk.sh, read when one of its functions is first called: running other programs, again or with progress.

# shellcheck source=/dev/null disable=SC2154 # set in tool-sdk.sh
. "$_mcp_home/parts/notify.sh"

# Sets _mcp_reply to a number of seconds in milliseconds.
_mcp_milliseconds() {
	local whole=${1%%.*} part=''
	case $1 in *.*) part=${1#*.} ;; esac
	part=${part}000
	_mcp_reply=$((10#${whole:-0} * 1000 + 10#${part:0:3}))
}

_mcp_sleep() {
	local seconds
	printf -v seconds '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
	sleep "$seconds"
}

# The command may be a function of the script, so that our own variables keep out of the way of its names.
mcp_with_retry() {
	local _mcp_attempts=${1-} _mcp_attempt=1 _mcp_delay=${2-} _mcp_pause _mcp_status
	case $_mcp_attempts in
	'' | *[!0-9]*)
		_mcp_warn "mcp_with_retry: max_attempts must be a positive integer"
		return 1
		;;
	esac
	if [ "${_mcp_delay#.}" != "$_mcp_delay" ] || ! _mcp_is_decimal "$_mcp_delay"; then
		_mcp_warn "mcp_with_retry: base_delay must be a number"
		return 1
	fi
	_mcp_milliseconds "$_mcp_delay"
	_mcp_delay=$_mcp_reply
	shift 2
	[ "${1-}" != -- ] || shift
	while :; do
		_mcp_status=0
		"$@" || _mcp_status=$?
		# 0 is success, 1 and 2 are for good: an error, a wrong use.
		if [ "$_mcp_status" -le 2 ] || [ "$_mcp_attempt" -ge "$_mcp_attempts" ]; then
			return "$_mcp_status"
		fi
		_mcp_pause=$((_mcp_delay + _mcp_delay * (RANDOM % 512) / 1024))
		mcp_log_debug retry "Attempt $_mcp_attempt/$_mcp_attempts failed (exit $_mcp_status), retrying in $_mcp_pause ms"
		_mcp_sleep "$_mcp_pause"
		_mcp_delay=$((_mcp_delay * 2))
		_mcp_attempt=$((_mcp_attempt + 1))
	done
}

# The following share the variables of mcp_run_with_progress. Its command writes into files, which are read as they
# grow: so it never waits for us, and what it leaves running in the background does not keep us.

_mcp_run_report() {
	local progress=$1 message=$2
	if [ -n "$dry_run" ]; then
		_mcp_quote "$message" 2>/dev/null
		printf '{"progress":%s,"message":%s}\n' "$progress" "$_mcp_reply" >&2
	else
		mcp_progress "$progress" "$message"
	fi
}

# A line that matches is a sign of life, even if it says nothing about progress: an empty line tells the server so.
_mcp_run_sign_of_life() {
	if [ -z "$dry_run" ] && [ -n "$MCP_PROGRESS_STREAM" ] && [ -p "$MCP_PROGRESS_STREAM" ]; then
		_mcp_send "$MCP_PROGRESS_STREAM" ''
	fi
}

# Sets _mcp_reply to a part as percentage of a whole. Fails if that makes no sense.
_mcp_percent() {
	local part=${1%%.*} whole=${2%%.*}
	case $part in '' | *[!0-9]* | ???????????????*) return 1 ;; esac
	case $whole in '' | *[!0-9]* | ???????????????*) return 1 ;; esac
	[ $((10#$whole)) -gt 0 ] || return 1
	_mcp_reply=$((10#$part * 100 / 10#$whole))
}

_mcp_run_line() {
	local line=$1
	if ! [[ $line =~ $pattern ]]; then
		[ -z "$stderr_to" ] || { printf '%s\n' "$line" >>"$stderr_to"; } 2>/dev/null || :
		[ -n "$quiet" ] || mcp_log_debug mcp_run_with_progress "subprocess output: $line"
		return 0
	fi
	alive=yes
	case $extract in
	json)
		batch+=$line$'\n'
		return 0
		;;
	match1) _mcp_percent "${BASH_REMATCH[1]-}" "${total:-100}" || return 0 ;;
	ratio) _mcp_percent "${BASH_REMATCH[1]-}" "${BASH_REMATCH[2]-}" || return 0 ;;
	esac
	_mcp_run_report "$_mcp_reply" "$line"
}

# Reports what a batch of JSON lines says. One process for all of them.
_mcp_run_batch() {
	local progress message
	# shellcheck disable=SC2016 # variables of the JSON tool
	while IFS=' ' read -r progress message; do
		_mcp_run_report "$progress" "$message"
	done < <(exec "$MCPBASH_JSON_TOOL_BIN" -rR 'fromjson? | objects | select(.progress != null)
		| (.progress | tostring | select(test("^[0-9]+([.][0-9]+)?$")) | split(".")[0]) as $progress
		| "\($progress) \(.message // "Working..." | tostring | gsub("[\r\n\t]"; " "))"' <<<"$batch" 2>/dev/null)
	batch=''
}

# Reads what has come since the last time: progress from descriptor 8, and with a progress file stderr from 9. The last
# line may still be without its end; it then waits for the rest.
_mcp_run_drain() {
	local line final=$1
	alive=''
	while IFS= read -r line <&8; do
		_mcp_run_line "$unfinished$line"
		unfinished=''
	done
	unfinished+=$line
	if [ -n "$final" ] && [ -n "$unfinished" ]; then
		_mcp_run_line "$unfinished"
		unfinished=''
	fi
	[ -z "$batch" ] || _mcp_run_batch
	[ -z "$alive" ] || _mcp_run_sign_of_life
	if [ -n "$progress_file" ] && [ -z "$quiet" ]; then
		while IFS= read -r line <&9 || [ -n "$line" ]; do
			mcp_log_debug mcp_run_with_progress "subprocess stderr: $line"
		done
	fi
}

mcp_run_with_progress() {
	local pattern='' extract=json interval=0.2 stdout_to='' progress_file='' total='' dry_run='' quiet='' stderr_to=''
	local folder pid most pause=10 status=0 unfinished='' batch='' alive=''
	while [ "$#" -gt 0 ]; do
		case $1 in
		--pattern) pattern=${2-} ;;
		--extract) extract=${2-} ;;
		--interval) interval=${2-} ;;
		--stdout) stdout_to=${2-} ;;
		--progress-file) progress_file=${2-} ;;
		--total) total=${2-} ;;
		--stderr-file) stderr_to=${2-} ;;
		--dry-run)
			dry_run=yes
			shift
			continue
			;;
		--quiet)
			quiet=yes
			shift
			continue
			;;
		--)
			shift
			break
			;;
		*) break ;;
		esac
		shift 2 || shift
	done

	local problem='' matched=0
	# shellcheck disable=SC2319 # 2 is what the condition says of a pattern that is none
	[[ '' =~ $pattern ]] || matched=$?
	[ "$matched" -ne 2 ] || problem="--pattern is not a regular expression"
	[ -n "$pattern" ] || problem="--pattern is required"
	case $extract in
	json | match1 | ratio) ;;
	*) [ -n "$problem" ] || problem="unknown extract mode '$extract'" ;;
	esac
	case $total in *[!0-9]* | 0) problem=${problem:---total must be positive integer} ;; esac
	_mcp_reply=0
	! _mcp_is_decimal "$interval" || _mcp_milliseconds "$interval"
	most=$_mcp_reply
	[ "$most" -gt 0 ] || problem=${problem:---interval must be a positive number}
	[ "$#" -gt 0 ] || problem=${problem:-a command is required}
	if [ -n "$problem" ]; then
		_mcp_warn "mcp_run_with_progress: $problem"
		return 1
	fi

	folder=$(exec mktemp -d "${TMPDIR:-/tmp}/mcp-progress.XXXXXX") || return 1
	: >"$folder/stderr"
	if [ -n "$progress_file" ]; then
		[ ! -s "$progress_file" ] || mcp_log_warn mcp_run_with_progress "emptying the progress file: $progress_file"
		: >"$progress_file"
	fi
	if [ -n "$stderr_to" ] && ! { : >"$stderr_to"; } 2>/dev/null; then
		mcp_log_warn mcp_run_with_progress "cannot write to stderr-file: $stderr_to"
		stderr_to=''
	fi
	if [ -n "$stdout_to" ]; then
		"$@" >"$stdout_to" 2>"$folder/stderr" &
	else
		"$@" 2>"$folder/stderr" &
	fi
	pid=$!
	{
		while kill -0 "$pid" 2>/dev/null; do
			if mcp_is_cancelled; then
				kill "$pid" 2>/dev/null || :
				wait "$pid" 2>/dev/null || :
				status=130
				break
			fi
			_mcp_run_drain ''
			# Short commands are not kept waiting: the pauses grow.
			_mcp_sleep "$pause"
			pause=$((pause * 2 < most ? pause * 2 : most))
		done
		if [ "$status" -eq 0 ]; then
			wait "$pid" || status=$?
			_mcp_run_drain final
		fi
	} 8<"${progress_file:-$folder/stderr}" 9<"$folder/stderr"
	rm -rf "$folder"
	return "$status"
}
