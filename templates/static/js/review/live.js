// Live updates of this part, and lists whose new rows wait while the user reads.

import { h, keep, settle } from "../kit/dom.js";
import { follow } from "../kit/stream.js";
import { route } from "./route.js";

const REST = 100; // ms after the last event
const FIRST = 60; // rows drawn at once
const later = window.requestIdleCallback ?? ((draw) => setTimeout(draw, 16));

/** Refresh now, after every change that `concerns` this page, and when the connection is back. */
export function live(refresh, /** @type {(event: any) => unknown} */ concerns = () => true) {
  const soon = settle(REST, refresh);
  refresh();
  return follow(route("events"), {
    open: soon,
    message: (event) => concerns(event) && soon(),
  });
}

/** Whether the user is in this list: the focus is in it, or its text is selected. */
function isRead(list) {
  const chosen = getSelection();
  const selects = chosen && !chosen.isCollapsed && chosen.rangeCount > 0;
  return (
    list.contains(document.activeElement) || (selects && chosen.getRangeAt(0).intersectsNode(list))
  );
}

/**
 * A list whose new rows wait behind a button while the user reads it; existing rows are updated in
 * place. A long list is drawn in pieces when the browser is idle. Returns update(items).
 */
export function calm(list, keyOf, build) {
  let known = null;
  let waiting = [];
  let shown = [];
  let drawn = FIRST;
  let due = false;
  const more = h("button", { type: "button", class: "newer btn s", onclick: () => show(true) });
  const draw = (items) => {
    shown = items;
    keep(list, shown.slice(0, drawn), keyOf, build);
    if (drawn >= shown.length || due) return;
    due = true;
    later(() => {
      due = false;
      drawn += FIRST;
      draw(shown);
    });
  };
  const show = (byHand) => {
    known = new Set(waiting.map((item) => String(keyOf(item))));
    more.remove();
    draw(waiting);
    if (byHand) list.querySelector("a, button")?.focus();
  };
  list.addEventListener("focusout", () =>
    setTimeout(() => more.isConnected && !isRead(list) && document.hasFocus() && show(false)),
  );
  return (items) => {
    waiting = items;
    const old = items.filter((item) => known?.has(String(keyOf(item))));
    if (!known || old.length === items.length || !isRead(list)) return show(false);
    draw(old);
    more.textContent = `${items.length - old.length} new`;
    return list.after(more);
  };
}
