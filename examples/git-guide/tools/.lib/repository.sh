# shellcheck shell=bash
# Shared code of all tools here: finds the repository, and checks it. Hidden folders contain no tools.

# git writes nothing, not even its index, and never waits for a user.
export GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 GIT_PAGER=cat

# Changes to the repository of the call, by default the folder that the client has opened.
enter_repository() {
	local folder
	folder=$(mcp_require_path .repository --default-to-single-root)
	cd -- "$folder" 2>/dev/null || give_up no_such_folder "There is no folder $folder."
	git rev-parse --git-dir >/dev/null 2>&1 ||
		give_up not_a_repository "$folder is not a git repository. Give the folder that holds .git."
	git rev-parse --verify --quiet HEAD >/dev/null || give_up no_commits "The repository has no commits yet."
}

give_up() { # TYPE MESSAGE
	mcp_error "$1" "$2"
	exit 0
}
