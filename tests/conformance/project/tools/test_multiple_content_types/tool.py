#!/usr/bin/env python3
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / ".lib"))
from pixel import red_pixel

resource = {
    "uri": "test://mixed-content-resource",
    "mimeType": "application/json",
    "text": json.dumps({"test": "data", "value": 123}),
}
content = [
    {"type": "text", "text": "Multiple content types test:"},
    {"type": "image", "mimeType": "image/png", "data": red_pixel()},
    {"type": "resource", "resource": resource},
]
print(json.dumps({"content": content}))
