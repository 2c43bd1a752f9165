#!/usr/bin/env node
const resource = {
  uri: "test://embedded-resource",
  mimeType: "text/plain",
  text: "This is an embedded resource content.",
};
console.log(JSON.stringify({ content: [{ type: "resource", resource }] }));
