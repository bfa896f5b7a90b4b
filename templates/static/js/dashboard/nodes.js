// The other nodes on the same PostgreSQL and Redis; nothing is shown when there are none.

import { get } from "../kit/api.js";
import { fill, h, icon, keep, mark } from "../kit/dom.js";
import { absolute } from "../kit/words.js";
import { route } from "./route.js";
import { clock, ORDER, safe, stateOf } from "./words.js";

const UP = { ...stateOf("up"), word: "Up" };
const GONE = { ...stateOf("down"), word: "Gone" };
const SILENT = { ...stateOf("unknown"), word: "Not heard" }; // as is every node without Redis

export class Nodes {
  known = null;
  fits = () => true;
  busy = false;
  due = false;

  constructor() {
    this.list = h("ul", { class: "card", "aria-label": "Other machines" });
    this.count = h("span", { class: "count" });
    this.words = h("p", { class: "says warn tiny spaced", role: "status", hidden: true });
    this.node = h(
      "section",
      { id: "nodes", hidden: true },
      h("div", { class: "group" }, h("h2", {}, "Other machines"), this.count),
      this.words,
      this.list,
    );
  }

  /** Fetch again; an answer is never older than the event that asked for it. */
  async again() {
    this.due = true;
    if (this.busy) return;
    this.busy = true;
    while (this.due) {
      this.due = false;
      // After a failure the last answer stays; the next greeting of the stream fetches again.
      this.known = await get(route("nodes")).catch(() => this.known);
      this.draw(this.fits);
    }
    this.busy = false;
  }

  /** `fits(row)`: whether the search matches a row. */
  draw(fits) {
    this.fits = fits;
    if (!this.known) return;
    const { node, nodes, heard } = this.known;
    const rows = nodes.filter((one) => fits(one)).map((one) => nodeData(one, node, heard));
    this.node.hidden = !rows.length;
    this.count.textContent = String(rows.length);
    this.say(heard ? "" : "The Redis does not answer: no other machine is heard.");
    keep(this.list, rows, ({ id }) => id, row);
  }

  say(words) {
    if (this.said === words) return;
    this.said = words;
    this.words.hidden = !words;
    fill(this.words, words && icon("alert"), words && h("span", {}, words));
  }
}

function nodeData({ id, name, dashboard, version, alive, goneSince, apps }, node, heard) {
  return {
    ...{ id, name, version, alive, goneSince, heard },
    other: version && version !== node.version ? node.version : "",
    url: safe(dashboard),
    counts: ORDER.filter((state) => apps[state]).map((state) => [state, apps[state]]),
  };
}

function row(one) {
  const look = one.alive ? UP : one.heard ? GONE : SILENT;
  return h(
    "li",
    {},
    h(
      "div",
      { class: "row node" },
      mark(look, false),
      h(
        "span",
        { class: "two-lines" },
        h(
          "span",
          { class: "line wrap" },
          h("span", { class: "strong wrap-anywhere" }, one.name),
          one.other && h("span", { class: "badge warn" }, `svc ${one.version}, here ${one.other}`),
        ),
        h("span", { class: `tiny ${one.alive ? "quiet" : "soft"}` }, stateWords(one, look)),
      ),
      one.alive &&
        one.counts.length > 0 &&
        h("span", { class: "line wrap counts" }, one.counts.map(chip)),
      one.url && link(one),
    ),
  );
}

/** The state of a node in words; of one that is gone, also the last states of its apps. */
function stateWords({ alive, goneSince, counts }, { word }) {
  if (alive) return word;
  const since = h("time", { datetime: goneSince, title: absolute(goneSince) }, clock(goneSince));
  return [
    `${word} since `,
    since,
    counts.length > 0 && `; then ${counts.map(countWords).join(", ")}`,
  ];
}

const countWords = ([state, count]) => `${count} ${stateOf(state).word.toLowerCase()}`;

const chip = (one) =>
  h("span", { class: "badge line" }, mark(stateOf(one[0]), false), countWords(one));

const link = ({ url, name }) =>
  h(
    "a",
    {
      class: "btn s ghost",
      href: url,
      target: "_blank",
      rel: "noopener noreferrer",
      "aria-label": `Open the dashboard of ${name}`,
    },
    "Open",
    icon("out"),
  );
