# shellcheck shell=bash
# Part of tool-sdk.sh, sourced when one of its functions is first called: JSON escapes. Both functions are
# inner steps of others, and share their variables.

# Escapes the control characters in $piece.
_mcp_quote_controls() {
	local code char
	piece=${piece//$'\n'/\\n}
	piece=${piece//$'\t'/\\t}
	piece=${piece//$'\r'/\\r}
	case $piece in
	*[$'\001'-$'\037']*) ;;
	*) return 0 ;;
	esac
	for code in 01 02 03 04 05 06 07 08 0b 0c 0e 0f 10 11 12 13 14 15 16 17 18 19 1a 1b 1c 1d 1e 1f; do
		printf -v char '%b' "\\x$code"
		case $code in
		08) code=b ;;
		0c) code=f ;;
		*) code=u00$code ;;
		esac
		piece=${piece//"$char"/\\$code}
	done
}

# Sets $token to the string at the start of $rest. Fails if there is none.
_mcp_read_escapes() {
	local left=${rest#?} piece
	token='"'
	while :; do
		piece=${left%%[\"\\]*}
		case $piece in *[$'\001'-$'\037']*) return 1 ;; esac
		token+=$piece
		left=${left:${#piece}}
		case $left in
		\"*) break ;;
		\\[\"\\/bfnrt]*) piece=${left:0:2} ;;
		\\u[0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]*) piece=${left:0:6} ;;
		*) return 1 ;;
		esac
		token+=$piece
		left=${left:${#piece}}
	done
	token+='"'
}
