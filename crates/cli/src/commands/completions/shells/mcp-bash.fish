# Completion of mcp-bash for fish. It asks mcp-bash what could stand at the cursor.
function __mcp_bash_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l answer (command $words[1] __complete words $words[2..-1] $current 2>/dev/null)
    printf '%s\n' $answer[2..-1]
    switch "$answer[1]"
        case files
            __fish_complete_path $current
        case folders
            __fish_complete_directories $current
    end
end
complete -c mcp-bash -f -a '(__mcp_bash_complete)'
