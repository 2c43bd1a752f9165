#!/usr/bin/env python3
# The variable holds the path of a descriptor: the key is in no environment.
import hashlib
import hmac
import json
import os
import sys

with open(os.environ["SIGNING_KEY"], "rb") as file:
    key = file.read()
text = json.load(sys.stdin)["text"]
print(hmac.new(key, text.encode(), hashlib.sha256).hexdigest())
