#!/bin/sh
# More than the limits of its sandbox, though no process alone uses more than the limit of memory.
case $1 in
processes)
	for _ in $(seq 40); do sleep 1 & done
	wait
	echo 'all started'
	;;
memory)
	for number in $(seq 4); do
		# It keeps its block until the reader takes it.
		dd if=/dev/zero bs=24M count=1 2>/dev/null | (sleep 3 && wc -c >"$TMPDIR/$number") &
	done
	wait
	[ "$(cat "$TMPDIR"/* | grep -c '^25165824$')" = 4 ] && echo 'all of it'
	;;
files)
	dd if=/dev/zero of="$TMPDIR/large" bs=1M count=100 2>/dev/null && wc -c <"$TMPDIR/large"
	;;
esac
