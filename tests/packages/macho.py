"""Writes a stand-in for a program for macOS, where none can be built: macho.py FILE PROCESSOR...

Only its header is right: of one processor, or universal with a part for each.
"""

import struct
import sys
from pathlib import Path

PROCESSORS = {"arm64": 0x0100000C, "x86_64": 0x01000007}
ALIGNMENT = 14


def part(processor):
    return struct.pack("<8I", 0xFEEDFACF, PROCESSORS[processor], 0, 2, 0, 0, 0, 0)


def universal(processors):
    whole = struct.pack(">2I", 0xCAFEBABE, len(processors))
    for number, processor in enumerate(processors, 1):
        whole += struct.pack(">5I", PROCESSORS[processor], 0, number << ALIGNMENT, len(part(processor)), ALIGNMENT)
    for number, processor in enumerate(processors, 1):
        whole = whole.ljust(number << ALIGNMENT, b"\0") + part(processor)
    return whole


def main(file, *processors):
    Path(file).write_bytes(universal(processors) if len(processors) > 1 else part(*processors))
    Path(file).chmod(0o755)


main(*sys.argv[1:])
