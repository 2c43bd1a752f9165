#!/bin/bash
# mcp: {"description": "Waits until it is told to finish"}
echo >"$HOME/started"
read -r _ <"$HOME/go"
echo finished
