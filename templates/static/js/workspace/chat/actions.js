// The actions on a whole chat: rename, fork, archive, export, delete, with Undo where possible.
// They are the same for the open chat and for a row of the list.

import { P, patch, post, remove } from "../../kit/api.js";
import { button, h, icon } from "../../kit/dom.js";
import { attempt, toast } from "../../kit/toast.js";
import { leftWords } from "./worktree.js";

const route = (chat) => P(chat.project, "chats", chat.sessionId);

export const exportOf = (chat, format) => `${route(chat)}/export?format=${format}`;

/** Make a copy that ends with `turn`, by default with the last finished turn, and go there. */
export const forkOf = async (chat, turn) => {
  const { chat: made } = await post(`${route(chat)}/fork`, turn ? { turn } : {});
  location.assign(`/projects/${made.project}/chats/${made.sessionId}`);
};

const archive = (chat, after) =>
  attempt(null, async () => {
    const set = (archived) => post(`${route(chat)}/archive`, { archived });
    const archived = !chat.archived;
    const done = await set(archived);
    const back = () => attempt(null, () => set(!archived).then(after));
    const problem = done.worktreeProblem ? ` ${done.worktreeProblem}.` : "";
    const said = archived
      ? `Archived.${leftWords(done.worktree)}`
      : `Back among the chats.${problem}`;
    toast(said, { action: "Undo", act: back });
    await after();
  });

/** Move a chat to the trash. `after(gone)` is called after that, and again after an Undo. */
const discard = (chat, after) =>
  attempt(null, async () => {
    const { worktree } = await remove(route(chat));
    const back = () => attempt(null, () => restore(chat).then(() => after(false)));
    toast(`“${short(chat.name)}” is deleted.${leftWords(worktree)}`, { action: "Undo", act: back });
    await after(true);
  });

export const restore = (chat) => post(`${route(chat)}/restore`);

/** Says that a chat is deleted, with a button that restores it and then calls `after`. */
export const deletedBanner = (chat, after) =>
  h(
    "div",
    { class: "banner warn", role: "alert" },
    icon("trash"),
    h("div", {}, "This chat is deleted."),
    button("Restore", { onclick: (event) => attempt(event, () => restore(chat).then(after)) }),
  );

const short = (name) => (name.length > 40 ? `${name.slice(0, 39)}…` : name);

/** The items of a chat's menu. `renamed` starts renaming the chat where it is shown. */
export function items(chat, { renamed, after, gone }) {
  const load = (format) => () => download(exportOf(chat, format));
  const busy = chat.running || chat.queued > 0;
  return [
    { label: "Rename", icon: "pencil", act: renamed, key: "r" },
    { label: "Fork", icon: "fork", act: () => attempt(null, () => forkOf(chat)), key: "f" },
    {
      label: chat.archived ? "Unarchive" : "Archive",
      icon: "archive",
      act: () => archive(chat, after),
    },
    "-",
    { label: "Export as Markdown", icon: "load", act: load("md") },
    { label: "Export as JSON lines", icon: "load", act: load("jsonl") },
    "-",
    {
      label: "Delete",
      icon: "trash",
      danger: true,
      disabled: busy,
      why: "Stop it first: it runs, or messages wait in it.",
      act: () => discard(chat, gone),
    },
  ];
}

function download(href) {
  const link = h("a", { href, download: true, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
}

/** Rename a chat in place of `shown`. Enter and blur save, Esc does not; "" is automatic. */
export function renameHere(chat, shown, back, after) {
  const input = h("input", {
    class: "input rename",
    value: chat.name,
    "aria-label": "Name of this chat; empty for an automatic one",
    maxlength: "200",
  });
  let done = false;
  const end = (kept) => {
    if (done) return;
    done = true;
    input.replaceWith(shown);
    back?.focus();
    const name = input.value.trim();
    if (!kept || name === chat.name) return;
    attempt(null, async () => {
      await patch(route(chat), { name: name || null });
      await after();
    });
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      end(event.key === "Enter");
    }
  });
  input.addEventListener("blur", () => end(true));
  shown.replaceWith(input);
  input.focus();
  input.select();
}
