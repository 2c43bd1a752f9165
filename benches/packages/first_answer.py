"""How long a packaged server takes to its first answer, beside the bare program.

    first_answer.py ROUNDS PROJECT NAME=COMMAND...     the first is what the others are compared with

Each round starts every command once, in turn, from before its start until the answer to `initialize` is complete. The processor
time is that of all its processes until they have ended; it hardly depends on what else the machine does.
"""

import json
import os
import shlex
import statistics
import subprocess
import sys
import time

REQUEST = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}},
}


def first_answer(command):
    begun = time.perf_counter()
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    server.stdin.write(json.dumps(REQUEST).encode() + b"\n")
    server.stdin.flush()
    answer = server.stdout.readline()
    took = time.perf_counter() - begun
    server.stdin.close()
    _, _, used = os.wait4(server.pid, 0)
    if b'"serverInfo"' not in answer:
        sys.exit(f"bench-packages: {shlex.join(command)} does not answer: {answer}")
    return took * 1000, (used.ru_utime + used.ru_stime) * 1000


def main(rounds, project, *named):
    commands = {}
    for one in named:
        name, command = one.split("=", 1)
        commands[name] = [*shlex.split(command), "--project-root", project]
    # The first one fills caches.
    for command in commands.values():
        first_answer(command)
    times = {name: [] for name in commands}
    for _ in range(int(rounds)):
        for name, command in commands.items():
            times[name].append(first_answer(command))
    medians = {name: [statistics.median(one) for one in zip(*both)] for name, both in times.items()}
    bare, bare_used = next(iter(medians.values()))
    print(f"{'first answer, median':28} {'ms':>7} {'over it':>8} {'ratio':>6} {'CPU, ms':>8} {'over it':>8}")
    for name, (took, used) in medians.items():
        print(f"{name:28} {took:7.1f} {took - bare:8.1f} {took / bare:6.1f} {used:8.1f} {used - bare_used:8.1f}")


main(*sys.argv[1:])
