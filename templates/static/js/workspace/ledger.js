// A long record, newest first, with filters kept in the URL, pages, and rows that unfold. New rows
// wait while the user reads the list.

import { get, query } from "../kit/api.js";
import { button, fill, h, keep, mark, settle } from "../kit/dom.js";
import { key } from "../kit/keys.js";
import { empty, problem } from "../kit/parts.js";
import { late } from "../kit/skeleton.js";
import { attempt } from "../kit/toast.js";
import { steady } from "./steady.js";

const PAGE = 50;
const DAY_MS = 86_400_000;
const TIMES = { 1: "last 24 hours", 7: "last 7 days", 30: "last 30 days" };
const asked = new URLSearchParams(location.search);

const field = (label, input) =>
  h("label", { class: "line small" }, h("span", { class: "quiet" }, label), input);

/** A filter with given values: ["failed", …] or {ok: "went through", …}. */
export function choice(name, label, options) {
  const pairs = Array.isArray(options) ? options.map((one) => [one, one]) : Object.entries(options);
  const given = asked.get(name) ?? "";
  if (given && !pairs.some(([value]) => value === given)) pairs.push([given, given]);
  return field(
    label,
    h(
      "select",
      { class: "input slim", name },
      h("option", { value: "" }, "any"),
      pairs.map(([value, words]) => h("option", { value, selected: value === given }, words)),
    ),
  );
}

/** A text filter; `known` values are offered. */
export function text(name, label, known = []) {
  const list =
    known.length > 0 &&
    h(
      "datalist",
      { id: `known-${name}` },
      known.map((value) => h("option", { value })),
    );
  const input = h("input", {
    class: "input slim",
    name,
    type: "search",
    autocomplete: "off",
    list: list && list.id,
    value: asked.get(name) ?? "",
  });
  return field(label, [input, list]);
}

/** The first cell of a line: its subject, and below it where and why. */
export const subjectCell = (name, about) =>
  h(
    "span",
    { class: "two-lines" },
    h("span", { class: "strong cut" }, name),
    about && h("span", { class: "tiny quiet cut" }, about),
  );

/** One entry: its state and `cells` in a line, and `inside` when unfolded. */
export const unfolding = (look, cells, inside) =>
  h(
    "li",
    {},
    h(
      "details",
      { class: "run" },
      h("summary", { class: "row run-row" }, mark(look, false), cells),
      h("div", { class: "inside" }, inside),
    ),
  );

export const within = () => choice("days", "When", TIMES);

/**
 * ledger({route, filters, idOf, row, items, none, label}) → {nodes, refresh}. `items(answer)` are
 * the entries of an answer of `route`; `none` is shown when there are none.
 */
export function ledger({ route, filters, idOf, row, items, none, label }) {
  const form = h(
    "form",
    {
      class: "line wrap filters",
      "aria-label": "Filter",
      onsubmit: (event) => event.preventDefault(),
    },
    filters,
  );
  const list = h("ul", { class: "rows ledger" });
  const nothing = h("div");
  const foot = h("div", { class: "line center foot" });
  const trouble = h("div");
  const shown = steady(list, idOf, (all) => redraw(list, all, idOf, row));
  const state = { known: new Map(), next: null, older: false, said: "" };

  const fields = () => Object.fromEntries(new FormData(form));
  function filterQuery() {
    const { days, ...rest } = fields();
    return days
      ? { ...rest, since: new Date(Date.now() - Number(days) * DAY_MS).toISOString() }
      : rest;
  }

  /** Read the newest page again, or the next older one. */
  async function load({ older = false, now = false } = {}) {
    const said = JSON.stringify(fields());
    const before = older ? state.next : null;
    const answer = await get(query(route, { ...filterQuery(), limit: PAGE, before }));
    if (said !== JSON.stringify(fields())) return;
    if (said !== state.said) Object.assign(state, { known: new Map(), older: false, said });
    for (const item of items(answer)) state.known.set(String(idOf(item)), item);
    state.older ||= older;
    if (older || !state.older) state.next = answer.next;
    draw(now);
  }

  function draw(now) {
    const all = [...state.known.values()].sort((a, b) => (idOf(a) < idOf(b) ? 1 : -1));
    shown.update(all, { now });
    const filtered = Object.values(fields()).some(Boolean);
    fill(trouble);
    fill(nothing, all.length === 0 && empty(filtered ? unfit() : none, filtered && clear()));
    fill(
      foot,
      state.next &&
        button("Show more", {
          onclick: (event) => attempt(event, () => load({ older: true, now: true })),
        }),
    );
  }

  const unfit = () =>
    state.next
      ? "Nothing recent fits these filters; older lines may."
      : "Nothing fits these filters.";

  const clear = () =>
    button("Clear the filters", {
      kind: "s",
      onclick: () => {
        for (const control of form.elements)
          /** @type {HTMLInputElement | HTMLSelectElement} */ (control).value = "";
        again();
      },
    });

  const tell = (error) => fill(trouble, problem(error.message));
  const refresh = settle(200, () => load().catch(tell));
  const again = settle(150, () => {
    history.replaceState(null, "", query(location.pathname, fields()));
    load({ now: true }).catch(tell);
  });
  form.addEventListener("input", again);
  key("/", "Filter", () => /** @type {HTMLElement} */ (form.elements[0]).focus());
  key(["j", "k"], "Next and previous line", (event) => step(list, event.key === "j" ? 1 : -1));
  late(list);
  refresh.now();
  return {
    nodes: [
      trouble,
      form,
      h("section", { class: "card spaced", "aria-label": label }, shown.chip, list, nothing),
      foot,
    ],
    refresh,
  };
}

/** Redraw the lines: open lines stay open, and the focus is kept. */
function redraw(list, all, idOf, row) {
  const nodeOf = (id) => list.querySelector(`[data-key="${CSS.escape(id)}"]`);
  const focused = document.activeElement?.closest(".ledger > li")?.dataset.key;
  keep(list, all, idOf, (item) => {
    const node = row(item);
    node.firstElementChild.open = Boolean(nodeOf(String(idOf(item)))?.firstElementChild.open);
    return node;
  });
  if (focused && !list.contains(document.activeElement))
    nodeOf(focused)?.querySelector("summary").focus();
}

function step(list, by) {
  const all = [...list.querySelectorAll("summary")];
  const at = all.indexOf(document.activeElement);
  all[Math.max(0, Math.min(all.length - 1, at < 0 ? 0 : at + by))]?.focus();
}

/** [["Why", value], …] as a list of facts, without empty values. */
export const facts = (rows) =>
  h(
    "dl",
    { class: "facts" },
    rows
      .filter(
        ([, value]) => value !== null && value !== undefined && value !== "" && value !== false,
      )
      .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
  );
