// The column that changes: what failed since yesterday, what runs and waits, what fires next.

import { button, fill, h, keep, mark } from "../../kit/dom.js";
import { shownZone, time } from "../../kit/words.js";
import { runRow } from "../parts.js";
import { whenAndZone } from "../schedule.js";
import { steady } from "../steady.js";
import { chatState, originWords, stateOf } from "../words.js";

const SHOWN = 6;
const FAILED = 3; // rows at most, since more follows below

/** nowColumn(seen) → {node, update({failed, running, next, names, paused})} */
export function nowColumn(seen) {
  const all = h(
    "span",
    { class: "push line" },
    h("a", { class: "tiny link", href: "/runs?status=failed" }, "All"),
    button("Seen", { kind: "ghost s", title: "Take these off this page", onclick: seen }),
  );
  const waits = h("span", { class: "push tiny quiet" });
  const failed = card("Failed since yesterday", "bad", all, (run) => run.id, failedRow, FAILED);
  const running = card("Running now", "busy", waits, (chat) => chat.sessionId, chatRow);
  const next = card("Fires next", "", null, (one) => `${one.project}/${one.name}`, nextRow);
  const calm = h("p", { class: "card nothing soft", hidden: true });
  const node = h(
    "aside",
    { class: "aside", "aria-label": "Now" },
    failed.node,
    running.node,
    next.node,
    calm,
  );

  function update(now) {
    const { names } = now;
    const withProjectName = (item) => ({
      ...item,
      projectName: names[item.project] ?? item.project,
    });
    const waiting = now.running.filter((chat) => !chat.running).length;
    failed.update(now.failed.runs.map(withProjectName), now.failed.more);
    running.update(now.running.map(withProjectName));
    waits.textContent = waiting ? `${waiting} waiting` : "";
    next.update(now.paused ? [] : now.next.map(withProjectName));
    calm.hidden = now.failed.runs.length + now.running.length + now.next.length > 0;
    calm.textContent =
      "Nothing is running, nothing failed since yesterday, and nothing is scheduled. It would be listed here.";
  }
  return { node, update };
}

function card(title, tone, more, idOf, row, most = SHOWN) {
  const list = h("ul");
  const badge = h("span", { class: `badge ${tone}` });
  const node = h(
    "section",
    { class: "card", hidden: true },
    h("header", {}, h("h2", {}, title), tone && badge, more),
    list,
  );
  const shown = steady(list, idOf, (items) => keep(list, items, idOf, row));
  node.firstElementChild.append(shown.chip);
  return {
    node,
    update(items, over = false) {
      node.hidden = items.length === 0;
      fill(badge, `${items.length}${over ? "+" : ""}`);
      shown.update(items.slice(0, most));
    },
  };
}

const failedRow = (run) => runRow(run, { of: run.projectName });

function chatRow(chat) {
  const words = [chat.projectName, originWords(chat), chat.queued && `${chat.queued} waiting`];
  return h(
    "li",
    {},
    h(
      "div",
      { class: "row" },
      mark(chatState(chat)),
      h(
        "div",
        {},
        h(
          "a",
          { class: "over cut", href: `/projects/${chat.project}/chats/${chat.sessionId}` },
          chat.name,
        ),
        h("span", { class: "tiny quiet cut" }, words.filter(Boolean).join(" · ")),
      ),
      h("span", { class: "tiny quiet nowrap" }, time(chat.turn?.startedAt)),
    ),
  );
}

function nextRow({ project, projectName, name, trigger, runtime, at }) {
  return h(
    "li",
    {},
    h(
      "div",
      { class: "row" },
      mark({ ...stateOf("armed"), tone: "stopped" }),
      h(
        "div",
        {},
        h(
          "a",
          {
            class: "over cut",
            href: `/projects/${project}/triggers?name=${encodeURIComponent(name)}`,
          },
          name,
        ),
        h(
          "span",
          { class: "tiny quiet cut" },
          `${projectName} · ${whenAndZone({ trigger, runtime })}`,
        ),
      ),
      h("span", { class: "tiny quiet nowrap" }, soon(at, runtime.timezone)),
    ),
  );
}

/** A coming time in its zone: the clock if today, else with the day. */
function soon(iso, zone) {
  const timeZone = shownZone(zone);
  const dayOf = (at) => new Date(at).toLocaleDateString("en-GB", { timeZone });
  /** @type {Intl.DateTimeFormatOptions} */
  const later =
    new Date(iso).getTime() - Date.now() > 6 * 864e5 ? { day: "numeric", month: "short" } : {};
  /** @type {Intl.DateTimeFormatOptions} */
  const day = dayOf(iso) === dayOf(Date.now()) ? {} : { weekday: "short", ...later };
  /** @type {Intl.DateTimeFormatOptions} */
  const clock = { hour: "2-digit", minute: "2-digit", timeZone };
  const words = (at) => new Date(at).toLocaleString("en-GB", { ...day, ...clock });
  return time(iso, { words, zone });
}
