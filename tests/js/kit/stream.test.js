// The hub that all pages share, on a real server: what it asks for, and where it goes on.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, afterEach, beforeEach, test } from "node:test";

import { Hub } from "../../../templates/static/js/kit/stream/hub.js";

const { fetch } = globalThis;
const asked = []; // {follows, say(text), end()} of every connection, in order
const waiting = [];
const server = createServer((request, response) => {
  const { searchParams } = new URL(request.url, "http://127.0.0.1");
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  response.flushHeaders();
  const connection = {
    follows: searchParams.getAll("follow"),
    say: (...events) => response.write(events.map((event) => `${event}\n\n`).join("")),
    raw: (bytes, done) => response.write(bytes, done),
    end: () => response.end(),
    closed: once(response, "close"),
  };
  asked.push(connection);
  waiting.shift()?.(connection);
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const address = `http://127.0.0.1:${server.address().port}`;
globalThis.fetch = (path, options) => fetch(address + path, options);

/** The next connection, also one that is there already. */
let taken = 0;
async function connection() {
  taken += 1;
  return asked[taken - 1] ?? new Promise((done) => waiting.push(done));
}

let hub;
let pages;
beforeEach(() => {
  hub = new Hub();
  pages = [];
});
afterEach(async () => {
  for (const page of pages) page.ask({ bye: true });
  await Promise.all(asked.splice(0).map(({ closed, end }) => (end(), closed)));
  taken = 0;
});
after(() => {
  server.close();
  server.closeAllConnections();
});

function page() {
  const told = [];
  const wanted = [];
  const port = {
    postMessage(message) {
      told.push(message);
      for (const one of [...wanted]) if (one.fits(message)) one.done(message);
    },
  };
  hub.connect(port);
  const one = {
    told,
    ask: (data) => port.onmessage({ data }),
    /** The first thing told that fits, also one that was told already. */
    hears: (fits) => told.find(fits) ?? new Promise((done) => wanted.push({ fits, done })),
  };
  pages.push(one);
  return one;
}

const event = (name) => (message) => message.event === name;
const begins = (stream, status = 200) => `stream: ${stream}\nstatus: ${status}`;

test("pages that follow the same share one stream, and each hears of it", async () => {
  const [one, other] = [page(), page()];
  one.ask({ follow: 1, url: "/api/events" });
  other.ask({ follow: 7, url: "/api/events" });
  const source = await connection();
  assert.deepEqual(source.follows, ["/api/events"]);

  source.say(begins(0), 'event: run\nid: 4\ndata: {"n":1}');

  const said = { event: "run", data: '{"n":1}', id: "4" };
  assert.deepEqual(await one.hears(event("run")), { n: 1, ...said });
  assert.deepEqual(await other.hears(event("run")), { n: 7, ...said });
  assert.ok(one.told.findIndex(event("open")) < one.told.findIndex(event("run")));
});

test("a connection that ends goes on behind the last event, and opens again", async () => {
  const one = page();
  one.ask({ follow: 1, url: "/api/events" });
  const first = await connection();
  first.say(begins(0), "event: run\nid: 41\ndata: {}");
  await one.hears(event("run"));
  one.told.length = 0;
  first.end();

  const second = await connection();
  assert.deepEqual(second.follows, ["/api/events#41"]);
  second.say(begins(0), "event: chat\nid: 42\ndata: {}");
  await one.hears(event("chat"));
  assert.equal(one.told.filter(event("open")).length, 1);
});

test("a stream that is added changes the connection, and the others go on unopened", async () => {
  const one = page();
  one.ask({ follow: 1, url: "/api/events" });
  const first = await connection();
  first.say(begins(0), "event: run\nid: 5\ndata: {}");
  await one.hears(event("run"));
  one.told.length = 0;

  one.ask({ follow: 2, url: "/review/api/events" });
  const second = await connection();
  await first.closed;
  assert.deepEqual(second.follows.toSorted(), ["/api/events#5", "/review/api/events"]);
  const at = second.follows.indexOf("/review/api/events");
  second.say(begins(1 - at), begins(at), "event: pr\ndata: {}");
  await one.hears(event("pr"));
  assert.deepEqual(
    one.told.filter(event("open")).map(({ n }) => n),
    [2],
  );
});

test("a page is made to read again only what it may have missed", async () => {
  const [first, second, third] = [page(), page(), page()];
  first.ask({ follow: 1, url: "/api/events", since: "7" });
  const source = await connection();
  assert.deepEqual(source.follows, ["/api/events#7"]);
  source.say(begins(0), "event: chat\nid: 8\ndata: {}");
  await first.hears(event("chat"));

  second.ask({ follow: 1, url: "/api/events", since: "7" });
  third.ask({ follow: 1, url: "/api/events", since: "8" });

  await second.hears(event("open"));
  await third.hears(({ up }) => up);
  assert.ok(![...first.told, ...third.told].some(event("open")));
});

test("a stream with a place of its own is shared with nobody", async () => {
  const [one, other] = [page(), page()];
  one.ask({ follow: 1, url: "/api/chats/a", after: "12" });
  other.ask({ follow: 1, url: "/api/chats/a", after: "7" });
  const source = await connection();
  assert.deepEqual(source.follows.toSorted(), ["/api/chats/a#12", "/api/chats/a#7"]);
});

test("a stream that is refused is told as lost, the others live", async () => {
  const [one, other] = [page(), page()];
  one.ask({ follow: 1, url: "/api/gone" });
  other.ask({ follow: 1, url: "/api/events" });
  const source = await connection();
  const gone = source.follows.indexOf("/api/gone");

  source.say(begins(gone, 503), begins(1 - gone));

  assert.ok(await one.hears(({ lost }) => lost));
  assert.ok(await other.hears(event("open")));
  assert.ok(!other.told.some(({ lost }) => lost));
});

test("a stream of what was deleted is told as gone, not as lost", async () => {
  const one = page();
  one.ask({ follow: 1, url: "/api/chats/a", after: "12" });
  const source = await connection();

  source.say(begins(0, 404));

  assert.deepEqual(await one.hears(event("gone")), { n: 1, event: "gone" });
  assert.ok(!one.told.some(({ lost }) => lost));
});

test("what no page follows any more is asked for no more", async () => {
  const one = page();
  one.ask({ follow: 1, url: "/api/events" });
  one.ask({ follow: 2, url: "/review/api/events" });
  const first = await connection();
  one.ask({ end: 2 });
  const second = await connection();
  await first.closed;
  assert.deepEqual(second.follows, ["/api/events"]);
  one.ask({ bye: true });
  await second.closed;
});

test("an event that comes in pieces is one event", async () => {
  const one = page();
  one.ask({ follow: 1, url: "/api/events" });
  const source = await connection();
  const text = `${begins(0)}\n\nevent: run\ndata: "ü"\n\n`;
  const bytes = Buffer.from(text);
  for (const part of [bytes.subarray(0, 20), bytes.subarray(20, -4), bytes.subarray(-4)])
    await new Promise((done) => source.raw(part, done));
  assert.equal((await one.hears(event("run"))).data, '"ü"');
});
