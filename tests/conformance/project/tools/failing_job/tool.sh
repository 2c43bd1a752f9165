#!/usr/bin/env bash
sleep 1
echo "the job has failed" >&2
exit 1
