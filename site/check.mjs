// Looks at the site with a real browser: every page opens without an error, every link between pages leads somewhere, and
// the search finds a page by its words. Usage: check.mjs FOLDER
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { chromium } from "playwright-core";

const folder = process.argv[2];
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const server = createServer(async (request, response) => {
	const path = normalize(decodeURIComponent(new URL(request.url, "http://site").pathname));
	try {
		const content = await readFile(join(folder, path.endsWith("/") ? `${path}index.html` : path));
		response.writeHead(200, { "content-type": types[extname(path)] ?? "application/octet-stream" }).end(content);
	} catch {
		response.writeHead(404).end();
	}
});
await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
const site = `http://127.0.0.1:${server.address().port}`;

const browser = await chromium.launch({
	executablePath: "/usr/bin/chromium",
	args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"],
});
const page = await browser.newPage();
const problems = [];
let current;
page.on("pageerror", (error) => {
	// The index of the search is still on its way when we leave a page.
	if (error.message !== "Failed to fetch") problems.push(`${current}: ${error.message}`);
});
page.on("response", (response) => {
	if (response.status() >= 400 && !response.url().endsWith("favicon.ico")) {
		problems.push(`${current}: ${response.url()} is ${response.status()}`);
	}
});

const waiting = [`${site}/index.html`];
const seen = new Set(waiting);
const others = new Set();
let pages = 0;
while (waiting.length > 0) {
	current = waiting.pop();
	// A page that is not there is a response that is counted above.
	if (!(await page.goto(current, { waitUntil: "load" }).catch(() => null))) continue;
	pages += 1;
	for (const link of await page.$$eval("main a[href], nav a[href]", (all) => all.map((one) => one.href))) {
		const target = link.split("#")[0];
		if (!target.startsWith(site) || seen.has(target)) continue;
		seen.add(target);
		if (/\.html$|\/$/.test(target)) waiting.push(target);
		else others.add(target);
	}
}
for (const target of others) {
	const response = await fetch(target);
	if (!response.ok) problems.push(`${target} is ${response.status}`);
}
if (pages < 30) problems.push(`only ${pages} pages were found`);

current = "the search";
await page.goto(`${site}/index.html`, { waitUntil: "load" });
await page.keyboard.press("s");
await page.locator("#mdbook-searchbar, #searchbar").first().pressSequentially("cancellation");
const found = page.locator("#mdbook-searchresults a, #searchresults a").filter({ hasText: "Progress and cancellation" });
await found.first().waitFor({ timeout: 10_000 }).catch(() => problems.push("the search does not find the page about cancellation"));

await browser.close();
server.close();
for (const problem of problems) console.error(problem);
console.log(`${pages} pages and ${others.size} files looked at, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
