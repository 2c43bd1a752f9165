"""Checks that the configurations in a page are parts of these files: shown.py PAGE FILE..."""

import re
import sys
from pathlib import Path

page, *files = (Path(name).read_text() for name in sys.argv[1:])
lines = {line.strip() for text in files for line in text.splitlines()}
blocks = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
if len(blocks) != len(files):
    sys.exit(f"tests/deploy: {sys.argv[1]} shows {len(blocks)} configurations, not {len(files)}")
for line in (line.strip() for block in blocks for line in block.splitlines()):
    if line not in lines:
        sys.exit(f"tests/deploy: {sys.argv[1]} shows a line that is in no file: {line}")
