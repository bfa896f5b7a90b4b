// Changes of this part as they come, and rows that wait while someone reads the list.

import { h, keep, settle } from "../kit/dom.js";
import { follow } from "../kit/stream.js";
import { route } from "./route.js";

const REST = 100; // ms after the last event

/** Refresh now, after every change that `concerns` this page, and when the connection is back. */
export function live(refresh, concerns = () => true) {
  const soon = settle(REST, refresh);
  return follow(route("events"), {
    open: soon,
    message: (event) => concerns(event) && soon(),
  });
}

/** Whether someone is in this list: with the focus, or selecting text of it. */
function isRead(list) {
  const chosen = getSelection();
  const selects = chosen && !chosen.isCollapsed && chosen.rangeCount > 0;
  return (
    list.contains(document.activeElement) || (selects && chosen.getRangeAt(0).intersectsNode(list))
  );
}

/**
 * A list whose new rows wait behind a button while someone reads it; what is there is kept up in
 * place. Returns update(items). `among`: a larger part of the page whose reader is waited for.
 */
export function calm(list, keyOf, build, { among = list } = {}) {
  let known = null;
  let waiting = [];
  const more = h("button", { type: "button", class: "newer btn s", onclick: () => show(true) });
  const show = (byHand) => {
    known = new Set(waiting.map((item) => String(keyOf(item))));
    more.remove();
    keep(list, waiting, keyOf, build);
    if (byHand) list.querySelector("a, button")?.focus();
  };
  among.addEventListener("focusout", () =>
    setTimeout(() => more.isConnected && !isRead(among) && document.hasFocus() && show(false)),
  );
  return (items) => {
    waiting = items;
    const fresh = known ? items.filter((item) => !known.has(String(keyOf(item)))).length : 0;
    if (!fresh || !isRead(among)) return show(false);
    keep(
      list,
      items.filter((item) => known.has(String(keyOf(item)))),
      keyOf,
      build,
    );
    more.textContent = `${fresh} new`;
    return list.after(more);
  };
}
