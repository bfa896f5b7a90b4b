// The audit: one line per call on /mcp and per tool of the service that a turn called, refusals
// folded per peer and minute.

import { get } from "../kit/api.js";
import { fill, h, icon } from "../kit/dom.js";
import { exactly, page, problem } from "../kit/parts.js";
import { onChange } from "../kit/shell.js";
import { time } from "../kit/words.js";
import { choice, facts, ledger, subjectCell, text, unfolding, within } from "./ledger.js";
import { stateOf } from "./words.js";

const LOOK_MS = 3000;
const OUTCOMES = {
  ok: "went through",
  error: "failed",
  denied: "not in its scope",
  unknown_tool: "no such operation",
  invalid: "not valid",
  auth_failed: "no valid token",
  insecure_transport: "not encrypted",
};

function row(entry) {
  const fine = entry.outcome === "ok";
  const word = OUTCOMES[entry.outcome] ?? entry.outcome;
  const look = fine ? stateOf("completed") : stateOf("failed");
  return unfolding(
    look,
    [
      subjectCell(
        entry.clientId ?? (entry.turnId ? "a turn" : "unknown client"),
        entry.project ?? "",
      ),
      h("span", { class: fine ? "small nowrap" : "small says bad nowrap" }, word),
      h("span", { class: "small soft cut" }, entry.operation ?? ""),
      entry.count > 1
        ? h("span", { class: "badge bad" }, `× ${entry.count}`)
        : h("span", { class: "tiny quiet nowrap" }, took(entry)),
      h("span", { class: "tiny quiet nowrap when" }, time(entry.time)),
    ],
    [details(entry, word), links(entry)],
  );
}

/** The duration of a call; refusals have none. */
const took = ({ clientId, turnId, ms }) => (clientId || turnId) && `${ms} ms`;

const details = (entry, word) =>
  facts([
    ["Outcome", `${word} (${entry.outcome})`],
    ["When", exactly(entry.time)],
    ["Client", entry.clientId],
    ["Turn", entry.turnId && h("code", {}, entry.turnId)],
    ["Operation", entry.operation && h("code", {}, entry.operation)],
    ["Project", entry.project],
    ["From", h("code", {}, entry.peer)],
    ["Took", took(entry)],
    ["Times", entry.count > 1 && `${entry.count} within a minute`],
    ["Run", entry.runId && h("code", {}, entry.runId)],
    ["Request", entry.requestId && h("code", {}, entry.requestId)],
  ]);

function links({ project, sessionId }) {
  if (!project) return null;
  const href = `/projects/${project}${sessionId ? `/chats/${sessionId}` : ""}`;
  const label = sessionId ? "Open chat" : "Open project";
  return h(
    "div",
    { class: "line wrap" },
    h("a", { class: "btn s", href }, icon(sessionId ? "chat" : "folder"), label),
  );
}

async function open() {
  const { clients } = await get("/api/clients");
  const operations = new Set(clients.flatMap((client) => client.operations ?? []));
  const record = ledger({
    route: "/api/audit",
    filters: [
      choice(
        "client",
        "Client",
        clients.map(({ clientId }) => clientId),
      ),
      text("operation", "Operation", [...operations].sort()),
      text("project", "Project"),
      choice("outcome", "Outcome", OUTCOMES),
      within(),
    ],
    idOf: (entry) => entry.id,
    row,
    items: ({ entries }) => entries,
    none: "No calls yet. Each call that a client makes on /mcp is listed here.",
    label: "Calls",
  });
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
          ", and every tool of this service that a turn called. Arguments, prompts and tokens are never stored.",
        ),
      ),
      h("a", { class: "btn", href: "/clients" }, "Clients"),
    ),
    record.nodes,
  );
  onChange(record.refresh);
  // A call that changes nothing causes no event.
  addEventListener("focus", record.refresh);
  setInterval(() => document.hidden || record.refresh(), LOOK_MS);
}

open().catch((error) => fill(page(), problem(error.message)));
