#!/bin/sh
# mcp: {"description": "Counts the letters of a word, with nothing but a shell", "argv": ["{word}"]}
printf '%s letters\n' "${#1}"
