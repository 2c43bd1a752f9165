# shellcheck shell=bash
# Part of tool-sdk.sh, sourced when one of its functions is first called: typed arguments.

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
