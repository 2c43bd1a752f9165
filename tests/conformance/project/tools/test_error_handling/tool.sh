#!/usr/bin/env bash
# What a script prints when it fails is its error.
echo "This tool intentionally returns an error for testing" >&2
exit 1
