"""Parses a docstring: the description, and the parameters in Google, NumPy or reST style."""

from __future__ import annotations

import re
from typing import Dict, List, Optional, Tuple

_SECTION = re.compile(
    r"(args|arguments|parameters|params|other parameters|keyword args|keyword arguments|attributes|returns?|raises|yields?"
    r"|examples?|notes?|see also|warnings?|references|todo):?$",
    re.IGNORECASE,
)
_NAMES_PARAMETERS = re.compile(
    r"(args|arguments|parameters|params|other parameters|keyword arg\w*|attributes):?$", re.IGNORECASE
)
_GOOGLE = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$")
_NUMPY = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")
_REST = re.compile(r":(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*?\s)?\*{0,2}(\w+)\s*:\s*(.*)$")
_REST_FIELD = re.compile(r":\w[\w ]*(?:\s[^:]*)?:")


def parse(text: Optional[str]) -> Tuple[str, Dict[str, str]]:
    """The first paragraph, and the descriptions of the parameters."""
    lines = _lines(text)
    return _first_paragraph(lines), {**_sections(lines), **_rest(lines)}


def _lines(text: Optional[str]) -> List[str]:
    if not text:
        return []
    lines = text.expandtabs().strip("\n").splitlines()
    rest = [line for line in lines[1:] if line.strip()]
    margin = min((_indent(line) for line in rest), default=0)
    return [lines[0].strip()] + [line[margin:].rstrip() for line in lines[1:]]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _first_paragraph(lines: List[str]) -> str:
    words: List[str] = []
    for number, line in enumerate(lines):
        stripped = line.strip()
        if not stripped:
            if words:
                break
            continue
        if _REST_FIELD.match(stripped) or _is_section(lines, number):
            break
        words.append(stripped)
    return " ".join(words)


def _is_section(lines: List[str], number: int) -> bool:
    """A heading: with a colon, or underlined."""
    line = lines[number].strip()
    if not _SECTION.match(line):
        return False
    return line.endswith(":") or _is_underlined(lines, number)


def _is_underlined(lines: List[str], number: int) -> bool:
    below = lines[number + 1].strip() if number + 1 < len(lines) else ""
    return len(below) > 2 and set(below) <= {"-", "="}


def _sections(lines: List[str]) -> Dict[str, str]:
    found: Dict[str, str] = {}
    for number, line in enumerate(lines):
        if not _is_section(lines, number) or not _NAMES_PARAMETERS.match(line.strip()):
            continue
        if _is_underlined(lines, number):
            found.update(_numpy(lines, number + 2, _indent(line)))
        else:
            # The indentation below a first line is lost, so everything belongs to the heading.
            found.update(_google(lines, number + 1, _indent(line) if number else -1))
    return found


def _google(lines: List[str], at: int, heading: int) -> Dict[str, str]:
    """``name (int): text``, with further lines indented deeper."""
    found: Dict[str, str] = {}
    name, margin = "", -1
    for line in lines[at:]:
        if not line.strip():
            continue
        indent = _indent(line)
        if indent <= heading:
            break
        margin = indent if margin < 0 else margin
        entry = _GOOGLE.match(line.strip()) if indent == margin else None
        if entry:
            name = entry.group(1)
            found[name] = entry.group(2).strip()
        elif name:
            found[name] = (found[name] + " " + line.strip()).strip()
    return found


def _numpy(lines: List[str], at: int, heading: int) -> Dict[str, str]:
    """``name : int`` at the margin, the text indented below it."""
    found: Dict[str, str] = {}
    names: List[str] = []
    for number in range(at, len(lines)):
        line = lines[number]
        if not line.strip():
            continue
        if _indent(line) < heading or _is_section(lines, number):
            break
        if _indent(line) == heading:
            entry = _NUMPY.match(line.strip())
            names = [name.strip().lstrip("*") for name in entry.group(1).split(",")] if entry else []
            continue
        for name in names:
            found[name] = (found.get(name, "") + " " + line.strip()).strip()
    return found


def _rest(lines: List[str]) -> Dict[str, str]:
    """``:param int name: text``."""
    found: Dict[str, str] = {}
    name = ""
    for line in lines:
        stripped = line.strip()
        entry = _REST.match(stripped)
        if entry:
            name = entry.group(1)
            found[name] = entry.group(2).strip()
        elif not stripped or stripped.startswith(":"):
            name = ""
        elif name:
            found[name] = (found[name] + " " + stripped).strip()
    return found
