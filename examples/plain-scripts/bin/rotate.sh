#!/bin/sh
# Removes all but the newest backups in a folder.
: "${KEEP:=3}"
folder=${1:?the folder of the backups}
ls -1t "$folder" | tail -n +"$((KEEP + 1))" | while read -r name; do
  rm -f -- "$folder/$name"
done
