// The chats of a project as a card: search in names and texts, archived and deleted chats folded.

import { get, P, query } from "../../kit/api.js";
import { button, fill, h, icon, keep, mark, settle } from "../../kit/dom.js";
import { menu } from "../../kit/menu.js";
import { empty } from "../../kit/parts.js";
import { late } from "../../kit/skeleton.js";
import { attempt } from "../../kit/toast.js";
import { plural, time } from "../../kit/words.js";
import { items, renameHere, restore } from "../chat/actions.js";
import { hitRow } from "../hits.js";
import { steady } from "../steady.js";
import { askWords, chatState, originWords } from "../words.js";
import { foreignSessions } from "./sessions.js";

const FIRST = 20; // rows before "Show more"
const MORE = 100;
const UNREAD = { shape: "new", tone: "new", word: "Unread" };

/** projectChats(slug) → {node, load(), focus(), step(by)} */
export function projectChats(slug) {
  const state = { limit: FIRST };
  const rows = h("ul", { class: "rows chats" });
  const foot = h("div", { class: "line center foot", hidden: true });
  const none = h("div");
  const hits = h("section", { hidden: true, "aria-label": "In messages" });
  const search = h("input", {
    class: "input find push",
    id: "find-chat",
    type: "search",
    placeholder: "Search chats",
    autocomplete: "off",
  });
  const words = () => search.value.trim();
  const list = steady(
    rows,
    (chat) => chat.sessionId,
    (chats) => keep(rows, chats, (chat) => chat.sessionId, row),
  );
  const archived = fold("Archived", row);
  const deleted = fold("Deleted", deletedRow);
  const sessions = foreignSessions(slug);

  async function load({ now = false } = {}) {
    const q = words();
    const asked = { q, limit: state.limit };
    const [{ chats, next, omittedArchived }, trash] = await Promise.all([
      get(query(P(slug, "chats"), asked)),
      get(P(slug, "trash")),
      find(q),
      sessions.begin(),
    ]);
    if (q !== words()) return;
    list.update(chats, { now: now || q !== "" });
    fill(none, chats.length === 0 && nothing(q));
    foot.hidden = !next;
    deleted.show(trash.chats.length, trash.chats);
    archived.show(omittedArchived, archived.node.open ? await old(q) : []);
  }

  const old = async (q) =>
    (await get(query(P(slug, "chats"), { q, archived: 1, limit: 200 }))).chats;
  const nothing = (q) =>
    empty(
      q
        ? `No chat is called “${q}”.`
        : "No chat yet. Write the first message above; each chat is kept as a file in this project.",
    );

  /** Show the messages of this project that contain the words. */
  async function find(q) {
    hits.hidden = q.length < 2;
    if (hits.hidden) return;
    const answer = await get(query("/api/search", { q, project: slug, limit: 20 }));
    if (q !== words()) return;
    const all = h(
      "a",
      { class: "push tiny link", href: query("/search", { q }) },
      "In all projects",
    );
    fill(
      hits,
      h("header", { class: "line subhead" }, h("h3", {}, "In messages"), all),
      answer.hits.length
        ? h(
            "ul",
            { class: "rows" },
            answer.hits.map((hit) => hitRow(hit)),
          )
        : empty(answer.indexing ? "Still being read in." : "No message holds these words."),
    );
  }

  const quietly = (options) => load(options).catch(() => {}); // the connection bar says it
  const again = () => quietly({ now: true });

  function row(chat) {
    const unread = chat.unread && !chat.running;
    const link = h(
      "a",
      {
        class: unread ? "over cut strong" : "over cut",
        href: `/projects/${slug}/chats/${chat.sessionId}`,
        title: chat.name,
      },
      chat.name,
    );
    const more = button("", {
      icon: "more",
      kind: "ghost s only",
      "aria-label": `More for ${chat.name}`,
    });
    menu(more, () =>
      items(chat, {
        renamed: () => renameHere(chat, link, more, again),
        after: again,
        gone: again,
      }),
    );
    const why = !chat.running && chat.lastTurn?.status === "failed" && chat.lastTurn.reason;
    const asks = askWords(chat);
    const about = [originWords(chat), !why && plural(chat.messages ?? 0, "message")];
    const state = [
      unread && "unread",
      chat.asked ? "needs you" : chat.running && "running",
      chat.queued > 0 && `${chat.queued} waiting`,
      chat.held > 0 && `${chat.held} held`,
    ];
    return h(
      "li",
      {},
      h(
        "div",
        { class: "row" },
        mark(unread ? UNREAD : chatState(chat)),
        h(
          "div",
          { class: "two-lines grow" },
          link,
          h(
            "span",
            { class: "tiny quiet cut", title: why },
            state.some(Boolean) &&
              h("span", { class: "phone-only" }, `${state.filter(Boolean).join(", ")} · `),
            about.filter(Boolean).join(" · "),
            asks && [" · ", h("span", { class: "says warn" }, asks)],
            why && [" · ", h("span", { class: "failures" }, why)],
          ),
        ),
        chat.asked
          ? h("span", { class: "badge warn phone-hide" }, "needs you")
          : chat.running && h("span", { class: "badge busy phone-hide" }, "running"),
        chat.queued > 0 && h("span", { class: "badge phone-hide" }, `${chat.queued} waiting`),
        chat.held > 0 && h("span", { class: "badge warn phone-hide" }, `${chat.held} held`),
        unread && h("span", { class: "badge accent phone-hide" }, "unread"),
        h("span", { class: "tiny quiet nowrap" }, time(chat.updatedAt)),
        more,
      ),
    );
  }

  function deletedRow(chat) {
    const back = (event) => attempt(event, () => restore({ ...chat, project: slug }).then(again));
    return h(
      "li",
      {},
      h(
        "div",
        { class: "row" },
        mark({ shape: "skipped", tone: "quiet", word: "Deleted" }),
        h("span", { class: "cut grow", title: chat.name }, chat.name),
        h("span", { class: "tiny quiet nowrap" }, time(chat.deletedAt)),
        button("Restore", { kind: "s", "aria-label": `Restore ${chat.name}`, onclick: back }),
      ),
    );
  }

  function fold(title, build) {
    const count = h("span", { class: "count" });
    const body = h("ul", { class: "rows" });
    const node = h(
      "details",
      { class: "archived", hidden: true, ontoggle: () => node.open && quietly() },
      h("summary", { class: "subhead" }, icon("right"), title, count),
      body,
    );
    const show = (many, chats) => {
      count.textContent = String(many);
      node.hidden = many === 0;
      keep(body, node.open ? chats : [], (chat) => chat.sessionId, build);
    };
    return { node, show };
  }

  foot.append(
    button("Show more", {
      onclick: (event) => {
        state.limit += MORE;
        return attempt(event, () => load({ now: true }));
      },
    }),
  );
  const typed = settle(150, again);
  search.addEventListener("input", typed);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && search.value) {
      search.value = "";
      typed();
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      step(1);
    }
  });
  const node = h(
    "section",
    { class: "card", "aria-label": "Chats" },
    h(
      "header",
      {},
      h("h2", {}, "Chats"),
      list.chip,
      h("label", { class: "sr", for: search.id }, "Search chats and messages"),
      search,
      h("a", { class: "tiny link", href: `/projects/${slug}/chats` }, "All chats"),
    ),
    rows,
    none,
    foot,
    hits,
    archived.node,
    deleted.node,
    sessions.node,
  );

  /** Move the focus over the visible rows. */
  function step(by) {
    const links = [...node.querySelectorAll("a.over")].filter((link) => link.checkVisibility());
    const at = links.indexOf(document.activeElement);
    const to = at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by;
    links[Math.max(0, Math.min(links.length - 1, to))]?.focus();
  }
  late(rows);
  return { node, load, focus: () => search.focus(), step };
}
