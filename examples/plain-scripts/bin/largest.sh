#!/usr/bin/env bash
# Lists the largest files of a folder.
set -eu

usage() {
  cat <<EOF
Usage: largest.sh [options] FOLDER

  -n, --count N     how many files
  -e, --ending TEXT only files with this ending
  -a, --all         hidden files too
EOF
  exit 1
}

count=10
ending=
all=
while [ $# -gt 0 ]; do
  case "$1" in
    -n|--count) count=$2; shift 2 ;;
    -e|--ending) ending=$2; shift 2 ;;
    -a|--all) all=1; shift ;;
    -h|--help) usage ;;
    -*) echo "unknown option: $1" >&2; exit 2 ;;
    *) break ;;
  esac
done
[ $# -eq 1 ] || usage
folder=$1

du -a -- "$folder" | grep -v "${all:-/\\.}" | grep -- "${ending:-.}\$" | sort -rn | head -n "$count"
