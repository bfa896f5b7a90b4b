// Modal dialogues and sheets: they leave the page when closed and give the focus back.

import { button, h } from "./dom.js";
import { overAll } from "./toast.js";

/**
 * A modal dialogue. Returns the <dialog>; close() it, or Esc, or a click beside it.
 * @param {string} label
 * @param {...import("./dom.js").Child} content
 */
export function dialog(label, ...content) {
  return opened(h("dialog", { class: "dialog", "aria-label": label }, ...content));
}

/** @param {HTMLDialogElement} node */
function opened(node) {
  const opener = /** @type {HTMLElement | null} */ (document.activeElement);
  let outside = false;
  node.addEventListener("pointerdown", (event) => (outside = beside(node, event)));
  // A drag that begins inside (someone selects text) and ends beside it is not "close".
  node.addEventListener("click", (event) => outside && beside(node, event) && node.close());
  node.addEventListener("close", () => {
    const { activeElement } = document;
    const free = !activeElement || activeElement === document.body || node.contains(activeElement);
    node.remove();
    overAll();
    if (free) giveBack(opener); // not so after a key that came between the closing and this
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
 * What had the focus may have been redrawn: then the same thing by id, or the page.
 * @param {HTMLElement | null} opener
 */
function giveBack(opener) {
  const same = opener?.isConnected ? opener : opener?.id && document.getElementById(opener.id);
  (same || document.getElementById("main"))?.focus({ preventScroll: true });
}

/**
 * A panel at the side of a wide page, a full sheet on a phone. A `node` that stands in the page
 * is lent to the sheet and put back where it was.
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
  return opened(panel);
}
