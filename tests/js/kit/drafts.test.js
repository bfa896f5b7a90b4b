// Two windows at one box, and a browser that has no room: each window's text outlives its reload.

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

/** The keys of a Storage are its entries alone; `told` hears what changes, as other windows do. */
function store(told = () => {}) {
  const made = {};
  const set = (key, newValue) => {
    if (made.full && newValue) throw new Error("QuotaExceededError");
    const oldValue = made[key] ?? null;
    if (newValue) made[key] = newValue;
    else delete made[key];
    told({ key, oldValue, newValue });
  };
  const methods = { full: false, setItem: set, removeItem: (key) => set(key, null) };
  methods.getItem = (key) => made[key] ?? null;
  for (const [name, value] of Object.entries(methods))
    Object.defineProperty(made, name, { value, writable: true });
  return made;
}

const give = (name, value) =>
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });

const PAGE = "../../../templates/static/js/kit/drafts.js";
let count = 0;
let open = new Map(); // windows: what their page hears

let acts; // the window that does something
const held = new Map(); // locks: the window that has each
const locks = {
  request: async (name) => held.set(name, acts),
  query: async () => ({ held: [...held.keys()].map((name) => ({ name })) }),
};
give("navigator", { locks, platform: "" });

/** A page loaded in that window; enter() makes it the one that acts. */
async function load(window) {
  const heard = {};
  acts = window;
  give("sessionStorage", window);
  globalThis.addEventListener = (name, told) => (heard[name] = told);
  const page = await import(`${PAGE}?${(count += 1)}`);
  open.set(window, heard);
  return {
    ...page,
    enter() {
      acts = window;
      give("sessionStorage", window);
    },
    close() {
      this.enter();
      heard.pagehide();
      this.crash();
    },
    crash() {
      open.delete(window);
      for (const [name, by] of held) if (by === window) held.delete(name);
    },
    asks() {
      let asked = false;
      heard.beforeunload({ preventDefault: () => (asked = true) });
      return asked;
    },
  };
}

/** Every other window hears of it. */
function tell(change) {
  for (const [window, { storage }] of open) {
    give("sessionStorage", window);
    if (window !== acts) storage?.(change);
  }
  give("sessionStorage", acts);
}

beforeEach(() => {
  open = new Map();
  give("localStorage", store(tell));
  document.body.innerHTML = "<div id=bars></div>";
});

test("a window that sends its text takes nothing from another at the same box", async () => {
  const [mine, theirs] = [store(), store()];
  const a = await load(mine);
  const b = await load(theirs);
  a.enter();
  a.keepDraft("message.1", "of A");
  b.enter();
  b.keepDraft("message.1", "of B");
  a.enter();
  assert.equal(a.draftOf("message.1"), "of A");

  a.keepDraft("message.1", ""); // it was sent

  assert.equal((await load(theirs)).draftOf("message.1"), "of B", "after a reload");
  b.close();
  assert.equal((await load(store())).draftOf("message.1"), "of B", "once its window is closed");
});

test("the text of a window is there again when one that wrote over it has sent its own", async () => {
  const a = await load(store());
  a.keepDraft("x", "of A");
  const b = await load(store());
  b.keepDraft("x", "of B");
  b.keepDraft("x", "");

  a.close();

  assert.equal((await load(store())).draftOf("x"), "of A");
});

test("what another window sent or went on with is not offered again", async () => {
  const mine = store();
  const a = await load(mine);
  a.keepDraft("x", "hello");
  const b = await load(store());
  assert.equal(b.draftOf("x"), "hello");

  b.keepDraft("x", "hello, you");
  assert.equal((await load(mine)).draftOf("x"), "hello, you");

  b.enter();
  b.keepDraft("x", "");
  assert.equal((await load(mine)).draftOf("x"), "");
});

test("what a closed window typed at a box where another has other text is offered there", async () => {
  const mine = store();
  const theirs = store();
  const a = await load(mine);
  a.keepDraft("x", "of A");
  const b = await load(theirs);
  b.keepDraft("x", "of B");
  const offered = async (page) => {
    document.body.innerHTML = "<div id=bars></div><form><textarea></textarea></form>";
    const box = document.querySelector("textarea");
    page.draft(box, "x");
    await null;
    return { box, left: document.querySelector("[role=group]") };
  };
  a.close();

  const again = await load(mine);
  assert.equal((await offered(again)).left, null, "it was a reload");
  again.close();
  b.enter();
  const { box, left } = await offered(b);
  assert.match(left.textContent, /window that was closed: of A/);
  box.focus = () => {};
  box.dispatchEvent = () => {}; // the Event of node is none of this document
  left.querySelector("button").click();

  assert.equal(box.value, "of B\n\nof A");
  assert.equal((await offered(b)).left, null);
});

test("what was typed last and closed is offered where a window comes back to its own text", async () => {
  const mine = store();
  const a = await load(mine);
  a.keepDraft("x", "of A");
  const b = await load(store());
  b.keepDraft("x", "of B");
  b.close();
  a.close();

  const again = await load(mine);
  document.body.innerHTML = "<div id=bars></div><form><textarea></textarea></form>";
  const box = document.querySelector("textarea");
  again.draft(box, "x");
  await null;
  assert.equal(box.value, "of A");
  assert.match(document.querySelector("[role=group]").textContent, /of B/);
  again.close();
  assert.equal((await load(store())).draftOf("x"), "of A");
});

test("what a window had typed that crashed is offered where another has written over it", async () => {
  const offered = async () => {
    const page = await load(store());
    document.body.innerHTML = "<div id=bars></div><form><textarea></textarea></form>";
    page.draft(document.querySelector("textarea"), "x");
    await new Promise((done) => setTimeout(done));
    return [...document.querySelectorAll("[role=group]")].map((node) => node.textContent);
  };
  const b = await load(store());
  assert.equal(b.draftOf("x"), "");
  const a = await load(store());
  a.keepDraft("x", "of A");
  b.enter();
  b.keepDraft("x", "of B");
  assert.deepEqual(await offered(), [], "its window is there");

  a.enter();
  a.keepDraft("x", "of A, and more");
  b.enter();
  b.keepDraft("x", "of B, and more");
  a.crash();

  const [left, ...more] = await offered();
  assert.match(left, /of A, and more/);
  assert.deepEqual(more, []);
});

test("what a window sent itself is offered nowhere, though another had written over it", async () => {
  const mine = store();
  const a = await load(mine);
  a.keepDraft("x", "of A");
  const b = await load(store());
  b.keepDraft("x", "of B");
  a.enter();
  a.keepDraft("x", ""); // it was sent
  a.crash();
  b.enter();
  b.close();

  assert.deepEqual(Object.keys(localStorage), ["svc.draft.x"]);
});

test("what a closed window typed is not written over by one that never showed it", async () => {
  const a = await load(store());
  const b = await load(store());
  assert.equal(b.draftOf("x"), "");
  a.enter();
  a.keepDraft("x", "of A");
  a.close();
  b.enter();
  b.keepDraft("x", "of B");
  b.keepDraft("x", "");

  const c = await load(store());
  document.body.innerHTML = "<div id=bars></div><form><textarea></textarea></form>";
  c.draft(document.querySelector("textarea"), "x");
  await null;
  assert.match(document.querySelector("[role=group]").textContent, /of A/);
});

test("a draft tells what the file said when it was begun, also once its window is closed", async () => {
  const page = await load(store());
  const box = (of, says) => {
    document.body.innerHTML = "<div id=bars></div><form><textarea></textarea></form>";
    return of.draft(document.querySelector("textarea"), "x", says);
  };
  assert.equal(box(page, "before").was, "before");
  page.keepDraft("x", "typed", "before");
  page.close();

  const next = await load(store());
  const { restored, was } = box(next, "another by now");

  assert.deepEqual([restored, was, next.begunOn("x")], [true, "before", "before"]);
  next.keepDraft("x", "");
  assert.equal(box(next, "another by now").was, "another by now");
});

test("a form of several fields is put back whole, and what gives way to it is offered instead", async () => {
  const a = await load(store());
  const b = await load(store());
  a.enter();
  a.keepDraft("form", "of A", "begun by A");
  b.enter();
  b.keepDraft("form", "of B");
  a.close();
  b.enter();
  document.body.innerHTML = "<div id=bars></div><form><p></p></form>";
  const place = document.querySelector("p");
  place.focus = () => {};
  const put = [];
  const take = (...given) => (
    put.push(given),
    put.length === 1 ? { text: "of B", was: "begun by B" } : null
  );

  b.offerLeft(place, "form", take, (text) => `the words ${text}`);
  document.querySelector("[role=group] button").click();

  assert.deepEqual(put, [["of A", "begun by A"]]);
  const [left, ...more] = document.querySelectorAll("[role=group]");
  assert.match(left.textContent, /window that was closed: the words of B/);
  assert.deepEqual(more, []);
  left.querySelector("button").click();
  assert.deepEqual(put[1], ["of B", "begun by B"]);
  assert.equal(document.querySelector("[role=group]"), null);
});

test("a full browser says how long text is kept, and never offers an older one", async () => {
  const mine = store();
  const page = await load(mine);
  page.keepDraft("x", "old");
  assert.equal(document.getElementById("bars").textContent, "");

  localStorage.full = true;
  page.keepDraft("x", "new");

  assert.match(document.getElementById("bars").textContent, /until this window is closed/);
  assert.equal((await load(mine)).draftOf("x"), "new", "after a reload");
  page.enter();
  mine.full = true;
  page.keepDraft("x", "newest");
  assert.match(document.getElementById("bars").textContent, /while this page is open/);
  assert.equal(page.draftOf("x"), "newest");
  assert.ok(page.asks(), "the browser asks before the page is left");

  page.keepDraft("x", "");
  assert.ok(!page.asks(), "nothing waits once it is sent");
});

test("where the browser refuses all storage, text lives as long as its page", async () => {
  const refused = { get: () => assert.fail("denied"), configurable: true };
  const page = await load(store());
  Object.defineProperty(globalThis, "localStorage", refused);
  Object.defineProperty(globalThis, "sessionStorage", refused);

  page.keepDraft("x", "typed");

  assert.equal(page.draftOf("x"), "typed");
  assert.deepEqual(page.draftsUnder(""), ["x"]);
});

test("a page without a box looks into no store before its first screen is there", async (t) => {
  let looks = 0;
  let rest;
  const ownKeys = (of) => {
    looks += 1;
    return Reflect.ownKeys(of);
  };
  t.mock.method(document, "addEventListener", (name, told) => name === "svc-rest" && (rest = told));
  give("requestAnimationFrame", (draw) => draw());

  await load(new Proxy(store(), { ownKeys }));

  assert.equal(looks, 0);
  await rest();
  assert.ok(looks);
});

test("a reloaded window that writes before it looks sets its own text aside for nobody", async () => {
  const window = store();
  const before = await load(window);
  before.keepDraft("b", "half a sentence");
  before.close();

  const after = await load(window);
  after.keepDraft("b", "another");

  assert.deepEqual(Object.keys(localStorage), ["svc.draft.b"]);
});
