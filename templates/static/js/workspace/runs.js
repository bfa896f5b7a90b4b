// Runs of a project, or of all: one truthful line per firing, with its whole record to unfold.

import { get, P, post, query } from "../kit/api.js";
import { button, fill, h, icon, keep, mark, settle } from "../kit/dom.js";
import { empty, exactly, page, problem } from "../kit/parts.js";
import { tabs } from "./parts.js";
import { onChange, where } from "../kit/shell.js";
import { attempt } from "../kit/toast.js";
import { span, time } from "../kit/words.js";
import { stateOf } from "./words.js";

const slug = where.project;
const base = slug ? P(slug, "runs") : "/api/runs";
const asked = new URLSearchParams(location.search);
const STATUSES = [
  "queued",
  "running",
  "completed",
  "failed",
  "cancelled",
  "interrupted",
  "skipped",
];
const CAUSES = ["cron", "interval", "event", "catch-up", "manual", "api"];

const choice = (name, label, options) =>
  h(
    "label",
    { class: "line small" },
    h("span", { class: "quiet" }, label),
    h(
      "select",
      { class: "input slim", name, onchange: () => again() },
      h("option", { value: "" }, "any"),
      options.map((value) => h("option", { value, selected: asked.get(name) === value }, value)),
    ),
  );
const text = (name, label) =>
  h(
    "label",
    { class: "line small" },
    h("span", { class: "quiet" }, label),
    h("input", {
      class: "input slim",
      name,
      value: asked.get(name) ?? "",
      onchange: () => again(),
    }),
  );

const filters = h(
  "form",
  { class: "line wrap filters", onsubmit: (event) => event.preventDefault() },
  choice("status", "Status", STATUSES),
  choice("cause", "Cause", CAUSES),
  text("trigger", "Trigger"),
  text("client", "Client"),
  !slug && text("project", "Project"),
);
const list = h("ul", { class: "rows" });
const foot = h("div", { class: "line center foot" });
const trouble = h("div");
let limit = 50;

function again() {
  const fields = Object.fromEntries(new FormData(filters));
  history.replaceState(null, "", query(location.pathname, fields));
  limit = 50;
  load();
}

async function load() {
  const { runs, next } = await get(
    query(base, { ...Object.fromEntries(new FormData(filters)), limit }),
  );
  fill(trouble);
  keep(list, runs, (run) => run.id, row);
  if (!runs.length)
    fill(
      list,
      h(
        "li",
        {},
        empty(
          "No run. Each firing of a trigger leaves one record here, also the ones that started no chat.",
        ),
      ),
    );
  fill(
    foot,
    next &&
      limit < 500 &&
      button("Show more", {
        onclick: (event) =>
          attempt(event, () => {
            limit = Math.min(500, limit + 100);
            return load();
          }),
      }),
  );
}

function row(run) {
  const look = stateOf(run.status);
  const open = run.status === "queued" || run.status === "running";
  const about = [
    run.cause,
    !slug && run.project,
    run.skips > 1 && `${run.skips} times`,
    run.missed && `${run.missed} missed before`,
  ]
    .filter(Boolean)
    .join(" · ");
  return h(
    "li",
    {},
    h(
      "details",
      { class: "run" },
      h(
        "summary",
        { class: "row run-row" },
        mark(look),
        h("span", { class: "strong cut" }, run.trigger ?? "curator"),
        h("span", { class: "small nowrap state-word" }, look.word),
        h(
          "span",
          {
            class: run.status === "failed" ? "small says bad cut" : "small soft cut",
            title: run.reason,
          },
          run.reason ?? about,
        ),
        h(
          "span",
          { class: "tiny quiet nowrap" },
          run.durationSeconds === null ? "" : span(run.durationSeconds),
        ),
        h(
          "span",
          { class: "tiny quiet nowrap when" },
          time(run.finishedAt ?? run.startedAt ?? run.queuedAt),
        ),
      ),
      h(
        "div",
        { class: "inside" },
        facts(run, about),
        h(
          "div",
          { class: "line wrap" },
          run.sessionId &&
            h(
              "a",
              { class: "btn s", href: `/projects/${run.project}/chats/${run.sessionId}` },
              icon("chat"),
              "Open chat",
            ),
          open &&
            button("Cancel", {
              kind: "s danger",
              icon: "x",
              onclick: (event) =>
                attempt(event, async () => {
                  await post(`/api/runs/${run.id}/cancel`);
                  await load();
                }),
            }),
        ),
      ),
    ),
  );
}

function facts(run, about) {
  const who = run.client
    ? `client ${run.client}`
    : run.actor?.id
      ? `${run.actor.kind} ${run.actor.id}`
      : run.actor?.kind;
  const tools = run.tools
    ?.map(({ name, count, denied }) => `${name} × ${count}${denied ? `, ${denied} denied` : ""}`)
    .join("; ");
  const rows = [
    ["Why", run.reason],
    ["Said", run.summary],
    ["Cause", about],
    ["By", who],
    ["Scheduled for", run.scheduledFor && exactly(run.scheduledFor)],
    ["Queued", exactly(run.queuedAt)],
    ["Started", exactly(run.startedAt)],
    ["Finished", exactly(run.finishedAt)],
    ["Agent", run.agentName],
    ["Engine", [run.engine, run.model].filter(Boolean).join(" ")],
    ["Tools", tools],
    ["Tokens", run.usage?.totalTokens],
    ["Cost", run.costUsd !== null && `$${run.costUsd}`],
    ["Id", h("code", {}, run.id)],
  ];
  return h(
    "dl",
    { class: "facts" },
    rows
      .filter(([, value]) => value)
      .map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
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
      h("h1", {}, "Runs"),
      h(
        "p",
        {},
        slug
          ? "Every firing of this project's triggers."
          : "Every firing of every project's triggers.",
      ),
    ),
  ),
  slug && h("div", { class: "tabrow" }, tabs(slug, "Runs")),
  trouble,
  filters,
  h("section", { class: "card spaced" }, list),
  foot,
);
const refresh = settle(200, () => load().catch((error) => fill(trouble, problem(error.message))));
refresh();
onChange(refresh);
