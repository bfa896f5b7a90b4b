// HTML that the service rendered from Markdown and sanitised, as nodes.

import { h } from "../../kit/dom.js";

/** Links open in a new tab; headings stay out of the page's outline; wide code can be scrolled. */
export function prose(html) {
  const read = new DOMParser().parseFromString(html, "text/html").body;
  for (const link of read.querySelectorAll("a")) link.target = "_blank";
  for (const code of read.querySelectorAll("pre")) {
    code.tabIndex = 0;
    code.setAttribute("role", "region");
    code.setAttribute("aria-label", "Code");
  }
  for (const heading of read.querySelectorAll("h1, h2, h3, h4, h5, h6"))
    heading.replaceWith(h("p", { class: "strong" }, ...heading.childNodes));
  return h("div", { class: "said" }, ...read.childNodes);
}
