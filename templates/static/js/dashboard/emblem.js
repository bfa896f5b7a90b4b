// The sign by which an app or a group is recognised: the emoji of its file, else its colour.

import { h } from "../kit/dom.js";

/** Whether an icon is an emoji; the service serves the image of an address or a file. */
export const isEmoji = (icon) => Boolean(icon) && !/^(?:https?|file):/i.test(icon);

/** The node before the name; null when there is neither emoji nor colour. */
export function emblem({ icon, color }) {
  if (isEmoji(icon)) return h("span", { class: "emblem", "aria-hidden": "true" }, icon);
  if (!color) return null;
  const swatch = h("span", { class: "emblem swatch", "aria-hidden": "true" });
  swatch.style.backgroundColor = color;
  return swatch;
}
