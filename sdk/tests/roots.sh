# shellcheck shell=bash disable=SC2154,SC2016 # sourced by run
mkdir -p "$work/root/in" "$work/other" "$work/ro[o]t*" "$work/rootless"
: >"$work/root/file"
: >"$work/other/secret"
ln -sfn ../other "$work/root/out"
ln -sfn ../other/secret "$work/root/leaf"
ln -sfn "$work/root/in" "$work/other/back"
ln -sfn loop2 "$work/root/loop1"
ln -sfn loop1 "$work/root/loop2"
ln -sfn ../other/new "$work/root/dangling"
ln -sfn root "$work/alias"
: >"$work/root/strange"$'\n'
ln -sfn $'strange\n' "$work/root/newline"
export MCP_ROOTS_PATHS=$work/root MCP_ROOTS_COUNT=1

sdk 'mcp_roots_list; echo; mcp_roots_count; MCP_ROOTS_PATHS="" MCP_ROOTS_COUNT=""; mcp_roots_list; mcp_roots_count'
check "roots" "$work/root"$'\n10' "$out"
contains() {
	sdk "cd root/in; if mcp_roots_contains '$2'; then echo yes; else echo no; fi"
	check "contains $2" "$1"$'\n' "$out"
}
contains yes "$work/root"
contains yes "$work/root/"
contains yes "$work/root/in/new/er"
contains yes "$work//root/./in/../file"
contains yes "$work/alias/in"
contains yes "$work/other/back/x"
contains yes .
contains yes ../file
contains no ../../other
contains no "$work"
contains no /
contains no "$work/rootless"
contains no "$work/other"
contains no "$work/root/../other/secret"
contains no "$work/root/out"
contains no "$work/root/out/secret"
contains no "$work/root/leaf"
contains no "$work/root/dangling"
contains no "$work/root/in/../out/new"
contains no "$work/root/missing/../../other"
contains no "$work/root/loop1"
contains no "$work/root/out/../root/../other"
contains no "$work/rot"
MCP_ROOTS_PATHS="$work/ro[o]t*"$'\n'"$work/alias/in"
contains no "$work/root"
contains no "$work/root/file"
contains yes "$work/ro[o]t*/x"
contains yes "$work/root/in/x"
MCP_ROOTS_PATHS=/
contains yes /etc
MCP_ROOTS_PATHS=''
contains no /
MCP_ROOTS_PATHS=$work/root

# A result that refuses a path. It is printed if there is no error file.
forbidden() {
	local error='{"type":"forbidden","message":"%s"}'
	printf "1:{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],\"structuredContent\":{\"success\":false,\"error\":$error},\"isError\":true}\n|" "$1" "$1"
}
# The message for a path that is not allowed, with the allowed roots.
refused() {
	forbidden ".p is outside configured MCP roots: '$1'$2"
}
relative=" (relative paths start in the project's folder)"
path() {
	MCP_TOOL_ARGS_JSON="{\"p\":\"$2\",\"nil\":null}" sdk "cd root; mcp_require_path $1"
	check "require_path $1 $2" "${3%|}" "$status:$out"
}
export MCP_TOOL_ARGS_JSON
path .p in/../file "0:$work/root/file"
path .p "$work/alias/in" "0:$work/root/in"
path .p 'in/new [x]*' "0:$work/root/in/new [x]*"
path .p newline "0:$work/root/strange"$'\n'
path .p ../other "$(refused ../other "$relative; allowed is what is in '$work/root'")"
path .p out/secret "$(refused out/secret "$relative; allowed is what is in '$work/root'")"
path .p leaf "$(refused leaf "$relative; allowed is what is in '$work/root'")"
MCP_TOOL_ERROR_FILE=$work/refusal path .p leaf 1:
said=$(refused leaf "$relative; allowed is what is in '$work/root'")
check "require_path: the refusal is left for the server" "${said%|}" "1:$(cat "$work/refusal")"$'\n'
path .p "$work/rootless" "$(refused "$work/rootless" "; allowed is what is in '$work/root'")"
MCP_ROOTS_PATHS=$(printf '/none/%s\n' 1 2 3 4 5 6 7) MCP_ROOTS_COUNT=7 path .p /x "$(refused /x "; allowed is what is in '/none/1', '/none/2', '/none/3', '/none/4', '/none/5' and 2 more")"
path .p loop1 "$(forbidden ".p leads through symbolic links in a circle: 'loop1'")"
path .nil x '1:{"code":-32602,"message":".nil is required","data":null}'$'\n'
path '.nil --allow-empty' x 0:
path '.nil --default-to-single-root' x "0:$work/root"
path '' x '1:{"code":-32602,"message":"mcp_require_path: argument pointer is required","data":null}'$'\n'
MCP_ROOTS_COUNT=2 path '.nil --default-to-single-root' x '1:{"code":-32602,"message":".nil is required when zero or multiple roots are configured","data":null}'$'\n'
MCP_ROOTS_PATHS='' MCP_ROOTS_COUNT=0 path .p ../other "0:$work/other"
MCP_ROOTS_PATHS='' MCP_ROOTS_COUNT=0 path '.nil --default-to-single-root' x '1:{"code":-32602,"message":".nil is required when zero or multiple roots are configured","data":null}'$'\n'
MCP_ROOTS_PATHS='' MCP_ROOTS_COUNT=2 path .p ../other "$(refused ../other "$relative")"

sdk 'cd root; mcp_path_normalize "out//x/../y/"; echo; mcp_path_normalize --logical out/../file; echo; mcp_path_normalize; echo; mcp_path_collapse "/a/./b/../../../c//d"; echo; mcp_path_normalize /; echo; mcp_path_normalize -- --physical; echo; mcp_path_normalize loop1'
check "path_normalize" "$work/other/y
$work/root/file
$work/root
/c/d
/
$work/root/--physical
$work/root/loop1" "$out"

# If there are too many roots for a variable, they are in a file.
printf '%s\n' "$work/nowhere" "$work/other" "$work/root" >"$work/paths"
export MCP_ROOTS_PATHS='' MCP_ROOTS_COUNT=3 MCP_ROOTS_PATHS_FILE=$work/paths
sdk 'mcp_roots_list; mcp_roots_count'
check "roots: from a file" "$(cat "$work/paths")"$'\n3' "$out"
contains yes "$work/root/in/x"
contains yes "$work/other/secret"
contains no "$work/rootless"
path .p in/../file "0:$work/root/file"
path .p ../rootless "$(refused ../rootless "$relative; allowed is what is in $(sed "s/.*/'&'/" "$work/paths" | paste -sd, - | sed 's/,/, /g')")"
path .p null "0:$work/root/null"
: >"$work/paths"
MCP_ROOTS_COUNT=0 path .p file "$(refused file "$relative")"

# A client that sends its roots only on request is asked; invalid roots open nothing.
export MCP_ROOTS_ASK=1 MCP_ASK_SOCKET=socket STUB_STATUS=0 MCP_ROOTS_PATHS=$work/root MCP_ROOTS_COUNT=1 MCP_ROOTS_PATHS_FILE=
export STUB_ANSWER="{\"result\":{\"roots\":[{\"uri\":\"file://$work/other\",\"path\":\"$work/other\"}]}}"
sdk 'mcp_roots_list; mcp_roots_count'
check "roots: asked for" "$work/other1" "$out"
path .p "$work/other/secret" "0:$work/other/secret"
path .p file "$(refused file "$relative; allowed is what is in '$work/other'")"
STUB_ANSWER='{"result":{"roots":[]}}' path .p file "$(forbidden ".p is not allowed: no folder is open; no path is allowed")"
STUB_ANSWER='{"result":{"roots":[],"refused":"all of them are wrong"}}' path .p file "$(forbidden ".p is not allowed: all of them are wrong")"
STUB_STATUS=1 STUB_ANSWER='{"error":{"code":-32603,"message":"no"}}' path .p file "0:$work/root/file"
unset MCP_ROOTS_ASK MCP_ASK_SOCKET STUB_ANSWER STUB_STATUS
unset MCP_TOOL_ARGS_JSON MCP_ROOTS_PATHS MCP_ROOTS_COUNT MCP_ROOTS_PATHS_FILE
