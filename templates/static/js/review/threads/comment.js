// One comment of a thread: author, time, text; the user's own can be edited and deleted.

import { button, h } from "../../kit/dom.js";
import { draftOf, keepDraft } from "../../kit/drafts.js";
import { absolute, time } from "../../kit/words.js";
import { onOther } from "../state.js";
import { Composer } from "./composer.js";
import { prose } from "./prose.js";
import { edit, forget, load } from "./review.js";
import { suggestions } from "./suggest.js";
import { beginning, initials, isAgent } from "./words.js";

const open = new Map(); // comment id → the Composer in which it is being edited

onOther(() => open.clear());

const draftName = (thread, comment) => `edit ${thread}/${comment}`;

/** Whether the user is editing a comment. */
export const isEdited = (id) => open.has(id);

/** Say in the box of an edited comment that the comment was deleted elsewhere. */
export const tellDeleted = ({ id }) =>
  open.get(id).fail("This comment has been deleted. Your text is kept.");

/** The node of a comment with its text alone; see completeComment(). */
export function writtenNode(thread, comment) {
  const said =
    comment.body_html === undefined
      ? plain(comment.body)
      : suggestions(prose(comment.body_html), thread, comment.id);
  const name = `${nameOf(comment)}: ${beginning(comment.body, 60)}`;
  return h("article", { class: "comment", "aria-label": name }, said);
}

/** Add the author, the time, and the box in which the comment was being edited. */
export function completeComment(node, thread, comment) {
  const agent = isAgent(comment.author);
  const name = nameOf(comment);
  node.prepend(
    h("span", { class: agent ? "face agent" : "face", "aria-hidden": "true" }, face(name, agent)),
    h(
      "p",
      { class: "by" },
      h("span", { class: "strong" }, name),
      agent && h("span", { class: "sr" }, "(agent)"),
      comment.created_at && time(comment.created_at),
      editedMark(comment),
      comment.own && own(thread, comment, () => start(node, thread, comment)),
    ),
  );
  if (open.has(comment.id) || draftOf(draftName(thread, comment.id))) start(node, thread, comment);
  return node;
}

export const commentNode = (thread, comment) =>
  completeComment(writtenNode(thread, comment), thread, comment);

const nameOf = ({ author_name: name }) => name ?? "Unsigned";
const face = (name, agent) => (agent ? "A" : initials(name));
const plain = (text) => h("div", { class: "said asis" }, text);

const editedMark = ({ created_at: made, updated_at: at }) =>
  at &&
  at !== made &&
  h("span", { class: "tiny quiet", title: absolute(at), tabindex: "0" }, "edited");

const own = (thread, comment, begin) =>
  h(
    "span",
    { class: "own" },
    button("", {
      icon: "pencil",
      kind: "ghost s only",
      "aria-label": "Edit your comment",
      title: "Edit",
      onclick: () => begin().focus(),
    }),
    button("", {
      icon: "trash",
      kind: "ghost s only",
      "aria-label": "Delete your comment",
      title: "Delete",
      onclick: () => {
        open.delete(comment.id);
        forget(thread, comment.id);
      },
    }),
  );

/** Show the edit box in place of the text; after a redraw it is the same box. */
function start(node, thread, comment) {
  const box = open.get(comment.id) ?? editor(thread, comment);
  open.set(comment.id, box);
  box.meanwhile(comment.body);
  const stop = () => {
    open.delete(comment.id);
    box.node.remove();
    node.classList.remove("editing");
    node.querySelector("[aria-label='Edit your comment']")?.focus();
  };
  box.leave = (kept) => !kept && stop();
  box.onRestore = () => start(node, thread, comment);
  if (box.node.parentNode !== node) node.append(box.node);
  node.classList.add("editing");
  return box;
}

function editor(thread, comment) {
  const box = new Composer({
    name: draftName(thread, comment.id),
    label: "Edit your comment",
    verb: "Save",
    text: comment.body,
    send: async (text) => {
      open.delete(comment.id);
      box.kept.clear();
      try {
        await edit(thread, comment.id, text, box.first);
      } catch (error) {
        open.set(comment.id, box);
        keepDraft(draftName(thread, comment.id), text, box.first);
        if (error.code === "changed") await load().catch(() => {}); // shows the new text in the box
        throw error;
      }
      box.leave(false);
    },
  });
  return box;
}
