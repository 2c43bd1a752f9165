// The command line of the official inspector, which connects anew for every method: each line below is a whole connection.

import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import {
  GREET_SCHEMA, IDENTITY, INSTRUCTIONS, TOOLS, check, checkEqual, scratch,
} from "../checks.mjs";

const INSPECTOR = fileURLToPath(new URL("node_modules/.bin/mcp-inspector", import.meta.url));
const SERVER_INFO = "io.modelcontextprotocol/serverInfo";

/** Makes requests to the server that these words name, and tells what the inspector prints about them. */
export function inspector(server) {
  return (era, method, ...options) => {
    const args = [INSPECTOR, "--cli", "--quiet", "--format", "json", "--protocol-era", era, "--method", method];
    const { stdout, stderr, status } = spawnSync(process.execPath, [...args, ...options, ...server], {
      encoding: "utf8",
      // It keeps its files in the home folder, and starts further programs with the Node that it finds first.
      env: { ...process.env, HOME: scratch, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
    });
    if (status !== 0) process.stderr.write(stderr);
    return { result: parsed(stdout)?.result, error: parsed(stderr)?.error, status };
  };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function checkEra(inspect, era, version) {
  const greeting = inspect(era, "initialize");
  checkEqual(`${era}: the protocol version is the newest of the era`, greeting.result?.protocolVersion, version);
  checkEqual(`${era}: the server says who it is`, greeting.result.serverInfo, IDENTITY);
  checkEqual(`${era}: the instructions are the project's`, greeting.result.instructions, INSTRUCTIONS);

  // In strict mode the inspector also fails for schemas that some clients cannot use.
  const list = inspect(era, "tools/list", "--strict");
  checkEqual(`${era}: the list of tools is not complained about`, list.status, 0);
  checkEqual(`${era}: all tools are listed`, list.result.tools.map((tool) => tool.name).sort(), TOOLS);
  const greet = list.result.tools.find((tool) => tool.name === "greet");
  checkEqual(`${era}: a tool has its input schema`, greet.inputSchema, GREET_SCHEMA);

  const call = inspect(era, "tools/call", "--tool-name", "greet", "--tool-arg", "name=Zoë");
  checkEqual(`${era}: a call succeeds`, [call.status, call.result?.isError], [0, false]);
  checkEqual(`${era}: a call has its result`, call.result.content, [{ type: "text", text: "Hello, Zoë!" }]);
  const sum = inspect(era, "tools/call", "--tool-name", "add", "--tool-arg", "a=40", "--tool-arg", "b=2");
  checkEqual(`${era}: a provided tool has its result`, sum.result?.content, [{ type: "text", text: "42" }]);
  // Results name the server in the stateless era only.
  const stateless = version >= "2026";
  checkEqual(`${era}: the result is one of the era`, SERVER_INFO in (call.result._meta ?? {}), stateless);

  const failure = inspect(era, "tools/call", "--tool-name", "fail");
  checkEqual(`${era}: a failing tool is an error result`, failure.result?.isError, true);
  checkEqual(`${era}: the inspector reports it as one`, failure.error?.code, "tool_is_error");
  const unknown = inspect(era, "tools/call", "--tool-name", "no-such-tool");
  checkEqual(`${era}: an unknown tool is not found`, unknown.error?.code, "tool_not_found");

  const load = inspect(era, "tools/call", "--tool-name", "steps", "--load", "--load-requests", "8");
  checkEqual(`${era}: calls at the same time all succeed`, [load.result?.ok, load.result?.errorRate], [8, 0]);

  if (!stateless) {
    const level = inspect(era, "logging/setLevel", "--log-level", "debug");
    check(`${era}: the logging level can be set`, level.status === 0, level);
  }
}
