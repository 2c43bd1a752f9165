#!/usr/bin/env bash
# The state of a service: status.sh SERVICE [--stage=STAGE]. Written for people at a terminal, and served
# unchanged.
set -euo pipefail

service=$1 stage=${2:-}
stage=${stage#--stage=}
awk -v service="$service" -v stage="$stage" '
	$1 == service && (stage == "" || $2 == stage) { print $1 " " $3 " runs in " $2 " since " $4; found = 1 }
	END { if (!found) { print "nothing of " service " is deployed there" > "/dev/stderr"; exit 1 } }
' "$(dirname "$0")/deployments.txt"
