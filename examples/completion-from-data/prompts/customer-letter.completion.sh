#!/usr/bin/env bash
# Completes from data/customers.csv. Earlier choices narrow the values: the cities of the country, the
# customers in the city.
set -euo pipefail

ask() { jq -r "$1 // \"\"" <<<"$MCP_COMPLETION_ARGS_JSON"; }
argument=$(ask .argument.name)
typed=$(ask .prefix)
country=$(ask .context.arguments.country)
city=$(ask .context.arguments.city)

case $argument in
country) column=1 ;;
city) column=2 ;;
customer) column=3 ;;
tone) # the script completes all arguments, even those with a list in the schema
	for tone in friendly formal short; do [[ $tone != "$typed"* ]] || echo "$tone"; done
	exit 0
	;;
*) exit 0 ;;
esac

# In the environment and not with -v, which would interpret backslashes.
typed=$typed country=$country city=$city awk -F, -v column="$column" '
	NR == 1 { next }
	column > 1 && ENVIRON["country"] != "" && $1 != ENVIRON["country"] { next }
	column > 2 && ENVIRON["city"] != "" && $2 != ENVIRON["city"] { next }
	index(tolower($column), tolower(ENVIRON["typed"])) == 1 && !seen[$column]++ { print $column }
' data/customers.csv
