// Drafts on the page: unsent comments are shown where they will be once they are sent.

import { button, fill, h, icon } from "../../kit/dom.js";
import { onOther } from "../state.js";
import { Composer } from "./composer.js";
import { leave, stand } from "./places.js";
import { prose } from "./prose.js";
import { deleteDraft, editDraft, load } from "./review.js";
import { standing } from "./words.js";

const nodes = new Map(); // id → {node, said}
const open = new Map(); // id → the Composer in which it is being edited
const AFTER = 0.5; // of the order at a place: between the thread answered and the next one

onOther(() => {
  nodes.clear();
  open.clear();
});

/** Update the drafts. `threads` are those of the review, `placeOf(thread)` the place of one. */
export function drawDrafts(drafts, threads, placeOf) {
  const here = new Set(drafts.map(({ id }) => id));
  for (const id of nodes.keys())
    if (!here.has(id)) {
      leave(key(id));
      nodes.delete(id);
    }
  for (const [n, draft] of drafts.entries()) {
    const order = threads.findIndex(({ id }) => id === draft.reply_to);
    const answered = threads[order];
    const said = JSON.stringify([draft, Boolean(answered)]);
    if (nodes.get(draft.id)?.said !== said) {
      nodes.get(draft.id)?.node.remove();
      nodes.set(draft.id, { node: card(draft, answered), said });
    }
    const at = answered ? placeOf(answered) : placeOf(draft);
    stand(key(draft.id), nodes.get(draft.id), at, answered ? order + AFTER : threads.length + n);
  }
}

const key = (id) => `draft ${id}`;

function card(draft, answered) {
  const [comment] = draft.comments;
  const body = h("div", { class: "comment" }, prose(comment.body_html));
  const where = answered ? "reply" : standing(draft);
  const node = h(
    "section",
    { class: "thread drafted", "aria-label": `Draft, only you see it: ${where}` },
    h(
      "header",
      {},
      h("span", { class: "badge line" }, icon("pencil"), "Draft"),
      h(
        "span",
        { class: "where" },
        draft.reply_to && !answered ? "reply to a thread that is gone" : where,
      ),
      h(
        "span",
        { class: "push line" },
        button("Edit", { kind: "ghost s", onclick: () => edit(draft, comment, body).focus() }),
        button("Delete", { kind: "ghost s", onclick: () => deleteDraft(draft.id) }),
      ),
    ),
    body,
  );
  if (open.has(draft.id)) edit(draft, comment, body);
  return node;
}

/** Open the edit box of a draft; after a redraw it is the same box. */
function edit(draft, comment, body) {
  const box = open.get(draft.id) ?? editor(draft, comment);
  open.set(draft.id, box);
  box.meanwhile(comment.body);
  box.leave = (kept) => {
    if (kept) return;
    open.delete(draft.id);
    fill(body, prose(comment.body_html));
  };
  fill(body, box.node);
  return box;
}

function editor(draft, comment) {
  const box = new Composer({
    name: key(draft.id),
    label: "Edit your draft",
    verb: "Save",
    text: comment.body,
    send: async (text) => {
      open.delete(draft.id);
      try {
        await editDraft(draft.id, text, box.first);
      } catch (error) {
        open.set(draft.id, box);
        if (error.code === "changed") await load().catch(() => {}); // shows the new text in the box
        throw error;
      }
      box.leave(false);
    },
  });
  return box;
}
