// Runs of a project or of all projects: one line per firing, which unfolds to its whole record.

import { get, P, post } from "../kit/api.js";
import { button, fill, h, icon } from "../kit/dom.js";
import { exactly, page, problem } from "../kit/parts.js";
import { onChange, where } from "../kit/shell.js";
import { attempt, toast } from "../kit/toast.js";
import { span, time } from "../kit/words.js";
import { choice, facts, ledger, subjectCell, text, unfolding, within } from "./ledger.js";
import { tabs } from "./parts.js";
import "./project/gone.js";
import { stateOf } from "./words.js";

const slug = where.project;
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
const names = {};
let record = null;

/** The filters, with the existing values as choices. */
async function filters() {
  if (slug) {
    const { triggers, legacy } = await get(P(slug, "triggers"));
    return [
      choice(
        "trigger",
        "Trigger",
        [...triggers, ...legacy].map(({ name }) => name),
      ),
    ];
  }
  const { projects } = await get("/api/projects");
  for (const one of projects) names[one.slug] = one.name;
  return [choice("project", "Project", names), text("trigger", "Trigger")];
}

function row(run) {
  const look = stateOf(run.status);
  const about = [
    !slug && (names[run.project] ?? run.project),
    run.cause,
    run.skips > 1 && `${run.skips} times`,
    run.missed && `${run.missed} missed before`,
  ]
    .filter(Boolean)
    .join(" · ");
  return unfolding(
    look,
    [
      subjectCell(run.trigger ?? "curator", about),
      h("span", { class: "small nowrap state-word" }, look.word),
      h(
        "span",
        {
          class: run.status === "failed" ? "small says bad cut" : "small soft cut",
          title: run.reason,
        },
        run.reason ?? run.summary ?? "",
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
    ],
    [details(run, about), actions(run)],
  );
}

function actions(run) {
  const open = run.status === "queued" || run.status === "running";
  const project = `/projects/${run.project}`;
  return h(
    "div",
    { class: "line wrap" },
    run.sessionId &&
      !run.chatDeleted &&
      h(
        "a",
        { class: "btn s", href: `${project}/chats/${run.sessionId}` },
        icon("chat"),
        "Open chat",
      ),
    run.chatDeleted && h("span", { class: "quiet small" }, "Its chat is deleted."),
    run.trigger &&
      h(
        "a",
        {
          class: "btn s ghost",
          href: `${project}/triggers?name=${encodeURIComponent(run.trigger)}`,
        },
        "Open trigger",
      ),
    open &&
      button("Cancel run", { kind: "s danger", icon: "x", onclick: (event) => cancel(event, run) }),
  );
}

const cancel = (event, run) =>
  attempt(event, async () => {
    const { cancelled } = await post(`/api/runs/${run.id}/cancel`);
    toast(cancelled ? "The run is being cancelled." : "It had ended already.");
    record.refresh();
  });

function details(run, about) {
  const { usage } = run;
  const who = run.client
    ? `client ${run.client}`
    : [run.actor?.kind, run.actor?.id].filter(Boolean).join(" ");
  const waited =
    run.startedAt && (new Date(run.startedAt).getTime() - new Date(run.queuedAt).getTime()) / 1000;
  return facts([
    ["Why", run.reason],
    ["Said", run.summary],
    ["Cause", about],
    ["By", who],
    ["Scheduled for", run.scheduledFor && exactly(run.scheduledFor)],
    ["Queued", exactly(run.queuedAt)],
    ["Started", run.startedAt && `${exactly(run.startedAt)}, after ${span(waited)}`],
    ["Finished", run.finishedAt && exactly(run.finishedAt)],
    ["Took", run.durationSeconds !== null && span(run.durationSeconds)],
    ["Agent", run.agentName],
    ["Engine", [run.engine, run.model].filter(Boolean).join(" ")],
    ["Turns", run.turns],
    ["Tools", tools(run, ({ count, denied }) => count - (denied ?? 0))],
    ["Refused", tools(run, ({ denied }) => denied ?? 0)],
    ["Tokens", usage && tokens(usage)],
    ["Cost", run.costUsd !== null && `$${run.costUsd}, as the engine reports it`],
    ["Id", h("code", {}, run.id)],
  ]);
}

const tools = (run, count) =>
  (run.tools ?? [])
    .map((tool) => [tool.name, count(tool)])
    .filter(([, many]) => many > 0)
    .map(([name, many]) => `${name} × ${many}`)
    .join(", ");

const tokens = ({ totalTokens, inputTokens, outputTokens }) =>
  [
    totalTokens && `${totalTokens}`,
    inputTokens && `${inputTokens} in`,
    outputTokens && `${outputTokens} out`,
  ]
    .filter(Boolean)
    .join(", ");

async function open() {
  const own = await filters();
  record = ledger({
    route: slug ? P(slug, "runs") : "/api/runs",
    filters: [
      text("q", "Text"),
      ...own,
      choice("status", "Status", STATUSES),
      choice("cause", "Cause", CAUSES),
      within(),
    ],
    idOf: (run) => run.id,
    row,
    items: ({ runs }) => runs,
    none: "No runs yet. Each time a trigger fires it is listed here, even if no chat was started.",
    label: "Runs",
  });
  const of = slug ? "this project's" : "every project's";
  fill(
    page(),
    h(
      "header",
      { class: "pagehead" },
      h("div", {}, h("h1", {}, "Runs"), h("p", {}, `Every firing of ${of} triggers.`)),
    ),
    slug && h("div", { class: "tabrow" }, tabs(slug, "Runs")),
    record.nodes,
  );
  onChange(record.refresh);
}

open().catch((error) => fill(page(), problem(error.message)));
