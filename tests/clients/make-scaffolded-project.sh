#!/bin/sh
# Lets the server binary make a project with everything that it can scaffold: make-scaffolded-project.sh SERVER DIR
set -eu

[ $# -eq 2 ] || { echo "usage: make-scaffolded-project.sh SERVER DIR" >&2; exit 2; }
server=$1
mkdir -p "$(dirname "$2")"
cd "$(dirname "$2")"
"$server" new "$(basename "$2")" --quiet
cd "$(basename "$2")"
for language in bash python node; do
	"$server" scaffold tool "tool-$language" --lang "$language" --quiet
	[ "$language" = bash ] || "$server" scaffold tool "script-$language" --lang "$language" --script --quiet
	"$server" scaffold provider "provider-$language" --lang "$language" --quiet
	"$server" scaffold prompt "$language" --quiet
	"$server" scaffold completion "$language" --lang "$language" --quiet
done
"$server" scaffold tool program --from echo --quiet
"$server" scaffold resource manual --quiet
"$server" scaffold test --quiet
