# Completion of mcp-bash for bash. It asks mcp-bash what could stand at the cursor.
_mcp_bash() {
	local answer kind word files
	COMPREPLY=()
	answer=$(command "${COMP_WORDS[0]}" __complete line "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null) || return 0
	{
		IFS= read -r kind
		while IFS=$'\t' read -r word _; do
			printf -v word %q "$word"
			COMPREPLY+=("$word")
		done
	} <<<"$answer"
	# What ends in = is not finished: its value follows without a space.
	[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2>/dev/null
	case $kind in
	files) files=-f ;;
	folders) files=-d ;;
	*) return 0 ;;
	esac
	compopt -o filenames 2>/dev/null
	while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen "$files" -- "${COMP_WORDS[COMP_CWORD]}")
	return 0
}
complete -F _mcp_bash mcp-bash
