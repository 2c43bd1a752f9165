// A whole login: a real authorization server (`oidc-provider`), the OAuth code of the official TypeScript client, a call, and
// another login for a tool that needs more scopes.

import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check } from "../checks.mjs";
import { startServer } from "../http-server.mjs";
import { REDIRECT, freePort, logIn, startIssuer } from "./issuer.mjs";

/** What the client keeps of a login. */
function authProvider(asked) {
  const kept = {};
  return {
    kept,
    redirectUrl: REDIRECT,
    clientMetadata: {
      client_name: "session",
      redirect_uris: [REDIRECT],
      grant_types: ["authorization_code"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      application_type: "native",
    },
    clientInformation: () => kept.client,
    saveClientInformation: (client) => void (kept.client = client),
    tokens: () => kept.tokens,
    saveTokens: (tokens) => void (kept.tokens = tokens),
    codeVerifier: () => kept.verifier,
    saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
    discoveryState: () => kept.discovery,
    saveDiscoveryState: (discovery) => void (kept.discovery = discovery),
    redirectToAuthorization: (url) => void asked.push(url),
  };
}

const port = await freePort();
const resource = `http://127.0.0.1:${port}/mcp`;
const { issuer, close } = await startIssuer(resource);
const options = ["--http", `127.0.0.1:${port}`, "--issuer", issuer, "--resource", resource];
const server = await startServer(options, { MCPBASH_HTTP_REQUIRED_SCOPES: "files:read" });

const save = '#!/bin/sh\n# mcp: {"description": "Saves", "scopes": ["files:write"]}\necho run >>runs\necho saved\n';
writeFileSync(join(server.project, "tools", "save.sh"), save, { mode: 0o755 });

const asked = [];
const provider = authProvider(asked);
const connect = async () => {
  const transport = new StreamableHTTPClientTransport(new URL(resource), { authProvider: provider });
  const client = new Client({ name: "session", version: "1" });
  return { transport, client, connected: client.connect(transport) };
};

const first = await connect();
const refused = await first.connected.then(() => undefined, (error) => error);
check("a client without a token has to log in", refused instanceof UnauthorizedError, refused);
check("it was led to the issuer", asked.length === 1 && asked[0].origin === issuer, asked);
check("it asks for the resource", asked[0].searchParams.get("resource") === resource, asked[0].href);
check("it asks for the scopes of the challenge", asked[0].searchParams.get("scope")?.split(" ").includes("files:read"), asked[0].href);

await first.transport.finishAuth(await logIn(asked[0]));
check("it has a signed token", provider.kept.tokens?.access_token.split(".").length === 3, Object.keys(provider.kept));

const second = await connect();
await second.connected;
const { tools } = await second.client.listTools();
check("it lists the tools", tools.some((tool) => tool.name === "greet"), tools);
const called = await second.client.callTool({ name: "greet", arguments: { name: "Ada" } });
check("it calls a tool", called.content[0].text.includes("Ada"), called);
const token = provider.kept.tokens.access_token;

// The client was registered for the scopes of the first challenge only, and registers again.
delete provider.kept.client;
const runs = () => existsSync(join(server.project, "runs"));
const saveIt = () => second.client.callTool({ name: "save", arguments: {} });
const held = await saveIt().then(() => undefined, (error) => error);
check("a tool that needs another scope makes the client log in again", held instanceof UnauthorizedError, held);
check("the tool has not run", !runs(), "it has");
const scopes = asked[1]?.searchParams.get("scope")?.split(" ") ?? [];
check("the client asks for the scopes of both challenges", ["files:read", "files:write"].every((scope) => scopes.includes(scope)), scopes);
await second.transport.finishAuth(await logIn(asked[1]));
const saved = await saveIt();
check("the same session goes on with the new token", saved.content[0].text.includes("saved") && runs(), saved);
check("the client has logged in twice", asked.length === 2, asked);
check("the log has nothing of the token", !server.log().includes(token.split(".")[2]), "the signature");
await second.client.close();

const forged = `${token.slice(0, -8)}${token.slice(-8).split("").reverse().join("")}`;
const wrong = await fetch(resource, { method: "POST", headers: { authorization: `Bearer ${forged}` } });
check("a forged token is refused", wrong.status === 401, wrong.status);
await server.stop();
close();
process.exit(0);
