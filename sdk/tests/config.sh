# shellcheck shell=bash disable=SC2154,SC2016 # sourced by run
printf '{"a":"example","b":"example","n":{"x":1}}' >"$work/example.json"
printf '{ "a": "file", "n": {"y": 2} }\n' >"$work/config.json"
printf 'not json' >"$work/bad.json"
: >"$work/empty.json"
sdk 'mcp_config_load --defaults "{\"timeout\": 30}"; printf "%s" "$MCP_CONFIG_JSON"'
check "config: defaults stay as they are" '0:{"timeout": 30}' "$status:$out"
sdk 'mcp_config_load --defaults "{\"c\":0,\"a\":0}" --example example.json --file config.json; echo "$MCP_CONFIG_JSON"'
check "config: merged" '{"c":0,"a":"file","b":"example","n":{"y":2}}'$'\n' "$out"
sdk 'export CFG="{\"a\":\"env\"}"; mcp_config_load --env CFG --file config.json; mcp_config_get .a; bash -c "printf \" %s\" \"\$MCP_CONFIG_JSON\""'
check "config: variable, exported" 'env {"a":"env","n":{"y":2}}' "$out"
sdk 'CFG=$PWD/config.json; mcp_config_load --env CFG --example example.json; mcp_config_get .a'
check "config: variable names a file" file "$out"
sdk 'mcp_config_load --env UNSET_VARIABLE --file missing.json || echo none; echo "$MCP_CONFIG_JSON"'
check "config: nothing" $'none\n{}\n' "$out"
sdk 'mcp_config_load --file config.json --bogus; echo "$?"'
check "config: unknown flag" $'0\n' "$out"
warned() {
	sdk "MCP_LOG_STREAM=log; : >log; mcp_config_load $1 || echo none; jq -r 'select(.params.level == \"warning\") | .params.data' log"
	check "config warns: $1" "$2" "$out"
}
warned '--file bad.json --defaults "{\"a\":1}"' $'Invalid JSON in file: bad.json\n'
warned '--file empty.json' $'none\nInvalid JSON in file: empty.json\nNo configuration sources loaded\n'
warned '--example bad.json --file config.json' $'Invalid JSON in file: bad.json\n'
warned '--defaults "{bad" --file config.json' $'Invalid JSON in --defaults, using {}\n'
export CFG=nonsense
warned '--env CFG --file config.json' $'Env var CFG is neither valid JSON nor a file path\n'
CFG=bad.json
warned '--env CFG --file config.json' $'Invalid JSON in file: bad.json\n'
unset CFG

export MCP_CONFIG_JSON='{"s":"text","e":"","f":false,"z":0,"nil":null,"o":{"k":[1,2]}}'
got() {
	sdk "mcp_config_get $1"
	check "config_get $1" "$2" "$status:$out"
}
got .s 0:text
got .e 0:
got '.e --default x' 0:
got .f 0:false
got '.f --default true' 0:false
got .z 0:0
got .o '0:{"k":[1,2]}'
got '.o.k[1]' 0:2
got '".o.k[]"' $'0:1\n2'
got .missing 1:
got .nil 1:
got '.missing --default d' 0:d
got '.missing --default ""' 0:
got '.[' 1:
got '""' 1:
unset MCP_CONFIG_JSON
got .s 1:
