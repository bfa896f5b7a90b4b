// The review of this commit as the service tells it, and every operation on its threads. What is
// shown is always an answer of the service; a deletion that may still be undone is left out.

import { get, patch, post, remove } from "../../kit/api.js";
import { toast } from "../../kit/toast.js";
import { askAgent } from "../ask.js";
import { route } from "../route.js";
import { at, onOther, state, worktree } from "../state.js";

const UNDO = 8000; // ms
const leaving = new Map(); // comment or draft → {address, timer, draft}: deleted here, not yet there
const settling = new Map(); // thread id → resolved or not: chosen here, not yet told by the service
const watchers = new Set();
let told = null;
let loading = null;
let again = false;
let early = null; // the drafts, asked for while the commit is read

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
    const [review, { drafts }] = await Promise.all([get(`${at("review")}?html=1`), written()]);
    if (life.aborted) return;
    told = { ...review, drafts };
  } while (again);
}

const written = async () => (worktree ? { drafts: [] } : get(`${at("drafts")}?html=1`));

/** Ask for the drafts of a commit that is asked for. */
export const ahead = () => (early = written().catch(() => null));

/** Take the review that came with the commit; resolves to whether it is all there is to know. */
export async function given(review) {
  const { life } = state;
  const own = await early;
  if (!own || told || life.aborted) return false;
  told = { ...review, ...own };
  draw();
  return review.threads.every(rendered);
}

/** Whether a thread has its comments as they are shown. */
export const rendered = ({ comments }) =>
  comments.every(({ body_html: html }) => html !== undefined);

onOther(() => {
  told = loading = early = null;
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
  return { ...told, threads, drafts: told.drafts.filter(({ id }) => !leaving.has(id)) };
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

/** `was`: the text that the writer has seen; another by now is a refusal, "changed". */
export async function edit(thread, comment, body, was) {
  await patch(at("threads", thread, "comments", comment), { body, was });
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

export async function editDraft(draft, body, was) {
  await patch(at("drafts", draft), { body, was });
  await load();
}

/** Send all drafts with a verdict; one that was just deleted is none of them. */
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

export const forget = (thread, comment) =>
  letGo(comment, at("threads", thread, "comments", comment), "Comment deleted.");

export const deleteDraft = (draft) =>
  letGo(draft, at("drafts", draft), "Draft deleted.", { draft: true });

/** Gone from the page at once, from the file after 8 s or when the page is left. */
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
