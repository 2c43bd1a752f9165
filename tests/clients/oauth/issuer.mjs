// A real authorization server (`oidc-provider`), and a browser without a window that logs in at it.

import { createServer } from "node:net";
import Provider from "oidc-provider";
import { check } from "../checks.mjs";

export const REDIRECT = "http://127.0.0.1:1/callback";

/** A port that is free now. */
export async function freePort() {
  const listener = createServer();
  await new Promise((listening) => listener.listen(0, "127.0.0.1", listening));
  const { port } = listener.address();
  await new Promise((closed) => listener.close(closed));
  return port;
}

/** An authorization server that issues signed tokens for that resource. */
export async function startIssuer(resource) {
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

/** Follows redirects, keeps cookies, and posts the forms of the login and consent pages. Returns what comes back to the client. */
export async function logIn(start) {
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
