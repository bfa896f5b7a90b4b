// What a page is told when its request meets something else than the service.

import assert from "node:assert/strict";
import { test } from "node:test";

document.body.innerHTML = "<div id=bars></div><span id=live></span>";
document.dispatchEvent = () => true; // nobody listens
const { get, post } = await import("../../../templates/static/js/kit/api.js");

const answers = (given) => (globalThis.fetch = async () => given());

test("the page of a proxy is no success, whatever its status: what was typed is not sent", async () => {
  answers(() => new Response("<html>Sign in</html>", { status: 200 }));

  await assert.rejects(post("/api/x"), { status: 200, message: /not JSON/ });
});

test("an answer that breaks off is a service that does not answer", async () => {
  const broken = new ReadableStream({
    start: (stream) => stream.error(new TypeError("network error")),
  });
  answers(() => new Response(broken));

  await assert.rejects(get("/api/x"), { status: 0, message: /does not answer/ });
});
