#!/usr/bin/env python3
"""The server sees the change by itself, as it sees any that a person makes."""

import os
import pathlib

prompt = pathlib.Path(os.environ["MCPBASH_PROJECT_ROOT"], "prompts", "test_changing_prompt.md")
if prompt.exists():
    prompt.unlink()
    print("Prompt removed")
else:
    prompt.write_text('# mcp: {"description": "Comes and goes"}\nHello\n')
    print("Prompt added")
