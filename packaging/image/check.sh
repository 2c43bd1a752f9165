# Checks that every image must pass. Sourced by the tests of images, in the root of the source, with WORK set.

fail() {
	echo "packaging/image: $*" >&2
	exit 1
}

# The tag of the image in an archive: the release pushes the image with Debian as VERSION, the other as VERSION-static.
tag_of() { # ARCHIVE
	tar --extract --to-stdout --file "$1" index.json | jq -r '.manifests[0].annotations["org.opencontainers.image.ref.name"]'
}

# Runs the tests of the project in a container, its health check, and lists its tools over HTTP.
#
#   check_container IMAGE PROJECT TOOL
check_container() {
	local image=$1 project=$2 tool=$3 probe answer address='' metrics='' log server line
	packaging/image/run "$image" "$project" test >"$WORK/said" 2>&1 || fail "mcp-bash test: $(cat "$WORK/said")"
	mapfile -t probe < <(jq -r '.config.Healthcheck.Test[2:][]' "$image/config.json")
	packaging/image/run "$image" "$project" "${probe[@]}" >"$WORK/said" 2>&1 || fail "its health check: $(cat "$WORK/said")"

	exec {log}< <(exec packaging/image/run "$image" "$project" serve /project --http 127.0.0.1:0 --metrics 127.0.0.1:0 2>&1)
	server=$!
	while [ -z "$address" ] || [ -z "$metrics" ]; do
		read -r line <&"$log" || fail 'the server over HTTP ends'
		case $line in
		'Serving at '*) address=${line#Serving at } ;;
		'Metrics at '*) metrics=${line#Metrics at } ;;
		*) echo "$line" >&2 ;;
		esac
	done
	curl --silent --fail --output /dev/null "${metrics%/metrics}/readyz" || fail 'it is not ready over HTTP'
	answer=$(curl --silent "$address" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
		-H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/list' -d '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{
			"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}')
	# unshare waits for its child with SIGTERM blocked.
	kill -KILL "$server"
	exec {log}<&-
	[[ $answer == *"\"name\":\"$tool\""* ]] || fail "over HTTP it lists: $answer"
}
