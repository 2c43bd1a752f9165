// A whole login: a real authorization server (`oidc-provider`), the OAuth code of the official TypeScript client, and a call.

import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { createServer } from "node:net";
import Provider from "oidc-provider";
import { check } from "../checks.mjs";
import { startServer } from "../http-server.mjs";

const REDIRECT = "http://127.0.0.1:1/callback";

/** A port that is free now. */
async function freePort() {
  const listener = createServer();
  await new Promise((listening) => listener.listen(0, "127.0.0.1", listening));
  const { port } = listener.address();
  await new Promise((closed) => listener.close(closed));
  return port;
}

/** An authorization server that issues signed tokens for that resource. */
async function startIssuer(resource) {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const provider = new Provider(issuer, {
    clients: [],
    features: {
      registration: { enabled: true },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: "files:read files:write",
          audience: resource,
          accessTokenFormat: "jwt",
          accessTokenTTL: 300,
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
    pkce: { required: () => true },
    scopes: ["openid", "files:read", "files:write"],
  });
  // It says on standard output that its pages are for development.
  const server = await new Promise((listening) => {
    const started = provider.listen(port, "127.0.0.1", () => listening(started));
  });
  return { issuer, close: () => server.close() };
}

/** A browser without a window: it follows redirects, keeps cookies, and posts the forms of the login and consent pages. */
async function logIn(start) {
  const cookies = new Map();
  let request = { url: start, method: "GET", body: undefined };
  for (let steps = 0; steps < 20; steps += 1) {
    const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") };
    if (request.body) headers["content-type"] = "application/x-www-form-urlencoded";
    const response = await fetch(request.url, { ...request, headers, redirect: "manual" });
    for (const cookie of response.headers.getSetCookie()) {
      const [name, ...value] = cookie.split(";")[0].split("=");
      cookies.set(name, value.join("="));
    }
    const location = response.headers.get("location");
    if (location?.startsWith(REDIRECT)) return new URL(location).searchParams;
    if (location) {
      request = { url: new URL(location, request.url), method: "GET", body: undefined };
      continue;
    }
    const page = await response.text();
    const action = page.match(/<form[^>]*action="([^"]+)"/)?.[1];
    const prompt = page.match(/name="prompt" value="([^"]+)"/)?.[1];
    check("the authorization server shows a page with a form", action && prompt, [response.status, page.slice(0, 500)]);
    const body = new URLSearchParams(prompt === "login" ? { prompt, login: "alice", password: "x" } : { prompt });
    request = { url: new URL(action, request.url), method: "POST", body: body.toString() };
  }
  check("the login ends", false, request);
}

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
check("the log has nothing of the token", !server.log().includes(token.split(".")[2]), "the signature");
await second.client.close();

const forged = `${token.slice(0, -8)}${token.slice(-8).split("").reverse().join("")}`;
const wrong = await fetch(resource, { method: "POST", headers: { authorization: `Bearer ${forged}` } });
check("a forged token is refused", wrong.status === 401, wrong.status);
await server.stop();
close();
process.exit(0);
