// The sessions of Claude Code in the project's directory: listed beside its chats, read in a sheet,
// continued as a chat. Nothing here changes a file of Claude Code.

import { get, P, post, query } from "../../kit/api.js";
import { button, h, icon, keep, mark } from "../../kit/dom.js";
import { sheet } from "../../kit/dialog.js";
import { markdown } from "../../kit/markdown.js";
import { attempt } from "../../kit/toast.js";
import { time } from "../../kit/words.js";
import { Calls } from "../chat/calls.js";

const FIRST = 20;
const MORE = 100;
const KEPT = { shape: "skipped", tone: "quiet", word: "In Claude Code" };

/** foreignSessions(slug) → {node, begin()}: a fold of rows, hidden if there are none. No event
 *  reports a new session, so they are read by begin(), when the fold opens, and when the user comes
 *  back to the page. */
export function foreignSessions(slug) {
  let limit = FIRST;
  let begun = null;
  const count = h("span", { class: "count" });
  const rows = h("ul", { class: "rows" });
  const more = button("Show more", {
    onclick: (event) => {
      limit += MORE;
      return attempt(event, load);
    },
  });
  const foot = h("div", { class: "line center foot", hidden: true }, more);
  const node = h(
    "details",
    { class: "archived", hidden: true, ontoggle: () => node.open && again() },
    h("summary", { class: "subhead" }, icon("right"), "Sessions of Claude Code", count),
    rows,
    foot,
  );

  async function load() {
    const { sessions, total } = await get(query(P(slug, "sessions"), { limit }));
    count.textContent = String(total);
    node.hidden = total === 0;
    foot.hidden = sessions.length >= total;
    keep(rows, sessions, (one) => one.id, row);
  }

  const again = () => load().catch(() => {}); // the connection bar says it
  addEventListener("visibilitychange", () => !document.hidden && begun && again());

  /** Read the sessions once; a later call returns the same promise, unless it failed. */
  function begin() {
    begun ??= load().catch((error) => {
      begun = null;
      throw error;
    });
    return begun;
  }

  function row(session) {
    const about = [session.branch, session.version && `Claude Code ${session.version}`];
    const onclick = (event) => attempt(event, () => showSession(slug, session));
    const look = h(
      "button",
      { type: "button", class: "over cut", title: session.title, onclick },
      session.title || "Untitled",
    );
    return h(
      "li",
      {},
      h(
        "div",
        { class: "row" },
        mark(KEPT),
        h(
          "div",
          { class: "two-lines grow" },
          look,
          h("span", { class: "tiny quiet cut" }, about.filter(Boolean).join(" · ")),
        ),
        h("span", { class: "tiny quiet nowrap" }, time(session.updatedAt)),
        button("Continue here", {
          kind: "s",
          "aria-label": `Continue ${session.title} here`,
          onclick: (event) => attempt(event, () => continueSession(slug, session)),
        }),
      ),
    );
  }

  return { node, begin };
}

/** Continue a session as a chat, and go there. */
async function continueSession(slug, session) {
  const { chat } = await post(P(slug, "sessions", session.id, "continue"), {});
  location.href = `/projects/${slug}/chats/${chat.sessionId}`;
}

/** Show the messages of a session: the newest page, and older ones on request. */
async function showSession(slug, session) {
  const words = h("div", { class: "stack" });
  const older = button("Earlier", { kind: "s", hidden: true });
  let before;
  const page = async () => {
    const address = query(P(slug, "sessions", session.id), { limit: 100, before });
    const { messages, next } = await get(address);
    words.prepend(...drawMessages(messages));
    before = next;
    older.hidden = next === null;
  };
  older.addEventListener("click", (event) => attempt(event, page));
  await page();
  const go = button("Continue here", {
    kind: "primary",
    onclick: (event) => attempt(event, () => continueSession(slug, session)),
  });
  const body = h(
    "div",
    { class: "stack foreign" },
    h("p", { class: "quiet" }, "As Claude Code keeps it. A chat made of it leaves it as it is."),
    h("div", { class: "line" }, go, older),
    words,
  );
  sheet(session.title || "Session", body);
}

/** Messages as text, runs of tool calls folded. */
function drawMessages(messages) {
  const nodes = [];
  let calls = null;
  for (const message of messages) {
    if (message.role === "tool") {
      if (!calls) nodes.push((calls = new Calls()).node);
      calls.add(message.toolCall, message.offset);
      continue;
    }
    calls = null;
    const who = message.role === "user" ? "You" : "Claude Code";
    nodes.push(
      h(
        "section",
        { "aria-label": who },
        h("p", { class: "tiny quiet" }, `${who} · `, time(message.timestamp)),
        markdown(message.content, { breaks: message.role === "user", heading: 3 }),
      ),
    );
  }
  return nodes;
}
