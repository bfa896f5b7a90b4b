// The page of a project: a box to start a chat, its chats, its notes, its triggers and their runs.

import { get, P, post, query } from "../kit/api.js";
import { fill, h, icon, keep, settle } from "../kit/dom.js";
import { key } from "../kit/keys.js";
import { action } from "../kit/palette.js";
import { page, problem } from "../kit/parts.js";
import { onChange, where } from "../kit/shell.js";
import { facts } from "./chat/spent.js";
import { worktreeBox } from "./chat/worktree.js";
import { composer } from "./composer.js";
import { tabs } from "./parts.js";
import { pause, isBySwitch } from "./pausing.js";
import { aroundCard } from "./project/around.js";
import { projectChats } from "./project/chats.js";
import { documents } from "./project/documents.js";
import { doubt, waitingFile } from "./project/doubt.js";
import { runsCard, triggersCard } from "./project/triggers.js";
import "./project/gone.js";
import { pausedBanner } from "./triggers/head.js";

const slug = where.project;
const state = { paused: null, review: "" }; // `review`: the URL of its review, or ""
const head = h("div");
const nav = h("div", { class: "tabrow" });
const notices = h("div", { class: "stack banners" });
const notes = h("div");
const write = composer({ key: `new:${slug}`, project: slug, send: start, label: "Start chat" });
const tree = worktreeBox(slug);
const chats = projectChats(slug);
const triggers = triggersCard(slug, (event) => toggle(event));
const runs = runsCard(slug);
const around = aroundCard(slug);

async function start(message, options) {
  const started = await post(P(slug, "chats"), { ...message, ...tree.asked() }, options);
  location.assign(`/projects/${slug}/chats/${started.chat.sessionId}`);
  return started;
}

/** Pause or resume this project's triggers; if the instance is paused, resume the instance. */
const toggle = (event) =>
  pause(event, {
    slug: state.paused?.by === "instance" ? "" : slug,
    on: !isBySwitch(state.paused),
    after: load,
  });

async function load() {
  const [{ project, overview, changelog, spent }, listing, { runs: last }] = await Promise.all([
    get(P(slug)),
    get(P(slug, "triggers")),
    get(`${P(slug, "runs")}?limit=5`),
    chats.load(),
  ]);
  state.paused = listing.paused;
  const one = (place, item, build) => keep(place, [item], () => "one", build);
  const { name, summary, status } = project;
  const used = facts(spent).join(" · ");
  one(head, { name, summary, status, review: state.review, used }, header);
  one(nav, project.counts, (counts) => tabs(slug, "Overview", counts));
  drawNotices(project, await waitingFile(slug, project.error));
  triggers.update(listing);
  runs.update(last);
  around.load(project).catch(() => {}); // the page works without it
  one(notes, { overview, changelog, slug }, documents);
}

const header = ({ name, summary, status, review, used }) =>
  h(
    "header",
    { class: "pagehead" },
    h(
      "div",
      {},
      h("h1", {}, name),
      h("p", {}, summary || "No summary yet."),
      used && h("p", { class: "tiny quiet" }, `Its chats used ${used}.`),
    ),
    h(
      "div",
      { class: "line wrap" },
      status !== "active" && h("span", { class: "badge line" }, status),
      review && h("a", { class: "btn", href: review }, icon("review"), "Open in review"),
    ),
  );

function drawNotices(project, waiting) {
  const { error, warnings = [], paused, counts, workingDir, workingDirProblem: why } = project;
  const focused = notices.contains(document.activeElement);
  const items = [
    waiting ? { kind: "doubt", waiting } : error && { kind: "error", text: error },
    why && { kind: "folder", text: `${workingDir} ${why}. Until then nothing runs here.` },
    ...warnings
      .filter((text) => text !== `path: ${why}`) // reported for the folder
      .map((text) => ({ kind: "warning", text })),
    holds(paused, counts) && { kind: "paused", paused },
  ].filter(Boolean);
  keep(notices, items, (item) => item.text ?? item.kind, notice);
  if (focused && !notices.contains(document.activeElement)) triggers.focus();
}

/** Whether a pause banner is shown; a faulty folder or file has its own banner. */
const holds = (paused, counts) =>
  paused &&
  !["folder", "file"].includes(paused.by) &&
  (paused.by !== "status" || counts.triggers > 0);

function notice(item) {
  if (item.kind === "paused") return pausedBanner(item.paused, toggle);
  if (item.kind === "doubt") return doubt(slug, item.waiting, load);
  if (item.kind === "error")
    return problem(
      `project.yaml, ${item.text}. Its last good values hold; nothing is written until the file is mended by hand.`,
    );
  return h(
    "div",
    { class: "banner warn" },
    icon("alert"),
    h("div", { class: "wrap-anywhere" }, item.text),
    item.kind === "folder" &&
      h("a", { class: "btn s", href: `/projects/${slug}/settings#f-path` }, "Name another"),
  );
}

/** Find the review of the project; only a project with repositories has one. */
async function findReview() {
  const { places } = await get(query("/api/places", { q: slug }));
  const found = places.find(
    ({ part, url }) => part === "review" && url.endsWith(`/p/${encodeURIComponent(slug)}`),
  );
  state.review = found?.url ?? "";
  if (found) refresh();
}

write.actions.append(tree.node);
write.placeholder("Write a message to start a chat.");
const trouble = (error) => {
  if (!head.firstElementChild) fill(notices, problem(error.message));
};
const refresh = settle(150, () => load().catch(trouble));
const shown = Promise.all([write.ready, load().catch(trouble)]);
// All at once: parts added later would move what the user already reads.
shown.then(() =>
  fill(
    page(),
    head,
    nav,
    notices,
    h(
      "div",
      { class: "with-aside project" },
      h("div", { class: "stack parts" }, write.node, chats.node, notes),
      h(
        "aside",
        { class: "aside", "aria-label": "Triggers and runs" },
        triggers.node,
        around.node,
        runs.node,
      ),
    ),
  ),
);
findReview().catch(() => {}); // the page works without the link
onChange(refresh);

key(["c", "n"], "Write a message that starts a chat", () => write.focus());
key("/", "Search chats and messages", chats.focus);
key(["j", "k"], "Next and previous chat", (event) => chats.step(event.key === "j" ? 1 : -1));
key("p", "Pause or resume its triggers", () => toggle(null));
action("Start a chat", () => write.focus(), { icon: "chat", key: "c" });
action("Pause or resume the triggers of this project", () => toggle(null), {
  icon: "pause",
  key: "p",
});
action("Mark every chat of this project as read", () => post(P(slug, "read")), { icon: "check" });
