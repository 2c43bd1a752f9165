#!/usr/bin/env python3
import json
import os

identifier = os.environ["MCP_RESOURCE_VAR_id"]
print(json.dumps({"id": identifier, "templateTest": True, "data": f"Data for ID: {identifier}"}))
