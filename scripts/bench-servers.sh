# For scripts that measure servers on other SDKs: copies them next to their packages. Sourced, from the
# repository.

# Copies the servers of a folder, FOLDER/fastmcp and FOLDER/typescript, and sets `servers` to their new
# folder.
prepare_servers() { # FOLDER PLACE
	local folder=$1
	servers=$2
	prepare_server "$folder" fastmcp requirements.txt install_fastmcp
	prepare_server "$folder" typescript package.json install_typescript
}

# Packages are installed again only if the file that pins them has changed.
prepare_server() { # FOLDER SERVER PINS COMMAND...
	local place=$servers/$2 pins=$3
	mkdir -p "$place"
	cp "$1/$2"/* "$place"
	cmp -s "$place/$pins" "$place/installed" && return
	echo "installing the packages of $2" >&2
	rm -rf "$place/installed" "$place/venv" "$place/node_modules"
	(cd "$place" && "${@:4}")
	cp "$place/$pins" "$place/installed"
}

install_fastmcp() {
	python3 -m venv venv
	venv/bin/pip install --quiet --disable-pip-version-check -r requirements.txt
}

install_typescript() {
	npm install --no-package-lock --no-audit --no-fund --loglevel=error >/dev/null
}
