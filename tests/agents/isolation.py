"""Separates a turn from the machine: a network with loopback only, its own processes and its own /tmp."""

import fcntl
import os
import socket
import struct
import subprocess

SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def isolated(command):
    """A command line that runs the command in its own namespaces. All of its processes end with it."""
    rights = [] if os.geteuid() == 0 else ["--map-root-user"]
    unshare = ["unshare", *rights, "--net", "--pid", "--fork", "--mount-proc", "--kill-child"]
    # The first process of a namespace must reap orphans: bash does, and the shell must not replace itself by the command.
    return [*unshare, "bash", "-c", '"$@"; exit $?', "init", *command]


def start_loopback():
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))


def use_as_tmp(folder):
    """Servers remove the folders of dead servers from /tmp. Those outside look dead from here, so /tmp is not shared."""
    subprocess.run(["mount", "--bind", folder, "/tmp"], check=True)
