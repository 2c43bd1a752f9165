# shellcheck shell=bash
# Part of tool-sdk.sh, sourced when one of its functions is first called: downloads that cannot be turned
# against the machine's own network. The server's program downloads; here the request is checked.

_mcp_download_refused() {
	_mcp_quote "$2" 2>/dev/null
	_mcp_reply="{\"success\":false,\"error\":{\"type\":\"$1\",\"message\":$_mcp_reply}}"
}

# Sets _mcp_reply to the outcome as JSON, and _mcp_out to the requested file. Fails if there is no such file.
_mcp_download() {
	local url='' limit='' timeout='' retry=1 delay=1.0 flag answer
	local options
	options=()
	_mcp_out=''
	while [ "$#" -gt 0 ]; do
		flag=$1
		case $flag in
		--url | --out | --allow | --deny | --max-bytes | --timeout | --user-agent | --retry | --retry-delay) ;;
		-*)
			_mcp_download_refused invalid_params "Unknown option: $flag"
			return 1
			;;
		*)
			_mcp_download_refused invalid_params "Unexpected argument: $flag"
			return 1
			;;
		esac
		if [ "$#" -lt 2 ]; then
			_mcp_download_refused invalid_params "$flag requires a value"
			return 1
		fi
		case $flag in
		--url) url=$2 ;;
		--out) _mcp_out=$2 ;;
		--allow) options+=(--allow-host "$2") ;;
		--deny) options+=(--deny-host "$2") ;;
		--max-bytes) limit=$2 ;;
		--timeout) timeout=$2 ;;
		--user-agent) options+=(--user-agent "$2") ;;
		--retry) retry=$2 ;;
		--retry-delay) delay=$2 ;;
		esac
		shift 2
	done

	local type=invalid_params problem=''
	if [ -z "$url" ]; then
		type=invalid_url problem="--url is required"
	elif [ -z "$_mcp_out" ]; then
		problem="--out is required"
	elif [ "${url#https://}" = "$url" ]; then
		type=invalid_url problem="URL must use https://"
	elif [ -n "${limit//[0-9]/}" ]; then
		problem="--max-bytes must be a positive integer"
	elif [ -n "${timeout//[0-9]/}" ]; then
		problem="--timeout must be a positive integer"
	elif [ -n "$timeout" ] && ! [ "$timeout" -le 60 ] 2>/dev/null; then
		problem="--timeout cannot exceed 60 seconds"
	elif [ -n "${retry//[0-9]/}" ] || ! [ "$retry" -ge 1 ] 2>/dev/null; then
		problem="--retry must be a positive integer"
	elif ! _mcp_is_decimal "$delay" || [ "${delay%.}" != "$delay" ]; then
		problem="--retry-delay must be a number (e.g., 0.5, 1, 2.0)"
	fi
	if [ -n "$problem" ]; then
		_mcp_download_refused "$type" "$problem"
		return 1
	fi
	[ -z "$limit" ] || options+=(--max-bytes "$limit")
	[ -z "$timeout" ] || options+=(--timeout "$timeout")

	answer=$(exec "$MCPBASH_BIN" download "$url" --out "$_mcp_out" --retry "$retry" --retry-delay "$delay" \
		${options[@]+"${options[@]}"} </dev/null) || :
	_mcp_reply=$answer
	case $answer in
	'{"success":true,'*) return 0 ;;
	'{"success":false,'*) return 1 ;;
	esac
	_mcp_download_refused provider_unavailable "'$MCPBASH_BIN download' could not be run"
	return 1
}

mcp_download_safe() {
	_mcp_download "$@" || :
	printf '%s' "$_mcp_reply"
}

mcp_download_safe_or_fail() {
	local type message
	if _mcp_download "$@"; then
		printf '%s' "$_mcp_out"
		return 0
	fi
	type=${_mcp_reply#*'"type":"'}
	type=${type%%'"'*}
	message=${_mcp_reply##*'"message":"'}
	message=${message%'"}}'}
	message=${message//\\\//\/}
	printf -v message '%b' "${message//\\\"/\"}"
	mcp_fail_invalid_args "Download failed ($type): $message"
}
