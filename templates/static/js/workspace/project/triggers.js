// At the side of a project: its triggers with their next times, and their last runs.

import { button, h, keep, mark } from "../../kit/dom.js";
import { empty } from "../../kit/parts.js";
import { time } from "../../kit/words.js";
import { runRow } from "../parts.js";
import { whenAndZone } from "../schedule.js";
import { steady } from "../steady.js";
import { stateOf, triggerState } from "../words.js";

/** triggersCard(slug, toggle(event)) → {node, update(listing), focus()} */
export function triggersCard(slug, toggle) {
  const rows = h("ul", { class: "rows" });
  const hold = button("Pause", {
    icon: "pause",
    kind: "ghost s",
    "aria-label": "Pause the triggers of this project",
    onclick: toggle,
    hidden: true,
  });
  const link = h(
    "a",
    { class: "push tiny link", href: `/projects/${slug}/triggers` },
    "Edit triggers",
  );
  const node = h(
    "section",
    { class: "card" },
    h("header", {}, h("h2", {}, "Triggers"), link, hold),
    rows,
  );
  function update({ triggers, legacy, invalid, paused }) {
    const all = [
      ...[...triggers, ...legacy].map((entry) => ({ ...entry, paused: paused !== null })),
      ...invalid.map((entry) => ({ ...entry, invalid: true })),
    ];
    const none = { name: "", none: true };
    keep(
      rows,
      all.length ? all : [none],
      (entry) => entry.name,
      (entry) => (entry.none ? nothing() : row(slug, entry)),
    );
    hold.hidden = paused !== null || triggers.length + legacy.length === 0;
  }
  return { node, update, focus: () => (hold.hidden ? link : hold).focus() };
}

const nothing = () =>
  h("li", {}, empty("No trigger yet. A trigger starts a turn at a time, or after an event."));

function row(slug, entry) {
  const look = entry.invalid
    ? stateOf("invalid")
    : entry.paused && entry.enabled
      ? stateOf("paused")
      : triggerState(entry);
  const words = entry.invalid
    ? h(
        "span",
        { class: "tiny says bad clamp", title: entry.error },
        `line ${entry.line}: ${entry.error}`,
      )
    : h("span", { class: "tiny quiet cut" }, whenAndZone(entry));
  const next = entry.runtime?.nextRunAt;
  return h(
    "li",
    {},
    h(
      "div",
      { class: "row" },
      mark(look),
      h(
        "div",
        {},
        h(
          "a",
          {
            class: "over cut",
            href: `/projects/${slug}/triggers?name=${encodeURIComponent(entry.name)}`,
          },
          entry.name,
        ),
        words,
      ),
      h(
        "span",
        { class: "tiny quiet nowrap" },
        next
          ? time(next, { zone: entry.runtime.timezone })
          : entry.invalid
            ? ""
            : look.word.toLowerCase(),
      ),
    ),
  );
}

/** runsCard(slug) → {node, update(runs)} */
export function runsCard(slug) {
  const rows = h("ul", { class: "rows" });
  const node = h(
    "section",
    { class: "card", hidden: true },
    h(
      "header",
      {},
      h("h2", {}, "Recent runs"),
      h("a", { class: "push tiny link", href: `/projects/${slug}/runs` }, "All runs"),
    ),
    rows,
  );
  const idOf = (run) => run.id;
  const list = steady(rows, idOf, (runs) => keep(rows, runs, idOf, (run) => runRow(run)));
  node.firstElementChild.append(list.chip);
  return {
    node,
    update(runs) {
      node.hidden = runs.length === 0;
      list.update(runs);
    },
  };
}
