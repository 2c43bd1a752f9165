# shellcheck shell=bash
# Part of tool-sdk.sh, sourced when one of its functions is first called: configuration, merged from several
# places.

# Takes five texts: defaults, example, file, the file named by the variable, the variable. Prints a letter for
# each (y: merged, n: not JSON, -: missing), and the merged object.
# shellcheck disable=SC2016 # variables of the JSON tool
_mcp_config_program='
def layer: if . == "" then "-" else
	try (fromjson | if . == null or . == false then "n" else {value: .} end) catch "n" end;
map(layer)
| if (.[4] | type) == "object" then .[3] = "-" else . end
| (map(if type == "object" then "y" else . end) | add),
  (map(objects.value) | reduce .[] as $over ({}; . as $under | try ($under + $over) catch $under))'

mcp_config_load() {
	local variable='' file='' example='' defaults='{}' inline='' named='' found='' path texts answer
	while [ "$#" -gt 0 ]; do
		case $1 in
		--env) variable=${2-} ;;
		--file) file=${2-} ;;
		--example) example=${2-} ;;
		--defaults) defaults=${2-} ;;
		*)
			shift
			continue
			;;
		esac
		shift 2 || shift
	done
	MCP_CONFIG_JSON=$defaults
	export MCP_CONFIG_JSON

	[ -z "$variable" ] || inline=${!variable:-}
	[ ! -f "$inline" ] || named=$inline
	_mcp_quote "$defaults" 2>/dev/null
	texts=$_mcp_reply
	for path in "$example" "$file" "$named"; do
		_mcp_reply=''
		if [ -f "$path" ] && [ -r "$path" ]; then
			_mcp_read_file "$path"
			_mcp_reply=${_mcp_reply:-' '}
			found=yes
		fi
		_mcp_quote "$_mcp_reply" 2>/dev/null
		texts+=,$_mcp_reply
	done
	_mcp_quote "$inline" 2>/dev/null
	answer=y----
	if [ -n "$found$inline" ]; then
		if ! answer=$(exec "$MCPBASH_JSON_TOOL_BIN" -rc "$_mcp_config_program" <<<"[$texts,$_mcp_reply]" 2>/dev/null); then
			mcp_log_warn config "'$MCPBASH_JSON_TOOL_BIN' could not merge the configuration"
			return 1
		fi
	elif ! _mcp_compact "$defaults"; then
		answer=n----
	fi

	case $answer in
	[n-]*)
		mcp_log_warn config "Invalid JSON in --defaults, using {}"
		defaults='{}'
		MCP_CONFIG_JSON=$defaults
		;;
	esac
	case $answer in ?y*) mcp_log_debug config "Loaded example config: $example" ;; esac
	case $answer in ?n*) mcp_log_warn config "Invalid JSON in file: $example" ;; esac
	case $answer in ??y*) mcp_log_debug config "Loaded config file: $file" ;; esac
	case $answer in ??n*) mcp_log_warn config "Invalid JSON in file: $file" ;; esac
	case $answer in
	???y*) mcp_log_debug config "Loaded config from env var: $variable (file: $inline)" ;;
	???n*) mcp_log_warn config "Invalid JSON in file: $inline" ;;
	????y*) mcp_log_debug config "Loaded config from env var: $variable (JSON)" ;;
	????n*) mcp_log_warn config "Env var $variable is neither valid JSON nor a file path" ;;
	esac
	case ${answer:1:4} in
	*y*) MCP_CONFIG_JSON=${answer#*$'\n'} ;;
	*)
		if [ "$defaults" = '{}' ]; then
			mcp_log_warn config "No configuration sources loaded"
			return 1
		fi
		;;
	esac
}

mcp_config_get() {
	local path=${1-} default='' has_default='' config=${MCP_CONFIG_JSON:-} found=''
	[ -n "$config" ] || config='{}'
	shift || :
	while [ "$#" -gt 0 ]; do
		case $1 in
		--default)
			default=${2-}
			has_default=yes
			shift 2 || shift
			;;
		*) shift ;;
		esac
	done
	if [ -z "$path" ]; then
		mcp_log_warn config "mcp_config_get: path required"
		return 1
	fi
	# The prefix distinguishes an empty text from a missing one.
	found=$(exec "$MCPBASH_JSON_TOOL_BIN" -r "[($path
		)] | if all(.[]; . == null) then empty
		else \"=\" + (map(if type == \"string\" then . else tojson end) | join(\"\n\")) end" \
		<<<"$config" 2>/dev/null) || found=''
	if [ -n "$found" ]; then
		printf '%s' "${found#=}"
	elif [ -n "$has_default" ]; then
		printf '%s' "$default"
	else
		return 1
	fi
}
