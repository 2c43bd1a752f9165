# shellcheck shell=bash
# Part of tool-sdk.sh, sourced when one of its functions is first called: running other programs, with retries
# or progress.

# shellcheck source=/dev/null disable=SC2154 # set in tool-sdk.sh
. "$_mcp_home/parts/notify.sh"

# Sets _mcp_reply to a number of seconds in milliseconds.
_mcp_milliseconds() {
	local whole=${1%%.*} part=''
	case $1 in *.*) part=${1#*.} ;; esac
	part=${part}000
	_mcp_reply=$((10#${whole:-0} * 1000 + 10#${part:0:3}))
}

# Sets _mcp_reply to milliseconds in the format of `read -t`: seconds, and whole ones before bash 4.
_mcp_timeout() {
	if [ "${BASH_VERSINFO[0]}" -lt 4 ]; then
		_mcp_reply=$((($1 + 999) / 1000))
	else
		printf -v _mcp_reply '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
	fi
}

# Sleeps without a process, by waiting for a datagram that never arrives. Without any network it takes a
# process.
_mcp_sleep() {
	local asleep=''
	[ "$1" -gt 0 ] || return 0
	_mcp_timeout "$1"
	{
		asleep=yes
		read -r -t "$_mcp_reply" -u 39 _ || :
	} 2>/dev/null 39<>/dev/udp/127.0.0.1/9 || :
	[ -n "$asleep" ] || sleep "$_mcp_reply"
}

# The command may be a function of the script, so our own variables must not clash with its names.
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
		# 0 is success; 1 and 2 are final: an error, or wrong usage.
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

# The following share the variables of mcp_run_with_progress. Its command writes to files, which are read as
# they grow: so it never waits for this script, and its background processes do not block it. Descriptors: 36
# its stderr (with --from stdout its stdout, in the same file), 37 our stdout, 38 the lines about progress, 39 its outcome.

# Reports progress, with a message that is JSON if progress is, otherwise a text; and the total, if it is known.
_mcp_run_report() {
	local progress=$1 message=$2 kind=text total=$total
	[ "$extract" != json ] || kind=json
	# A percentage has its own total.
	[ "$extract" != ratio ] || total=''
	if [ -z "$dry_run" ]; then
		_mcp_send_progress "$kind" "$progress" "$message" "$total"
		return 0
	fi
	if [ "$kind" = text ]; then
		_mcp_quote "$message" 2>/dev/null
		message=$_mcp_reply
	fi
	printf '{"progress":%s%s,"message":%s}\n' "$progress" "${total:+,\"total\":$total}" "$message" >&2
}

# A matching line counts as activity even without progress: an empty line tells the server so.
_mcp_run_sign_of_life() {
	if [ -z "$dry_run" ] && [ -n "$MCP_PROGRESS_STREAM" ] && [ -p "$MCP_PROGRESS_STREAM" ]; then
		_mcp_send "$MCP_PROGRESS_STREAM" ''
	fi
}

# Sets _mcp_reply to a part as percentage of a whole. Fails if that is not a valid percentage.
_mcp_percent() {
	local part=${1%%.*} whole=${2%%.*}
	case $part in '' | *[!0-9]* | ???????????????*) return 1 ;; esac
	case $whole in '' | *[!0-9]* | ???????????????*) return 1 ;; esac
	[ $((10#$whole)) -gt 0 ] || return 1
	_mcp_reply=$((10#$part * 100 / 10#$whole))
}

# Sets _mcp_reply to a part of --total, or to a percentage without it. Fails if it is not a number.
_mcp_part_of_total() {
	if [ -z "$total" ]; then
		_mcp_percent "$1" 100
		return
	fi
	_mcp_percent "$1" "$total" || return 1
	_mcp_reply=$((10#${1%%.*}))
	[ "$_mcp_reply" -le "$total" ] || _mcp_reply=$total
}

_mcp_run_line() {
	local line=$1
	if ! [[ $line =~ $pattern ]]; then
		if [ -n "$from_stdout" ]; then
			# The rest of its output is the output of the script, as without this function.
			if [ -n "$stdout_to" ]; then printf '%s\n' "$line" >>"$stdout_to"; else printf '%s\n' "$line" >&37; fi
			return 0
		fi
		[ -z "$stderr_to" ] || { printf '%s\n' "$line" >>"$stderr_to"; } 2>/dev/null || :
		[ -n "$quiet" ] || mcp_log_debug mcp_run_with_progress "subprocess output: $line"
		return 0
	fi
	alive=yes
	case $extract in
	json) _mcp_run_json "$line" ;;
	match1) ! _mcp_part_of_total "${BASH_REMATCH[1]-}" || _mcp_run_report "$_mcp_reply" "$line" ;;
	ratio) ! _mcp_percent "${BASH_REMATCH[1]-}" "${BASH_REMATCH[2]-}" || _mcp_run_report "$_mcp_reply" "$line" ;;
	esac
}

# Reports the progress in a line of JSON.
_mcp_run_json() {
	local progress message
	_mcp_read_json "$1" 2>/dev/null || return 0
	# shellcheck disable=SC2154 # set in tool-sdk.sh
	progress=${_mcp_progress#\"}
	progress=${progress%\"}
	[[ $progress =~ ^[0-9]+(\.[0-9]+)?$ ]] || return 0
	# shellcheck disable=SC2154 # set in tool-sdk.sh
	case $_mcp_message in
	\"*) message=$_mcp_message ;;
	'' | null | false) message='"Working..."' ;;
	*) message="\"$_mcp_message\"" ;;
	esac
	_mcp_run_report "${progress%%.*}" "$message"
}

# Reads new output. The last line may be incomplete; then it waits for the rest.
_mcp_run_drain() {
	local line final=$1
	alive=''
	while IFS= read -r line <&38; do
		_mcp_run_line "$unfinished$line"
		unfinished=''
	done
	unfinished+=$line
	if [ -n "$final" ] && [ -n "$unfinished" ]; then
		_mcp_run_line "$unfinished"
		unfinished=''
	fi
	[ -z "$alive" ] || _mcp_run_sign_of_life
	if [ -n "$progress_file" ] && [ -z "$quiet" ]; then
		while IFS= read -r line <&36 || [ -n "$line" ]; do
			mcp_log_debug mcp_run_with_progress "subprocess stderr: $line"
		done
	fi
}

# Creates a private file beside those of the server for this call, and sets _mcp_reply to its name.
_mcp_run_file() {
	local flags=$- status=0
	_mcp_reply=${MCP_TOOL_ERROR_FILE:-${TMPDIR:-/tmp}/mcp-progress}.$$.$RANDOM$RANDOM
	set -C
	{ : >"$_mcp_reply"; } 2>/dev/null || status=1
	case $flags in *C*) ;; *) set +C ;; esac
	return "$status"
}

# Runs the command, and writes a line with its process id. After it exits follow an empty line, which wakes
# the reader, and its exit code; the last step of this process is to remove the file.
_mcp_run_command() {
	if [ -n "$from_stdout" ]; then
		"$@" >>"$stderr" 36<&- 37>&- 38<&- &
	elif [ -n "$stdout_to" ]; then
		"$@" >"$stdout_to" 2>>"$stderr" 36<&- 37>&- 38<&- &
	else
		"$@" >&37 2>>"$stderr" 36<&- 37>&- 38<&- &
	fi
	printf '%s\n' "$!"
	_mcp_reply=0
	wait "$!" 2>/dev/null || _mcp_reply=$?
	printf '\n%s\n' "$_mcp_reply"
	exec rm -f "$stderr"
}

# Follows the command until it exits, and sets $status.
_mcp_run_follow() {
	local pid='' cancelled=''
	IFS= read -r pid <&39 || :
	while kill -0 "$pid" 2>/dev/null; do
		if mcp_is_cancelled; then
			kill "$pid" 2>/dev/null || :
			cancelled=yes
			break
		fi
		_mcp_run_drain ''
		! IFS= read -r -t "$timeout" _ <&39 || break
	done
	IFS= read -r -d '' status <&39 || :
	status=${status//$'\n'/}
	if [ -n "$cancelled" ]; then
		status=130
	else
		_mcp_run_drain final
	fi
}

mcp_run_with_progress() {
	local pattern='' extract=json interval=0.2 stdout_to='' progress_file='' total='' dry_run='' quiet='' stderr_to=''
	local from=stderr from_stdout=''
	local stderr timeout status unfinished='' alive=''
	while [ "$#" -gt 0 ]; do
		case $1 in
		--pattern) pattern=${2-} ;;
		--extract) extract=${2-} ;;
		--interval) interval=${2-} ;;
		--stdout) stdout_to=${2-} ;;
		--progress-file) progress_file=${2-} ;;
		--total) total=${2-} ;;
		--from) from=${2-} ;;
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
	case $from in
	stderr) ;;
	stdout)
		from_stdout=yes
		[ -z "$progress_file$stderr_to" ] || problem=${problem:---from stdout excludes --progress-file and --stderr-file}
		;;
	*) [ -n "$problem" ] || problem="unknown source '$from', --from takes stderr or stdout" ;;
	esac
	case $total in *[!0-9]* | 0) problem=${problem:---total must be positive integer} ;; esac
	_mcp_reply=0
	! _mcp_is_decimal "$interval" || _mcp_milliseconds "$interval"
	[ "$_mcp_reply" -gt 0 ] || problem=${problem:---interval must be a positive number}
	_mcp_timeout "$_mcp_reply"
	timeout=$_mcp_reply
	[ "$#" -gt 0 ] || problem=${problem:-a command is required}
	if [ -n "$problem" ]; then
		_mcp_warn "mcp_run_with_progress: $problem"
		return 1
	fi

	if ! _mcp_run_file; then
		_mcp_warn "mcp_run_with_progress: cannot make the file $_mcp_reply"
		return 1
	fi
	stderr=$_mcp_reply
	if [ -n "$from_stdout" ] && [ -n "$stdout_to" ]; then
		: >"$stdout_to"
	fi
	if [ -n "$progress_file" ]; then
		[ ! -s "$progress_file" ] || mcp_log_warn mcp_run_with_progress "emptying the progress file: $progress_file"
		: >"$progress_file"
	fi
	if [ -n "$stderr_to" ] && ! { : >"$stderr_to"; } 2>/dev/null; then
		mcp_log_warn mcp_run_with_progress "cannot write to stderr-file: $stderr_to"
		stderr_to=''
	fi
	_mcp_run_follow 36<"$stderr" 37>&1 38<"${progress_file:-$stderr}" 39< <(_mcp_run_command "$@")
	return "${status:-1}"
}
