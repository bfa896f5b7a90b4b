// Skeletons: placeholders in the final shape, shown when loading takes longer than 200 ms.

import { h } from "./dom.js";

const PATIENCE = 200; // ms
/** @type {Record<string, number>} */
const SHAPES = { rows: 6, tiles: 6, text: 4, card: 1 };

/**
 * Show a skeleton in the empty `node` after 200 ms. Remove it when anything else is put there, or
 * when `node` is no longer busy, as is a list that stays empty. `shape` is "rows", "tiles", "text",
 * "card" or a node. Returns stop().
 * @param {Element} node
 * @param {string | Element} shape
 */
export function late(node, shape = "rows") {
  /** @type {Element | null} */
  let bones = null;
  const isFilled = () => [...node.childNodes].some((child) => child !== bones);
  if (isFilled()) return () => {};
  const watch = new MutationObserver(() => (isFilled() || !node.ariaBusy) && stop());
  const timer = setTimeout(() => {
    bones =
      typeof shape !== "string" ? shape : skeleton(shape, node.matches("ul, ol") ? "li" : "div");
    node.append(bones);
  }, PATIENCE);
  function stop() {
    clearTimeout(timer);
    watch.disconnect();
    bones?.remove();
    node.removeAttribute("aria-busy");
  }
  node.setAttribute("aria-busy", "true");
  watch.observe(node, { childList: true, attributeFilter: ["aria-busy"] });
  return stop;
}

/** @type {(shape: string, tag: string) => HTMLElement} */
const skeleton = (shape, tag) =>
  h(
    tag,
    { class: `skeletons ${shape}`, "aria-hidden": "true" },
    Array.from({ length: SHAPES[shape] ?? 1 }, () => h("span", { class: "skeleton" })),
  );
