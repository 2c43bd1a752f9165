# shellcheck shell=bash
# Part of tool-sdk.sh, sourced when one of its functions is first called: results from large data, from files,
# or from other programs.

# The first of two values that is an integer, otherwise 0.
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

# Sizes are added element by element, so that the whole takes one pass, however many elements there are.
# shellcheck disable=SC2016 # variables of the JSON tool
_mcp_truncate_program='
def bytes: tojson | utf8bytelength;
def failed($type; $message): {result: null, truncated: false, error: {type: $type, message: $message}};
def fitting($room): reduce .[] as $item ({kept: 0, left: ($room + 1), full: false};
	if .full then . else (($item | bytes) + 1) as $size
		| if $size <= .left then .kept += 1 | .left -= $size else .full = true end
	end) | .kept;
def cut($at; $name): . as $whole | getpath($at) as $all | ($all | length) as $total
	| if $total == 0 or bytes <= $max then {result: ., truncated: false, kept: $total, total: $total}
	  else (setpath($at; []) | bytes) as $frame
	  | if $frame > $max then
			failed("output_too_large"; "Response too large (\($frame) bytes) even with empty array at \($name)")
		else ($all | fitting($max - $frame)) as $kept
			| {result: ($whole | setpath($at; $all[:$kept])), truncated: true, kept: $kept, total: $total}
		end
	  end;
if length != 1 then length
else .[0] | bytes as $size
	| if $path != "" then
		($path | split(".") | .[1:]) as $at | ([try getpath($at) catch "unreachable" | type] | first) as $type
		| (try (getpath($at) | "ok") catch "unreachable") as $reached
		| if $reached != "ok" then failed("invalid_path"; "Path leads through a value that is no object: \($path)")
		  elif $type == "null" then failed("path_not_found"; "Path not found: \($path)")
		  elif $type != "array" then failed("invalid_array_path"; "Path is not an array: \($path)")
		  else cut($at; $path) end
	  elif $size <= $max then {result: ., truncated: false}
	  elif type == "array" then
		if (.[:1] | bytes) > $max then
			{result: [], truncated: true, kept: 0, total: length, _warning: "individual items exceed max_bytes"}
		else cut([]; ".") end
	  elif type == "object" and (.results | type) == "array" then cut(["results"]; ".results")
	  else failed("output_too_large"; "Response too large (\($size) bytes) and cannot be safely truncated (not an array)")
	  end
end'

mcp_json_truncate() {
	local json='' limit='' path='' given=0 message='' result=''
	local failure='{"result":null,"truncated":false,"error":{"type":"%s","message":%s}}\n'
	while [ "$#" -gt 0 ]; do
		case $1 in
		--array-path)
			case ${2-} in
			'' | --*)
				# shellcheck disable=SC2059 # the format is the line above
				printf "$failure" invalid_path_syntax '"--array-path requires a value"'
				return 0
				;;
			esac
			path=$2
			shift
			;;
		*)
			case $given in
			0) json=$1 ;;
			1) limit=$1 ;;
			esac
			given=$((given + 1))
			;;
		esac
		shift
	done
	_mcp_uint "$limit" "${MCPBASH_MAX_TOOL_OUTPUT_SIZE:-10485760}"
	limit=$_mcp_reply

	local step='\.[a-zA-Z_][a-zA-Z0-9_]*'
	if [ -n "$path" ] && ! [[ $path =~ ^($step)+$ ]]; then
		if _mcp_compact "$json"; then
			_mcp_quote "Invalid path syntax: $path (write .key or .key.nested)" 2>/dev/null
			# shellcheck disable=SC2059 # the format is above
			printf "$failure" invalid_path_syntax "$_mcp_reply"
			return 0
		fi
		path=''
	fi

	if ! result=$(exec "$MCPBASH_JSON_TOOL_BIN" -cs --argjson max "$limit" --arg path "$path" \
		"$_mcp_truncate_program" <<<"$json" 2>/dev/null); then
		message="Invalid JSON: parse error"
	else
		case $result in
		0) message="Empty input: expected exactly one JSON value" ;;
		[1-9]*) message="Multiple JSON values found ($result): expected exactly one" ;;
		*)
			printf '%s\n' "$result"
			return 0
			;;
		esac
	fi
	_mcp_quote "$json" 2>/dev/null
	printf '{"result":null,"truncated":false,"error":{"type":"invalid_json","message":"%s","raw":%s}}\n' \
		"$message" "$_mcp_reply"
}

# Distinguishes JSON from text: small JSON by parsing it, large JSON by its start, because it will be parsed
# anyway.
_mcp_looks_like_json() {
	# shellcheck disable=SC2154 # set in tool-sdk.sh
	if [ "${#1}" -le "$_mcp_read_limit" ]; then
		_mcp_read_json "$1" 2>/dev/null
		return
	fi
	case ${1#"${1%%[![:space:]]*}"} in
	\{* | \[* | \"*) return 0 ;;
	*) return 1 ;;
	esac
}

mcp_result_text_with_resource() {
	local data=${1-} count=0 i list='' comma='' entry
	local paths mimes uris
	paths=() mimes=() uris=()
	shift || :
	while [ "$#" -gt 0 ]; do
		case $1 in
		--path)
			count=$((count + 1))
			paths[count]=${2-}
			mimes[count]=''
			uris[count]=''
			shift 2 || shift
			;;
		--mime)
			[ "$count" -eq 0 ] || mimes[count]=${2-}
			shift 2 || shift
			;;
		--uri)
			[ "$count" -eq 0 ] || uris[count]=${2-}
			shift 2 || shift
			;;
		*)
			mcp_log_debug sdk "mcp_result_text_with_resource: unknown flag ignored: $1"
			shift
			;;
		esac
	done
	if [ "$count" -gt 0 ] && [ -z "${MCP_TOOL_RESOURCES_FILE:-}" ]; then
		mcp_log_warn sdk "mcp_result_text_with_resource: MCP_TOOL_RESOURCES_FILE is not set, nothing is embedded"
	elif [ "$count" -gt 0 ]; then
		for ((i = 1; i <= count; i++)); do
			if [ -z "${paths[i]}" ]; then
				mcp_log_debug sdk "mcp_result_text_with_resource: empty path skipped"
			elif [ ! -f "${paths[i]}" ] || [ ! -r "${paths[i]}" ]; then
				mcp_log_warn sdk "mcp_result_text_with_resource: not a readable file, skipped: ${paths[i]}"
				paths[i]=''
			fi
		done
		for ((i = 1; i <= count; i++)); do
			[ -n "${paths[i]}" ] || continue
			_mcp_quote "${paths[i]}" 2>/dev/null
			entry="{\"path\":$_mcp_reply"
			# The server detects the type of a file if it is not given.
			_mcp_reply=null
			[ -z "${mimes[i]}" ] || _mcp_quote "${mimes[i]}" 2>/dev/null
			entry+=",\"mimeType\":$_mcp_reply"
			_mcp_reply=null
			[ -z "${uris[i]}" ] || _mcp_quote "${uris[i]}" 2>/dev/null
			list+="$comma$entry,\"uri\":$_mcp_reply}"
			comma=,
		done
		printf '[%s]' "$list" >"$MCP_TOOL_RESOURCES_FILE"
	fi
	if [ -n "$data" ] && ! _mcp_looks_like_json "$data"; then
		_mcp_quote "$data" 2>/dev/null
		data=$_mcp_reply
	fi
	mcp_result_success "$data"
}

mcp_extract_cli_error() {
	local out=${1-} err=${2-} status=${3-} found=''
	case ${out#"${out%%[![:space:]]*}"} in
	\{*)
		found=$(exec "$MCPBASH_JSON_TOOL_BIN" -rs 'if length != 1 then empty else .[0] | first(
				(.error | objects | .message | values),
				(.error | strings),
				(select(.success == false or .ok == false or .status == "error") | .message | values),
				(.errors | arrays | .[0] | objects | .message | values)
			) | if type == "string" then . else tojson end end' <<<"$out" 2>/dev/null) || found=''
		;;
	esac
	if [ -n "$found" ]; then
		printf '%s' "$found"
	elif [ -n "$err" ]; then
		printf '%s' "$err"
	else
		printf 'CLI exited with code %s' "$status"
	fi
}

# shellcheck disable=SC2016 # variables of the JSON tool
_mcp_success_program='
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
} end'

# The result for data that is long, or not JSON.
_mcp_success_by_tool() {
	local problem='Empty data'
	if [ -n "$1" ]; then
		problem='Invalid JSON'
		! "$MCPBASH_JSON_TOOL_BIN" -cs --argjson limit "$2" "$_mcp_success_program" <<<"$1" 2>/dev/null || return 0
	fi
	mcp_result_error "{\"type\":\"internal_error\",\"message\":\"$problem passed to mcp_result_success\"}"
}
