# shellcheck shell=bash
# Part of tool-sdk.sh, read when one of its functions is first called: paths, and the folders that the client named.

# Sets _mcp_reply to an absolute path without `.`, `..` and doubled slashes and, if physical, without symbolic links.
# What does not exist stays as it is written. A process is needed for links only: one for all of them where `realpath`
# takes names that do not exist, else one for each. Fails for links in a circle.
_mcp_resolve() {
	local mode=$1 rest=$2 path='' part links=0 whole
	case $rest in
	/*) ;;
	*) rest=$PWD/$rest ;;
	esac
	whole=$rest
	while [ -n "$rest" ]; do
		part=${rest%%/*}
		rest=${rest:${#part}}
		rest=${rest#/}
		case $part in
		'' | .) ;;
		..) path=${path%/*} ;;
		*)
			if [ "$mode" = logical ] || [ ! -L "$path/$part" ]; then
				path=$path/$part
				continue
			fi
			_mcp_reply=''
			if [ "$links" -eq 0 ]; then
				IFS= read -r -d '' _mcp_reply < <(exec realpath -mz -- "$whole" 2>/dev/null) || :
				if [ -n "$_mcp_reply" ]; then
					# Links that are left are those that lead nowhere but to each other.
					path=$_mcp_reply
					while [ -n "$path" ]; do
						[ ! -L "$path" ] || return 1
						path=${path%/*}
					done
					return 0
				fi
			fi
			links=$((links + 1))
			[ "$links" -le 40 ] || return 1
			# Not $(…), which would drop line feeds from the end of a name.
			IFS= read -r -d '' _mcp_reply < <(exec readlink -n "$path/$part" 2>/dev/null) || :
			case $_mcp_reply in
			'') return 1 ;;
			/*) path='' ;;
			esac
			rest=$_mcp_reply/$rest
			;;
		esac
	done
	_mcp_reply=${path:-/}
}

mcp_path_collapse() {
	_mcp_resolve logical "${1-}"
	printf '%s' "$_mcp_reply"
}

mcp_path_normalize() {
	local mode=physical
	while :; do
		case ${1-} in
		--physical) mode=physical ;;
		--logical) mode=logical ;;
		--)
			shift
			break
			;;
		*) break ;;
		esac
		shift
	done
	_mcp_resolve "$mode" "${1-}" || _mcp_resolve logical "${1-}"
	printf '%s' "$_mcp_reply"
}

mcp_roots_list() {
	printf '%s' "${MCP_ROOTS_PATHS:-}"
}

mcp_roots_count() {
	printf '%s' "${MCP_ROOTS_COUNT:-0}"
}

mcp_roots_contains() {
	local rest=${MCP_ROOTS_PATHS:-} root path
	_mcp_resolve physical "${1-}" || return 1
	path=$_mcp_reply
	while [ -n "$rest" ]; do
		root=${rest%%$'\n'*}
		rest=${rest:${#root}}
		rest=${rest#$'\n'}
		if [ -z "$root" ] || ! _mcp_resolve physical "$root"; then
			continue
		fi
		# Compared as text: a root may hold characters that mean something in a pattern.
		root=${_mcp_reply%/}/
		[ "${path%/}/" != "$root" ] || return 0
		[ "${path:0:${#root}}" != "$root" ] || return 0
	done
	return 1
}

_mcp_require_path() {
	local pointer=${1-} single='' empty='' count=${MCP_ROOTS_COUNT:-0} path
	shift || :
	while [ "$#" -gt 0 ]; do
		case $1 in
		--default-to-single-root) single=yes ;;
		--allow-empty) empty=yes ;;
		*) break ;;
		esac
		shift
	done
	[ -n "$pointer" ] || mcp_fail_invalid_args "mcp_require_path: argument pointer is required"

	if ! _mcp_arg "$pointer"; then
		if [ -n "$single" ]; then
			[ "$count" = 1 ] ||
				mcp_fail_invalid_args "$pointer is required when zero or multiple roots are configured"
			_mcp_reply=${MCP_ROOTS_PATHS:-}
			_mcp_reply=${_mcp_reply%%$'\n'*}
		else
			_mcp_reply=''
		fi
	fi
	if [ -z "$_mcp_reply" ]; then
		[ -n "$empty" ] || mcp_fail_invalid_args "$pointer is required"
		return 0
	fi
	_mcp_resolve physical "$_mcp_reply" || mcp_fail_invalid_args "$pointer leads through symbolic links in a circle"
	path=$_mcp_reply
	if [ "$count" != 0 ] || [ -n "${MCP_ROOTS_PATHS:-}" ]; then
		mcp_roots_contains "$path" || mcp_fail_invalid_args "$pointer is outside configured MCP roots"
	fi
	printf '%s' "$path"
}

mcp_require_path() {
	_mcp_untraced _mcp_require_path "$@"
}
