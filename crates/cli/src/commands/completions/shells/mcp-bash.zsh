#compdef mcp-bash
# Completion of mcp-bash for zsh. It asks mcp-bash what could stand at the cursor.
_mcp-bash() {
	local -a lines values shown unfinished
	local line word help
	lines=("${(@f)$(_call_program words ${(q)words[1]} __complete words ${(q)words[2,CURRENT]} 2>/dev/null)}")
	for line in "${(@)lines[2,-1]}"; do
		word=${line%%$'\t'*} help=${line#*$'\t'}
		if [[ $word == *= ]]; then
			unfinished+=("$word")
		else
			values+=("$word") shown+=("$word${help:+  -- $help}")
		fi
	done
	(( $#values )) && compadd -l -d shown -a values
	(( $#unfinished )) && compadd -S '' -a unfinished
	case ${lines[1]} in
	files) _files ;;
	folders) _files -/ ;;
	esac
}
if [[ ${funcstack[1]} == _mcp-bash ]]; then
	_mcp-bash "$@"
elif (( $+functions[compdef] )); then
	compdef _mcp-bash mcp-bash
fi
