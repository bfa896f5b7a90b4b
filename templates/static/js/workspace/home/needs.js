// The questions that wait for the user, at the top of this page, answered in place.

import { fill, h, keep, mark } from "../../kit/dom.js";
import { attempt } from "../../kit/toast.js";
import { answer, keepWaiting } from "../asks.js";
import { countdown } from "../chat/clock.js";
import { stateOf } from "../words.js";

/** needs(after) → {node, update(asks, names)}; the node is hidden while nothing asks. */
export function needs(after) {
  let shown = [];
  let untils = new Map(); // call -> when it is denied; a new time does not redraw the row
  const count = h("span", { class: "count" });
  const list = h("ul", { class: "card" });
  const node = h(
    "section",
    { class: "needs", hidden: true, "aria-labelledby": "needs-you" },
    h("div", { class: "group" }, h("h2", { id: "needs-you" }, "Needs you"), count),
    list,
  );
  const keptUntil = (call, until) => {
    for (const one of list.querySelectorAll("[data-until]"))
      if (one.closest("li").dataset.key === call) one.dataset.until = until;
  };
  const keepNow = keepWaiting(() => shown, keptUntil);

  function row(ask) {
    const act = (allow) => (event) =>
      attempt(event, async () => {
        await answer(ask, { allow });
        await after();
      });
    const choice = (allow, kind, word) =>
      h(
        "button",
        {
          type: "button",
          class: `btn s ${kind}`,
          onclick: act(allow),
          "aria-label": `${word} ${ask.tool} in ${ask.name}`,
        },
        word,
      );
    const from = [ask.projectName, ask.trigger && `trigger ${ask.trigger}`].filter(Boolean);
    return h(
      "li",
      {},
      h(
        "div",
        { class: "row need" },
        mark(stateOf("asks")),
        h(
          "div",
          { class: "grow" },
          h(
            "a",
            { class: "cut strong", href: `/projects/${ask.project}/chats/${ask.sessionId}` },
            ask.name,
          ),
          h(
            "code",
            { class: "mono small clamp", title: ask.summary },
            `${ask.tool} ${ask.summary}`,
          ),
          h(
            "span",
            { class: "tiny quiet cut" },
            `${from.join(" · ")} · denied `,
            countdown(untils.get(ask.call)),
          ),
        ),
        h(
          "span",
          { class: "line" },
          choice(true, "primary", "Allow"),
          choice(false, "danger", "Deny"),
        ),
      ),
    );
  }

  const update = (asks, names) => {
    const fresh = asks.some(({ call }) => !shown.some((one) => one.call === call));
    shown = asks;
    untils = new Map(asks.map(({ call, until }) => [call, until]));
    node.hidden = asks.length === 0;
    fill(count, String(asks.length));
    const rows = asks.map(({ until: _, ...ask }) => ({
      ...ask,
      projectName: names[ask.project] ?? ask.project,
    }));
    keep(list, rows, ({ call }) => call, row);
    for (const { call, until } of asks) keptUntil(call, until);
    if (fresh) keepNow();
  };
  return { node, update };
}
