# shellcheck shell=bash
# Decides who may call what. The role is in the environment of the server, which the client's configuration
# sets. The role that a tool needs follows from its annotations, so that a new tool is protected from the
# start: a tool without annotations is for admins.

mcp_tools_policy_check() { # NAME METADATA
	local role=${OPS_ROLE:-viewer} needed
	needed=$(mcp_json_extract_optional "$2" -r '.annotations
		| if .readOnlyHint == true then "viewer" elif .destructiveHint == false then "operator" else "admin" end' admin)
	case $role:$needed in
	admin:* | operator:operator | operator:viewer | viewer:viewer) return 0 ;;
	operator:* | viewer:*)
		mcp_tools_error 403 "$1 needs the role $needed, and you are $role. Ask an $needed to do it." \
			"{\"needed\":\"$needed\",\"role\":\"$role\"}"
		;;
	*) mcp_tools_error 403 "OPS_ROLE is none of viewer, operator and admin, so that nothing is allowed." ;;
	esac
	return 1
}
