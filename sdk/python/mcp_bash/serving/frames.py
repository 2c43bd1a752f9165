"""Lines of JSON between the server and this worker, over two pipes that no function can reach by accident."""

from __future__ import annotations

import _thread
import fcntl
import os
import select

from ..encoding import decode, to_bytes
from ..json_types import is_object

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections import deque
    from typing import Any, Deque, Dict, List, Optional
else:
    # The module where `collections` gets it, which is slower to load.
    from _collections import deque

_CHUNK = 65536
# Above the numbers that functions and their children usually see.
FIRST_FD = 64


class Frames:
    """Reads frames, and writes frames completely: threads may send concurrently."""

    def __init__(self, input_fd: int, output_fd: int) -> None:
        self.input_fd = input_fd
        self.output_fd = output_fd
        self.ended = False
        self.in_child = False
        self.lock = _thread.allocate_lock()
        self._lines: Deque[bytes] = deque()
        self._rest: List[bytes] = []
        self._poll = select.poll()
        self._poll.register(input_fd, select.POLLIN | select.POLLHUP)
        os.register_at_fork(after_in_child=self._let_go)

    def next(self) -> Optional[Dict[str, Any]]:
        """The next complete frame."""
        while self._lines:
            frame = decode(self._lines.popleft().decode("utf-8"))
            if is_object(frame):
                return frame
        return None

    def receive(self) -> None:
        """Waits for input, and reads it."""
        data = os.read(self.input_fd, _CHUNK)
        if not data:
            self.ended = True
            return
        end = data.rfind(b"\n")
        if end < 0:
            self._rest.append(data)
            return
        if self._rest:
            self._rest.append(data)
            data = b"".join(self._rest)
            self._rest = []
            end = data.rfind(b"\n")
        if end + 1 < len(data):
            self._rest.append(data[end + 1 :])
        self._lines.extend(data[:end].split(b"\n"))

    def receive_what_is_there(self) -> None:
        """The same without waiting."""
        while not self.ended and self._poll.poll(0):
            self.receive()

    def has_input(self) -> bool:
        """Whether unread input has arrived, callable from any thread."""
        poll = select.poll()
        poll.register(self.input_fd, select.POLLIN)
        return bool(poll.poll(0))

    def write(self, text: str) -> None:
        """Sends a frame. The caller holds the lock."""
        if self.in_child:
            return
        data = to_bytes(text + "\n")
        written = os.write(self.output_fd, data)
        while written < len(data):
            written += os.write(self.output_fd, data[written : written + 1048576])

    def send(self, text: str) -> None:
        """Sends a frame that belongs to no call."""
        with self.lock:
            self.write(text)

    def _let_go(self) -> None:
        """In a forked child: the pipes belong to the parent, and so does the right to answer."""
        self.in_child = True
        self.ended = True
        for fd in (self.input_fd, self.output_fd):
            try:
                os.close(fd)
            except OSError:
                pass


def open_frames() -> Frames:
    """Takes over the pipes from the server. Children inherit neither."""
    input_fd = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, FIRST_FD)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    output_fd = _open_output(os.environ.pop("MCP_WORKER_OUTPUT", "/dev/fd/3"))
    os.environ.pop("MCP_WORKER", None)
    os.set_blocking(input_fd, True)
    os.set_blocking(output_fd, True)
    return Frames(input_fd, output_fd)


def _open_output(name: str) -> int:
    folder, _, number = name.rpartition("/")
    if folder not in ("/dev/fd", "/proc/self/fd") or not number.isdigit():
        opened = os.open(name, os.O_WRONLY)
        moved = fcntl.fcntl(opened, fcntl.F_DUPFD_CLOEXEC, FIRST_FD)
        os.close(opened)
        return moved
    moved = fcntl.fcntl(int(number), fcntl.F_DUPFD_CLOEXEC, FIRST_FD)
    os.close(int(number))
    return moved
