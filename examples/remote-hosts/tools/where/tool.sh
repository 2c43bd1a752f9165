#!/bin/sh
printf 'host %s, home %s\n' "$(uname -n)" "${HOME-not known}"
