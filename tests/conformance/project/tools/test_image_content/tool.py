#!/usr/bin/env python3
import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / ".lib"))
from pixel import red_pixel

print(json.dumps({"content": [{"type": "image", "mimeType": "image/png", "data": red_pixel()}]}))
