"""JSON by the C parts of Python's ``json`` alone. The rest of that package, with the regular expressions that it is made of,
takes longer to load than a simple file of functions; a Python that has these parts otherwise gets the package."""

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
        # Made for each value, since it remembers what it was in when it failed.
        return "".join(core.make_encoder({}, default, quote, None, ":", ",", False, False, False)(value, 0))

    def decode(text: str) -> Any:
        try:
            value, end = scan(text, 0)
            if end == len(text):
                return value
        except StopIteration:
            pass
        import json

        # It has blanks around it, or is no JSON; then this says why.
        return json.loads(text)

    # Whether they are as they are called here.
    assert decode(encode({"a": [1, 1.5, None, True, "ä"]})) == {"a": [1, 1.5, None, True, "ä"]}
    return encode, decode, quote


class _Reading:
    """How JSON is read: as ``json.loads`` does."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = {"-Infinity": float("-inf"), "Infinity": float("inf"), "NaN": float("nan")}.__getitem__


def codec(default: Callable[[Any], Any]) -> Tuple[Encode, Decode, Callable[[str], str]]:
    """What writes a value compactly, what reads one, and what writes a text. ``default`` gives another value for one that JSON
    has no word for."""
    try:
        return _of_core(default)
    except Exception:
        return _of_package(default)
