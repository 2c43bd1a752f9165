"""JSON with only the C parts of Python's ``json``. The rest of that package, with its regular expressions,
takes longer to load than a simple function file; a Python without these parts uses the package."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Tuple

    Encode = Callable[[Any], str]
    Decode = Callable[[str], Any]


def _of_package(default: Callable[[Any], Any]) -> Tuple[Encode, Decode, Callable[[str], str]]:
    import json
    from json.encoder import encode_basestring

    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=default)
    return encoder.encode, json.loads, encode_basestring


def _of_core(default: Callable[[Any], Any]) -> Tuple[Encode, Decode, Callable[[str], str]]:
    import _json

    core: Any = _json
    scan = core.make_scanner(_Reading)
    quote: Callable[[str], str] = core.encode_basestring

    def encode(value: Any) -> str:
        # Created for each value, since it remembers its position after a failure.
        return "".join(core.make_encoder({}, default, quote, None, ":", ",", False, False, False)(value, 0))

    def decode(text: str) -> Any:
        try:
            value, end = scan(text, 0)
            if end == len(text):
                return value
        except StopIteration:
            pass
        import json

        # It has blanks around it, or is not JSON; then this reports why.
        return json.loads(text)

    # Whether their signatures are as used here.
    assert decode(encode({"a": [1, 1.5, None, True, "ä"]})) == {"a": [1, 1.5, None, True, "ä"]}
    return encode, decode, quote


class _Reading:
    """Parses JSON like ``json.loads``."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = {"-Infinity": float("-inf"), "Infinity": float("inf"), "NaN": float("nan")}.__getitem__


def codec(default: Callable[[Any], Any]) -> Tuple[Encode, Decode, Callable[[str], str]]:
    """A compact encoder, a parser, and an encoder for texts. ``default`` returns a replacement for a value
    that JSON cannot express."""
    try:
        return _of_core(default)
    except Exception:
        return _of_package(default)
