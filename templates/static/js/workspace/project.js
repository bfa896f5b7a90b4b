// A project: start a chat, its chats, its triggers, what it is about.

import { get, P, post } from "../kit/api.js";
import { fill, h, keep, mark, settle } from "../kit/dom.js";
import { composer } from "./composer.js";
import { markdown } from "../kit/markdown.js";
import { empty, page, problem } from "../kit/parts.js";
import { runRow, tabs } from "./parts.js";
import { whenWords } from "./schedule.js";
import { onChange, where } from "../kit/shell.js";
import { plural, time } from "../kit/words.js";
import { chatState, originWords, triggerState } from "./words.js";

const slug = where.project;
const chatList = h("ul", { class: "rows" });
const triggerList = h("ul", { class: "rows" });
const runList = h("ul", { class: "rows" });
const head = h("header", { class: "pagehead" });
const nav = h("div", { class: "tabrow" });
const about = h("div");
const broken = h("div");

async function load() {
  const [
    { project, overview },
    { chats, omittedArchived },
    { triggers, legacy, invalid },
    { runs },
  ] = await Promise.all([
    get(P(slug)),
    get(`${P(slug, "chats")}?limit=12`),
    get(P(slug, "triggers")),
    get(`${P(slug, "runs")}?limit=5`),
  ]);
  draw({
    project,
    overview,
    chats,
    omittedArchived,
    triggers: [...triggers, ...legacy],
    invalid,
    runs,
  });
}

function draw({ project, overview, chats, omittedArchived, triggers, invalid, runs }) {
  fill(
    head,
    h("div", {}, h("h1", {}, project.name), h("p", {}, project.summary || "No summary yet.")),
    project.status !== "active" && h("span", { class: "badge line" }, project.status),
  );
  fill(nav, tabs(slug, "Overview", { chats: project.counts?.chats, triggers: triggers.length }));
  fill(
    broken,
    project.error &&
      problem(
        `project.yaml: ${project.error}. Its last good values hold; writes are refused until the file is fixed by hand.`,
      ),
  );
  keep(chatList, chats, (chat) => chat.sessionId, chatRow);
  if (chats.length === 0)
    fill(
      chatList,
      h(
        "li",
        {},
        empty(
          "No chat yet. Write the first message above; each chat is kept as a file in this project.",
        ),
      ),
    );
  keep(
    triggerList,
    [...triggers, ...invalid.map((entry) => ({ ...entry, invalid: true }))],
    (trigger) => trigger.name,
    triggerRow,
  );
  if (triggerList.children.length === 0)
    fill(
      triggerList,
      h("li", {}, empty("No trigger yet. A trigger starts a turn at a time, or after an event.")),
    );
  keep(
    runList,
    runs,
    (run) => run.id,
    (run) => runRow(run),
  );
  runList.closest("section").hidden = runs.length === 0;
  fill(
    about,
    overview &&
      h(
        "section",
        { class: "card about" },
        h("header", {}, h("h2", {}, "OVERVIEW.md")),
        h("div", { class: "inside" }, markdown(overview)),
      ),
  );
  more.textContent = omittedArchived ? `All chats, ${omittedArchived} archived` : "All chats";
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
        { class: "two-lines grow" },
        h("a", { class: "over cut", href: `/projects/${slug}/chats/${chat.sessionId}` }, chat.name),
        h(
          "span",
          { class: "tiny quiet cut" },
          [
            originWords(chat),
            plural(chat.messages ?? 0, "message"),
            chat.queued && `${chat.queued} waiting`,
          ]
            .filter(Boolean)
            .join(" · "),
        ),
      ),
      chat.held ? h("span", { class: "badge warn" }, `${chat.held} held`) : null,
      h("span", { class: "tiny quiet nowrap" }, time(chat.updatedAt)),
    ),
  );

function triggerRow(trigger) {
  const href = `/projects/${slug}/triggers?name=${encodeURIComponent(trigger.name)}`;
  const look = trigger.invalid
    ? { shape: "down", tone: "down", word: "Not valid" }
    : triggerState(trigger);
  const words = trigger.invalid
    ? h(
        "span",
        { class: "tiny says bad cut", title: trigger.error },
        `line ${trigger.line}: ${trigger.error}`,
      )
    : h("span", { class: "tiny quiet cut" }, whenWords(trigger.trigger));
  return h(
    "li",
    {},
    h(
      "div",
      { class: "row" },
      mark(look),
      h("div", {}, h("a", { class: "over cut", href }, trigger.name), words),
      h(
        "span",
        { class: "tiny quiet nowrap" },
        trigger.runtime?.nextRunAt
          ? time(trigger.runtime.nextRunAt)
          : trigger.invalid
            ? ""
            : look.word.toLowerCase(),
      ),
    ),
  );
}

async function start({ prompt, model }) {
  const { chat } = await post(P(slug, "chats"), { prompt, ...(model && { model }) });
  location.assign(`/projects/${slug}/chats/${chat.sessionId}`);
}

const more = h("a", { class: "push tiny link", href: `/projects/${slug}/chats` }, "All chats");
const write = composer({ key: `new:${slug}`, project: slug, send: start, label: "Start chat" });
write.placeholder("Write a message to start a chat.");

function frame() {
  fill(
    page(),
    head,
    nav,
    broken,
    h(
      "div",
      { class: "with-aside spaced" },
      h(
        "div",
        { class: "stack" },
        write.node,
        h("section", { class: "card" }, h("header", {}, h("h2", {}, "Chats"), more), chatList),
        about,
      ),
      h(
        "aside",
        { class: "aside", "aria-label": "Triggers and runs" },
        h(
          "section",
          { class: "card" },
          h(
            "header",
            {},
            h("h2", {}, "Triggers"),
            h(
              "a",
              { class: "push tiny link", href: `/projects/${slug}/triggers` },
              "Edit triggers",
            ),
          ),
          triggerList,
        ),
        h(
          "section",
          { class: "card", hidden: true },
          h(
            "header",
            {},
            h("h2", {}, "Recent runs"),
            h("a", { class: "push tiny link", href: `/projects/${slug}/runs` }, "All runs"),
          ),
          runList,
        ),
      ),
    ),
  );
}

frame();
const refresh = settle(120, () => load().catch((error) => fill(broken, problem(error.message))));
refresh();
onChange(refresh);
