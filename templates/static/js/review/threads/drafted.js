// Drafts on the page: what is written and not sent stands where it will stand once it is.

import { button, fill, h, icon } from "../../kit/dom.js";
import { onOther } from "../state.js";
import { Composer } from "./composer.js";
import { leave, stand } from "./places.js";
import { prose } from "./prose.js";
import { deleteDraft, editDraft } from "./review.js";
import { standing } from "./words.js";

const nodes = new Map(); // id → {node, said}
const AFTER = 0.5; // of the order at a place: below the thread it answers, above the next one

onOther(() => nodes.clear());

/** Bring them up to date. `threads` are those of the review, `placeOf(thread)` where one stands. */
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
    stand(
      key(draft.id),
      nodes.get(draft.id).node,
      at,
      answered ? order + AFTER : threads.length + n,
    );
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
        button("Edit", { kind: "ghost s", onclick: () => edit(draft, comment, body) }),
        button("Delete", { kind: "ghost s", onclick: () => deleteDraft(draft.id) }),
      ),
    ),
    body,
  );
  return node;
}

function edit(draft, comment, body) {
  const box = new Composer({
    name: `draft ${draft.id}`,
    label: "Edit your draft",
    verb: "Save",
    text: comment.body,
    send: (text) => editDraft(draft.id, text),
    leave: (kept) => !kept && fill(body, prose(comment.body_html)),
  });
  fill(body, box.node);
  box.focus();
}
