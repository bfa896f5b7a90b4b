// A list that does not move under its reader: while the user is in it, rows keep their places and
// new ones wait behind a chip "3 new".

import { h } from "../kit/dom.js";

const REST = 4000; // ms after the last move of the pointer in the list

/** steady(area, idOf, draw) → {update(items, {now}), chip}: `draw` gets the rows to show. */
export function steady(area, idOf, draw) {
  let shown = null;
  let latest = [];
  let moved = -REST;
  let timer = 0;
  const apply = () => {
    clearTimeout(timer);
    shown = latest.map(idOf);
    chip.hidden = true;
    draw(latest);
  };
  const chip = h("button", {
    type: "button",
    class: "btn s waiting",
    hidden: true,
    onclick: apply,
  });
  const hasReader = () => {
    const selected = getSelection();
    const within = !selected.isCollapsed && area.contains(selected.anchorNode);
    return within || area.matches(":focus-within") || performance.now() - moved < REST;
  };
  const settleLater = () => {
    clearTimeout(timer);
    timer = setTimeout(() => (hasReader() ? settleLater() : apply()), REST);
  };
  area.addEventListener("pointermove", () => (moved = performance.now()), { passive: true });

  return {
    chip,
    update(items, { now = false } = {}) {
      latest = items;
      if (now || shown === null || !hasReader()) {
        apply();
        return;
      }
      const there = new Map(items.map((item) => [idOf(item), item]));
      const fresh = items.filter((item) => !shown.includes(idOf(item))).length;
      draw(shown.filter((id) => there.has(id)).map((id) => there.get(id)));
      chip.hidden = fresh === 0;
      chip.textContent = `${fresh} new`;
      settleLater();
    },
  };
}
