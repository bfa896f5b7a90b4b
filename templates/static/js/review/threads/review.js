// The review of this commit as the service tells it, and every operation on its threads. What is
// shown is always an answer of the service; a deletion that may still be undone is left out.

import { get, patch, post, remove } from "../../kit/api.js";
import { toast } from "../../kit/toast.js";
import { askAgent } from "../ask.js";
import { route } from "../route.js";
import { at, onOther, state, worktree } from "../state.js";

const UNDO = 8000; // ms
const leaving = new Map(); // comment id → {address, timer}: deleted here, the service not yet told
const settling = new Map(); // thread id → resolved or not: chosen here, not yet told by the service
const watchers = new Set();
let told = null;
let loading = null;
let again = false;

/** Call `draw(review)` with each new state. */
export function onReview(draw) {
  watchers.add(draw);
  if (told) draw(shown());
}

/** Ask for the review; calls while one is under way are answered by one more. */
export function load() {
  if (loading) again = true;
  loading ??= ask();
  return loading;
}

async function ask() {
  const { life } = state;
  try {
    await read(life);
  } finally {
    if (!life.aborted) loading = null;
  }
  if (!life.aborted) draw();
}

async function read(life) {
  do {
    again = false;
    const [review, { drafts }] = await Promise.all([
      get(`${at("review")}?html=1`),
      worktree ? { drafts: [] } : get(`${at("drafts")}?html=1`),
    ]);
    if (life.aborted) return;
    told = { ...review, drafts };
  } while (again);
}

onOther(() => {
  told = loading = null;
  again = false;
});

const draw = () => told && watchers.forEach((watcher) => watcher(shown()));

function shown() {
  const threads = told.threads
    .map((thread) => ({
      ...thread,
      resolved: settling.get(thread.id) ?? thread.resolved,
      comments: thread.comments.filter((comment) => !leaving.has(comment.id)),
    }))
    .filter((thread) => thread.comments.length);
  return { ...told, threads };
}

/** The body's id of the new thread. `where` is {path?, side?, line?, start_line?, start_side?}. */
export async function create(where, body) {
  const { id } = await post(at("threads"), { ...where, body });
  await load();
  return id;
}

export async function reply(thread, body) {
  await post(at("threads", thread, "comments"), { body });
  await load();
}

/** One fixup commit of these suggestions, [{thread, comment?, block?}]; resolves their threads. */
export async function apply(suggestions) {
  const made = await post(at("apply"), { suggestions });
  await load();
  return made;
}

export async function edit(thread, comment, body) {
  await patch(at("threads", thread, "comments", comment), { body });
  await load();
}

/** Written, and not sent: seen by their author alone. */
export async function saveDraft(where, body) {
  await post(at("threads"), { ...where, body, draft: true });
  await load();
}

export async function draftReply(thread, body) {
  await post(at("threads", thread, "comments"), { body, draft: true });
  await load();
}

export async function editDraft(draft, body) {
  await patch(at("drafts", draft), { body });
  await load();
}

export async function deleteDraft(draft) {
  await remove(at("drafts", draft));
  await load();
}

/** Send all drafts with a verdict. */
export async function submit(verdict, body) {
  await post(at("verdict"), { verdict, body });
  await load();
}

export async function withdraw() {
  await remove(at("verdict"));
  await load();
}

/**
 * At once on the page, and kept there against readings that began before; taken back, with the
 * reason, where the service refuses. One request at a time for a thread, so that the last press
 * is the one that holds.
 */
export async function resolve(thread, resolved) {
  const underWay = settling.has(thread);
  const address = at("threads", thread);
  settling.set(thread, resolved);
  draw();
  if (underWay) return;
  try {
    for (let sent; sent !== settling.get(thread);) {
      sent = settling.get(thread);
      await patch(address, { resolved: sent });
      await load();
    }
  } catch (error) {
    toast(error.message, { bad: true });
  }
  settling.delete(thread);
  draw();
}

/** Ask an agent about one thread ({thread}), or about all open ones of this commit ({}). */
export function askAbout(wanted, event = null) {
  const { project, repo, sha } = state;
  return askAgent(event, project, { repo, sha, ...wanted }, load);
}

/** Gone from the page at once, from the file after 8 s or when the page is left. */
export function forget(thread, comment) {
  const address = at("threads", thread, "comments", comment);
  const timer = setTimeout(() => carryOut(comment), UNDO);
  leaving.set(comment, { address, timer });
  draw();
  toast("Comment deleted.", { action: "Undo", act: () => takeBack(comment) });
}

function takeBack(comment) {
  clearTimeout(leaving.get(comment)?.timer);
  leaving.delete(comment);
  draw();
}

async function carryOut(comment) {
  const { address } = leaving.get(comment);
  try {
    await remove(address);
    await load();
  } catch (error) {
    if (error.status !== 404) toast(`Not deleted: ${error.message}`, { bad: true });
  }
  takeBack(comment);
}

addEventListener("pagehide", () => {
  for (const { address, timer } of leaving.values()) {
    clearTimeout(timer);
    fetch(address, { method: "DELETE", keepalive: true });
  }
  leaving.clear();
});

/** Threads as Markdown: {thread}, {path}, {unresolved: 1}. */
export async function asMarkdown(wanted) {
  const answer = await fetch(`${at("threads.md")}?${new URLSearchParams(wanted)}`);
  if (!answer.ok) throw new Error((await answer.json()).error);
  return answer.text();
}

/** Markdown as it will be shown once it is stored. */
export const preview = async (text) =>
  (await post(route("projects", state.project, "preview"), { text })).html;

/** Keep an image for this project; resolves to the Markdown that shows it. */
export async function keepImage(file) {
  const name = file.name.replace(/\.[^.]*$/, "") || "image";
  const address = `${route("projects", state.project, "assets")}?${new URLSearchParams({ alt: name })}`;
  const headers = { "Content-Type": file.type || "application/octet-stream" };
  const answer = await fetch(address, { method: "POST", headers, body: file });
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(said.error ?? `The service answered ${answer.status}.`);
  return said.markdown;
}
