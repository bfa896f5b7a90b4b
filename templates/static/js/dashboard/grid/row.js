// One app as a row of the compact list, and the head of its table.

import { fill, h, icon } from "../../kit/dom.js";
import { absolute } from "../../kit/words.js";
import { clock, percent, saying, shortly } from "../words.js";
import { Face, quick } from "./tile.js";

/** @type {[column: string, label: string][]} */
const HEADS = [
  ["name", "Name"],
  ["state", "State"],
  ["address", "Address"],
  ["group", "Group"],
  ["uptime", "24 hours"],
  ["latency", "Latency"],
  ["since", "Since"],
];
const NUMBERS = new Set(["uptime", "latency", "since"]);

export class Row extends Face {
  constructor(slug, hands) {
    super(slug, hands);
    this.address = h("a", {
      class: "mono quiet addr",
      target: "_blank",
      rel: "noopener noreferrer",
      tabindex: "-1",
    });
    this.says = h("td", { class: "state-cell" });
    this.cells = Object.fromEntries(
      ["group", "uptime", "latency", "since"].map((name) => [
        name,
        h("td", { class: NUMBERS.has(name) ? "num" : "group-cell", dataset: { column: name } }),
      ]),
    );
    this.node = h(
      "tr",
      { dataset: { key: slug } },
      h("td", { class: "pick-cell" }, this.pick),
      h("th", { scope: "row" }, this.over),
      this.says,
      h("td", { class: "addr-cell", dataset: { column: "address" } }, this.address),
      Object.values(this.cells),
      h("td", {}, h("span", { class: "line" }, this.act, this.more)),
    );
  }

  show(app) {
    super.show(app);
    this.part("address", app.safe, () => {
      this.address.hidden = !app.safe;
      if (app.safe) Object.assign(this.address, { href: app.safe });
      this.address.textContent = app.safe ? shortly(app.safe) : "";
    });
    this.part("says", app.says, () => fill(this.says, saying({ ...app, since: null })));
    const { cells } = this;
    this.part("rest", [app.group, app.uptime, quick(app), app.since], () => {
      cells.group.textContent = app.group ?? "";
      cells.uptime.textContent = percent(app.uptime?.["24h"]);
      cells.latency.textContent = quick(app);
      const at = app.since && { datetime: app.since, title: absolute(app.since) };
      fill(cells.since, at && h("time", at, clock(app.since)));
    });
  }
}

/** The table with its column heads; a press on one calls `sort(column)`. */
export function table(sort) {
  const head = ([name, label]) =>
    h(
      "th",
      { scope: "col", class: NUMBERS.has(name) ? "num" : null, dataset: { column: name } },
      h("button", { type: "button", class: "sort", onclick: () => sort(name) }, label),
    );
  const heads = h("tr", {}, h("td", { class: "pick-cell" }), HEADS.map(head), h("td", {}));
  const body = h("tbody", { class: "slots" });
  return h(
    "div",
    { class: "card scroll" },
    h("table", { class: "table apps-table" }, h("thead", {}, heads), body),
  );
}

/** Mark the head of the column by which the table is sorted, with the direction. */
export function markSortedColumn(node, { column, down }) {
  for (const head of node.querySelectorAll("th[data-column]")) {
    const on = head.dataset.column === column;
    if (on) head.setAttribute("aria-sort", down ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
    head.querySelector(".icon")?.remove();
    if (on) head.firstElementChild.append(icon(down ? "down" : "up"));
  }
}
