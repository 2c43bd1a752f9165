"""The wheel as an archive: sorted, with one time for all members, and with the list of their digests."""

import base64
import hashlib
import time
import zipfile
from dataclasses import dataclass

# A zip archive knows no earlier time.
EARLIEST = 315532800


@dataclass(frozen=True)
class Member:
    name: str
    content: bytes
    is_program: bool = False


def write(path, members, record_name, epoch):
    """The same members and time give the same bytes."""
    members = sorted(members, key=lambda member: (".dist-info/" in member.name, member.name))
    lines = [f"{member.name},sha256={digest(member.content)},{len(member.content)}\n" for member in members]
    # The list cannot hold its own digest.
    lines.append(f"{record_name},,\n")
    members.append(Member(record_name, "".join(lines).encode()))
    unfinished = path.with_suffix(".unfinished")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for member in members:
            entry = zipfile.ZipInfo(member.name, time.gmtime(max(epoch, EARLIEST))[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            # A regular file. Installers keep its execute permission.
            entry.external_attr = (0o100755 if member.is_program else 0o100644) << 16
            wheel.writestr(entry, member.content)
    unfinished.rename(path)


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
