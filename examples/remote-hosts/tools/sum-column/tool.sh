#!/bin/sh
# The project is a copy that came with the call: this folder, lib, and what `carry` lists.
"$MCPBASH_PROJECT_ROOT/lib/sum" "$1" <data/sales.csv
