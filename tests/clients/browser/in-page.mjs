// What web pages do. Each function is run in a browser: it can use the others and what browsers have, and nothing else.

/** Sends a request of the stateless era. */
export async function send(url, token, method, params = {}, headers = {}) {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "page", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
    ...params._meta,
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } });
  const usual = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": method,
    ...(params.name && { "Mcp-Name": params.name }),
    ...(token && { Authorization: `Bearer ${token}` }),
  };
  return fetch(url, { method: "POST", headers: { ...usual, ...headers }, body });
}

export async function listTools(url, token) {
  const { result } = await (await send(url, token, "tools/list")).json();
  return result.tools.map((tool) => tool.name).sort();
}

export async function statusOf(url) {
  return (await send(url, undefined, "server/discover")).status;
}

export async function challenge(url) {
  const response = await send(url, undefined, "server/discover");
  return [response.status, response.headers.get("WWW-Authenticate").split(" ")[0]];
}

/** A request of the kind that pages may send anywhere. */
export async function callBlindly(url, name, args) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
  await fetch(url, { method: "POST", mode: "no-cors", headers: { "Content-Type": "text/plain" }, body });
  return "sent";
}

export async function callRoute(url, token, region) {
  const params = { name: "route", arguments: { region } };
  const response = await send(url, token, "tools/call", params, { "Mcp-Param-Region": region });
  return (await response.json()).result.content[0].text;
}

/** The numbers of all progress and the text of the result, in the order in which they arrive. */
export async function readSteps(url, token) {
  const response = await send(url, token, "tools/call", { name: "steps", arguments: {}, _meta: { progressToken: 7 } });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const told = [];
  let text = "";
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    text += piece.value;
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) {
      const data = event.split("\n").find((line) => line.startsWith("data: "));
      if (!data) continue;
      const { params, result } = JSON.parse(data.slice("data: ".length));
      told.push(result ? result.content[0].text : params.progress);
    }
  }
  return told;
}

/** Begins a session, lists tools, opens its stream, and ends it. */
export async function haveSession(url, token) {
  const headers = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    Authorization: `Bearer ${token}`,
  };
  const post = (message) =>
    fetch(url, { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", ...message }) });
  const clientInfo = { name: "page", version: "1.0.0" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const greeting = await post({ id: 1, method: "initialize", params });
  headers["MCP-Session-Id"] = greeting.headers.get("MCP-Session-Id");
  headers["MCP-Protocol-Version"] = (await greeting.json()).result.protocolVersion;
  await post({ method: "notifications/initialized" });
  const { result } = await (await post({ id: 2, method: "tools/list" })).json();
  const stop = new AbortController();
  const stream = await fetch(url, { headers: { ...headers, Accept: "text/event-stream" }, signal: stop.signal });
  const kind = stream.headers.get("Content-Type");
  stop.abort();
  const ended = await fetch(url, { method: "DELETE", headers });
  const after = await post({ id: 3, method: "tools/list" });
  return { tools: result.tools.map((tool) => tool.name).sort(), stream: kind, ended: ended.status, after: after.status };
}
