// What a file gives an app or a group to be known by at a glance: its emoji, else its colour.

import { h } from "../kit/dom.js";

/** Whether an icon is an emoji; an address or a file is drawn by the service. */
export const isEmoji = (icon) => Boolean(icon) && !/^(?:https?|file):/i.test(icon);

/** Stands before the name; null where there is neither. */
export function emblem({ icon, color }) {
  if (isEmoji(icon)) return h("span", { class: "emblem", "aria-hidden": "true" }, icon);
  if (!color) return null;
  const swatch = h("span", { class: "emblem swatch", "aria-hidden": "true" });
  swatch.style.backgroundColor = color;
  return swatch;
}
