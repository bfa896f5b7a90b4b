// Groups of links with their icons; a letter stands in until there is one.

import { h, icon } from "../kit/dom.js";
import { route } from "./route.js";
import { safe } from "./words.js";

export function group({ group, name, description, collapsed, links, asked }) {
  return h(
    "details",
    { class: "marks-group", open: !collapsed },
    h(
      "summary",
      { class: "group" },
      icon("right"),
      h("h3", {}, name),
      h("span", { class: "count" }, String(links.length)),
      description && h("span", { class: "tiny quiet cut" }, description),
    ),
    h(
      "ul",
      { class: "marks" },
      links.map((link) => mark(group, link, asked)),
    ),
  );
}

function mark(group, { name, url, description }, asked) {
  const words = [plate(group, name, url, asked), h("span", { class: "cut small" }, name)];
  const href = safe(url);
  return h(
    "li",
    {},
    href
      ? h(
          "a",
          { href, target: "_blank", rel: "noopener noreferrer", title: description || url },
          words,
        )
      : h("span", { title: url }, words),
  );
}

/** The letter, until its icon is there: a link without one answers 204, which is no image. */
function plate(group, name, url, asked) {
  const letter = h("span", { class: "plate", "aria-hidden": "true" }, [...name][0]?.toUpperCase());
  if (/^https?:/i.test(url)) {
    const image = h("img", {
      alt: "",
      width: "20",
      height: "20",
      src: `${route("bookmarks", group, "icon")}?url=${encodeURIComponent(url)}&n=${asked}`,
      onload: () => letter.replaceChildren(image),
    });
  }
  return letter;
}
