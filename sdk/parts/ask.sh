# shellcheck shell=bash
# Part of tool-sdk.sh, sourced when one of its functions is first called: questions to the user and to the
# client's model.

# Asks the client: METHOD PARAMS SECONDS; without seconds the server's timeout applies. Sets _mcp_reply to the
# result, or to an answer with the reason why there is none.
_mcp_ask() {
	local method=$1 params=$2 timeout=$3 status=0
	if [ -z "${MCP_ASK_SOCKET:-}" ]; then
		_mcp_reply='this client cannot be asked'
		return 1
	fi
	set -- ask "$method" "$params"
	# A single argument of a command is limited (128 KiB on Linux).
	[ "${#params}" -le 30000 ] || set -- ask "$method" -
	[ -z "$timeout" ] || set -- "$@" --timeout "$timeout"
	if [ "$3" = - ]; then
		_mcp_reply=$(exec "$MCPBASH_BIN" "$@" <<<"$params") || status=$?
	else
		_mcp_reply=$(exec "$MCPBASH_BIN" "$@" </dev/null) || status=$?
	fi
	if [ "$status" -ne 0 ]; then
		[ -n "$_mcp_reply" ] || _mcp_reply="'$MCPBASH_BIN ask' could not be run"
		return 1
	fi
	case $_mcp_reply in
	'{"result":'*'}') ;;
	*) return 1 ;;
	esac
	_mcp_reply=${_mcp_reply#'{"result":'}
	_mcp_reply=${_mcp_reply%'}'}
}

# Asks the user and prints the answer, always as an action and a content.
_mcp_elicit() {
	local name=$1 params=$2 timeout=$3
	if [ "${MCP_ELICIT_SUPPORTED:-0}" != 1 ]; then
		_mcp_warn "$name: Client does not support elicitation"
		printf '{"action":"decline","content":null}'
		return 1
	fi
	if ! _mcp_ask elicitation/create "$params" "$timeout"; then
		if mcp_is_cancelled; then
			printf '{"action":"cancel","content":null}'
		else
			_mcp_warn "$name: no answer: $_mcp_reply"
			printf '{"action":"error","content":null}'
		fi
		return 1
	fi
	case $_mcp_reply in
	*'"content"'*) printf '%s' "$_mcp_reply" ;;
	*'"accept"'*) printf '{"action":"accept","content":null}' ;;
	*'"decline"'*) printf '{"action":"decline","content":null}' ;;
	*'"cancel"'*) printf '{"action":"cancel","content":null}' ;;
	*) printf '{"action":"error","content":null}' ;;
	esac
}

mcp_elicit() {
	local schema=${2-} timeout=${3:-$MCP_ELICIT_DEFAULT_TIMEOUT}
	[ -n "$schema" ] || schema='{"type":"object","properties":{}}'
	if [ "${4:-form}" = url ]; then
		mcp_elicit_url "$1" "${2-}" "$timeout"
		return
	fi
	_mcp_quote "$1" 2>/dev/null
	_mcp_elicit mcp_elicit "{\"mode\":\"form\",\"message\":$_mcp_reply,\"requestedSchema\":$schema}" "$timeout"
}

mcp_elicit_url() {
	local url timeout=${3:-$MCP_ELICIT_DEFAULT_TIMEOUT}
	_mcp_quote "$2" 2>/dev/null
	url=$_mcp_reply
	_mcp_quote "$1" 2>/dev/null
	_mcp_elicit mcp_elicit_url "{\"mode\":\"url\",\"message\":$_mcp_reply,\"url\":$url}" "$timeout"
}

# Asks for one property: NAME SCHEMA MESSAGE, the first two as JSON.
_mcp_elicit_one() {
	mcp_elicit "$3" "{\"type\":\"object\",\"properties\":{$1:$2},\"required\":[$1]}"
}

mcp_elicit_string() {
	_mcp_quote "${2:-value}" 2>/dev/null
	_mcp_elicit_one "$_mcp_reply" '{"type":"string"}' "$1"
}

mcp_elicit_confirm() {
	_mcp_elicit_one '"confirmed"' '{"type":"boolean"}' "$1"
}

# Sets _mcp_reply to [{"const":…,"title":…},…] for options written as "value:Title".
_mcp_titled() {
	local option list='' comma='' entry
	for option in ${1+"$@"}; do
		_mcp_quote "${option%%:*}" 2>/dev/null
		entry="{\"const\":$_mcp_reply"
		_mcp_quote "${option#*:}" 2>/dev/null
		list+="$comma$entry,\"title\":$_mcp_reply}"
		comma=,
	done
	_mcp_reply="[$list]"
}

_mcp_elicit_needs_options() {
	[ "$2" -lt 2 ] || return 0
	_mcp_warn "$1: expected a message and at least one option"
	printf '{"action":"error","content":null}'
	return 1
}

mcp_elicit_choice() {
	local message=${1-}
	_mcp_elicit_needs_options mcp_elicit_choice $# || return
	shift
	_mcp_quote_all "$@"
	_mcp_elicit_one '"choice"' "{\"type\":\"string\",\"enum\":$_mcp_reply}" "$message"
}

mcp_elicit_titled_choice() {
	local message=${1-}
	_mcp_elicit_needs_options mcp_elicit_titled_choice $# || return
	shift
	_mcp_titled "$@"
	_mcp_elicit_one '"choice"' "{\"type\":\"string\",\"oneOf\":$_mcp_reply}" "$message"
}

mcp_elicit_multi_choice() {
	local message=${1-}
	_mcp_elicit_needs_options mcp_elicit_multi_choice $# || return
	shift
	_mcp_quote_all "$@"
	_mcp_elicit_one '"choices"' "{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":$_mcp_reply}}" "$message"
}

mcp_elicit_titled_multi_choice() {
	local message=${1-}
	_mcp_elicit_needs_options mcp_elicit_titled_multi_choice $# || return
	shift
	_mcp_titled "$@"
	_mcp_elicit_one '"choices"' "{\"type\":\"array\",\"items\":{\"anyOf\":$_mcp_reply}}" "$message"
}

mcp_sample() {
	local message='' system='' tokens=1000 timeout=120 params given=''
	while [ "$#" -gt 0 ]; do
		case $1 in
		--system)
			system=${2-}
			shift 2 || shift
			;;
		--max-tokens)
			tokens=${2-}
			shift 2 || shift
			;;
		--timeout)
			timeout=${2-}
			shift 2 || shift
			;;
		*)
			[ -n "$given" ] || message=$1
			given=yes
			shift
			;;
		esac
	done
	case $tokens in
	'' | *[!0-9]* | 0*)
		_mcp_warn "mcp_sample: --max-tokens must be a positive integer"
		return 1
		;;
	esac
	if [ -z "$message" ]; then
		_mcp_warn "mcp_sample: expected a message"
		return 1
	fi
	_mcp_quote "$message" 2>/dev/null
	params="{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":$_mcp_reply}}]"
	if [ -n "$system" ]; then
		_mcp_quote "$system" 2>/dev/null
		params+=",\"systemPrompt\":$_mcp_reply"
	fi
	if ! _mcp_ask sampling/createMessage "$params,\"maxTokens\":$tokens}" "$timeout"; then
		_mcp_warn "mcp_sample: no answer: $_mcp_reply"
		return 1
	fi
	printf '%s' "$_mcp_reply"
}

# Asks several questions at once: an object of questions by name, each with a method and params. Prints an
# object of answers by the same names, each with a result or an error.
mcp_ask_all() {
	if ! _mcp_ask all "${1-}" "${2:-$MCP_ELICIT_DEFAULT_TIMEOUT}"; then
		_mcp_warn "mcp_ask_all: no answer: $_mcp_reply"
		return 1
	fi
	printf '%s' "$_mcp_reply"
}
