// Modal dialogues and sheets: they leave the page when closed and give the focus back.

import { button, h } from "./dom.js";
import { overAll } from "./toast.js";

/**
 * Open a modal dialogue and return its <dialog>; close() closes it, as do Esc and a click outside.
 * @param {string} label
 * @param {...import("./dom.js").Child} content
 */
export function dialog(label, ...content) {
  return openModal(h("dialog", { class: "dialog", "aria-label": label }, ...content));
}

/** @param {HTMLDialogElement} node */
function openModal(node) {
  const opener = /** @type {HTMLElement | null} */ (document.activeElement);
  let outside = false;
  node.addEventListener("pointerdown", (event) => (outside = beside(node, event)));
  // A drag that begins inside (to select text) and ends outside does not close it.
  node.addEventListener("click", (event) => outside && beside(node, event) && node.close());
  node.addEventListener("close", () => {
    const { activeElement } = document;
    const free = !activeElement || activeElement === document.body || node.contains(activeElement);
    node.remove();
    overAll();
    if (free) giveBack(opener); // unless a key has moved the focus since the closing
  });
  document.body.append(node);
  node.showModal();
  overAll();
  return node;
}

/**
 * @param {HTMLElement} node
 * @param {MouseEvent} event
 */
function beside(node, { target, clientX, clientY }) {
  const box = node.getBoundingClientRect();
  const inside =
    clientX >= box.left && clientX <= box.right && clientY >= box.top && clientY <= box.bottom;
  return target === node && !inside;
}

/**
 * Focus the opener; if it was redrawn, the node with the same id, or else the page.
 * @param {HTMLElement | null} opener
 */
function giveBack(opener) {
  const same = opener?.isConnected ? opener : opener?.id && document.getElementById(opener.id);
  (same || document.getElementById("main"))?.focus({ preventScroll: true });
}

/**
 * A panel at the side of a wide page, a full sheet on a phone. A `node` that is in the page moves
 * to the sheet until it closes.
 * @param {string} label
 * @param {HTMLElement} node
 */
export function sheet(label, node) {
  const place = node.isConnected ? document.createComment("in a sheet") : null;
  place && node.replaceWith(place);
  const close = button("", {
    icon: "x",
    kind: "ghost only push",
    "aria-label": "Close",
    onclick: () => panel.close(),
  });
  const panel = h(
    "dialog",
    { class: "dialog sheet", "aria-label": label },
    h("header", { class: "line" }, h("h2", { class: "big cut" }, label), close),
    h("div", { class: "sheet-in" }, node),
  );
  panel.addEventListener("close", () => place?.replaceWith(node));
  return openModal(panel);
}
