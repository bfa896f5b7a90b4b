// The chats of a project by day, newest first; search hits in messages; archived and deleted chats
// folded away.

import { get, P, query } from "../../kit/api.js";
import { button, fill, h, icon, keep, mark, settle } from "../../kit/dom.js";
import { menu } from "../../kit/menu.js";
import { where } from "../../kit/shell.js";
import { attempt } from "../../kit/toast.js";
import { clockOf, dayOf, plural, time } from "../../kit/words.js";
import { steady } from "../steady.js";
import { askWords, chatState, originWords } from "../words.js";
import { items, renameHere, restore } from "./actions.js";

const DAY_MS = 86_400_000;
const PAGE = 200;
const DAYS = ["Today", "Yesterday", "Earlier"];
const NEW = { shape: "new", tone: "new", word: "Unread" };

function day(iso) {
  const midnight = new Date().setHours(0, 0, 0, 0);
  const at = new Date(iso).getTime();
  return at >= midnight ? "Today" : at >= midnight - DAY_MS ? "Yesterday" : "Earlier";
}

/** The time of a chat: the clock for today and yesterday, which have headings; else the day. */
const shortly = (iso) => (day(iso) === "Earlier" ? dayOf(new Date(iso)) : clockOf(new Date(iso)));

const hrefOf = (chat) => `/projects/${chat.project}/chats/${chat.sessionId}`;

/** chatList(nav, project) → {refresh, step(by), search, at(chat), nameOf(chat)} */
export function chatList(nav, slug) {
  const search = h("input", {
    id: "cs",
    class: "input",
    type: "search",
    placeholder: "Search chats",
    autocomplete: "off",
  });
  const groups = h("div");
  const found = h("section", { hidden: true });
  const older = h("div", { class: "earlier" });
  const archived = fold("Archived", row);
  const deleted = fold("Deleted", deletedRow);
  const state = { pages: 1, next: null };
  const list = steady(groups, (chat) => chat.sessionId, drawDays);
  const words = () => search.value.trim();
  const withHere = (chat) => ({ ...chat, here: chat.sessionId === where.chat });
  let drawn = [];

  fill(
    nav,
    h(
      "div",
      { class: "line pickbar" },
      h("label", { class: "sr", for: "cs" }, "Search chats"),
      search,
      h(
        "a",
        { class: "btn only", href: `/projects/${slug}/chats`, "aria-label": "New chat" },
        icon("plus"),
      ),
    ),
    list.chip,
    groups,
    older,
    found,
    archived.node,
    deleted.node,
  );

  function row(chat) {
    const unread = chat.unread && !chat.running && !chat.here;
    const name = h("span", { class: "name clamp" }, chat.name);
    const failed = !chat.running && chat.lastTurn?.status === "failed" && chat.lastTurn.reason;
    const count = chat.queued ? `${chat.queued} waiting` : plural(chat.messages ?? 0, "message");
    const asks = askWords(chat);
    const sub = asks || [originWords(chat), failed || count].filter(Boolean).join(" · ");
    const node = h(
      "li",
      { class: "pick-row" },
      h(
        "a",
        {
          class: unread ? "pick unread" : "pick",
          href: hrefOf(chat),
          "aria-current": chat.here && "page",
        },
        mark(unread ? NEW : chatState(chat)),
        name,
        h("span", { class: "quiet" }, time(chat.updatedAt, { words: shortly })),
        h("span", { class: asks ? "sub cut says warn" : "sub cut", title: sub }, sub),
      ),
    );
    const more = button("", {
      icon: "more",
      kind: "ghost s only pick-more",
      "aria-label": `More for ${chat.name}`,
    });
    const after = async () => refresh.now();
    menu(more, () =>
      items(chat, {
        renamed: () => renameHere(chat, node.querySelector(".pick"), more, after),
        after,
        gone: (away) => leave(chat, away),
      }),
    );
    node.append(more);
    return node;
  }

  /** After a chat was deleted or restored: refresh the list, or leave the deleted chat's page. */
  function leave(chat, away) {
    if (chat.sessionId !== where.chat) return refresh.now();
    return location.assign(away ? `/projects/${slug}/chats` : hrefOf(chat));
  }

  function deletedRow(chat) {
    const back = (event) =>
      attempt(event, async () => {
        await restore({ ...chat, project: slug });
        await refresh.now();
      });
    return h(
      "li",
      { class: "line pick-gone" },
      h("span", { class: "cut grow", title: chat.name }, chat.name),
      h("span", { class: "tiny quiet nowrap" }, time(chat.deletedAt)),
      button("Restore", { kind: "s", "aria-label": `Restore ${chat.name}`, onclick: back }),
    );
  }

  function drawDays(all) {
    const chats = all.map(withHere);
    drawn = all;
    keep(
      groups,
      DAYS.filter((name) => chats.some((chat) => day(chat.updatedAt) === name)),
      (name) => name,
      (name) => h("section", {}, h("p", { class: "pickhead" }, name), h("ul", { class: "picks" })),
    );
    for (const section of groups.children)
      keep(
        section.lastElementChild,
        chats.filter((chat) => day(chat.updatedAt) === section.dataset.key),
        (chat) => chat.sessionId,
        row,
      );
  }

  async function load({ now = false } = {}) {
    const { chats, omittedArchived, next } = await page();
    list.update(chats, { now: now || words() !== "" });
    nothing(chats);
    search.placeholder = chats.length ? `Search ${plural(chats.length, "chat")}` : "Search chats";
    fill(older, next && button("Older chats", { kind: "ghost s", onclick: more }));
    archived.count(omittedArchived);
    await Promise.all([archived.load(), deleted.load(), hits()]);
  }

  /** The chats that match, over as many pages as the user has opened. */
  async function page() {
    const all = { chats: [], omittedArchived: 0, next: null };
    for (let n = 0; n < state.pages; n += 1) {
      const asked = { q: words(), limit: PAGE, before: all.next };
      const got = await get(query(P(slug, "chats"), asked));
      all.omittedArchived ||= got.omittedArchived;
      all.chats.push(...got.chats);
      all.next = got.next;
      if (!got.next) break;
    }
    return all;
  }

  const more = (event) =>
    attempt(event, () => {
      state.pages += 1;
      return load({ now: true });
    });

  function nothing(chats) {
    const none = groups.querySelector(".none");
    none?.remove();
    if (chats.length) return;
    const said = words() ? "No chat by that name." : "Chats of this project will be listed here.";
    groups.append(h("p", { class: "pickhead none" }, said));
  }

  /** Show the messages of this project that contain the words. */
  async function hits() {
    const q = words();
    found.hidden = q.length < 2;
    if (found.hidden) return;
    const answer = await get(query("/api/search", { q, project: slug, limit: 20 }));
    if (q !== words()) return;
    fill(
      found,
      h("p", { class: "pickhead" }, "In messages"),
      h("ul", { class: "picks" }, answer.hits.map(hitRow)),
      !answer.hits.length &&
        h(
          "p",
          { class: "pickhead" },
          answer.indexing ? "Still being read in." : "No message with these words.",
        ),
    );
  }

  function fold(title, draw) {
    const count = h("span", { class: "count" });
    const body = h("ul", { class: "picks" });
    const node = h(
      "details",
      { class: "archived", hidden: true },
      h("summary", { class: "pickhead" }, icon("right"), `${title} `, count),
      body,
    );
    node.addEventListener("toggle", () => refresh());
    const show = (chats) => {
      shown = chats;
      keep(body, chats.map(withHere), (chat) => chat.sessionId, draw);
    };
    let shown = [];
    const number = (many) => {
      count.textContent = String(many);
      node.hidden = !many;
    };
    const load = async () => {
      if (title === "Deleted") {
        const { chats } = await get(P(slug, "trash"));
        number(chats.length);
        show(node.open ? chats : []);
      } else if (node.open) {
        show((await get(query(P(slug, "chats"), { archived: 1, limit: PAGE }))).chats);
      }
    };
    return { node, load, count: number, again: () => show(shown) };
  }

  const quietly = (options) => load(options).catch(() => {}); // the connection bar says it
  const now = () => quietly({ now: true });
  const refresh = Object.assign(settle(150, quietly), { now });
  search.addEventListener("input", refresh);
  quietly();
  /** Set the chat that is shown. */
  const at = (id) => {
    where.chat = id;
    if (drawn.length) drawDays(drawn);
    archived.again();
  };
  const nameOf = (id) => drawn.find(({ sessionId }) => sessionId === id)?.name;
  return { refresh, search, step: (by) => step(nav, by), at, nameOf };
}

function hitRow({ project, sessionId, name, offset, timestamp, snippet }) {
  return h(
    "li",
    {},
    h(
      "a",
      { class: "pick hit", href: `/projects/${project}/chats/${sessionId}#m${offset}` },
      icon("chat"),
      h("span", { class: "name cut" }, name),
      h("span", { class: "quiet" }, time(timestamp, { words: shortly })),
      h(
        "span",
        { class: "sub clamp" },
        snippet.map(({ text, marked }) => (marked ? h("mark", {}, text) : text)),
      ),
    ),
  );
}

/** Move the focus over the visible rows, starting at the current one. */
export function step(area, by) {
  const rows = [...area.querySelectorAll("a.pick")].filter((row) => row.checkVisibility());
  const at = rows.indexOf(document.activeElement);
  const current = rows.findIndex((row) => row.hasAttribute("aria-current"));
  const from = at >= 0 ? at : current >= 0 ? current : by > 0 ? -1 : rows.length;
  rows[Math.max(0, Math.min(rows.length - 1, from + by))]?.focus();
}
