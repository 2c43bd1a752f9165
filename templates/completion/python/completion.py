#!/usr/bin/env python3
"""Completes arguments of __TARGET__: prints the possible values as a JSON array."""

import json
import sys

VALUES = {"subject": ["alpha", "beta", "gamma"]}

argument = json.load(sys.stdin)["argument"]
values = VALUES.get(argument["name"], [])
print(json.dumps([value for value in values if value.startswith(argument["value"])]))
