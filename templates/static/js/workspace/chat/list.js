// The chats of a project, newest first, by day; archived ones folded away.

import { get, P, query } from "../kit/api.js";
import { h, icon, keep, mark, settle } from "../kit/dom.js";
import { plural, time } from "../kit/words.js";
import { chatState, originWords } from "./words.js";

const DAY_MS = 86_400_000;

function day(iso) {
  const midnight = new Date().setHours(0, 0, 0, 0);
  const at = new Date(iso).getTime();
  return at >= midnight ? "Today" : at >= midnight - DAY_MS ? "Yesterday" : "Earlier";
}

export function chatList(nav, slug, current) {
  const search = h("input", {
    id: "cs",
    class: "input",
    type: "search",
    placeholder: "Search chats",
  });
  const groups = h("div");
  const archived = h("ul", { class: "picks" });
  const count = h("span", { class: "count" });
  const fold = h(
    "details",
    { class: "archived" },
    h("summary", { class: "pickhead" }, icon("right"), "Archived ", count),
    archived,
  );
  nav.replaceChildren(
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
    groups,
    fold,
  );

  const pick = (chat) => {
    const look = chatState(chat);
    const sub = [
      originWords(chat),
      chat.queued ? `${chat.queued} waiting` : plural(chat.messages ?? 0, "message"),
    ]
      .filter(Boolean)
      .join(" · ");
    return h(
      "li",
      {},
      h(
        "a",
        {
          class: "pick",
          href: `/projects/${slug}/chats/${chat.sessionId}`,
          "aria-current": chat.sessionId === current && "page",
        },
        mark(look),
        h("span", { class: "name cut", title: chat.name }, chat.name),
        h("span", { class: "quiet" }, time(chat.updatedAt)),
        h("span", { class: "sub cut" }, sub),
      ),
    );
  };
  const load = async () => {
    const { chats, omittedArchived } = await get(
      query(P(slug, "chats"), { q: search.value.trim(), limit: 200 }),
    );
    const days = ["Today", "Yesterday", "Earlier"].map((name) => ({
      name,
      chats: chats.filter((chat) => day(chat.updatedAt) === name),
    }));
    keep(
      groups,
      days.filter((group) => group.chats.length),
      (group) => group.name,
      (group) =>
        h(
          "section",
          {},
          h("p", { class: "pickhead" }, group.name),
          h("ul", { class: "picks" }, group.chats.map(pick)),
        ),
    );
    if (!chats.length)
      groups.replaceChildren(
        h("p", { class: "pickhead" }, search.value ? "No chat by that name" : "No chat yet"),
      );
    count.textContent = String(omittedArchived);
    fold.hidden = !omittedArchived;
    if (fold.open) await loadArchived();
  };
  const loadArchived = async () => {
    const { chats } = await get(query(P(slug, "chats"), { archived: 1, limit: 200 }));
    keep(archived, chats, (chat) => chat.sessionId, pick);
  };
  const refresh = settle(150, () => load().catch(() => {}));
  search.addEventListener("input", refresh);
  fold.addEventListener("toggle", refresh);
  refresh();
  return { refresh };
}
