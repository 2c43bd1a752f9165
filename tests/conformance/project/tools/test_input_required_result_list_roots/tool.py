#!/usr/bin/env python3
import json
import os
import subprocess

asked = subprocess.run(
    [os.environ["MCPBASH_BIN"], "ask", "roots/list", "{}", "--name", "client_roots"], check=True, stdout=subprocess.PIPE
)
roots = json.loads(asked.stdout)["result"]["roots"]
print("Roots: " + ", ".join(root["uri"] for root in roots))
