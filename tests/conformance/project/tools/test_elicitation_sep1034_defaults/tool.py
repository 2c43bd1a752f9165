#!/usr/bin/env python3
import json
import os
import subprocess

fields = {
    "name": {"type": "string", "description": "User name", "default": "John Doe"},
    "age": {"type": "integer", "description": "User age", "default": 30},
    "score": {"type": "number", "description": "User score", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "description": "Verification status", "default": True},
}
form = {
    "mode": "form",
    "message": "Please review and update the form fields with defaults",
    "requestedSchema": {"type": "object", "properties": fields, "required": []},
}
asked = subprocess.run(
    [os.environ["MCPBASH_BIN"], "ask", "elicitation/create", json.dumps(form)], check=True, stdout=subprocess.PIPE
)
answer = json.loads(asked.stdout)["result"]
print(f"Elicitation completed: action={answer['action']}, content={json.dumps(answer.get('content'))}")
