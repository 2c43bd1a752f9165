"""Detects the types of bytes and file names, for content of results."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Optional, Union

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"%PDF-", "application/pdf"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
# Extensions whose types are missing on some machines.
_ENDINGS = {".md": "text/markdown", ".webp": "image/webp", ".wav": "audio/wav", ".yaml": "application/yaml"}


def type_of_bytes(data: bytes) -> Optional[str]:
    """The type by the first bytes."""
    if data[:4] == b"RIFF":
        return _RIFF.get(data[8:12])
    for beginning, found in _BEGINNINGS:
        if data.startswith(beginning):
            return found
    return None


def type_of_name(name: Union[str, "os.PathLike[str]", None]) -> Optional[str]:
    """The type by the file's extension."""
    if name is None:
        return None
    text = str(name).lower()
    ending = text[text.rfind(".") :] if "." in text.rpartition("/")[2] else ""
    if not ending:
        return None
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    from mimetypes import guess_type

    return guess_type("file" + ending)[0]
