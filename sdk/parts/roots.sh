# shellcheck shell=bash
# Part of tool-sdk.sh, sourced when one of its functions is first called: paths, and the client's roots.

# Sets _mcp_reply to an absolute path without `.`, `..` and doubled slashes and, if physical, without symbolic
# links, each of which takes a process. Missing parts stay as written. Fails for circular links.
_mcp_resolve() {
	local mode=$1 rest=$2 path='' part links=0
	case $rest in
	/*) ;;
	*) rest=$PWD/$rest ;;
	esac
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

# Whether a path contains a symbolic link.
_mcp_has_link() {
	local path=$1
	case $path in
	/*) ;;
	*) path=$PWD/$path ;;
	esac
	while [ -n "$path" ]; do
		[ ! -L "$path" ] || return 0
		path=${path%/*}
	done
	return 1
}

# Sets the array _mcp_resolved to the paths without symbolic links, empty for circular ones. If there are any
# links that takes a process: one for all if `realpath` accepts missing names, otherwise one for each link.
_mcp_resolve_links() {
	local path linked=''
	_mcp_resolved=()
	for path; do
		! _mcp_has_link "$path" || linked=yes
	done
	if [ -n "$linked" ]; then
		while IFS= read -r -d '' path; do
			# A remaining link only points to itself.
			! _mcp_has_link "$path" || path=''
			_mcp_resolved+=("$path")
		done < <(exec realpath -mz -- "$@" 2>/dev/null)
		[ "${#_mcp_resolved[@]}" -ne "$#" ] || return 0
		_mcp_resolved=()
	fi
	for path; do
		_mcp_resolve physical "$path" || _mcp_reply=''
		_mcp_resolved+=("$_mcp_reply")
	done
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
	_mcp_reply=''
	if [ "$mode" = physical ]; then
		_mcp_resolve_links "${1-}"
		_mcp_reply=${_mcp_resolved[0]}
	fi
	[ -n "$_mcp_reply" ] || _mcp_resolve logical "${1-}"
	printf '%s' "$_mcp_reply"
}

# Asks for the roots of a client that sends them only on request. They replace those of the project.
_mcp_ask_for_roots() {
	local listed
	MCP_ROOTS_ASK=''
	_mcp_ask roots/list '{}' '' || return 0
	listed=$_mcp_reply
	# A path with a line break is left out, since part of it could be taken for another root.
	MCP_ROOTS_PATHS=$("$MCPBASH_JSON_TOOL_BIN" -r '.roots[].path | select(contains("\n") | not)' <<<"$listed")
	MCP_ROOTS_COUNT=$("$MCPBASH_JSON_TOOL_BIN" '.roots | length' <<<"$listed")
	MCP_ROOTS_PATHS_FILE=''
	MCP_ROOTS_REFUSED=''
	[ "$MCP_ROOTS_COUNT" != 0 ] ||
		MCP_ROOTS_REFUSED=$("$MCPBASH_JSON_TOOL_BIN" -r '.refused // "no folder is open; no path is allowed"' <<<"$listed")
}

# Sets _mcp_reply to the paths of the roots, one per line. If there are many, they are in a file.
_mcp_roots() {
	[ -z "${MCP_ROOTS_ASK:-}" ] || _mcp_ask_for_roots
	_mcp_reply=${MCP_ROOTS_PATHS:-}
	[ -z "${MCP_ROOTS_PATHS_FILE:-}" ] || _mcp_read_file "$MCP_ROOTS_PATHS_FILE"
}

mcp_roots_list() {
	_mcp_roots
	printf '%s' "$_mcp_reply"
}

mcp_roots_count() {
	_mcp_roots
	printf '%s' "${MCP_ROOTS_COUNT:-0}"
}

# Whether a path is in one of the roots. Sets _mcp_reply to the path without links, empty for circular ones.
_mcp_within_roots() {
	local root path paths i
	paths=("$1")
	_mcp_roots
	while IFS= read -r root; do
		[ -z "$root" ] || paths+=("$root")
	done <<<"$_mcp_reply"
	_mcp_resolve_links "${paths[@]}" # 3.2: there is one at least
	_mcp_reply=${_mcp_resolved[0]}
	[ -n "$_mcp_reply" ] || return 1
	path=${_mcp_reply%/}/
	for ((i = 1; i < ${#_mcp_resolved[@]}; i++)); do
		root=${_mcp_resolved[i]}
		[ -n "$root" ] || continue
		# Compared as text: a root may contain pattern characters.
		root=${root%/}/
		[ "${path:0:${#root}}" != "$root" ] || return 0
	done
	return 1
}

mcp_roots_contains() {
	_mcp_within_roots "${1-}"
}

# Ends the script because a path is not allowed, and lists the allowed roots, so that the model can choose
# another path.
_mcp_refuse_path() {
	local pointer=$1 value=$2 message root named=0 open=''
	[ "${#value}" -le 200 ] || value=${value:0:200}…
	message="$pointer is outside configured MCP roots: '$value'"
	case $value in
	/*) ;;
	*) message+=" (relative paths start in the project's folder)" ;;
	esac
	_mcp_roots
	while IFS= read -r root; do
		[ -n "$root" ] || continue
		named=$((named + 1))
		[ "$named" -gt 5 ] || open+="${open:+, }'$root'"
	done <<<"$_mcp_reply"
	[ "$named" -le 5 ] || open+=" and $((named - 5)) more"
	[ -z "$open" ] || message+="; allowed is what is in $open"
	_mcp_fail_with_result forbidden "$message"
}

_mcp_require_path() {
	local pointer=${1-} single='' empty='' count within=yes value
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
	_mcp_roots
	count=${MCP_ROOTS_COUNT:-0}
	# Invalid roots must not open every path.
	[ -z "${MCP_ROOTS_REFUSED:-}" ] || _mcp_fail_with_result forbidden "$pointer is not allowed: $MCP_ROOTS_REFUSED"

	if ! _mcp_arg "$pointer"; then
		if [ -n "$single" ]; then
			[ "$count" = 1 ] ||
				mcp_fail_invalid_args "$pointer is required when zero or multiple roots are configured"
			_mcp_roots
			_mcp_reply=${_mcp_reply%%$'\n'*}
		else
			_mcp_reply=''
		fi
	fi
	if [ -z "$_mcp_reply" ]; then
		[ -n "$empty" ] || mcp_fail_invalid_args "$pointer is required"
		return 0
	fi
	value=$_mcp_reply
	_mcp_within_roots "$value" || within=''
	[ -n "$_mcp_reply" ] ||
		_mcp_fail_with_result forbidden "$pointer leads through symbolic links in a circle: '$value'"
	if [ "$count" != 0 ] || [ -n "${MCP_ROOTS_PATHS:-}${MCP_ROOTS_PATHS_FILE:-}" ]; then
		[ -n "$within" ] || _mcp_refuse_path "$pointer" "$value"
	fi
	printf '%s' "$_mcp_reply"
}

mcp_require_path() {
	_mcp_untraced _mcp_require_path "$@"
}
