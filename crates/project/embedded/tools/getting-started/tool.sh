#!/bin/sh
cat <<'TEXT'
You are talking to mcp-bash, which serves a folder of scripts as tools. No folder is configured yet.

1. Make a folder with a tool in it:

     my-project/tools/hello/tool.sh          an executable script, in any language
     my-project/tools/hello/tool.meta.json   {"name": "hello", "description": "Says hello"}

   The script gets its arguments as JSON on standard input. What it prints is the result.

2. Start the server on it: mcp-bash --project-root my-project
   (or set MCPBASH_PROJECT_ROOT, or start mcp-bash inside the folder).

3. Give your MCP client the command of step 2.
TEXT
