// Modal dialogues and sheets: they leave the page when closed and give the focus back.

import { button, h, icon } from "./dom.js";

/** A modal dialogue. Returns the <dialog>; close() it, or Esc, or a click beside it. */
export function dialog(label, ...content) {
  return opened(h("dialog", { class: "dialog", "aria-label": label }, ...content));
}

function opened(node) {
  const opener = document.activeElement;
  let outside = false;
  node.addEventListener("pointerdown", (event) => (outside = beside(node, event)));
  // A drag that begins inside (someone selects text) and ends beside it is not "close".
  node.addEventListener("click", (event) => outside && beside(node, event) && node.close());
  node.addEventListener("close", () => {
    node.remove();
    giveBack(opener);
  });
  document.body.append(node);
  node.showModal();
  return node;
}

function beside(node, { target, clientX, clientY }) {
  const box = node.getBoundingClientRect();
  const inside =
    clientX >= box.left && clientX <= box.right && clientY >= box.top && clientY <= box.bottom;
  return target === node && !inside;
}

/** What had the focus may have been drawn anew: then the same thing by id, or the page. */
function giveBack(opener) {
  const same = opener?.isConnected ? opener : opener?.id && document.getElementById(opener.id);
  (same || document.getElementById("main"))?.focus({ preventScroll: true });
}

/**
 * A panel at the side of a wide page, a full sheet on a phone. A `node` that stands in the page
 * is lent to the sheet and put back where it was.
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

/** Ask before something that cannot be undone. Resolves to whether it shall be done. */
export function confirmLost(sentence, verb) {
  return new Promise((resolve) => {
    let sure = false;
    const node = dialog(
      verb,
      h("p", { class: "strong" }, sentence),
      h(
        "div",
        { class: "line wrap spaced" },
        button("Keep", { autofocus: true, onclick: () => node.close() }),
        button(verb, {
          kind: "danger",
          onclick: () => {
            sure = true;
            node.close();
          },
        }),
      ),
    );
    node.setAttribute("role", "alertdialog");
    node.addEventListener("close", () => resolve(sure));
  });
}
