"""Server-sent events."""

import json


def event(data, name=None):
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()
