// The audit: one line per call on /mcp, refusals folded per peer and minute.

import { get, query } from "../kit/api.js";
import { button, fill, h, keep, mark, settle } from "../kit/dom.js";
import { empty, page, problem } from "../kit/parts.js";
import "../kit/shell.js";
import { attempt } from "../kit/toast.js";
import { time } from "../kit/words.js";
import { stateOf } from "./words.js";

const OUTCOMES = [
  "ok",
  "error",
  "denied",
  "unknown_tool",
  "invalid",
  "auth_failed",
  "insecure_transport",
];
const asked = new URLSearchParams(location.search);
const field = (name, label, input) =>
  h("label", { class: "line small" }, h("span", { class: "quiet" }, label), input);
const text = (name) =>
  h("input", { class: "input slim", name, value: asked.get(name) ?? "", onchange: () => again() });

const filters = h(
  "form",
  { class: "line wrap filters", onsubmit: (event) => event.preventDefault() },
  field("client", "Client", text("client")),
  field("operation", "Operation", text("operation")),
  field("project", "Project", text("project")),
  field(
    "outcome",
    "Outcome",
    h(
      "select",
      { class: "input slim", name: "outcome", onchange: () => again() },
      h("option", { value: "" }, "any"),
      OUTCOMES.map((value) =>
        h("option", { value, selected: asked.get("outcome") === value }, value),
      ),
    ),
  ),
);
const rows = h("tbody");
const none = h("div");
const foot = h("div", { class: "line center foot" });
let limit = 100;

function again() {
  history.replaceState(
    null,
    "",
    query(location.pathname, Object.fromEntries(new FormData(filters))),
  );
  refresh();
}

async function load() {
  const { entries, next } = await get(
    query("/api/audit", { ...Object.fromEntries(new FormData(filters)), limit }),
  );
  keep(rows, entries, (entry) => entry.id, row);
  fill(
    none,
    !entries.length && empty("No call. Every call of a client on /mcp leaves one line here."),
  );
  fill(
    foot,
    next &&
      limit < 500 &&
      button("Show more", {
        onclick: (event) =>
          attempt(event, () => {
            limit = 500;
            return load();
          }),
      }),
  );
}

function row(entry) {
  const fine = entry.outcome === "ok";
  const look = fine ? stateOf("completed") : { ...stateOf("failed"), word: entry.outcome };
  return h(
    "tr",
    {},
    h(
      "td",
      {},
      h(
        "span",
        { class: fine ? "says" : "says bad" },
        mark(look, false),
        entry.outcome,
        entry.count > 1 && h("span", { class: "badge bad" }, `× ${entry.count}`),
      ),
    ),
    h("td", {}, entry.clientId ?? h("span", { class: "quiet" }, "nobody")),
    h("td", { class: "mono" }, entry.operation ?? ""),
    h(
      "td",
      {},
      entry.project
        ? h(
            "a",
            {
              class: "link",
              href: entry.sessionId
                ? `/projects/${entry.project}/chats/${entry.sessionId}`
                : `/projects/${entry.project}`,
            },
            entry.project,
          )
        : "",
    ),
    h("td", { class: "num" }, entry.clientId ? `${entry.ms} ms` : ""),
    h("td", { class: "mono" }, entry.peer),
    h("td", {}, time(entry.time)),
  );
}

fill(
  page(),
  h(
    "header",
    { class: "pagehead" },
    h(
      "div",
      {},
      h("h1", {}, "Audit"),
      h(
        "p",
        {},
        "Every call on ",
        h("code", { class: "inline-code" }, "/mcp"),
        ". Arguments, prompts and tokens are never stored.",
      ),
    ),
    h("a", { class: "btn", href: "/clients" }, "Clients"),
  ),
  filters,
  h(
    "section",
    { class: "card scroll-x spaced", tabindex: "0", role: "region", "aria-label": "Calls" },
    h(
      "table",
      { class: "table" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["Outcome", "Client", "Operation", "Project", "Took", "Peer", "When"].map((name) =>
            h("th", { scope: "col", class: name === "Took" && "num" }, name),
          ),
        ),
      ),
      rows,
    ),
    none,
  ),
  foot,
);
const refresh = settle(150, () => load().catch((error) => fill(none, problem(error.message))));
refresh();
