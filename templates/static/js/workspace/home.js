// Home: projects by area on the left stay put; what runs, failed and fires next is at the right.

import { get, P, post } from "../kit/api.js";
import { button, fill, h, icon, keep, mark, settle } from "../kit/dom.js";
import { newProject } from "./newproject.js";
import { command, page, problem } from "../kit/parts.js";
import { runRow } from "./parts.js";
import { onChange } from "../kit/shell.js";
import { attempt } from "../kit/toast.js";
import { plural, time } from "../kit/words.js";
import { chatState, originWords, stateOf } from "./words.js";

const DAY_MS = 86_400_000;
const RESTING = { paused: "paused", blocked: "paused", done: "completed", abandoned: "archived" };

const at = {
  title: h(
    "div",
    {},
    h(
      "h1",
      {},
      new Date().toLocaleDateString("en-GB", { weekday: "long", day: "numeric", month: "long" }),
    ),
    h("p", {}, "…"),
  ),
  form: h("div"),
  areas: h("div", { class: "home" }),
  failed: h("ul"),
  running: h("ul"),
  next: h("ul"),
};

async function load() {
  const { projects } = await get("/api/projects");
  const [failed, running, next] = await Promise.all([
    failures(),
    runningChats(projects),
    nextTimes(projects),
  ]);
  draw({ projects, failed, running, next });
}

async function failures() {
  const { runs } = await get("/api/runs?status=failed&limit=20");
  return runs
    .filter((run) => Date.now() - new Date(run.finishedAt ?? run.queuedAt) < DAY_MS)
    .slice(0, 5);
}

async function runningChats(projects) {
  const busy = projects.filter((project) => project.counts?.running);
  const lists = await Promise.all(
    busy.map(async ({ slug, name }) => {
      const { chats } = await get(`${P(slug, "chats")}?archived=all`);
      return chats
        .filter((chat) => chat.running || chat.queued)
        .map((chat) => ({ ...chat, projectName: name }));
    }),
  );
  return lists.flat();
}

async function nextTimes(projects) {
  const armed = projects.filter((project) => project.counts?.armed);
  const lists = await Promise.all(
    armed.map(async ({ slug, name }) => {
      const { runtime } = await get(P(slug, "triggers", "runtime"));
      return runtime
        .filter((entry) => entry.nextRunAt)
        .map((entry) => ({ slug, project: name, name: entry.name, at: entry.nextRunAt }));
    }),
  );
  return lists
    .flat()
    .sort((a, b) => a.at.localeCompare(b.at))
    .slice(0, 6);
}

function draw({ projects, failed, running, next }) {
  if (projects.length === 0) {
    first();
    return;
  }
  if (!at.areas.isConnected) frame();
  const words = [
    failed.length && `${plural(failed.length, "run")} failed since yesterday.`,
    running.length && `${plural(running.length, "chat")} running.`,
    next.length ? `Next trigger ${dayless(next[0].at)}.` : "No trigger is armed.",
  ];
  at.title.lastChild.textContent = words.filter(Boolean).join(" ");
  drawAreas(projects, next);
  card(
    at.failed,
    failed,
    (run) => run.id,
    (run) => runRow(run, { withProject: true }),
  );
  card(at.running, running, (chat) => chat.sessionId, chatRow);
  card(at.next, next, (entry) => `${entry.slug}/${entry.name}`, nextRow);
}

const dayless = (iso) =>
  `at ${new Date(iso).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}`;

function card(list, items, keyOf, build) {
  list.closest("section").hidden = items.length === 0;
  list.previousElementSibling.querySelector(".badge").textContent = String(items.length);
  keep(list, items, keyOf, build);
}

function drawAreas(projects, next) {
  const areas = new Map();
  for (const project of projects)
    areas.set(project.group || "", [...(areas.get(project.group || "") ?? []), project]);
  const sorted = [...areas].sort(([a], [b]) => (a === "" ? 1 : b === "" ? -1 : a.localeCompare(b)));
  const first = Object.fromEntries(next.toReversed().map((entry) => [entry.slug, entry.at]));
  keep(
    at.areas,
    sorted.map(([name, list]) => ({
      name,
      list,
      only: sorted.length === 1,
      first: list.map(({ slug }) => first[slug]),
    })),
    ({ name }) => name,
    (area) =>
      h(
        "section",
        {},
        h(
          "div",
          { class: "group" },
          h("h2", {}, area.name || (area.only ? "Projects" : "Other")),
          h("span", { class: "count" }, String(area.list.length)),
        ),
        h(
          "ul",
          { class: "card" },
          area.list.map((project, n) => projectRow(project, area.first[n])),
        ),
      ),
  );
}

function projectRow(project, next) {
  const counts = project.counts ?? {};
  const look = project.error
    ? stateOf("invalid")
    : counts.running
      ? stateOf("running")
      : stateOf(RESTING[project.status] ?? "quiet");
  return h(
    "li",
    {},
    h(
      "div",
      { class: "row home-row" },
      mark(look),
      h("a", { class: "over strong cut", href: `/projects/${project.slug}` }, project.name),
      h(
        "span",
        { class: project.error ? "small says bad cut" : "soft small cut", title: project.error },
        project.error ?? project.summary,
      ),
      h(
        "span",
        { class: "line" },
        counts.running ? h("span", { class: "badge busy" }, `${counts.running} running`) : null,
        counts.invalidTriggers
          ? h("span", { class: "badge bad" }, plural(counts.invalidTriggers, "invalid trigger"))
          : null,
      ),
      h(
        "span",
        { class: "tiny quiet line next" },
        next && [icon("clock"), h("span", { class: "cut" }, time(next))],
      ),
      h(
        "span",
        { class: "tiny quiet when" },
        project.status === "active" ? plural(counts.chats ?? 0, "chat") : project.status,
      ),
    ),
  );
}

const chatRow = (chat) =>
  h(
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
        h(
          "span",
          { class: "tiny quiet cut" },
          [chat.projectName, originWords(chat), chat.queued && `${chat.queued} waiting`]
            .filter(Boolean)
            .join(" · "),
        ),
      ),
      h("span", { class: "tiny quiet nowrap" }, time(chat.turn?.startedAt)),
    ),
  );

const nextRow = (entry) =>
  h(
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
            href: `/projects/${entry.slug}/triggers?name=${encodeURIComponent(entry.name)}`,
          },
          entry.name,
        ),
        h("span", { class: "tiny quiet cut" }, entry.project),
      ),
      h("span", { class: "tiny quiet nowrap" }, time(entry.at)),
    ),
  );

function frame() {
  const make = button("New project", {
    icon: "plus",
    kind: "primary",
    onclick: (event) => newProject(at.form, event.currentTarget),
  });
  const section = (title, list, tone, more) =>
    h(
      "section",
      { class: "card", hidden: true },
      h("header", {}, h("h2", {}, title), h("span", { class: `badge ${tone}` }), more),
      list,
    );
  fill(
    page(),
    h("header", { class: "pagehead" }, at.title, h("div", { class: "line wrap" }, make)),
    at.form,
    h(
      "div",
      { class: "with-aside" },
      at.areas,
      h(
        "aside",
        { class: "aside", "aria-label": "Now" },
        section(
          "Failed since yesterday",
          at.failed,
          "bad",
          h("a", { class: "push tiny link", href: "/runs?status=failed" }, "All runs"),
        ),
        section("Running now", at.running, "busy"),
        section("Fires next", at.next, ""),
      ),
    ),
  );
}

function first() {
  if (page().querySelector("#first")) return;
  const art = document.getElementById("art").content.cloneNode(true);
  const demo = button("Make the demo project", {
    icon: "play",
    kind: "primary",
    onclick: (event) =>
      attempt(event, async () => {
        const { project } = await post("/api/demo");
        location.assign(`/projects/${project.slug}`);
      }),
  });
  const own = button("Make one of your own", {
    icon: "plus",
    onclick: (event) => newProject(at.form, event.currentTarget),
  });
  fill(
    page(),
    h(
      "header",
      { class: "pagehead" },
      h(
        "div",
        {},
        h("h1", {}, "Nothing here yet"),
        h(
          "p",
          {},
          "A project is a folder on this computer. Chats, triggers and notes are kept in it as plain files.",
        ),
      ),
    ),
    at.form,
    h(
      "section",
      { class: "card empty", id: "first" },
      art,
      h("h2", { class: "big" }, "Start with something that runs"),
      h(
        "p",
        {},
        "The demo is a small package with a nightly check, switched off, and one chat that ran. It works offline, without a model.",
      ),
      h("div", { class: "line wrap center" }, demo, own),
      command(
        `curl -X POST ${location.origin}/api/demo`,
        "the command that makes the demo project",
      ),
    ),
    h(
      "p",
      { class: "after" },
      "Press ",
      h("span", { class: "kbd" }, "?"),
      " for the keys of a page, ",
      h("span", { class: "kbd" }, "Ctrl K"),
      " to go anywhere.",
    ),
  );
}

const refresh = settle(120, () =>
  load().catch((error) => {
    if (!page().firstElementChild) fill(page(), problem(error.message));
  }),
);
refresh();
onChange(refresh);
