// The review of this commit as the service returns it, and every operation on its threads. The page
// always shows an answer of the service, without comments whose deletion can still be undone.

import { get, patch, post, remove } from "../../kit/api.js";
import { toast } from "../../kit/toast.js";
import { askAgent } from "../ask.js";
import { route } from "../route.js";
import { at, onOther, state, worktree } from "../state.js";

const UNDO = 8000; // ms
const leaving = new Map(); // comment or draft → {address, timer, draft}: deleted on the page only
const settling = new Map(); // thread id → resolved or not: chosen here, not yet stored
const watchers = new Set();
let told = null;
let loading = null;
let again = false;
let early = null; // the drafts, requested while the commit is read

/** Call `draw(review)` with the present state, if known, and each later one. */
export function onReview(draw) {
  watchers.add(draw);
  if (told) draw(shownReview());
}

/** Read the review; calls during a reading cause one more after it. */
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
    const [review, { drafts }] = await Promise.all([get(`${at("review")}?html=1`), readDrafts()]);
    if (life.aborted) return;
    told = { ...review, drafts };
  } while (again);
}

const readDrafts = async () => (worktree ? { drafts: [] } : get(`${at("drafts")}?html=1`));

/** Request the drafts while the commit is being read. */
export const ahead = () => (early = readDrafts().catch(() => null));

/** Take the review that came with the commit; resolves to whether it is complete. */
export async function takeReview(review) {
  const { life } = state;
  const own = await early;
  if (!own || told || life.aborted) return false;
  told = { ...review, ...own };
  draw();
  return review.threads.every(isRendered);
}

/** Whether all comments of a thread are rendered as HTML. */
export const isRendered = ({ comments }) =>
  comments.every(({ body_html: html }) => html !== undefined);

onOther(() => {
  told = loading = early = null;
  again = false;
});

/** Draw the review; nothing before the record of the commit is known, which may be read later. */
const draw = () => told && state.commit && watchers.forEach((watcher) => watcher(shownReview()));

function shownReview() {
  const threads = told.threads
    .map((thread) => ({
      ...thread,
      resolved: settling.get(thread.id) ?? thread.resolved,
      comments: thread.comments.filter((comment) => !leaving.has(comment.id)),
    }))
    .filter((thread) => thread.comments.length);
  return { ...told, threads, drafts: told.drafts.filter(({ id }) => !leaving.has(id)) };
}

/** Create a thread; returns its id. `where` is {path?, side?, line?, start_line?, start_side?}. */
export async function create(where, body) {
  const { id } = await post(at("threads"), { ...where, body });
  await load();
  return id;
}

export async function reply(thread, body) {
  await post(at("threads", thread, "comments"), { body });
  await load();
}

/** Make one fixup commit of suggestions, [{thread, comment?, block?}]; resolves their threads. */
export async function apply(suggestions) {
  const made = await post(at("apply"), { suggestions });
  await load();
  return made;
}

/** `was`: the text that the writer has seen; if it has changed, the service refuses ("changed"). */
export async function edit(thread, comment, body, was) {
  await patch(at("threads", thread, "comments", comment), { body, was });
  await load();
}

/** Store a new thread as a draft, which only its author sees. */
export async function saveDraft(where, body) {
  await post(at("threads"), { ...where, body, draft: true });
  await load();
}

export async function draftReply(thread, body) {
  await post(at("threads", thread, "comments"), { body, draft: true });
  await load();
}

export async function editDraft(draft, body, was) {
  await patch(at("drafts", draft), { body, was });
  await load();
}

/** Send all drafts with a verdict, except drafts that were just deleted. */
export async function submit(verdict, body) {
  for (const [id, { draft, timer }] of leaving)
    if (draft) {
      clearTimeout(timer);
      await carryOut(id);
    }
  await post(at("verdict"), { verdict, body });
  await load();
}

export async function withdraw() {
  await remove(at("verdict"));
  await load();
}

/**
 * Resolve or reopen a thread: immediately on the page, where readings that began earlier do not
 * revert it. If the service refuses, the page reverts it and shows the reason. A thread has one
 * request at a time, so that the last press wins.
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

export const forget = (thread, comment) =>
  letGo(comment, at("threads", thread, "comments", comment), "Comment deleted.");

export const deleteDraft = (draft) =>
  letGo(draft, at("drafts", draft), "Draft deleted.", { draft: true });

/** Delete from the page at once, from the file after 8 s or when the page is left. */
function letGo(id, address, said, { draft = false } = {}) {
  const timer = setTimeout(() => carryOut(id), UNDO);
  leaving.set(id, { address, timer, draft });
  draw();
  toast(said, { action: "Undo", act: () => takeBack(id) });
}

function takeBack(id) {
  clearTimeout(leaving.get(id)?.timer);
  leaving.delete(id);
  draw();
}

async function carryOut(id) {
  const { address } = leaving.get(id);
  try {
    await remove(address);
    await load();
  } catch (error) {
    if (error.status !== 404) toast(`Not deleted: ${error.message}`, { bad: true });
  }
  takeBack(id);
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

/** The HTML of a Markdown text as it will be shown once it is stored. */
export const preview = async (text) =>
  (await post(route("projects", state.project, "preview"), { text })).html;

/** Store an image for this project; resolves to the Markdown that shows it. */
export async function keepImage(file) {
  const name = file.name.replace(/\.[^.]*$/, "") || "image";
  const address = `${route("projects", state.project, "assets")}?${new URLSearchParams({ alt: name })}`;
  const headers = { "Content-Type": file.type || "application/octet-stream" };
  const answer = await fetch(address, { method: "POST", headers, body: file });
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(said.error ?? `The service answered ${answer.status}.`);
  return said.markdown;
}
