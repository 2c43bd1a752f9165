#!/bin/bash
# mcp: {"description": "Says who it is, where it may write, and which control group it is in"}
echo "user $(id -u)"
touch "${0%/*}/touched" 2>/dev/null || echo 'project read-only'
touch "$HOME/touched" && echo 'state writable'
sed -n 's/^0:://p' /proc/self/cgroup
