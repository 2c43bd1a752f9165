// A server over HTTP for a session in JavaScript, and a proxy before it that can cut connections.

import { execFileSync, spawn } from "node:child_process";
import { cpSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { alive, check, scratch, until } from "./checks.mjs";

let projects = 0;

/**
 * Serves a copy of the project over HTTP: the address, the folder, and how to end it. `options` are words for the command
 * line, `environment` is what the server is given besides that of the session.
 */
export async function startServer(options = [], environment = {}) {
  const [program, , original] = process.argv.slice(2);
  const project = join(scratch, `project-${(projects += 1)}`);
  cpSync(original, project, { recursive: true });
  const words = ["serve", "--http", "127.0.0.1:0", "--project-root", project, ...options];
  const env = { ...process.env, MCPBASH_LOG_LEVEL: "debug", MCPBASH_MAX_RESULT_TEXT_BYTES: "0", ...environment };
  const server = spawn(program, words, { env, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  server.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  const address = () => said.match(/https?:\/\/[^\s/]+\/mcp/)?.[0];
  const hasEnded = () => server.exitCode !== null || server.signalCode !== null;
  await until(() => address() || hasEnded());
  check("a server says its address", address() && !hasEnded(), said);
  process.on("exit", () => server.kill("SIGKILL"));
  return {
    url: new URL(address()),
    project,
    /** Everything that the server has said to whoever started it. */
    log: () => said,
    /** Ends it as an operator does. */
    async stop() {
      const processes = [server.pid, ...descendants(server.pid)];
      server.kill("SIGTERM");
      check("a server ends when it is told to", await until(hasEnded), said.slice(-2000));
      check("it ends without a failure", server.exitCode === 0, [server.exitCode, server.signalCode, said.slice(-2000)]);
      check("none of its processes is left", await until(() => !processes.some(alive)), processes.filter(alive));
    },
  };
}

/** A file of those that `make-certificates.sh` has written. */
export function certificate(name) {
  return join(process.env.CERTIFICATES, name);
}

/** A token for that caller, whose hash is added to the file. */
export function newToken(file, caller, ...options) {
  const words = ["token", "new", caller, "--file", file, "--json", ...options];
  return JSON.parse(execFileSync(process.argv[2], words, { encoding: "utf8" })).token;
}

function descendants(pid) {
  const rows = execFileSync("ps", ["-eo", "pid=,ppid="], { encoding: "utf8" }).trim().split("\n");
  const pairs = rows.map((row) => row.trim().split(/\s+/).map(Number));
  const children = (parent) => pairs.filter(([, above]) => above === parent).map(([child]) => child);
  return children(pid).flatMap((child) => [child, ...descendants(child)]);
}

/** Passes connections on to the server until they are cut. */
export async function startProxy(url) {
  const sockets = new Set();
  const proxy = createServer((client) => {
    const server = connect(Number(url.port), url.hostname);
    for (const [socket, other] of [[client, server], [server, client]]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => (sockets.delete(socket), other.destroy()));
      socket.pipe(other);
    }
  });
  await new Promise((listening) => proxy.listen(0, "127.0.0.1", listening));
  const address = new URL(url);
  address.port = proxy.address().port;
  return {
    url: address,
    /** Breaks all connections that there are. */
    cut: () => sockets.forEach((socket) => socket.destroy()),
    close: () => proxy.close(),
  };
}
